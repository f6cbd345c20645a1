"""Which pages, categories and templates a page names, as a filter of a few bytes.

A filter has one bit for each hash of a name, modulo its number of bits (Bloom 1970, with one hash function). It is a
power of two, up to eight times the number of names, so about one name in eight that a page does not name seems to be
there. Names of templates are apart from those of pages.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers, decode, text_buffers
from esdedup.columns.hashing import Bytes, Hashes, mix
from esdedup.columns.kernels import compiled

_LEAST_BITS, _MOST_BITS = 64, 2048
_BITS_A_NAME = 8
_FULL = 0.25
"""The share of bits above which a name that seems to be there says little."""

_LONGEST = 255
"""Bytes of a title."""

_OPEN, _CLOSE, _BRACE, _BRACE_END, _BAR, _HASH, _LINE = map(ord, "[]{}|#\n")
_LOWER = np.array([ord(low) if len(low := chr(code).lower()) == 1 else code for code in range(0x2000)], np.int64)
"""The small letters of these code points. Titles begin with a capital, links may not."""

_ONES = np.array([byte.bit_count() for byte in range(256)], np.int64)
_SPACE, _UNDERSCORE, _COLON = map(ord, " _:")


def link_filters(texts: pa.LargeStringArray) -> pa.BinaryArray:
    """Return the filter of each wikitext: empty if it names nothing."""
    data, offsets = text_buffers(texts)
    bounds = np.zeros(len(texts) + 1, np.int64)
    most = np.empty(int(max(np.diff(offsets).max(initial=0) // 4, 1)), np.uint64)
    out = np.zeros(len(texts) * _MOST_BITS // 8, np.uint8)
    size = _filter_all(data, offsets, most, out, bounds)
    return pa.Array.from_buffers(
        pa.binary(),
        len(texts),
        [None, pa.py_buffer(bounds.astype(np.int32).tobytes()), pa.py_buffer(out[:size].tobytes())],
    )


def names_page(filters: pa.BinaryArray, titles: pa.LargeStringArray) -> list[bool | None]:
    """Return whether each filter has the page with the title beside it; None if it may, among so many names."""
    data, offsets = text_buffers(titles)
    found: list[bool | None] = []
    for place, bits in enumerate(filters.to_pylist()):
        value = int(_hash_of(data, int(offsets[place]), int(offsets[place + 1]), False))
        at = value % (8 * len(bits)) if bits else 0
        named = bool(bits) and bool(bits[at >> 3] >> (at & 7) & 1)
        full = named and _ONES[np.frombuffer(bits, np.uint8)].sum() > _FULL * 8 * len(bits)
        found.append(None if full else named)
    return found


def overlaps(filters: pa.BinaryArray, one: Numbers, two: Numbers) -> Numbers:
    """Return how many of a hundred names of the page with fewer names the other one has, too; about. The pages are
    given by the places of their filters; of a page without a filter it is 0. Raises `ValueError` for what is no filter.
    """
    _, bounds, data = filters.buffers()
    ends = np.frombuffer(bounds, np.int32)[filters.offset : filters.offset + len(filters) + 1].astype(np.int64)
    sizes = 8 * np.diff(ends)
    if ((sizes > 0) & ((sizes & (sizes - 1) != 0) | (sizes < _LEAST_BITS) | (sizes > _MOST_BITS))).any():
        raise ValueError("what a document names is damaged")
    return _overlap_all(np.frombuffer(data or b"\0", np.uint8), ends, one, two)


@compiled
def _filter_all(data: Bytes, offsets: Numbers, found: Hashes, out: Bytes, bounds: Numbers) -> int:
    at = 0
    for text in range(len(offsets) - 1):
        count = _names(data, offsets[text], offsets[text + 1], found)
        names = np.unique(found[:count])
        if len(names):
            bits = _LEAST_BITS
            while 2 * bits <= min(_BITS_A_NAME * len(names), _MOST_BITS):
                bits *= 2
            for name in names:
                place = np.int64(name % np.uint64(bits))
                out[at + (place >> 3)] |= 1 << (place & 7)
            at += bits >> 3
        bounds[text + 1] = at
    return at


@compiled
def _names(data: Bytes, begin: int, end: int, found: Hashes) -> int:
    """Write the hashes of what a text names behind two brackets or braces; return how many there are."""
    count = 0
    at = begin
    while at + 2 < end:
        sign = data[at]
        if (sign != _OPEN and sign != _BRACE) or data[at + 1] != sign:
            at += 1
            continue
        first = at + 2
        last = first
        while last < end and last - first <= _LONGEST and not _ends_name(data[last]):
            last += 1
        if last < end and first < last <= first + _LONGEST and data[last] not in (_OPEN, _BRACE) and count < len(found):
            found[count] = _hash_of(data, first, last, sign == _BRACE)
            count += 1
        at = max(last, first)
    return count


@compiled
def _ends_name(letter: int) -> bool:
    return letter in (_OPEN, _CLOSE, _BRACE, _BRACE_END, _BAR, _HASH, _LINE)


@compiled
def _hash_of(data: Bytes, first: int, last: int, template: bool) -> np.uint64:
    """Return the hash of a name without white space around it; the first letter is a capital or not."""
    while first < last and data[first] in (_SPACE, _UNDERSCORE, _COLON):
        first += 1
    while first < last and data[last - 1] in (_SPACE, _UNDERSCORE):
        last -= 1
    value = np.uint64(template)
    if first < last:
        code, first = decode(data, first, last)
        value = mix(value * np.uint64(31) + np.uint64(_LOWER[code] if code < len(_LOWER) else code) + np.uint64(1))
    for place in range(first, last):
        letter = _SPACE if data[place] == _UNDERSCORE else data[place]
        value = mix(value * np.uint64(31) + np.uint64(letter) + np.uint64(1))
    return value


@compiled
def _overlap_all(data: Bytes, bounds: Numbers, one: Numbers, two: Numbers) -> Numbers:
    out = np.zeros(len(one), np.int64)
    left, right = np.empty(_MOST_BITS >> 3, np.uint8), np.empty(_MOST_BITS >> 3, np.uint8)
    for pair in range(len(one)):
        a, b = bounds[one[pair]], bounds[two[pair]]
        size = min(bounds[one[pair] + 1] - a, bounds[two[pair] + 1] - b)
        if size == 0:
            continue
        _fold(data, a, bounds[one[pair] + 1], size, left)
        _fold(data, b, bounds[two[pair] + 1], size, right)
        ours = theirs = both = 0
        for place in range(size):
            ours += _ONES[left[place]]
            theirs += _ONES[right[place]]
            both += _ONES[left[place] & right[place]]
        chance = ours * theirs / (8 * size)
        out[pair] = np.int64(round(100 * max(both - chance, 0.0) / max(min(ours, theirs) - chance, 1.0)))
    return out


@compiled
def _fold(data: Bytes, begin: int, end: int, size: int, out: Bytes) -> None:
    """Write a filter as one of `size` bytes, which is a part of its own."""
    for place in range(size):
        out[place] = 0
    for place in range(begin, end):
        out[(place - begin) % size] |= data[place]
