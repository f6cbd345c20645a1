"""Ranges of cluster sizes, and the power law that sizes follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from esdedup.store.store import Store

_FIRSTS = (2, 3, 4, 5, 10, 20, 50, 100, 200, 500, *(10**power for power in range(3, 12)))
"""The smallest size of each range."""

ENOUGH = 10
"""A size needs this many clusters to count for the power law."""

_FEWEST_SIZES = 3


class SizeClass(NamedTuple):
    """Sizes from `first` to `last`, both included."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first:,}" if self.first == self.last else f"{self.first:,}–{self.last:,}"


class PowerLaw(NamedTuple):
    """The number of clusters of a size is `factor * size ** exponent`, as observed from size `first` to `last`."""

    factor: float
    exponent: float
    first: int
    last: int


def sizes_of_kinds(store: Store) -> dict[str, dict[int, int]]:
    """Return the number of clusters of each size, for each kind."""
    return {kind: store.results.sizes(kind) for kind in store.results.kinds()}


def classes(sizes: Mapping[int, int]) -> dict[SizeClass, int]:
    """Return the number of clusters in each range of sizes, up to the last range that is not empty."""
    found = {}
    for first, behind in zip(_FIRSTS, (*_FIRSTS[1:], 10**12), strict=True):
        if first <= max(sizes, default=0):
            found[SizeClass(first, behind - 1)] = sum(sizes[size] for size in sizes if first <= size < behind)
    return found


def power_law(sizes: Mapping[int, int]) -> PowerLaw | None:
    """Fit a line by least squares through the logarithms of sizes and counts; None if fewer than three sizes count.

    Only sizes with at least `ENOUGH` clusters count, each equally. Larger sizes have single clusters, which would make
    any line flat. The line guides the eye; it is not a test of whether sizes follow a power law.
    """
    common = sorted(size for size, count in sizes.items() if count >= ENOUGH)
    if len(common) < _FEWEST_SIZES:
        return None
    logs = np.log10(common), np.log10([sizes[size] for size in common])
    exponent, height = np.polyfit(*logs, 1)
    return PowerLaw(float(10**height), float(exponent), common[0], common[-1])
