"""Keys of many texts: those that resemble each other are looked at together, a bounded number at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.keeping.protocol import Keys, TextPolicy

_TEXTS, _BYTES = 20_000, 2**26
"""Texts, and their bytes, that are looked at at once. Groups that are larger are taken apart."""


def keys_of_texts(
    policies: Sequence[TextPolicy], groups: Numbers, fetch: Callable[[Numbers], pa.LargeStringArray]
) -> list[Keys]:
    """Return the keys of distinct texts by policy: 0 for one that resembles no other. Texts of one of the `groups` (n,)
    resemble each other; groups are numbered in an order that does not depend on that of the input. `fetch` takes
    indices, and returns the texts.
    """
    found = [np.zeros(len(groups)) for _ in policies]
    _, number, size = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.argsort(number, kind="stable")
    place = np.arange(len(order)) - (np.cumsum(size) - size)[number[order]]
    several = size[number[order]] > 1
    order, own = order[several], (number[order] * (len(groups) // _TEXTS + 1) + place // _TEXTS)[several]
    for begin, end in _cuts(own, _TEXTS):
        rows = order[begin:end]
        texts = fetch(rows)
        for first, last in _bounded(texts, own[begin:end]):
            for keys, policy in zip(found, policies, strict=True):
                keys[rows[first:last]] = policy.text_keys(
                    texts.slice(first, last - first), own[begin + first : begin + last]
                )
    return found


def _bounded(texts: pa.LargeStringArray, own: Numbers) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts with about so many bytes as are looked at at once."""
    parts = texts.nbytes // _BYTES + 1
    return _cuts(own, -(-len(texts) // parts))


def _cuts(own: Numbers, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of at most so many rows, or of one group. None parts a group."""
    starts = np.append(np.flatnonzero(np.diff(own, prepend=-1)), len(own))
    begin = 0
    while begin < len(own):
        place = int(np.searchsorted(starts, begin + most, side="right")) - 1
        end = int(starts[place]) if starts[place] > begin else int(starts[place + 1])
        yield begin, end
        begin = end
