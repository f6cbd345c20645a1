"""Star linkage: clusters of a centre and its neighbours.

Star linkage visits the texts in order: by their sum of Jaccard, highest first, with the content hash breaking ties, or
in an order that the caller gives. Each text that is still free becomes a centre and takes its free neighbours. So every
text of a cluster has a verified pair with the centre, and a chain of small changes does not connect its two ends.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from esdedup.columns.arrays import Numbers
from esdedup.columns.kernels import compiled


def star_roots(edges: Iterable[tuple[Numbers, Numbers]], texts: int) -> Numbers:
    """Return the smallest index in the cluster of each of `texts` texts, shape (texts,).

    The edges, in batches, connect texts by index. The first end of each is the one that is visited earlier, and edges
    come in the order in which these are visited: so a text that is free at its first edge is a centre, and no edge has
    to be kept.
    """
    centre = np.full(texts, -1, np.int64)
    for first, second in edges:
        _join(centre, first, second)
    own = np.arange(texts)
    centre = np.where(centre < 0, own, centre)
    least = np.full(texts, texts, np.int64)
    np.minimum.at(least, centre, own)
    return least[centre]


@compiled
def _join(centre: Numbers, first: Numbers, second: Numbers) -> None:
    for edge in range(len(first)):
        one, other = first[edge], second[edge]
        if centre[one] < 0:
            centre[one] = one
        if centre[one] == one and centre[other] < 0:
            centre[other] = one


def in_order(a: Numbers, b: Numbers, order: Numbers) -> tuple[Numbers, Numbers]:
    """Return the ends of edges as `star_roots` wants them, if the texts are visited in this order."""
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    first, second = np.minimum(rank[a], rank[b]), np.maximum(rank[a], rank[b])
    by = np.argsort(first, kind="stable")
    return order[first[by]], order[second[by]]
