"""Scores of clusterings against their definitions, pair by pair, and against values worked by hand."""

from __future__ import annotations

from itertools import combinations
from math import isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.evaluation.score import ALONE, Score, score


def scored(golden: list[int], output: list[int], items: int | None = None) -> Score:
    return score(np.array(golden, np.int64), np.array(output, np.int64), len(golden) if items is None else items)


def sets(labels: list[int]) -> set[frozenset[int]]:
    """The clusters of two and more items."""
    groups = {label: frozenset(at for at, other in enumerate(labels) if other == label) for label in labels}
    return {group for label, group in groups.items() if label != ALONE and len(group) > 1}


LABELS = st.lists(
    st.tuples(st.integers(-1, 4), st.integers(-1, 4).map(lambda label: label if label < 0 else 7 * label))
)


@given(LABELS, st.integers(0, 3))
def test_scores_are_those_of_all_pairs(rows: list[tuple[int, int]], more: int) -> None:
    golden, output = [one for one, _ in rows], [two for _, two in rows]
    found = scored(golden, output, len(rows) + more)
    assert found.golden_clusters == len(sets(golden))
    assert found.output_clusters == len(sets(output))
    assert found.golden_not_in_output == len(sets(golden) - sets(output))
    assert found.output_not_in_golden == len(sets(output) - sets(golden))
    every = [*rows, *[(ALONE, ALONE)] * more]
    judged = [
        (one[0] == two[0] != ALONE, one[1] == two[1] != ALONE) for one, two in combinations(every, 2)
    ]  # belong together, are together
    right = sum(wanted and got for wanted, got in judged)
    wanted, got = sum(one for one, _ in judged), sum(two for _, two in judged)
    assert found.precision == (right / got if got else None)
    assert found.recall == (right / wanted if wanted else None)
    if found.precision is None or found.recall is None:
        assert found.f1 is None
    else:
        assert found.f1 is not None
        total = found.precision + found.recall
        assert isclose(found.f1, 2 * found.precision * found.recall / total if total else 0.0)
    # Hubert and Arabie: what is above chance, of what could be
    expected = wanted * got / len(judged) if judged else 0.0
    most = (wanted + got) / 2
    if not isclose(most, expected, abs_tol=1e-12):
        assert isclose(found.adjusted_rand_index, (right - expected) / (most - expected), abs_tol=1e-12)
    else:
        assert found.adjusted_rand_index == 1.0


@pytest.mark.parametrize(
    ("golden", "output", "index"),
    [
        ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], 8 / 33),  # right 2, wanted 6, found 3: (2 - 1.2) / (4.5 - 1.2)
        ([0, 0, 1, 1], [0, 1, 0, 1], -0.5),  # right 0, wanted 2, found 2, of 6: (0 - 2/3) / (2 - 2/3)
        ([0, 0, 1, 2], [0, 0, 1, 1], 4 / 7),  # right 1, wanted 1, found 2, of 6: (1 - 1/3) / (1.5 - 1/3)
        ([0, 0, 0, 0], [0, 1, 2, 3], 0.0),
        ([0, 0, 1, 1], [5, 5, 3, 3], 1.0),
        ([0, 1, 2], [0, 1, 2], 1.0),
        ([0, 0, 0], [1, 1, 1], 1.0),
        ([], [], 1.0),
    ],
)
def test_the_index_by_hand(golden: list[int], output: list[int], index: float) -> None:
    assert scored(golden, output).adjusted_rand_index == pytest.approx(index, abs=1e-15)


def test_large_clusterings_have_exact_counts() -> None:
    half = np.repeat([0, 1], 2_000_000)
    found = score(half, np.zeros(4_000_000, np.int64), 10**10)
    assert found.recall == 1.0
    assert found.precision == pytest.approx((2_000_000 - 1) / (4_000_000 - 1), rel=1e-15)
    assert found.adjusted_rand_index == pytest.approx(2 * 0.5 / 1.5, rel=1e-5)
