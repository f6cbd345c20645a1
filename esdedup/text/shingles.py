"""Turn texts into shingles, as 64-bit hashes in flat arrays.

A shingle is `length` consecutive code points (`char:N`) or words (`word:N`). A text shorter than one shingle is one
shingle. An empty text has none, so it never matches anything. Two different shingles have the same hash with
probability 2^-64, so Jaccard over hashes is Jaccard over shingles for all purposes here.

The units of a text are numbers: its code points, or one 64-bit hash for each word. A window of them is hashed by a
polynomial modulo 2^64, rolled along the text, and mixed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esdedup.columns.hashing import Bytes, Hashes, Offsets, mix
from esdedup.columns.kernels import compiled

Units = npt.NDArray[np.uint64]

_BASE = np.uint64(0x9FB21C651E98DF25)  # odd, so that no power of it vanishes modulo 2^64


class Shingled(NamedTuple):
    """Texts in the form that the kernels shingle; see `unit_windows`."""

    data: Bytes
    offsets: Offsets
    words: Hashes
    by_word: bool
    length: int


@compiled
def code_points(data: Bytes, start: int, end: int, units: Units) -> int:
    """Write the code points of the UTF-8 text `data[start:end]` to `units`. Return their number."""
    count = 0
    at = start
    while at < end:
        byte = np.uint64(data[at])
        if byte < 0x80:
            units[count] = byte
            at += 1
        elif byte < 0xE0:
            units[count] = (byte & np.uint64(0x1F)) << np.uint64(6) | np.uint64(data[at + 1] & 0x3F)
            at += 2
        elif byte < 0xF0:
            units[count] = (
                (byte & np.uint64(0x0F)) << np.uint64(12)
                | np.uint64(data[at + 1] & 0x3F) << np.uint64(6)
                | np.uint64(data[at + 2] & 0x3F)
            )
            at += 3
        else:
            units[count] = (
                (byte & np.uint64(0x07)) << np.uint64(18)
                | np.uint64(data[at + 1] & 0x3F) << np.uint64(12)
                | np.uint64(data[at + 2] & 0x3F) << np.uint64(6)
                | np.uint64(data[at + 3] & 0x3F)
            )
            at += 4
        count += 1
    return count


@compiled
def window_hashes(units: Units, count: int, length: int, out: Hashes) -> int:
    """Write the hash of each shingle of `units[:count]` to `out`, in text order. Return their number."""
    if count == 0:
        return 0
    size = min(length, count)
    top = np.uint64(1)
    rolling = np.uint64(0)
    for index in range(size):
        rolling = rolling * _BASE + units[index] + np.uint64(1)
        if index > 0:
            top *= _BASE
    out[0] = mix(rolling ^ np.uint64(size))
    for index in range(size, count):
        rolling = (rolling - (units[index - size] + np.uint64(1)) * top) * _BASE + units[index] + np.uint64(1)
        out[index - size + 1] = mix(rolling ^ np.uint64(size))
    return count - size + 1


@compiled
def longest(offsets: Offsets) -> int:
    """Return the greatest distance between adjacent offsets; 0 if there are none."""
    most = 0
    for index in range(len(offsets) - 1):
        most = max(most, int(offsets[index + 1] - offsets[index]))
    return most


@compiled
def unit_windows(
    data: Bytes,
    offsets: Offsets,
    words: Hashes,
    by_word: bool,
    index: int,
    length: int,
    units: Units,
    out: Hashes,
) -> int:
    """Write the shingle hashes of text `index` to `out`. Return their number.

    By code points, text i is `data[offsets[i]:offsets[i + 1]]`. By words, its word hashes are
    `words[offsets[i]:offsets[i + 1]]`.
    """
    if by_word:
        count = offsets[index + 1] - offsets[index]
        return window_hashes(words[offsets[index] : offsets[index + 1]], count, length, out)
    count = code_points(data, offsets[index], offsets[index + 1], units)
    return window_hashes(units, count, length, out)


@compiled
def few_shingles(data: Bytes, offsets: Offsets, length: int, most: int) -> Offsets:
    """Return the number of distinct shingles of `length` code points of each text, but at most `most`; shape (n,)."""
    texts = len(offsets) - 1
    widest = longest(offsets)
    units = np.empty(widest, np.uint64)
    windows = np.empty(widest, np.uint64)
    bits = 3
    while (1 << bits) < 2 * min(most, widest):
        bits += 1
    mask = np.uint64((1 << bits) - 1)
    table = np.empty(1 << bits, np.uint64)  # open addressing; a place holds a shingle if its stamp is this text's
    filled = np.zeros(1 << bits, np.int64)
    counts = np.zeros(texts, np.int64)
    for index in range(texts):
        # of a long text, the beginning usually has enough
        end = min(offsets[index + 1], offsets[index] + 16 * most)
        while end < offsets[index + 1] and data[end] & 0xC0 == 0x80:
            end += 1
        for attempt in range(2):
            stamp = 2 * index + attempt + 1
            found = 0
            count = window_hashes(units, code_points(data, offsets[index], end, units), length, windows)
            for at in range(count):
                place = windows[at] & mask
                while filled[place] == stamp and table[place] != windows[at]:
                    place = (place + np.uint64(1)) & mask
                if filled[place] != stamp:
                    filled[place] = stamp
                    table[place] = windows[at]
                    found += 1
                    if found >= most:
                        break
            if found >= most or end == offsets[index + 1]:
                break
            end = offsets[index + 1]
        counts[index] = found
    return counts


@compiled
def _sort(values: Hashes, count: int, counters: Offsets, out: Hashes) -> None:
    """Sort `values[:count]` into `out`: one counting pass by the leading bits, then insertion.

    The values are mixed, so about one falls into each bucket, and the insertion pass is linear.
    """
    bits = 1
    while (1 << bits) < count:
        bits += 1
    shift = np.uint64(64 - bits)
    buckets = 1 << bits
    counters[: buckets + 1] = 0
    for index in range(count):
        counters[np.int64(values[index] >> shift) + 1] += 1
    for index in range(buckets):
        counters[index + 1] += counters[index]
    for index in range(count):
        bucket = np.int64(values[index] >> shift)
        out[counters[bucket]] = values[index]
        counters[bucket] += 1
    for index in range(1, count):
        value = out[index]
        at = index
        while at > 0 and out[at - 1] > value:
            out[at] = out[at - 1]
            at -= 1
        out[at] = value


@compiled
def shingle_sets(data: Bytes, offsets: Offsets, words: Hashes, by_word: bool, length: int) -> tuple[Hashes, Offsets]:
    """Return the sorted distinct shingles of each text: flat hashes, and offsets of shape (n + 1,)."""
    texts = len(offsets) - 1
    widest = longest(offsets)
    units = np.empty(0 if by_word else widest, np.uint64)
    windows = np.empty(widest, np.uint64)
    part = np.empty(widest, np.uint64)
    counters = np.empty(2 * widest + 3, np.int64)
    flat = np.empty(offsets[texts] - offsets[0], np.uint64)
    bounds = np.zeros(texts + 1, np.int64)
    total = 0
    for index in range(texts):
        count = unit_windows(data, offsets, words, by_word, index, length, units, windows)
        _sort(windows, count, counters, part)
        for at in range(count):
            if at == 0 or part[at] != part[at - 1]:
                flat[total] = part[at]
                total += 1
        bounds[index + 1] = total
    return flat[:total].copy(), bounds
