"""`--normalize fold`: texts without case, punctuation and the width of letters, in one compiled pass.

Kept are letters, marks, digits and symbols such as + # % € (C++ is not C#, and +5 is not -5). Punctuation becomes a
space, except a minus sign before a digit. Apostrophes and invisible characters are removed. Runs of spaces become one.
A text of punctuation alone stays as it is.

A number counts as a whole, with the separators inside it (3.5): each of its signs becomes one that depends on all of
them. So 5443 and 5444 have nothing in common, and two rows that differ in a digit are less similar than two that differ
in a letter.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import text_buffers, texts_from
from esdedup.columns.hashing import Bytes, Offsets, mix
from esdedup.columns.kernels import compiled
from esdedup.columns.utf8 import decode, encode

_CODES = 0x20000  # beyond are ideographs, which stay
_SPACE, _NOTHING = 0, 1
_PRIVATE, _PRIVATE_CODES = 0xE000, 4096  # no text of any script uses these
_KEPT_SIGNS = "#%&@"
_REMOVED_SIGNS = "'’ʼ‘`´"
_PARTING_SYMBOLS = "|~^−"

Table = npt.NDArray[np.uint32]


@cache
def _table() -> Table:
    """Return what becomes of each code point: another one, a space (0), or nothing (1)."""
    table = np.arange(_CODES, dtype=np.uint32)
    for code in range(_CODES):
        if code < 0x80 or not 0x3400 <= code < 0xE000:  # ideographs, Hangul and surrogates stay
            table[code] = _folded(chr(code))
    return table


def _folded(sign: str) -> int:
    if sign in _REMOVED_SIGNS:
        return _NOTHING
    wide = unicodedata.normalize("NFKC", sign)
    lower = (wide if len(wide) == 1 else sign).lower()
    letter = lower if len(lower) == 1 else sign
    category = unicodedata.category(letter)
    if category == "Cf":
        return _NOTHING
    parts = category[0] in "ZCP" and letter not in _KEPT_SIGNS and category not in ("Co", "Cn")
    return _SPACE if parts or letter in _PARTING_SYMBOLS else ord(letter)


def fold(column: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return the folded texts."""
    return texts_from(*_fold(*text_buffers(column), _table()))


@compiled
def _is_digit(data: Bytes, at: int, end: int) -> bool:
    return at < end and 0x30 <= data[at] <= 0x39


@compiled
def _number_end(data: Bytes, at: int, end: int) -> int:
    """Return where the number that begins at `at` ends: digits, with single points and commas between them."""
    while at < end:
        separated = (data[at] == 0x2E or data[at] == 0x2C) and _is_digit(data, at + 1, end)
        if not separated and not _is_digit(data, at, end):
            break
        at += 1
    return at


@compiled
def _fold(data: Bytes, offsets: Offsets, table: Table) -> tuple[Bytes, Offsets]:
    texts = len(offsets) - 1
    first = offsets[0]
    out = np.empty((offsets[texts] - first) * 3, np.uint8)  # of one byte in a number, three are made
    bounds = np.zeros(texts + 1, np.int64)
    total = 0
    for index in range(texts):
        begin, start, end = total, offsets[index], offsets[index + 1]
        at = start
        pending = False
        while at < end:
            byte = data[at]
            if _is_digit(data, at, end):
                if pending:
                    out[total] = 0x20
                    total += 1
                    pending = False
                last = _number_end(data, at, end)
                number = np.uint64(0)
                for part in range(at, last):
                    number = mix(number ^ np.uint64(data[part]))
                for part in range(at, last):
                    sign = mix(number + np.uint64(part - at)) % np.uint64(_PRIVATE_CODES)
                    total = encode(out, total, _PRIVATE + int(sign))
                at = last
                continue
            code, after = decode(data, at, end)
            folded = int(table[code]) if code < len(table) else int(code)
            minus = code == 0x2212 or (byte == 0x2D and (at == start or data[at - 1] == 0x20))
            if minus and _is_digit(data, after, end):
                folded = 0x2D
            at = after
            if folded == 0:
                pending = total > begin
            elif folded > 1:
                if pending:
                    out[total] = 0x20
                    total += 1
                    pending = False
                total = encode(out, total, folded)
        if total == begin:
            for kept in range(start, end):
                out[total] = data[kept]
                total += 1
        bounds[index + 1] = total
    return out[:total].copy(), bounds
