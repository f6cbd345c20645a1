"""Group texts by token.

A group is a collision: two or more distinct texts with the same token. Texts are numbered in the order of their content
hashes, and so are the members of a group. So nothing after this depends on the order of arrival.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Flags, Numbers, run_starts
from esdedup.columns.digits import SORTED_BITS, by_digits
from esdedup.columns.hashing import Hashes
from esdedup.columns.kernels import compiled
from esdedup.matching.signers.minhash_kernels import COLUMN_BITS, TOKEN_BITS, Tokens

NO_TOKEN = -1
"""In a matrix of tokens: the text has no token in this column."""

_PLACE_BITS = 64 - SORTED_BITS
_PLACES = (1 << _PLACE_BITS) - 1
_TAIL_BITS = TOKEN_BITS - SORTED_BITS
"""Bits of a token by which it is not sorted at first."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups in flat arrays: group g has `members[starts[g]:starts[g + 1]]`, which share token column `columns[g]`."""

    starts: Numbers
    members: Numbers
    columns: Numbers

    def __len__(self) -> int:
        return len(self.columns)

    def sizes(self) -> Numbers:
        """The number of members of each group, shape (groups,)."""
        return np.diff(self.starts)


def group_tokens(tokens: Tokens) -> Groups:
    """Return every group among texts with these `tokens` (n, tokens), by column and token."""
    starts, members, columns = [np.zeros(1, np.int64)], [], []
    total = 0
    for column in range(tokens.shape[1]):
        bounds, held = runs(np.ascontiguousarray(tokens[:, column]))
        starts.append(bounds + total)
        members.append(held)
        columns.append(np.full(len(bounds), column, np.int64))
        total += len(held)
    if not members:
        return Groups(starts[0], np.empty(0, np.int64), np.empty(0, np.int64))
    return Groups(np.concatenate(starts), np.concatenate(members), np.concatenate(columns))


def runs(tokens: Tokens) -> tuple[Numbers, Numbers]:
    """Return the ends and members of the runs of two or more equal tokens, by token, and members in order.

    What is below 0 is no token. There may be 2**31 of them.
    """
    return _runs(tokens, by_digits(_keys(tokens), _PLACE_BITS))


@compiled
def _keys(tokens: Tokens) -> Hashes:
    """Return the first bits of each token with its place below."""
    keys = np.empty(len(tokens), np.uint64)
    kept = 0
    for at in range(len(tokens)):
        if tokens[at] >= 0:
            keys[kept] = np.uint64(tokens[at] >> _TAIL_BITS) << np.uint64(_PLACE_BITS) | np.uint64(at)
            kept += 1
    return keys[:kept]


