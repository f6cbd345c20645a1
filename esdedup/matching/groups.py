"""Group texts by token.

A group is a collision: two or more distinct texts with the same token. Texts are numbered in the order of their content
hashes, and so are the members of a group. So nothing after this depends on the order of arrival.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.kernels import compiled
from esdedup.matching.signers.minhash_kernels import COLUMN_BITS, Tokens

NO_TOKEN = -1
"""In a matrix of tokens: the text has no token in this column."""


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
        values = np.ascontiguousarray(tokens[:, column])
        order = np.argsort(values, kind="stable")
        bounds, held = runs(values, order[np.searchsorted(values, 0, sorter=order) :])
        starts.append(bounds + total)
        members.append(held)
        columns.append(np.full(len(bounds), column, np.int64))
        total += len(held)
    if not members:
        return Groups(starts[0], np.empty(0, np.int64), np.empty(0, np.int64))
    return Groups(np.concatenate(starts), np.concatenate(members), np.concatenate(columns))


@compiled
def runs(values: Tokens, order: Numbers) -> tuple[Numbers, Numbers]:
    """Return the ends and members of the runs of two or more equal values along `order`."""
    count = len(order)
    ends = np.empty(count // 2 + 1, np.int64)
    members = np.empty(count, np.int64)
    runs = held = begin = 0
    for index in range(1, count + 1):
        if index < count and values[order[index]] == values[order[begin]]:
            continue
        if index - begin >= 2:
            for at in range(begin, index):
                members[held] = order[at]
                held += 1
            ends[runs] = held
            runs += 1
        begin = index
    return ends[:runs], members[:held]


class Hot(NamedTuple):
    """Data about hot groups. `alike` orders their members, as positions in the group, by their other tokens."""

    groups: Flags  # (groups,)
    tokens: Flags  # (texts, tokens)
    alike: Numbers  # (members,), or (0,) without hot groups


def hot_tokens(groups: Groups, tokens: Tokens, limit: int) -> Tokens:
    """Return the tokens that more than `limit` texts have."""
    hot = np.flatnonzero(groups.sizes() > limit)
    return tokens[groups.members[groups.starts[hot]], groups.columns[hot]]


def find_hot(groups: Groups, tokens: Tokens, hot: Tokens) -> Hot:
    """Mark the tokens of `hot` among groups and texts. `hot` must contain every hot token of the corpus, even if its
    group is compared elsewhere.
    """
    flags = _among(tokens, np.sort(hot))
    hot_groups = flags[groups.members[groups.starts[:-1]], groups.columns]
    alike = np.empty(len(groups.members) if hot_groups.any() else 0, np.int64)
    for group in np.flatnonzero(hot_groups):
        part = slice(groups.starts[group], groups.starts[group + 1])
        # compare the following columns, cyclically, so that members with the same next token are adjacent
        others = np.roll(tokens[groups.members[part]], -int(groups.columns[group]) - 1, axis=1)[:, :-1]
        alike[part] = np.lexsort(others.T[::-1]) if others.shape[1] else np.arange(len(others))
    return Hot(hot_groups, flags, alike)


@compiled
def _among(tokens: Tokens, known: Numbers) -> Flags:
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
    found[np.repeat(np.arange(len(lengths)), lengths), tokens & ((1 << COLUMN_BITS) - 1)] = tokens
    return found


def groups_of(tokens: Numbers, places: Numbers) -> Groups:
    """Return groups of postings that are sorted by token."""
    ends = np.flatnonzero(np.diff(tokens, append=tokens[-1] + 1)) + 1
    starts = np.concatenate(([0], ends)).astype(np.int64)
    return Groups(starts, places, tokens[starts[:-1]] & ((1 << COLUMN_BITS) - 1))
