"""What clusters of records are: the same thing, of which some fields differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.analysis.names import RECORD
from esdedup.columns.labelled import columns_of_texts
from esdedup.plurals import plural
from esdedup.store.cluster_kinds import JUDGED, Classifier

_LISTED = 4
_SURE = 1.0


def describe_records(members: pa.Table, _: pa.Table) -> pa.Table:
    """Describe each cluster of a table of schema `esdedup.store.cluster_kinds.MEMBERS`, as `JUDGED`."""
    cluster = members["cluster"].to_numpy()
    if not len(cluster):
        return JUDGED.empty_table()
    first = np.flatnonzero(np.diff(cluster, prepend=cluster[0] - np.uint64(1)))
    owner = np.searchsorted(first, np.arange(len(cluster)), side="right") - 1
    differing: list[list[str]] = [[] for _ in first]
    for name, column in columns_of_texts(members["text"].cast(pa.large_string()).combine_chunks()).items():
        written = pc.utf8_trim_whitespace(pc.replace_substring_regex(pc.utf8_lower(column), r"[^\pL\pN]+", " "))
        codes = written.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
        there = codes >= 0
        low = np.full(len(first), len(codes))
        high = np.full(len(first), -1)
        np.minimum.at(low, owner[there], codes[there])
        np.maximum.at(high, owner[there], codes[there])
        for place in np.flatnonzero(high > low).tolist():
            differing[place].append(name)
    columns: list[Any] = [
        cluster[first],
        [RECORD] * len(first),
        np.full(len(first), _SURE),
        [_reason(names) for names in differing],
        pa.nulls(len(first), pa.large_string()),
        np.zeros(len(first), np.bool_),
        np.zeros(len(first), np.bool_),
    ]
    return pa.table(columns, JUDGED)


def _reason(differing: Sequence[str]) -> str:
    if not differing:
        return "records of one thing; what both have is equal but for signs and capitals"
    named = ", ".join([*differing[:_LISTED], *(["…"] if len(differing) > _LISTED else [])])
    return f"records of one thing; {plural(len(differing), 'field differs', 'fields differ')}: {named}"


RECORD_CLASSIFIER = Classifier(
    lambda texts: pa.nulls(len(texts), pa.int64()),
    describe_records,
    lambda pairs: pa.table({"id": pairs["id"], "shared": pa.nulls(len(pairs), pa.list_(pa.int32()))}),
    lambda clusters: [[] for _ in clusters],
)
"""The functions that a store calls for records."""
