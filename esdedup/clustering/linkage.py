"""Which texts of a component stay together: all of them (single linkage), or those around a centre (star).

Star linkage takes the texts by their sum of Jaccard, highest first, content hash breaking ties; each one not
yet taken becomes a centre and takes its neighbours that are still free. So every text of a cluster has a
verified pair with the centre, and a chain of small changes does not tie its ends together.
"""

from __future__ import annotations

import numpy as np

from esdedup.compiled import compiled
from esdedup.pairs.groups import Numbers


def star_roots(a: Numbers, b: Numbers, sums: Numbers) -> Numbers:
    """The smallest place of the cluster of each text, shape of `sums`, from edges a[i], b[i] between places."""
    texts = len(sums)
    ends = np.concatenate([a, b])
    order = np.argsort(ends, kind="stable")
    neighbours = np.concatenate([b, a])[order]
    starts = np.searchsorted(ends[order], np.arange(texts + 1))
    return _stars(starts, neighbours, np.argsort(-sums, kind="stable"))


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
