"""Groups of records whose members do not contradict each other."""

from __future__ import annotations

import numpy as np

from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.cuts import roots, unite
from esdedup.matching.records.field_kinds import Shares
from esdedup.matching.records.mixture import Probabilities


def without_contradictions(a: Numbers, b: Numbers, evidence: Shares, probability: Probabilities, taken: Flags) -> Flags:
    """Return which of the pairs that are `taken` stay: the likeliest first, two groups of records are only united if
    what is known of all pairs between them speaks for it. This is greedy correlation clustering (Bansal, Blum and
    Chawla 2004); what is not compared says nothing.

    Args:
        a, b: Pairs of records that were compared, like all arguments of shape (pairs,).
        evidence: Logarithms of how much likelier what is seen of each is if the two are the same.
        probability: What decides the order; of equally likely pairs, a and b do.
        taken: Pairs that are the same.
    """
    records = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    parent = np.arange(records, dtype=np.int32)
    unite(parent, a[taken], b[taken])
    root = roots(parent, np.arange(records))
    within = root[a] == root[b]
    contradicted = np.unique(root[a[within & (evidence < 0) & ~taken]])
    some = np.flatnonzero(within & np.isin(root[a], contradicted))
    if not len(some):
        return taken
    group = {record: record for record in np.union1d(a[some], b[some]).tolist()}
    members = {record: [record] for record in group}
    between: dict[int, dict[int, float]] = {record: {} for record in group}
    for one, two, weight in zip(a[some].tolist(), b[some].tolist(), evidence[some].tolist(), strict=True):
        between[one][two] = between[two][one] = weight
    stays = taken.copy()
    doubtful = some[taken[some]]
    for pair in doubtful[np.lexsort((b[doubtful], a[doubtful], -probability[doubtful]))].tolist():
        one, two = group[int(a[pair])], group[int(b[pair])]
        if one == two:
            continue
        if between[one][two] <= 0:
            stays[pair] = False
            continue
        if len(members[one]) < len(members[two]):
            one, two = two, one
        for record in members[two]:
            group[record] = one
        members[one] += members.pop(two)
        for other, weight in between.pop(two).items():
            del between[other][two]
            if other != one:
                between[one][other] = between[other][one] = between[one].get(other, 0.0) + weight
    return stays
