"""The form of a text in which it is searched: what people leave out or mistype is gone from both sides.

Lower case, without accents, punctuation, symbols and the width of letters. Apostrophes and invisible characters are
removed; other signs become a space, and runs of spaces one. Letters, digits, emoji and the marks that are part of a
letter (of Indian scripts, or the voicing of kana) stay.
"""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import decode, encode, text_buffers, texts_from
from esdedup.columns.hashing import Bytes, Offsets
from esdedup.columns.kernels import compiled, kept

_CODES = 0x20000  # beyond are ideographs, which stay
_REWRITTEN = (
    (0, 0x3400),
    (0xA000, 0xAC00),
    (0xF900, 0x10000),
    (0x10400, 0x10600),
    (0x1D400, 0x1D800),
    (0x1E900, 0x1E960),
)
"""Ranges of code points in which some become others: with case, accents or width, or signs. All others stay."""

_WIDTH = 3  # code points that one may become: ß, ﬃ
_SPACE, _NOTHING = 0, 1
_REMOVED_SIGNS = "'’ʼ‘`´"
_ALIKE = {"ß": "ss", "ẞ": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ı": "i", "þ": "th", "ð": "d"}
_LEFT_OUT = (
    (0x0300, 0x0370), (0x0483, 0x0488), (0x0591, 0x05C8), (0x0610, 0x061B), (0x064B, 0x0660), (0x0670, 0x0671),
    (0x06D6, 0x06DD), (0x1AB0, 0x1B00), (0x1DC0, 0x1E00), (0x20D0, 0x2100), (0xFE00, 0xFE10), (0xFE20, 0xFE30),
)  # fmt: skip
"""Accents, and the vowel points of Hebrew and Arabic, which readers leave out."""

Table = npt.NDArray[np.uint32]


def search_form(column: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return the texts as they are searched. A text of signs alone becomes an empty one."""
    return texts_from(*_rewritten(*text_buffers(column), *_table()))


@kept
def _table() -> tuple[Table]:
    """Return what becomes of each code point: up to three others, shape (codes, 3); a space (0), or nothing (1)."""
    table = np.ones((_CODES, _WIDTH), np.uint32)
    table[:, 0] = np.arange(_CODES)
    for low, high in _REWRITTEN:
        for code in range(low, high):
            table[code] = _became(chr(code))
    return (table,)


def _became(sign: str) -> list[int]:
    if sign in _REMOVED_SIGNS:
        return [_NOTHING] * _WIDTH
    wide = unicodedata.normalize("NFKD", sign).casefold()
    bare = "".join(_ALIKE.get(letter, letter) for letter in wide if not _is_left_out(ord(letter)))
    letters = unicodedata.normalize("NFC", bare)[:_WIDTH]
    if not letters:
        return [_NOTHING] * _WIDTH
    codes = [_kept(letter) for letter in letters]
    return codes + [_NOTHING] * (_WIDTH - len(codes))


def _is_left_out(code: int) -> bool:
    return any(low <= code < high for low, high in _LEFT_OUT)


def _kept(letter: str) -> int:
    category = unicodedata.category(letter)
    if category == "Cf":
        return _NOTHING
    stays = category[0] in "LNM" or category in ("So", "Co", "Cn")
    return ord(letter) if stays else _SPACE


@compiled
def _rewritten(data: Bytes, offsets: Offsets, table: Table) -> tuple[Bytes, Offsets]:
    texts = len(offsets) - 1
    out = np.empty(
        (offsets[texts] - offsets[0]) * 4 + 4, np.uint8
    )  # two bytes may become three letters, none of them wide
    bounds = np.zeros(texts + 1, np.int64)
    total = 0
    for index in range(texts):
        begin, at, end = total, offsets[index], offsets[index + 1]
        pending = False
        while at < end:
            code, at = decode(data, at, end)
            for turn in range(1 if code < 0x80 else _WIDTH):
                became = int(table[code, turn]) if code < _CODES else code
                if became == _SPACE:
                    pending = total > begin
                elif became != _NOTHING:
                    if pending:
                        out[total] = 0x20
                        total += 1
                        pending = False
                    total = encode(out, total, became)
                if code >= _CODES:
                    break
        bounds[index + 1] = total
    return out[:total].copy(), bounds