@compiled
def _runs(tokens: Tokens, keys: Hashes) -> tuple[Numbers, Numbers]:
    ends = np.empty(len(keys) // 2 + 1, np.int64)
    members = np.empty(len(keys), np.int64)
    runs = held = begin = 0
    for at in range(1, len(keys) + 1):
        if at < len(keys) and keys[at] >> np.uint64(_PLACE_BITS) == keys[begin] >> np.uint64(_PLACE_BITS):
            continue
        if at - begin >= 2:
            places = (keys[begin:at] & np.uint64(_PLACES)).astype(np.int64)
            if np.any(tokens[places] != tokens[places[0]]):  # tokens that begin alike
                places = places[np.argsort(tokens[places], kind="mergesort")]
            first = 0
            for other in range(1, len(places) + 1):
                if other < len(places) and tokens[places[other]] == tokens[places[first]]:
                    continue
                if other - first >= 2:
                    members[held : held + other - first] = places[first:other]
                    held += other - first
                    ends[runs] = held
                    runs += 1
                first = other
        begin = at
    return ends[:runs], members[:held]


POSTING = np.dtype([("token", np.int64), ("row", np.uint32)])
"""A token, and the row that has it, as they are written to disk."""


@compiled
def parted(
    tokens: Tokens, ends: Numbers, rows: Numbers, chosen: Flags, out: npt.NDArray[Any], parts: int
) -> tuple[npt.NDArray[Any], Numbers]:
    """Write to `out` the tokens of those rows that are chosen, as `POSTING`, by range of tokens.

    Args:
        tokens: Of all rows; what is below 0 is none.
        ends: Where those of each row begin and end, shape (rows + 1,).
        rows: The numbers of the rows.
        chosen: By number, which rows are chosen.
        out: Room for as many.
        parts: How many ranges of tokens, a power of two.

    Returns:
        What was written, and where each part of it begins and ends.
    """
    shift = TOKEN_BITS
    while parts >> (TOKEN_BITS - shift) > 1:
        shift -= 1
    bounds = np.zeros(parts + 1, np.int64)
    for at in range(len(rows)):
        if chosen[rows[at]]:
            for place in range(ends[at], ends[at + 1]):
                if tokens[place] >= 0:
                    bounds[(tokens[place] >> shift) + 1] += 1
    bounds = np.cumsum(bounds)
    free = bounds.copy()
    for at in range(len(rows)):
        if chosen[rows[at]]:
            for place in range(ends[at], ends[at + 1]):
                if tokens[place] >= 0:
                    part = tokens[place] >> shift
                    out[free[part]]["token"] = tokens[place]
                    out[free[part]]["row"] = rows[at]
                    free[part] += 1
    return out[: bounds[parts]], bounds


class Runs(NamedTuple):
    """Groups as they are compared: run r has `members[starts[r]:starts[r + 1]]`. In the order 0, all of them are
    compared with all. A hot group has runs in two orders instead: 1, by number, and 2, by their other tokens.
    """

    starts: Numbers
    members: Numbers
    columns: Numbers  # (runs,)
    order: npt.NDArray[np.int8]  # (runs,)
    leading: Numbers  # (runs,): so many of its members are compared with those that follow; the next run has the others
    places: Numbers  # (members,): place of each in the order 1 of its group; or (0,) without hot groups


_LEADING = 2**14
"""So many texts of a hot group lead a run at most: what is found in a run is held in memory."""


def runs_of_groups(groups: Groups, tokens: Tokens, hot: Flags, window: int) -> Runs:
    """Return groups as runs, each hot one in both of the two orders. `hot` (n, tokens) marks tokens. In hot groups, a
    text is compared with `window` others.
    """
    is_hot = hot[groups.members[groups.starts[:-1]], groups.columns]
    leading = groups.sizes()
    whole: npt.NDArray[np.int8] = np.zeros(len(groups), np.int8)
    if not is_hot.any():
        return Runs(groups.starts, groups.members, groups.columns, whole, leading, np.empty(0, np.int64))
    leading[is_hot] = 0  # they are compared as runs
    members, places = [groups.members], [np.zeros(len(groups.members), np.int64)]
    cut: list[tuple[int, int, int, int]] = []  # column, order, members and leading ones of each run
    for group in np.flatnonzero(is_hot):
        held, column = groups.members[groups.starts[group] : groups.starts[group + 1]], int(groups.columns[group])
        alike = np.lexsort(other_tokens(tokens[held], column).T[::-1])
        for turn, order in enumerate((np.arange(len(held)), alike), 1):
            for begin in range(0, len(held), _LEADING):
                some = order[begin : begin + _LEADING + window]
                members.append(held[some])
                places.append(some)
                cut.append((column, turn, len(some), min(_LEADING, len(some))))
    columns, orders, sizes, leads = np.array(cut, np.int64).T
    return Runs(
        np.concatenate([groups.starts, groups.starts[-1] + np.cumsum(sizes)]),
        np.concatenate(members),
        np.concatenate([groups.columns, columns]),
        np.concatenate([whole, orders.astype(np.int8)]),
        np.concatenate([leading, leads]),
        np.concatenate(places),
    )


def runs_of_postings(postings: pa.Table, members: Numbers) -> Runs:
    """Return the runs that an engine has cut: rows of `esdedup.matching.engine.RUNS`, and the index of each text."""
    token, order, run, place, leads = (
        postings[name].to_numpy() for name in ("token", "order", "run", "place", "leads")
    )
    starts = run_starts(token, order, run)
    bounds = np.append(starts, len(token))
    leading = np.diff(np.concatenate(([0], np.cumsum(leads)))[bounds])
    return Runs(bounds, members, columns_of(token[starts]), order[starts], leading, place)


def columns_of(tokens: Tokens) -> Numbers:
    """Return the column of each token, which its low bits say."""
    return tokens & ((1 << COLUMN_BITS) - 1)


def other_tokens(tokens: Tokens, column: int) -> Tokens:
    """Return the tokens of texts that share that of a column, shape (n, tokens), without it: the next one first, so
    that members of a group with the same next token are adjacent when they are sorted by them.
    """
    return np.roll(tokens, -int(column) - 1, axis=1)[:, :-1]


def hot_tokens(groups: Groups, tokens: Tokens, limit: int) -> Tokens:
    """Return the tokens that more than `limit` texts have."""
    hot = np.flatnonzero(groups.sizes() > limit)
    return tokens[groups.members[groups.starts[hot]], groups.columns[hot]]


@compiled
def among(tokens: Tokens, known: Numbers) -> Flags:
    """Return which tokens are in a sorted array, in the same shape."""
    found = np.zeros(tokens.shape, np.bool_)
    if len(known) > 0:
        for row in range(tokens.shape[0]):
            for column in range(tokens.shape[1]):
                at = np.searchsorted(known, tokens[row, column])
                found[row, column] = at < len(known) and known[at] == tokens[row, column]
    return found


def token_lists(tokens: Tokens) -> pa.ListArray:
    """Return tokens of shape (n, columns) as a column of lists: null where a text has none, and the last ones of these
    left out.
    """
    has = tokens != NO_TOKEN
    if has.all():
        ends = np.arange(len(tokens) + 1) * tokens.shape[1]
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(tokens.reshape(-1)))
    lengths = tokens.shape[1] - np.argmax(has[:, ::-1], axis=1)
    listed = np.arange(tokens.shape[1]) < lengths[:, None]
    ends = np.concatenate(([0], np.cumsum(lengths)))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(tokens[listed], mask=~has[listed]))


