"""Sort whole numbers by their digits, which is several times as fast as comparing them."""

from __future__ import annotations

import numpy as np

from esdedup.columns.hashing import Hashes
from esdedup.columns.kernels import compiled

DIGIT_BITS = 11
SORTED_BITS = 3 * DIGIT_BITS
"""Bits by which `by_digits` sorts."""
_DIGITS = 2**DIGIT_BITS
_DIGIT = np.uint64(_DIGITS - 1)


@compiled
def by_digits(keys: Hashes, low: int) -> Hashes:
    """Sort keys by the `SORTED_BITS` from bit `low` on, in three digits, the last one first. Equal ones keep their
    order. `keys` is overwritten.
    """
    sorted_, given = np.empty_like(keys), keys
    for shift in range(low, low + SORTED_BITS, DIGIT_BITS):
        ends = np.zeros(_DIGITS + 1, np.int64)
        for at in range(len(given)):
            ends[(given[at] >> np.uint64(shift) & _DIGIT) + np.uint64(1)] += 1
        ends = np.cumsum(ends)
        for at in range(len(given)):
            digit = given[at] >> np.uint64(shift) & _DIGIT
            sorted_[ends[digit]] = given[at]
            ends[digit] += 1
        sorted_, given = given, sorted_
    return given
