"""What a store gives to a classifier of clusters, and what it gets back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

PLACES = 4
"""Documents of a text that are looked at."""

MOST_TEXTS = 1_000
"""Distinct texts of a cluster that are looked at: its representative, and those with the smallest hashes."""

MEMBERS: pa.Schema = pa.schema(
    [
        ("cluster", pa.uint64()),  # in order
        ("representative", pa.bool_()),  # true once a cluster
        ("text", pa.large_string()),
        ("titles", pa.large_string()),  # of its documents
        ("named", pa.list_(pa.uint64(), PLACES)),  # hashes of the titles, 0 for none, as in the next one
        ("documents", pa.list_(pa.uint64(), PLACES)),  # their numbers, from 1
        ("since", pa.list_(pa.int64(), PLACES)),  # revisions
        ("till", pa.list_(pa.int64(), PLACES)),
    ]
)
"""One row a distinct text, of clusters with more than one; the texts of a cluster stand together."""

MEANINGS: pa.Schema = pa.schema(
    [
        ("kind", pa.string()),
        ("kind_confidence", pa.float64()),
        ("kind_reason", pa.string()),
        ("frame", pa.large_string()),  # null for a cluster of one text
    ]
)

IDENTICAL = ("identical", 1.0, "all its sentences are the same", None)
"""The meaning of a cluster of one text, about which no classifier is asked."""

CONTRADICTIONS: pa.Schema = pa.schema(
    [
        ("contradictions", pa.int32()),
        ("contradiction", pa.float64()),  # confidence of the surest; null without one
    ]
)
FOUND: pa.Schema = pa.schema([*CONTRADICTIONS, ("copies", pa.int32())])  # null where no order is known
"""What is found in clusters that are classified already."""

CONTRADICTING = ("drift", "template")
"""The kinds that may hold contradictions."""


class Classifier(NamedTuple):
    """Says what clusters mean."""

    kinds: Callable[[pa.Table], pa.Table]
    """From a table of `MEMBERS`, one of id and `MEANINGS`: one row a cluster."""
    contradictions: Callable[[dict[str, Any]], Sequence[float]]
    """The confidence of each contradiction in a cluster as the contract writes it."""
