"""The grams of a text in its search form: what is looked up.

Of a word, each four consecutive letters of the word with a space before it: of `cambridge`, ` cam`, `camb`, `ambr`, and
so on; a shorter word is one gram. So a word that is half typed has the first grams of the whole word, a wrong letter
costs four, and the order of words does not matter. Scripts without spaces (Chinese, Japanese, Thai and so on) have
pairs of signs instead.

A gram is known by 32 bits of its hash.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import decode, text_buffers
from esdedup.columns.digits import by_digits
from esdedup.columns.hashing import Bytes, Hashes, Offsets, mix
from esdedup.columns.kernels import compiled

Grams = npt.NDArray[np.uint32]

_LETTERS = 4
_SPACE = 0x20


def grams_of(forms: pa.LargeStringArray, *, half: bool = False) -> tuple[Grams, Offsets]:
    """Return the distinct grams of texts in search form, sorted, and offsets of shape (n + 1,).

    With `half`, the last word of each text may be half typed: if it is short, it has no gram.
    """
    return _grams(*text_buffers(forms), half)


def gram_keys(forms: pa.LargeStringArray) -> Hashes:
    """Return the grams of up to 65,536 texts in search form, sorted, and some twice. Each has in its lowest 16 bits the
    number of its text.
    """
    return by_digits(_keys(*text_buffers(forms)), 16)


UNSPACED = "\u0e00-\u10ff\u1780-\u17ff\u1950-\u1aaf\u2e80-\ua4cf\uf900-\ufaff\U0001a000-\U0001bfff\U00020000-\U0010ffff"
"""Code points of scripts without spaces between words, as in a class of a regular expression."""

_RANGES = tuple((ord(low), ord(high)) for low, high in re.findall("(.)-(.)", UNSPACED))


@compiled
def is_unspaced(code: int) -> bool:
    """Whether a code point is one of `UNSPACED`."""
    found = False
    if code >= _RANGES[0][0]:
        for low, high in _RANGES:
            found |= low <= code <= high
    return found


@compiled
def _grams(data: Bytes, offsets: Offsets, half: bool) -> tuple[Grams, Offsets]:
    texts = len(offsets) - 1
    out = np.empty(offsets[texts] - offsets[0], np.uint32)  # a word of n letters has at most n
    bounds = np.zeros(texts + 1, np.int64)
    total = 0
    for index in range(texts):
        start = total
        total = _of_text(data, offsets[index], offsets[index + 1], out, total, half)
        total = start + _distinct(out[start:total])
        bounds[index + 1] = total
    return out[:total].copy(), bounds


@compiled
def _keys(data: Bytes, offsets: Offsets) -> Hashes:
    texts = len(offsets) - 1
    out = np.empty(offsets[texts] - offsets[0], np.uint64)
    grams = np.empty(np.diff(offsets).max() if texts else 0, np.uint32)
    total = 0
    for index in range(texts):
        for at in range(_of_text(data, offsets[index], offsets[index + 1], grams, 0, False)):
            out[total] = np.uint64(grams[at]) << np.uint64(16) | np.uint64(index)
            total += 1
    return out[:total].copy()


@compiled
def _of_text(data: Bytes, at: int, end: int, out: Grams, total: int, half: bool) -> int:
    """Write the grams of a text, some perhaps twice. Return the total."""
    while at < end:
        code, after = decode(data, at, end)
        if code == _SPACE:
            at = after
        elif is_unspaced(code):
            total, at = _pairs(data, at, end, out, total)
        else:
            total, at = _parts(data, at, end, out, total, half)
    return total


@compiled
def _pairs(data: Bytes, at: int, end: int, out: Grams, total: int) -> tuple[int, int]:
    """Write the pairs of a run of signs without spaces; a single sign is one gram. Return the total, and its end."""
    first, at = decode(data, at, end)
    alone = True
    while at < end:
        second, after = decode(data, at, end)
        if not is_unspaced(second):
            break
        out[total] = mix(np.uint64(first) << np.uint64(21) | np.uint64(second)) & np.uint64(0xFFFFFFFF)
        total += 1
        first, at, alone = second, after, False
    if alone:
        out[total] = mix(np.uint64(first)) & np.uint64(0xFFFFFFFF)
        total += 1
    return total, at


@compiled
def _parts(data: Bytes, at: int, end: int, out: Grams, total: int, half: bool) -> tuple[int, int]:
    """Write the grams of the word at `at`. Return the total, and where the word ends."""
    window = np.uint64(_SPACE)  # the last letters, 16 bits each: enough to tell words apart
    seen = 1
    whole = np.uint64(0)
    while at < end:
        code, after = decode(data, at, end)
        if code == _SPACE or is_unspaced(code):
            break
        window = window << np.uint64(16) | np.uint64(code & 0xFFFF)
        whole = window
        seen += 1
        at = after
        if seen >= _LETTERS:
            out[total] = mix(window) & np.uint64(0xFFFFFFFF)
            total += 1
    if seen < _LETTERS and not (half and at >= end):
        out[total] = mix(whole << np.uint64(16) | np.uint64(_SPACE)) & np.uint64(0xFFFFFFFF)
        total += 1
    return total, at


@compiled
def _distinct(grams: Grams) -> int:
    """Sort grams, and keep each once. Return how many are left."""
    grams.sort()
    kept = 0
    for index in range(len(grams)):
        if kept == 0 or grams[index] != grams[kept - 1]:
            grams[kept] = grams[index]
            kept += 1
    return kept
