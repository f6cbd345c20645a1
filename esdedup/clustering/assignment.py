"""At most one text of each source in a cluster: of the pairs, those stay that make the best assignment.

Sources are taken in the order of their names. The texts of the next one are assigned to the clusters of those before
it, so that the sum of similarities is as high as it can be: exact for two sources (H. W. Kuhn, The Hungarian method for
the assignment problem, 1955, in the form with potentials), source by source for more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from esdedup.columns.cuts import roots, unite
from esdedup.columns.kernels import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from esdedup.columns.arrays import Flags, Numbers

    Weights = npt.NDArray[np.float64]

_EXACT = 1_000
"""Texts of one source in a component: more are assigned greedily, the most similar first."""


def assigned(a: Numbers, b: Numbers, similarity: Weights, text: Numbers, source: Numbers) -> Flags:
    """Return which pairs stay, shape (pairs,). The ends `a` and `b` are texts from 0; each `text` (m,) stands in a
    `source` (m,), and may stand in several.
    """
    count = max(int(text.max(initial=-1)), int(a.max(initial=-1)), int(b.max(initial=-1))) + 1
    parent = np.arange(count, dtype=np.int32)
    unite(parent, a, b)
    component = roots(parent, np.arange(count))
    _, which, held = np.unique(np.stack([component[text], source]), axis=1, return_inverse=True, return_counts=True)
    crowded = np.unique(component[text[held[which.reshape(-1)] > 1]])
    cluster = component.copy()
    among = np.isin(component[a], crowded)
    order = np.flatnonzero(among)[np.argsort(component[a[among]], kind="stable")]
    starts = np.flatnonzero(np.diff(component[a[order]], prepend=-1))
    owners: dict[int, set[int]] = {}
    for one, place in zip(text.tolist(), source.tolist(), strict=True):
        owners.setdefault(one, set()).add(place)
    for edges in np.split(order, starts[1:]) if len(starts) else ():
        _assign(a[edges], b[edges], similarity[edges], owners, cluster)
    stays: Flags = cluster[a] == cluster[b]
    return stays


def _assign(a: Numbers, b: Numbers, similarity: Weights, owners: dict[int, set[int]], cluster: Numbers) -> None:
    """Write the cluster of each text of a component: its first text."""
    likeness: dict[int, dict[int, float]] = {}
    for one, two, value in zip(a.tolist(), b.tolist(), similarity.tolist(), strict=True):
        likeness.setdefault(one, {})[two] = value
        likeness.setdefault(two, {})[one] = value
    of_source: dict[int, list[int]] = {}
    for text in sorted(likeness):
        of_source.setdefault(min(owners[text]), []).append(text)
    members: list[list[int]] = []
    taken: list[set[int]] = []
    place_of: dict[int, int] = {}
    for source in sorted(of_source):
        texts = of_source[source]
        weights = np.zeros((len(texts), len(members)))
        for row, text in enumerate(texts):
            for other, value in likeness[text].items():
                place = place_of.get(other, -1)
                if place >= 0 and not taken[place] & owners[text]:
                    weights[row, place] = max(weights[row, place], value)
        for text, place in zip(texts, _places(weights), strict=True):
            if place < 0:
                place = len(members)
                members.append([])
                taken.append(set())
            members[place].append(text)
            taken[place] |= owners[text]
            place_of[text] = place
    for texts in members:
        cluster[texts] = min(texts)


def _places(weights: Weights) -> list[int]:
    """Return the cluster of each text; -1 for a new one."""
    rows, columns = weights.shape
    if not columns:
        return [-1] * rows
    if max(rows, columns) > _EXACT:
        chosen = np.full(rows, -1)
        free = np.ones(columns, np.bool_)
        at, to = np.nonzero(weights)
        for place in np.lexsort((to, at, -weights[at, to])).tolist():
            if chosen[at[place]] < 0 and free[to[place]]:
                chosen[at[place]], free[to[place]] = to[place], False
        return chosen.tolist()
    # as many columns again, of no weight: a text that is assigned to one of these stays alone
    chosen = _hungarian(np.concatenate([-weights, np.zeros((rows, rows))], axis=1))
    return [int(place) if place < columns and weights[row, place] > 0 else -1 for row, place in enumerate(chosen)]


@compiled
def _hungarian(cost: Weights) -> Numbers:
    """Return the column of each row, so that the sum of costs is lowest. There are at least as many columns as rows."""
    rows, columns = cost.shape
    of_row, of_column = np.zeros(rows + 1), np.zeros(columns + 1)
    matched, way = np.zeros(columns + 1, np.int64), np.zeros(columns + 1, np.int64)
    for row in range(1, rows + 1):
        matched[0] = row
        column = 0
        least = np.full(columns + 1, np.inf)
        seen = np.zeros(columns + 1, np.bool_)
        while True:
            seen[column] = True
            current = matched[column]
            delta, following = np.inf, 0
            for other in range(1, columns + 1):
                if seen[other]:
                    continue
                reduced = cost[current - 1, other - 1] - of_row[current] - of_column[other]
                if reduced < least[other]:
                    least[other], way[other] = reduced, column
                if least[other] < delta:
                    delta, following = least[other], other
            for other in range(columns + 1):
                if seen[other]:
                    of_row[matched[other]] += delta
                    of_column[other] -= delta
                else:
                    least[other] -= delta
            column = following
            if matched[column] == 0:
                break
        while column:
            before = way[column]
            matched[column] = matched[before]
            column = before
    found = np.empty(rows, np.int64)
    for other in range(1, columns + 1):
        if matched[other]:
            found[matched[other] - 1] = other - 1
    return found
