"""Distribute rows and pairs among threads. The kernels release the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from esdedup.columns.arrays import Numbers
from esdedup.matching.lsh.collide import Similarities


def in_parts(threads: int, rows: int, work: Callable[[int, int], object]) -> None:
    """Run `work` on ranges of `rows` rows, on this many threads."""
    cuts = np.linspace(0, rows, (4 * threads if threads > 1 else 1) + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, cuts[:-1], cuts[1:]):
            pass


def measured(threads: int, measure: Callable[[Numbers, Numbers], Similarities], a: Numbers, b: Numbers) -> Similarities:
    """Return a kernel's measure of the pairs a[i], b[i], shape (pairs,)."""
    out = np.empty(len(a), np.float64)

    def part(begin: int, end: int) -> None:
        out[begin:end] = measure(a[begin:end], b[begin:end])

    in_parts(threads, len(a), part)
    return out
