"""Cut groups into ranges whose texts fit in memory together.

Groups come in the order of their connected components (texts linked by any chain of collisions). So a component is in
one range if it fits, and each of its texts is read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esdedup.columns.arrays import Numbers
from esdedup.columns.kernels import compiled

Parents = npt.NDArray[np.int32]


@compiled
def find(parent: Parents, number: int) -> int:
    """Return the smallest number of the component that contains `number`."""
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number


@compiled
def _join(parent: Parents, a: int, b: int) -> None:
    one, two = find(parent, a), find(parent, b)
    if one < two:
        parent[two] = one
    elif two < one:
        parent[one] = two


@compiled
def unite(parent: Parents, a: Numbers, b: Numbers) -> None:
    """Unite a[i] with b[i] for every i."""
    for index in range(len(a)):
        _join(parent, a[index], b[index])


@compiled
def unite_runs(parent: Parents, keys: Numbers, numbers: Numbers, last_key: int, last_number: int) -> None:
    """Unite the numbers of adjacent equal keys.

    `last_key` and `last_number` are those of the row before, so a table may come in batches.
    """
    for index in range(len(keys)):
        if keys[index] == last_key:
            _join(parent, last_number, numbers[index])
        last_key, last_number = keys[index], numbers[index]


@compiled
def roots(parent: Parents, numbers: Numbers) -> Numbers:
    """Return the root of each of `numbers`."""
    out = np.empty(len(numbers), np.int64)
    for index in range(len(numbers)):
        out[index] = find(parent, numbers[index])
    return out


class Cut(NamedTuple):
    """Postings (token, text) in component order, the range of each, and whether it is the range's first posting of its
    text.
    """

    ranges: Numbers
    firsts: npt.NDArray[np.bool_]


class Cutter:
    """Assigns ranges to postings that come in batches. A range never costs more than `budget` bytes, unless one group
    alone does. A text costs once in a range, each of its postings `row` bytes.
    """

    def __init__(self, texts: int, budget: int, row: int) -> None:
        self._seen = np.full(texts, -1, np.int32)
        self._budget = budget
        self._row = row
        self._range = 0
        self._cost = 0

    def cut(self, tokens: Numbers, numbers: Numbers, costs: Numbers) -> Cut:
        """Return the ranges of whole groups. Rows of one token must be adjacent and are never split over calls."""
        made = Cut(np.empty(len(tokens), np.int64), np.empty(len(tokens), np.bool_))
        self._range, self._cost = _cut(
            tokens, numbers, costs, self._seen, self._budget, self._row, self._range, self._cost, made
        )
        return made


@compiled
def _cut(
    tokens: Numbers,
    numbers: Numbers,
    costs: Numbers,
    seen: npt.NDArray[np.int32],
    budget: int,
    row: int,
    current: int,
    cost: int,
    made: Cut,
) -> tuple[int, int]:
    ranges, firsts = made
    begin = 0
    while begin < len(tokens):
        end = begin
        added = 0
        while end < len(tokens) and tokens[end] == tokens[begin]:
            if seen[numbers[end]] != current:
                added += costs[end]
            end += 1
        added += row * (end - begin)
        if cost > 0 and cost + added > budget:
            current += 1
            cost = 0
        for index in range(begin, end):
            ranges[index] = current
            firsts[index] = seen[numbers[index]] != current
            if firsts[index]:
                seen[numbers[index]] = current
                cost += costs[index]
        cost += row * (end - begin)
        begin = end
    return current, cost


def whole_groups(batches: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield batches again, cut so that rows of one token are never in two."""
    rest: tuple[Any, ...] | None = None
    for batch in batches:
        rows = batch if rest is None else tuple(map(np.concatenate, zip(rest, batch, strict=True)))
        last = int(np.searchsorted(rows[0][::-1] != rows[0][-1], True))
        cut = len(rows[0]) - last
        if cut:
            yield tuple(column[:cut] for column in rows)
        rest = tuple(column[cut:] for column in rows)
    if rest is not None:
        yield rest
