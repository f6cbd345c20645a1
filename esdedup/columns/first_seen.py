"""Which of very many hashes come for the first time: two passes over them, and a few bits of memory for each."""

from __future__ import annotations

import numpy as np

from esdedup.columns.arrays import Flags
from esdedup.columns.hashing import Hashes
from esdedup.columns.kernels import compiled

_BITS = 16
"""So many bits a hash: of 16 hashes that come once, one looks as if it came twice, and is looked up."""
_LEAST_BITS = 2**10


class FirstSeen:
    """Notes all hashes, with `note`, and then says of each, with `firsts`, whether it comes for the first time.

    Args:
        count: How many hashes there are, about.
    """

    def __init__(self, count: int) -> None:
        self._width = max(_LEAST_BITS, _BITS * count).bit_length()
        self._marked = np.zeros(2**self._width // 64, np.uint64)
        self._noted: list[Hashes] = [np.empty(0, np.uint64)]

    def note(self, hashes: Hashes) -> None:
        """Take in hashes: in the first pass."""
        self._noted.append(_marked_before(self._marked, self._width, hashes))

    def settle(self, known: Hashes) -> None:
        """End the first pass. What is `known`, and has been noted too, does not come for the first time."""
        self._noted.append(known[_marked(self._marked, self._width, known)])
        self._twice = np.concatenate(self._noted)
        self._noted.clear()
        self._twice.sort()  # some are there twice: then the first one is marked as taken
        self._taken = np.zeros(len(self._twice), np.bool_)
        self._marked[:] = 0
        _marked_before(self._marked, self._width, self._twice)
        self.firsts(known)

    def firsts(self, hashes: Hashes) -> Flags:
        """Return which hashes come for the first time: in the second pass."""
        return _firsts(self._marked, self._width, self._twice, self._taken, hashes)


def among(hashes: Hashes, few: Hashes) -> Flags:
    """Return which hashes are among `few` others."""
    width = max(_LEAST_BITS, _BITS * len(few)).bit_length()
    marked, found = np.zeros(2**width // 64, np.uint64), np.sort(few)
    _marked_before(marked, width, found)
    flags = _marked(marked, width, hashes)
    candidates = hashes[flags]
    flags[flags] = found[np.minimum(np.searchsorted(found, candidates), len(found) - 1)] == candidates
    return flags


@compiled
def _marked(marked: Hashes, width: int, hashes: Hashes) -> Flags:
    flags = np.zeros(len(hashes), np.bool_)
    for at in range(len(hashes)):
        place = hashes[at] >> np.uint64(64 - width)
        flags[at] = marked[place >> np.uint64(6)] >> (place & np.uint64(63)) & np.uint64(1)
    return flags


@compiled
def _marked_before(marked: Hashes, width: int, hashes: Hashes) -> Hashes:
    """Mark hashes, and return those whose mark was there: they may have come before."""
    found, count = np.empty(len(hashes), np.uint64), 0
    for at in range(len(hashes)):
        place = hashes[at] >> np.uint64(64 - width)
        word, bit = place >> np.uint64(6), np.uint64(1) << (place & np.uint64(63))
        if marked[word] & bit:
            found[count] = hashes[at]
            count += 1
        marked[word] |= bit
    return found[:count].copy()


@compiled
def _firsts(marked: Hashes, width: int, twice: Hashes, taken: Flags, hashes: Hashes) -> Flags:
    first = np.ones(len(hashes), np.bool_)
    for at in range(len(hashes)):
        place = hashes[at] >> np.uint64(64 - width)
        if marked[place >> np.uint64(6)] >> (place & np.uint64(63)) & np.uint64(1):
            there = np.searchsorted(twice, hashes[at])
            if there < len(twice) and twice[there] == hashes[at]:
                first[at] = not taken[there]
                taken[there] = True
    return first
