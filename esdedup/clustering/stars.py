"""Star linkage: clusters of a centre and its neighbours.

Star linkage visits the texts in order: by their sum of Jaccard, highest first, with the content hash breaking ties, or
in an order that the caller gives. Each text that is still free becomes a centre and takes its free neighbours. So every
text of a cluster has a verified pair with the centre, and a chain of small changes does not connect its two ends.
"""

from __future__ import annotations

import numpy as np

from esdedup.columns.arrays import Numbers
from esdedup.columns.kernels import compiled


def star_roots(a: Numbers, b: Numbers, centre_order: Numbers) -> Numbers:
    """Return the smallest index in the cluster of each text, shape (texts,).

    The edges a[i], b[i] connect texts by index. `centre_order` (texts,) holds every index, in the order in which the
    texts are visited.
    """
    texts = len(centre_order)
    ends = np.concatenate([a, b])
    order = np.argsort(ends, kind="stable")
    neighbours = np.concatenate([b, a])[order]
    starts = np.searchsorted(ends[order], np.arange(texts + 1))
    return _stars(starts, neighbours, centre_order)


@compiled
def _stars(starts: Numbers, neighbours: Numbers, centre_order: Numbers) -> Numbers:
    texts = len(centre_order)
    centre = np.full(texts, -1, np.int64)
    for text in centre_order:
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
