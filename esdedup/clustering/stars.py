"""Which texts of a component stay together: all of them (single linkage), or those around a centre (star).

Star linkage takes the texts in turn: by their sum of Jaccard, highest first, content hash breaking ties, or in
an order that the caller gives. Each one not yet taken becomes a centre and takes its neighbours that are still
free. So every text of a cluster has a verified pair with the centre, which is the first of the cluster to have its
turn, and a chain of small changes does not tie its ends together.
"""

from __future__ import annotations

import numpy as np

from esdedup.columns.arrays import Numbers
from esdedup.columns.kernels import compiled


def star_roots(a: Numbers, b: Numbers, turns: Numbers) -> Numbers:
    """The smallest place of the cluster of each text, from edges a[i], b[i] between places; `turns` holds every
    place, in the order in which the texts have their turn."""
    texts = len(turns)
    ends = np.concatenate([a, b])
    order = np.argsort(ends, kind="stable")
    neighbours = np.concatenate([b, a])[order]
    starts = np.searchsorted(ends[order], np.arange(texts + 1))
    return _stars(starts, neighbours, turns)


@compiled
def _stars(starts: Numbers, neighbours: Numbers, turns: Numbers) -> Numbers:
    texts = len(turns)
    centre = np.full(texts, -1, np.int64)
    for text in turns:
        if centre[text] >= 0:
            continue
        centre[text] = text
        for at in range(starts[text], starts[text + 1]):
            if centre[neighbours[at]] < 0:
                centre[neighbours[at]] = text
    least = np.full(texts, texts, np.int64)
    for text in range(texts):
        least[centre[text]] = min(least[centre[text]], text)
    return least[centre]
