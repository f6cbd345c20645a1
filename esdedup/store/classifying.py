"""The input and the output of a cluster classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

PLACES = 4
"""Documents per text that are considered."""

MOST_TEXTS = 1_000
"""Distinct texts per cluster that are considered: the representative, and those with the smallest hashes."""

MEMBERS: pa.Schema = pa.schema(
    [
        ("cluster", pa.uint64()),  # in order
        ("representative", pa.bool_()),  # true for one text of each cluster
        ("text", pa.large_string()),
        ("titles", pa.large_string()),  # of its documents
        ("named", pa.list_(pa.uint64(), PLACES)),  # hashes of the titles, 0 for none, as in the next one
        ("documents", pa.list_(pa.uint64(), PLACES)),  # document numbers, from 1
        ("since", pa.list_(pa.int64(), PLACES)),  # revisions
        ("till", pa.list_(pa.int64(), PLACES)),
    ]
)
"""One row for each distinct text, for clusters of more than one. The texts of a cluster are adjacent."""

MEANINGS: pa.Schema = pa.schema(
    [
        ("kind", pa.string()),
        ("kind_confidence", pa.float64()),
        ("kind_reason", pa.string()),
        ("frame", pa.large_string()),  # null for a cluster of one text
    ]
)

IDENTICAL = ("identical", 1.0, "all its sentences are the same", None)
"""The meaning of a cluster with only one text. The classifier is not called."""

CONTRADICTIONS: pa.Schema = pa.schema(
    [
        ("contradictions", pa.int32()),
        ("contradiction", pa.float64()),  # highest confidence; null without one
    ]
)
FOUND: pa.Schema = pa.schema([*CONTRADICTIONS, ("copies", pa.int32())])  # null if no order is known
"""What is found in classified clusters."""

CONTRADICTING = ("template",)
"""The kinds that may contain contradictions even if none is suspected."""

JUDGED: pa.Schema = pa.schema([("id", pa.uint64()), *MEANINGS, ("suspected", pa.bool_())])
"""What a classifier says of clusters, and whether it suspects a contradiction in them."""


CONSISTENT = ("drift", "copyediting", 0.71, "the same said in other words")
"""What a cluster of the first kind is if no contradiction is found in it: kind, confidence, reason."""


class Classifier(NamedTuple):
    """Classifies clusters."""

    kinds: Callable[[pa.Table], pa.Table]
    """Takes a table of `MEMBERS`. Returns a table of `JUDGED`, one row for each cluster."""
    contradictions: Callable[[dict[str, Any]], Sequence[float]]
    """Returns the confidence of each contradiction in a cluster, which has the form of the contract."""
