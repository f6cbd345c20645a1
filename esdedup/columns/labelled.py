"""Records as texts, `name: value | name: value`, and back. Missing values are left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.labels import BAR, END, NAME_END, OTHER_BAR


def labelled_texts(labels: Sequence[str], columns: Sequence[pa.Array]) -> pa.LargeStringArray:
    """Return the texts of records with these columns of strings."""
    nothing = pa.scalar("", pa.large_string())
    parts = []
    for label, column in zip(labels, columns, strict=True):
        value = pc.replace_substring(pc.utf8_trim_whitespace(column.cast(pa.large_string())), BAR, OTHER_BAR)
        begin = pa.scalar(f"{END}{label}{NAME_END}", pa.large_string())
        there = pc.fill_null(pc.not_equal(value, nothing), False)
        parts.append(pc.if_else(there, pc.binary_join_element_wise(begin, value, nothing), nothing))
    joined = pc.binary_join_element_wise(*parts, nothing)  # of nulls only, it would skip the row itself
    return pc.utf8_slice_codeunits(joined, len(END))


def columns_of_texts(texts: pa.LargeStringArray) -> dict[str, pa.Array]:
    """Return the columns of records, in the order in which they stand on average. Nothing else depends on the order of
    the texts. What has no label is the column `text`.
    """
    parts = pc.split_pattern(texts, END)
    flat = parts.flatten()
    counts = pc.list_value_length(parts).to_numpy(zero_copy_only=False).astype(np.int64)
    row = np.repeat(np.arange(len(texts)), counts)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    halves = pc.split_pattern(flat, NAME_END, max_splits=1)
    whole = pc.list_value_length(halves).to_numpy(zero_copy_only=False) == 2
    first, last = pc.list_element(halves, 0), _last(halves)
    label = pc.if_else(pa.array(whole), first, pa.scalar("text", pa.large_string())).dictionary_encode()
    code = label.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    names = label.dictionary.to_pylist()
    mean = np.bincount(code, place, len(names)) / np.maximum(np.bincount(code, minlength=len(names)), 1)
    found = {}
    for number in sorted(range(len(names)), key=lambda number: (round(float(mean[number]), 6), names[number])):
        of_it = np.flatnonzero(code == number)
        where = np.full(len(texts), -1)
        where[row[of_it]] = of_it
        found[str(names[number])] = last.take(pa.array(where, mask=where < 0))
    return found


def _last(lists: pa.Array) -> pa.Array:
    """Return the last item of each list."""
    ends = lists.offsets.to_numpy(zero_copy_only=False)[1:].astype(np.int64)
    return lists.values.take(pa.array(ends - 1))
