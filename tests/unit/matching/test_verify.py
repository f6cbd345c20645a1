"""The pieces of verification that have exact answers of their own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from esdedup.columns.cuts import roots, unite, unite_runs
from esdedup.matching.lsh.collide import needed_overlap, overlap

SETS = st.sets(st.integers(0, 60), min_size=1, max_size=40)


@given(SETS, SETS, st.integers(0, 45))
def test_overlap_is_the_intersection_or_out_of_reach(one: set[int], two: set[int], need: int) -> None:
    flat = np.array(sorted(one) + sorted(two), np.uint64)
    common = len(one & two)
    found = overlap(flat, 0, len(one), len(one), len(flat), need)
    assert found == (common if common >= need else -1)


@given(st.integers(1, 700), st.integers(1, 700), st.integers(1, 1000))
def test_needed_overlap_is_the_least_that_reaches_the_threshold(a: int, b: int, per_mille: int) -> None:
    threshold = per_mille / 1000
    need = needed_overlap(a, b, threshold)
    assert need / (a + b - need) >= threshold if need < a + b else True
    if need > 0:
        assert float(Fraction(need - 1, a + b - need + 1)) < threshold


@given(st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=40), st.randoms())
def test_components_are_named_by_their_smallest_number(edges: list[tuple[int, int]], source) -> None:  # type: ignore[no-untyped-def]
    label = list(range(30))
    for _ in range(30):
        for a, b in edges:
            label[a] = label[b] = min(label[a], label[b])
    source.shuffle(edges)
    parent = np.arange(30, dtype=np.int32)
    ends = np.array(edges, np.int64).reshape(-1, 2)
    unite(parent, np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]))
    assert roots(parent, np.arange(30)).tolist() == label


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 29))
def test_runs_unite_across_batches(keys: list[int], cut: int) -> None:
    keys = sorted(keys)
    numbers = np.arange(len(keys))
    parent = np.arange(max(1, len(keys)), dtype=np.int32)
    last = (-1, -1)
    for begin in range(0, len(keys), cut):
        part = np.array(keys[begin : begin + cut], np.int64)
        unite_runs(parent, part, numbers[begin : begin + cut], *last)
        last = (int(part[-1]), begin + len(part) - 1)
    assert roots(parent, numbers).tolist() == [keys.index(key) for key in keys]
