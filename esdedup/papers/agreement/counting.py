"""Count exactly how many values of signatures agree, with an inverted index of single values.

A pair that agrees on `need` of N values agrees on at least `need - (N - k)` of any k of them (pigeonhole principle). So
k functions are counted from the index: those with the fewest shared values. A pair that reaches the minimum there is
compared in the others. No pair is missed, and none is approximate. The choice of k only affects the cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.hashing import Hashes
from esdedup.columns.kernels import compiled

Codes = npt.NDArray[np.int32]

_ALONE = -1  # a value of only one text


class Numbered(NamedTuple):
    """The values of one hash function as numbers: equal values have equal numbers, from 0."""

    numbers: Codes  # (texts,), -1 for a value of only one text
    groups: int  # number of different numbers
    meetings: int  # pairs of texts with an equal value


def number_values(values: Hashes) -> Numbered:
    """Number the values (texts,) of one function."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    shared = counts > 1
    names = np.where(shared, np.cumsum(shared) - 1, _ALONE).astype(np.int32)
    counts = counts[shared]
    return Numbered(names[which], len(counts), int((counts * (counts - 1) // 2).sum()))


class Index(NamedTuple):
    """Which texts of one tile have a value: run r is `members[starts[r]:starts[r + 1]]`, in increasing order.

    `runs` (texts, functions) is the run of each value of the texts of the other tile, or -1.
    """

    starts: Numbers
    members: Codes
    runs: Codes


@compiled
def invert(held: Codes, asking: Codes, functions: Numbers, groups: Numbers) -> Index:
    """Index the numbers `held` (texts, N) for the numbers `asking` (texts, N) of the chosen functions (k,).

    `groups` (k,) is the number of different numbers of each function.
    """
    starts = np.empty(len(held) * len(functions) + 1, np.int64)
    members = np.empty(len(held) * len(functions), np.int32)
    runs = np.empty((len(asking), len(functions)), np.int32)
    count, filled = 0, 0
    for at in range(len(functions)):
        function = functions[at]
        ends = np.zeros(groups[at], np.int64)
        names = np.full(groups[at], _ALONE, np.int32)
        for text in range(len(held)):
            if held[text, function] >= 0:
                ends[held[text, function]] += 1
        for group in range(groups[at]):
            if ends[group]:
                names[group] = count
                starts[count] = filled
                filled += ends[group]
                ends[group] = starts[count]
                count += 1
        for text in range(len(held)):
            group = held[text, function]
            if group >= 0:
                members[ends[group]] = text
                ends[group] += 1
        for text in range(len(asking)):
            group = asking[text, function]
            runs[text, at] = names[group] if group >= 0 else _ALONE
    starts[count] = filled
    return Index(starts[: count + 1], members[:filled], runs)


class Tile(NamedTuple):
    """Texts in the order of their numbers. The first number is `first`."""

    first: int
    numbers: Codes  # (texts, N): the numbers of their values
    group_id: Numbers
    stale: Flags


@compiled
def agreeing(
    index: Index, asking_tile: Tile, held_tile: Tile, others: Numbers, begin: int, end: int, one_tile: bool, least: int,
    need: int,
) -> Numbers:  # fmt: skip
    """Find pairs of a text `begin` to `end` (exclusive) of the asking tile with a text of the indexed tile.

    Returns rows (index in the indexed tile, index in the asking tile, values that agree), shape (found, 3): those with
    `need` or more. At least `least` of them are among the indexed functions; `others` are the other functions. With
    `one_tile`, each pair is found once, the lower index first. Two texts of one group_id (0 or more) are not a pair,
    nor are two texts that are not stale.
    """
    starts, members, runs = index
    _, asking, asking_group, asking_stale = asking_tile
    _, held, held_group, held_stale = held_tile
    found = 0
    rows = np.empty((256, 3), np.int64)
    counts = np.zeros(len(held), np.uint16)
    for text in range(begin, end):
        limit = text if one_tile else len(held)
        for at in range(runs.shape[1]):
            run = runs[text, at]
            if run < 0:
                continue
            for place in range(starts[run], starts[run + 1]):
                member = members[place]
                if member >= limit:
                    break
                counts[member] += np.uint16(1)
        for member in range(limit):
            if counts[member] < least:
                continue
            if not (asking_stale[text] or held_stale[member]):
                continue
            if asking_group[text] >= 0 and asking_group[text] == held_group[member]:
                continue
            agree = np.int64(counts[member])
            for function in others:
                agree += asking[text, function] == held[member, function] and asking[text, function] >= 0
            if agree < need:
                continue
            if found == len(rows):
                more = np.empty((2 * found, 3), np.int64)
                more[:found] = rows
                rows = more
            rows[found, 0] = member
            rows[found, 1] = text
            rows[found, 2] = agree
            found += 1
        counts[:] = 0
    return rows[:found].copy()
