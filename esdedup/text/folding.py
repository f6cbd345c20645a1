"""`--normalize fold`: texts without case, punctuation and the width of letters; `fold-accents`: without accents too.

Characters become those that Unicode calls compatible (NFKC) and are case-folded, so ﬁ is fi, ß is ss and ٣ is 3. Kept
are superscripts, subscripts and fractions, as 10⁸ is not 108, and symbols such as + # % € (C++ is not C#, and +5 is not
-5). Punctuation becomes a space, except a minus sign before a digit. Apostrophes and invisible characters are removed.
Runs of spaces become one. A text of punctuation alone stays as it is.

A number counts as a whole, with the separators inside it (3.5): each of its signs becomes one that depends on all of
them. So 5443 and 5444 have nothing in common, and two rows that differ in a digit are less similar than two that differ
in a letter.
"""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import decode, encode, text_buffers, texts_from
from esdedup.columns.hashing import Bytes, Offsets, mix
from esdedup.columns.kernels import compiled, kept
from esdedup.text.words import ABSENT, find, hash_table

_CODES = 0x20000  # beyond are ideographs, which stay
_SPACE, _NOTHING = 0, 1
_SEVERAL = 1 << 24  # from here on, a place in the list of those that become several characters
_NO_NUMBER = 1 << 23  # added to a digit that is none of a number
_PRIVATE, _PRIVATE_CODES = 0xE000, 4096  # no text of any script uses these
_KEPT_SIGNS = "#%&@"
_REMOVED_SIGNS = "'’ʼ‘`´\u0640"  # with the Arabic sign that only makes a word longer
_PARTING_SYMBOLS = "|~^"
_UNCHANGED = {"Lo", "Cn", "Co"}
"""Categories of signs that stay what they are, unless they have a decomposition. Most signs are of these."""
_IN_NUMBERS = " .,-−"
"""Signs that are a space or punctuation, unless they stand in or before a number."""
_SPECIAL = {"İ": "i", "٫": ".", "٬": ","}
_STROKES = str.maketrans("øłđħŧıɨ", "oldhtii")
_ACCENTS = (
    (0x300, 0x370), (0x483, 0x488), (0x591, 0x5C8), (0x610, 0x61B), (0x64B, 0x660), (0x670, 0x671), (0x6D6, 0x6EE),
    (0x1AB0, 0x1B00), (0x1DC0, 0x1E00), (0x20D0, 0x20F1), (0xFE20, 0xFE30),
)  # fmt: skip
"""Combining marks that are accents or vowel points. Those of other scripts are letters."""

Table = npt.NDArray[np.uint32]


class _Tables(NamedTuple):
    codes: Table  # what becomes of each code point: another one, `_SPACE`, `_NOTHING`, or several
    several: Table  # for each that becomes several: their number, and they
    joins: npt.NDArray[np.bool_]  # whether a code point may join the one before it
    keys: npt.NDArray[np.int64]  # pairs that join, for `find`
    values: npt.NDArray[np.int64]


@kept
def _tables(accents: bool, scheme: int) -> tuple[npt.NDArray[Any], ...]:
    """Return `_Tables`."""
    codes = np.arange(_CODES, dtype=np.uint32)
    unchanged = _UNCHANGED - {"Cn"} if accents else _UNCHANGED  # those of later versions of Unicode may be accents
    several: list[int] = []
    joined: dict[int, int] = {}
    for code in range(_CODES):
        if 0x3400 <= code < 0xA000 or 0xAC00 <= code < 0xE000:  # ideographs, Hangul and surrogates stay
            continue
        sign = chr(code)
        parts = unicodedata.decomposition(sign).split()
        if not parts and unicodedata.category(sign) in unchanged:
            continue
        became = _folded(sign, accents) if scheme > 2 else [_folded_2(sign)]
        codes[code] = became[0] if len(became) == 1 else _SEVERAL + len(several)
        several += [len(became), *became] if len(became) > 1 else []
        if scheme > 2 and len(parts) == 2 and parts[0][0] != "<" and unicodedata.is_normalized("NFC", sign):
            joined[int(parts[1], 16) << 32 | int(parts[0], 16)] = code
    joins = np.zeros(_CODES, np.bool_)
    joins[[pair >> 32 for pair in joined]] = True
    return _Tables(codes, np.array(several, np.uint32), joins, *hash_table(joined))


def _folded(sign: str, accents: bool) -> list[int]:
    """Return what becomes of a character."""
    if sign in _REMOVED_SIGNS or 0xFE00 <= ord(sign) < 0xFE10:
        return [_NOTHING]
    plain = _SPECIAL.get(sign) or unicodedata.normalize("NFC", _compatible(sign).casefold())
    if plain[0] == " " != sign:  # an accent alone
        plain = sign if len(plain) > 1 else plain
    if accents:
        parts = unicodedata.normalize("NFD", plain)
        bare = (part for part in parts if not any(low <= ord(part) < high for low, high in _ACCENTS))
        plain = unicodedata.normalize("NFC", "".join(bare)).translate(_STROKES)
    return [code for each in plain if (code := _kept(each)) != _NOTHING] or [_NOTHING]


def _folded_2(sign: str) -> int:
    """Return what becomes of a character in stores of hash scheme 2."""
    if sign in _REMOVED_SIGNS and sign != "\u0640":
        return _NOTHING
    if "\ua000" <= sign < "\uac00":
        return ord(sign)
    wide = unicodedata.normalize("NFKC", sign)
    lower = (wide if len(wide) == 1 else sign).lower()
    letter = lower if len(lower) == 1 else sign
    if letter in _IN_NUMBERS and letter != sign:
        return _SPACE
    return _kept(letter, decimals=False) | (_NO_NUMBER if letter != sign and letter.isdecimal() else 0)


