"""The words of a huge wiki, common and rare as in a real text, and random numbers that need no state."""

from __future__ import annotations

import re
from itertools import product
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from scripts.wiki.english.names import name_of
from scripts.wiki.english.word_files import word_lists

WORDS = 60_000
DRAWS = 2**18
"""Entries of the table that turns a random number into a word."""
_BEFORE_FIRST = 2.7
"""Zipf's law as Mandelbrot has it: the frequency of the word at `rank` is in proportion to 1 / (rank + 2.7)."""
_COMMON = (
    "the of and in to a was is for as on with by he at from his that it an were are which be this had also or has "
    "their not its one first but she who have after her they been two new other when there all during into time "
    "may more most only some than between used over such many known later then where would about made through "
    "three both under being before several while against part well however second called until including since "
    "became began four end city year years people world state war system number work high large long early small "
    "same major next"
)
_ENDING = 5
_WORD = re.compile("[a-z]{4,12}")


class Pool(NamedTuple):
    """Pieces of bytes, one after the other: piece i is `data[starts[i]:starts[i + 1]]`."""

    data: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]


def pool_of(pieces: list[bytes]) -> Pool:
    """Return the pieces as a pool."""
    return Pool(np.frombuffer(b"".join(pieces), np.uint8), np.cumsum([0, *map(len, pieces)]))


def vocabulary() -> tuple[Pool, npt.NDArray[np.int32]]:
    """Return all words, the most frequent first, and the table of `DRAWS` entries that draws them by frequency."""
    words = dict.fromkeys(_COMMON.split())
    for entries in word_lists("words.txt").values():
        words.update(dict.fromkeys(_WORD.findall(" ".join(entries).lower())))
    halves = [name_of(number).lower() for number in range(400)]
    for first, second in product(halves, halves):
        if len(words) == WORDS:
            break
        words.setdefault(first[:4] + second[-_ENDING:])
    shares = np.cumsum(1 / (np.arange(WORDS) + 1 + _BEFORE_FIRST))
    drawn = np.searchsorted(shares, (np.arange(DRAWS) + 0.5) / DRAWS * shares[-1]).astype(np.int32)
    return pool_of([word.encode() for word in words][:WORDS]), drawn


@numba.njit(cache=True, nogil=True, inline="always")
def mixed(seed: int, number: int) -> np.uint64:
    """Return a random number of 64 bits that belongs to both numbers (splitmix64)."""
    value = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@numba.njit(cache=True, nogil=True, inline="always")
def below(random: np.uint64, limit: int) -> int:
    """Return a number from 0 to below `limit`, made of the upper half of a random number."""
    return np.int64(((random >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))
