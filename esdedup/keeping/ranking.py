"""Many copies are ranked at once, and it is said why one lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from esdedup.keeping.protocol import FIRST, Policies

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.keeping.protocol import ColumnPolicy, Keys


def sortable(keys: Keys) -> Keys:
    """Return keys of which a missing one is the highest."""
    return np.where(np.isnan(keys), np.inf, keys)


def rank_copies(keys: Sequence[Keys], *order: Numbers) -> Numbers:
    """Return the place of each copy in the order of preference, from its keys by policy, then by its reading `order`:
    columns, the most important first.
    """
    by = np.lexsort((*reversed(order), *(sortable(each) for each in reversed(keys))))
    rank = np.empty(len(by), np.int64)
    rank[by] = np.arange(len(by))
    return rank


def reasons(policies: Policies, lost: Sequence[Keys], kept: Sequence[Keys], rows: int) -> list[dict[str, Any]]:
    """Say for each of `rows` by which policy it lost, and against what value, from the keys of both by policy."""
    number = np.full(rows, len(lost))
    for place in reversed(range(len(lost))):
        number[sortable(lost[place]) != sortable(kept[place])] = place
    return [
        _reason(policies, place, lost[place][row], kept[place][row]) if place < len(lost) else {"by": FIRST}
        for row, place in enumerate(number.tolist())
    ]


def _reason(policies: Policies, place: int, lost: float, kept: float) -> dict[str, Any]:
    policy = policies.deciding[place]
    name, told = policy.measure, {"by": policy.words}
    return told | ({name: policy.shown(lost), f"kept_{name}": policy.shown(kept)} if name else {})


def nothing_to_compare(policy: ColumnPolicy) -> str:
    """Say that no record has a value that a policy can compare."""
    return f"keep: no record has a value of {policy.column!r} that {policy.name} can compare; correct the column"


def counted_without(policies: Policies, keys: Sequence[Keys]) -> dict[str, int]:
    """Return how many copies have no value that a policy can compare, by its column; none where all have one."""
    missing = {policy.column: int(np.isnan(each).sum()) for policy, each in zip(policies.deciding, keys, strict=True)}
    return {name: count for name, count in missing.items() if name and count}
