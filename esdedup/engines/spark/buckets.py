"""Which bucket does a row go to? How many buckets are there?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Hashes

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MOST_BITS = 15


def bits_for(size: int, budget: int, tasks: int) -> int:
    """Return the bits of a bucket's number: with that many buckets each has at most `budget` of `size` bytes, and each
    of `tasks` parallel tasks has a few of them.
    """
    return min(_MOST_BITS, max(0, (max(size // budget, 4 * tasks) - 1).bit_length()))


def spread(values: Hashes, bits: int) -> Numbers:
    """Return the buckets of values by a mix of all their bits."""
    if bits == 0:
        return np.zeros(len(values), np.int64)
    mixed = values * _GOLDEN
    mixed ^= mixed >> np.uint64(32)
    return ((mixed * _GOLDEN) >> np.uint64(64 - bits)).astype(np.int64)


def ranges(hashes: Hashes, bits: int) -> Numbers:
    """Return the buckets of hashes by their first bits, so that a bucket is a range of hashes."""
    return (hashes >> np.uint64(64 - bits)).astype(np.int64) if bits else np.zeros(len(hashes), np.int64)


def by_bucket(buckets: Numbers, rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of each bucket."""
    order = np.argsort(buckets.astype(np.uint16), kind="stable")  # a radix sort
    yield from in_order(buckets[order], rows.take(pa.array(order)))


def in_order(buckets: Numbers, rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of each bucket, which are adjacent."""
    cuts = np.flatnonzero(np.diff(buckets)) + 1
    rows = rows.combine_chunks()
    for begin, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(buckets)], strict=True):
        if begin < end:
            yield int(buckets[begin]), rows.slice(begin, end - begin)
