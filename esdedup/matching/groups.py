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
from esdedup.matching.signers.minhash_kernels import Tokens


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
        bounds, held = _runs(values, np.argsort(values, kind="stable"))
        starts.append(bounds + total)
        members.append(held)
        columns.append(np.full(len(bounds), column, np.int64))
        total += len(held)
    if not members:
        return Groups(starts[0], np.empty(0, np.int64), np.empty(0, np.int64))
    return Groups(np.concatenate(starts), np.concatenate(members), np.concatenate(columns))


@compiled
def _runs(values: Tokens, order: Numbers) -> tuple[Numbers, Numbers]:
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
    flags = np.isin(tokens, hot)
    hot_groups = flags[groups.members[groups.starts[:-1]], groups.columns]
    alike = np.empty(len(groups.members) if hot_groups.any() else 0, np.int64)
    for group in np.flatnonzero(hot_groups):
        part = slice(groups.starts[group], groups.starts[group + 1])
        # compare the following columns, cyclically, so that members with the same next token are adjacent
        others = np.roll(tokens[groups.members[part]], -int(groups.columns[group]) - 1, axis=1)[:, :-1]
        alike[part] = np.lexsort(others.T[::-1]) if others.shape[1] else np.arange(len(others))
    return Hot(hot_groups, flags, alike)


def token_matrix(column: pa.ChunkedArray, tokens: int) -> Numbers:
    """Return a column of token lists as one array of shape (rows, tokens)."""
    parts = [chunk.flatten().to_numpy() for chunk in column.chunks]
    flat = np.concatenate(parts) if parts else np.empty(0, np.int64)
    return flat.reshape(-1, tokens)


def groups_of(tokens: Numbers, places: Numbers, column_bits: int) -> Groups:
    """Return groups of postings that are sorted by token. The low bits of a token are its column."""
    ends = np.flatnonzero(np.diff(tokens, append=tokens[-1] + 1)) + 1
    starts = np.concatenate(([0], ends)).astype(np.int64)
    return Groups(starts, places, tokens[starts[:-1]] & ((1 << column_bits) - 1))
