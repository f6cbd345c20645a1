"""Groups of records whose members do not contradict each other."""

from __future__ import annotations

import numpy as np

from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.cuts import roots, unite
from esdedup.matching.records.mixture import Probabilities


def without_contradictions(
    a: Numbers, b: Numbers, probability: Probabilities, taken: Flags, contradicting: Flags
) -> Flags:
    """Return which of the pairs that are `taken` stay, so that no group of records that they make holds two that are
    `contradicting`. The least likely ones go.

    All arguments have shape (pairs,). Equally likely pairs are taken in the order of a and b.
    """
    records = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    parent = np.arange(records, dtype=np.int32)
    unite(parent, a[taken], b[taken])
    root = roots(parent, np.arange(records))
    apart = np.flatnonzero(contradicting & (root[a] == root[b]))
    if not len(apart):
        return taken
    enemies: dict[int, set[int]] = {}
    for one, two in zip(a[apart].tolist(), b[apart].tolist(), strict=True):
        enemies.setdefault(one, set()).add(two)
        enemies.setdefault(two, set()).add(one)
    doubtful = np.flatnonzero(taken & np.isin(root[a], root[a[apart]]))
    stays = taken.copy()
    group = {record: record for record in np.union1d(a[doubtful], b[doubtful]).tolist()}
    members = {record: {record} for record in group}
    for pair in doubtful[np.lexsort((b[doubtful], a[doubtful], -probability[doubtful]))].tolist():
        one, two = group[int(a[pair])], group[int(b[pair])]
        if one == two:
            continue
        small, large = sorted((one, two), key=lambda each: len(members[each]))
        if any(not members[large].isdisjoint(enemies.get(record, ())) for record in members[small]):
            stays[pair] = False
            continue
        for record in members[small]:
            group[record] = large
        members[large] |= members.pop(small)
    return stays
