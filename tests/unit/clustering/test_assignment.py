"""One text of each source in a cluster: the best assignment, against all that there are."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from esdedup.clustering.assignment import assigned
from esdedup.evaluation.recall import wilson


def test_the_best_assignment_of_two_sources() -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        left, right = rng.integers(1, 6, 2).tolist()
        grid = np.where(rng.random((left, right)) < 0.7, np.round(rng.uniform(0.5, 1, (left, right)), 3), 0)
        a, b = np.nonzero(grid)
        if not len(a):
            continue
        source = np.repeat([0, 1], [left, right])
        stays = assigned(a, b + left, grid[a, b], np.arange(left + right), source)
        assert len(set(a[stays])) == len(a[stays])
        assert len(set(b[stays])) == len(b[stays])
        wide = np.pad(grid, ((0, 0), (0, left)))
        best = max(wide[range(left), list(order)].sum() for order in permutations(range(right + left), left))
        assert grid[a[stays], b[stays]].sum() == best


def test_no_cluster_has_two_of_a_source() -> None:
    rng = np.random.default_rng(6)
    for size in (12, 40):
        source = rng.integers(0, 4, size)
        a, b = np.triu_indices(size, 1)
        near = rng.random(len(a)) < 0.3
        a, b = a[near], b[near]
        similarity = rng.uniform(0.5, 1, len(a))
        stays = assigned(a, b, similarity, np.arange(size), source)
        label = np.arange(size)
        for _ in range(size):
            for one, two in zip(a[stays], b[stays], strict=True):
                label[one] = label[two] = min(label[one], label[two])
        assert all(len(set(source[label == each])) == (label == each).sum() for each in set(label))
        order = rng.permutation(len(a))
        again = assigned(a[order], b[order], similarity[order], np.arange(size), source)
        assert (again == stays[order]).all()
    # nothing is taken apart where no source is there twice
    ends = np.array([0, 1]), np.array([2, 3])
    assert assigned(*ends, np.ones(2), np.arange(4), np.array([0, 0, 1, 1])).all()


def test_very_many_of_a_source_are_assigned_the_most_similar_first() -> None:
    size = 1_200
    a, b = np.arange(size), np.arange(size) + size
    chain = np.concatenate([a, a[1:]]), np.concatenate([b, b[:-1]])  # each also resembles its neighbour, less
    similarity = np.repeat([0.9, 0.8], [size, size - 1])
    stays = assigned(*chain, similarity, np.arange(2 * size), np.repeat([0, 1], size))
    assert stays.tolist() == [True] * size + [False] * (size - 1)


def test_the_interval_of_a_share() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(20, 20)
    assert round(low, 3) == 0.839
    assert high == 1
    assert [round(value, 3) for value in wilson(50, 100)] == [0.404, 0.596]
