"""MinHash values: the minimum of each hash function of a family over a text's shingles.

The family is multiply-shift (Dietzfelbinger et al. 1997), h(x) = (a·x + b mod 2^64) >> (64 - bits) with odd a, over
shingle hashes that are mixed already. Weissman et al. 2014 (section 3) use the same with 60 bits. The probability that
two texts have equal values is the Jaccard similarity of their shingle sets.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt

from esdedup.columns.hashing import Bytes, Hashes, Offsets, mix, random_words
from esdedup.columns.kernels import compiled
from esdedup.text.shingles import longest, unit_windows

Tokens = npt.NDArray[np.int64]
Choices = npt.NDArray[np.int64]

TOKEN_BITS = 53  # the widest integer that every JavaScript client reads exactly
COLUMN_BITS = 8  # the low bits of a token are its column, so tokens of different columns are never equal


@cache
def family(seed: int, hashes: int) -> tuple[Hashes, Hashes]:
    """Return multipliers (odd) and addends of `hashes` functions: two arrays of shape (hashes,)."""
    words = random_words(np.uint64(seed), 2 * hashes)
    return words[:hashes] | np.uint64(1), words[hashes:]


@cache
def token_choices(bands: tuple[int, int] | None, draws: tuple[int, int, int] | None, seed: int) -> Choices:
    """Return the MinHash values from which each token is folded, shape (tokens, values in a token).

    Give either `bands` (bands and rows) or `draws` (hashes, draw and draws).
    """
    if draws is not None:
        hashes, draw, tokens = draws
        return np.array([_draw(seed, hashes, draw, token) for token in range(tokens)], np.int64)
    return np.arange(math.prod(bands or ()), dtype=np.int64).reshape(bands)


def _draw(seed: int, hashes: int, draw: int, token: int) -> tuple[int, ...]:
    """Return the `draw` members of the pool with the smallest random words: a choice without replacement."""
    words = random_words(np.uint64(seed) ^ np.uint64((token + 1) * 0x5851F42D4C957F2D & (2**64 - 1)), hashes)
    return tuple(sorted(int(index) for index in np.argsort(words, kind="stable")[:draw]))


@compiled
def _minima(windows: Hashes, count: int, multipliers: Hashes, addends: Hashes, shift: np.uint64, out: Hashes) -> None:
    """Write the minimum of each function over `windows[:count]`, four functions at a time, so that each window is
    loaded once for four. Numbers are compared as signed ones with the top bit flipped, which vectorizes.
    """
    top = np.uint64(1 << 63)
    most = np.int64((1 << 63) - 1)
    functions = len(multipliers)
    for first in range(0, functions, 4):
        second, third, fourth = (
            min(first + 1, functions - 1),
            min(first + 2, functions - 1),
            min(first + 3, functions - 1),
        )
        times1, plus1, least1 = np.int64(multipliers[first]), np.int64(addends[first] ^ top), most
        times2, plus2, least2 = np.int64(multipliers[second]), np.int64(addends[second] ^ top), most
        times3, plus3, least3 = np.int64(multipliers[third]), np.int64(addends[third] ^ top), most
        times4, plus4, least4 = np.int64(multipliers[fourth]), np.int64(addends[fourth] ^ top), most
        for index in range(count):
            window = np.int64(windows[index])
            least1 = min(least1, window * times1 + plus1)
            least2 = min(least2, window * times2 + plus2)
            least3 = min(least3, window * times3 + plus3)
            least4 = min(least4, window * times4 + plus4)
        # a shift preserves the order, so the minimum may be taken before it
        out[first] = (np.uint64(least1) ^ top) >> shift
        out[second] = (np.uint64(least2) ^ top) >> shift
        out[third] = (np.uint64(least3) ^ top) >> shift
        out[fourth] = (np.uint64(least4) ^ top) >> shift


@compiled
def minhash_values(
    data: Bytes,
    offsets: Offsets,
    words: Hashes,
    by_word: bool,
    length: int,
    multipliers: Hashes,
    addends: Hashes,
    bits: int,
) -> Hashes:
    """Return the signatures of texts, shape (n, hashes). Each text needs at least one shingle."""
    texts = len(offsets) - 1
    units = np.empty(0 if by_word else longest(offsets), np.uint64)
    windows = np.empty(longest(offsets), np.uint64)
    values = np.empty((texts, len(multipliers)), np.uint64)
    shift = np.uint64(64 - bits)
    for index in range(texts):
        count = unit_windows(data, offsets, words, by_word, index, length, units, windows)
        _minima(windows, count, multipliers, addends, shift, values[index])
    return values


@compiled
def fold(values: Hashes, choices: Choices) -> Tokens:
    """Return the tokens of signatures, shape (n, tokens). `choices` (tokens, size) lists the values of each token."""
    tokens = np.empty((len(values), len(choices)), np.int64)
    for index in range(len(values)):
        for token in range(len(choices)):
            state = np.uint64(0)
            for choice in choices[token]:
                state = mix(state ^ values[index, choice]) + np.uint64(0x9E3779B97F4A7C15)
            folded = np.int64(state >> np.uint64(64 - TOKEN_BITS + COLUMN_BITS))
            tokens[index, token] = (folded << COLUMN_BITS) | token
    return tokens