def _compatible(sign: str) -> str:
    """Return the compatible characters of one. Superscripts, subscripts and other numbers in a sign stay."""
    tag, *parts = unicodedata.decomposition(sign).split() or [""]
    raised = tag in ("<super>", "<sub>") and sign not in "ªº"
    if not tag or raised or unicodedata.category(sign) == "No":
        return sign
    return "".join(_compatible(chr(int(part, 16))) for part in (parts if tag[0] == "<" else [tag, *parts]))


def _kept(letter: str, decimals: bool = True) -> int:
    if decimals and letter in _REMOVED_SIGNS:
        return _NOTHING
    if decimals and (digit := unicodedata.decimal(letter, None)) is not None:
        return 0x30 + digit
    category = unicodedata.category(letter)
    if category == "Cf":
        return _NOTHING
    parts = category[0] in "ZCP" and letter not in _KEPT_SIGNS + _IN_NUMBERS and category not in ("Co", "Cn")
    return _SPACE if parts or letter in _PARTING_SYMBOLS else ord(letter)


def fold(column: pa.LargeStringArray, accents: bool = False, scheme: int = 3) -> pa.LargeStringArray:
    """Return the folded texts, as in a hash scheme; with `accents`, without these too."""
    data, offsets = text_buffers(column)
    return texts_from(*_fold(data, offsets, *_tables(accents, scheme)))


@compiled
def _is_digit(codes: Table, at: int, end: int) -> bool:
    return at < end and codes[at] >= 0x30 and codes[at] <= 0x39


@compiled
def _number_end(codes: Table, at: int, end: int) -> int:
    """Return where the number that begins at `at` ends: digits, with single points and commas between them."""
    while at < end:
        separated = (codes[at] == 0x2E or codes[at] == 0x2C) and _is_digit(codes, at + 1, end)
        if not separated and not _is_digit(codes, at, end):
            break
        at += 1
    return at


@compiled
def _room(data: Bytes, start: int, end: int) -> int:
    """Return how many characters data[start:end] becomes at most. A test holds the numbers."""
    room = end - start
    for byte in data[start:end]:
        if byte >= 0xE2:
            room += 15 if byte == 0xEF else 3
    return room


@compiled
def _read(
    data: Bytes,
    at: int,
    end: int,
    codes: Table,
    table: Table,
    several: Table,
    joins: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.int64],
    values: npt.NDArray[np.int64],
) -> int:
    """Write what becomes of the characters of data[at:end] to `codes`. Return their number."""
    count = 0
    while at < end:
        if data[at] < 0x80:
            codes[count] = table[data[at]]
            at += 1
            count += 1
            continue
        code, at = decode(data, at, end)
        became = int(table[code]) if code < len(table) else int(code)
        if became >= _SEVERAL:
            place = became - _SEVERAL
            for part in range(place + 1, place + 1 + several[place]):
                codes[count] = several[part]
                count += 1
            continue
        if became < len(joins) and joins[became] and count > 0:
            whole = find(keys, values, became << 32 | int(codes[count - 1]))
            if whole != ABSENT:
                codes[count - 1] = whole
                continue
        codes[count] = became
        count += 1
    return count


@compiled
def _fold(
    data: Bytes,
    offsets: Offsets,
    table: Table,
    several: Table,
    joins: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.int64],
    values: npt.NDArray[np.int64],
) -> tuple[Bytes, Offsets]:
    texts = len(offsets) - 1
    widest, rooms = 0, 0
    for index in range(texts):
        room = _room(data, offsets[index], offsets[index + 1])
        widest, rooms = max(widest, room), rooms + room
    codes = np.empty(widest, np.uint32)
    out = np.empty(3 * rooms, np.uint8)  # of one byte in a number, three are made
    bounds = np.zeros(texts + 1, np.int64)
    total = 0
    for index in range(texts):
        begin, start, end = total, offsets[index], offsets[index + 1]
        count = _read(data, start, end, codes, table, several, joins, keys, values)
        pending = False
        at = 0
        while at < count:
            code = int(codes[at])
            if _is_digit(codes, at, count):
                if pending:
                    out[total] = 0x20
                    total += 1
                    pending = False
                last = _number_end(codes, at, count)
                number = np.uint64(0)
                for part in range(at, last):
                    number = mix(number ^ np.uint64(codes[part]))
                for part in range(at, last):
                    sign = mix(number + np.uint64(part - at)) % np.uint64(_PRIVATE_CODES)
                    total = encode(out, total, _PRIVATE + int(sign))
                at = last
                continue
            if code == 0x2212 or (code == 0x2D and (at == 0 or codes[at - 1] == 0x20)):
                code = 0x2D if _is_digit(codes, at + 1, count) else _SPACE
            elif code in (0x20, 0x2E, 0x2C, 0x2D):
                code = _SPACE
            at += 1
            if code <= _NOTHING:
                pending = pending or (code == _SPACE and total > begin)
                continue
            if pending:
                out[total] = 0x20
                total += 1
                pending = False
            total = encode(out, total, code & ~_NO_NUMBER)
        if total == begin:
            for kept in range(start, end):
                out[total] = data[kept]
                total += 1
        bounds[index + 1] = total
    return out[:total].copy(), bounds