def token_matrix(column: pa.ChunkedArray, columns: int) -> Tokens:
    """Return a column of token lists as one array of shape (rows, columns)."""
    lists = column.combine_chunks()
    flat = lists.flatten()
    if len(flat) == len(lists) * columns and not flat.null_count:
        return np.asarray(flat.to_numpy()).reshape(-1, columns)
    lengths = lists.value_lengths().to_numpy()
    tokens = np.full((len(lists), columns), NO_TOKEN, np.int64)
    tokens[np.arange(columns) < lengths[:, None]] = flat.fill_null(NO_TOKEN).to_numpy()
    return tokens


def in_columns(tokens: Numbers, lengths: Numbers, columns: int) -> Tokens:
    """Put each token into its column, which its low bits say. `tokens` lists those of all rows, `lengths` says how many
    each row has. Return an array of shape (rows, columns).
    """
    found = np.full((len(lengths), columns), NO_TOKEN, np.int64)
    found[np.repeat(np.arange(len(lengths)), lengths), columns_of(tokens)] = tokens
    return found


def groups_of(tokens: Numbers, places: Numbers) -> Groups:
    """Return groups of postings that are sorted by token."""
    ends = np.flatnonzero(np.diff(tokens, append=tokens[-1] + 1)) + 1
    starts = np.concatenate(([0], ends)).astype(np.int64)
    return Groups(starts, places, columns_of(tokens[starts[:-1]]))
