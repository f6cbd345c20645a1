"""Split texts into words and signs with their forms, on flat arrays, for alignment.

A word is a run of letters and digits, with marks, and with apostrophes inside, but for those of elided words
(`nell'agosto`). A number continues over separators between digits (`1,234.5`). In scripts without spaces, each
character is a word, and so is each run of Katakana, which spells names and words from abroad. Every other visible
character is a sign.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, text_buffers
from esdedup.columns.hashing import Bytes, Hashes, Offsets, mix
from esdedup.columns.kernels import compiled, kept
from esdedup.text.shingles import code_points, longest

PLAIN, NAME, NUMBER, SIGN = 0, 1, 2, 3
"""Forms: a word without capitals; a word with a capital or a digit inside; a word that begins with a digit; a sign."""

_SPACE, _LETTER, _CAPITAL, _DIGIT, _MARK, _SIGN, _ALONE, _KATAKANA = range(8)
_BEYOND = 0x20000
"""From here on there are rare ideographs, each of them a word."""
_LAST = np.uint64(_BEYOND)
APOSTROPHES = (0x27, 0x2019)
_SEPARATORS = (0x2C, 0x2E, 0x27, 0x2019, 0x66B, 0x66C)  # between digits
_SPACES = (0x20, 0xA0, 0x2009, 0x202F)  # before three digits
_ELIDED = tuple(map(ord, "ldnscjmt"))
_AFTER_ELISION = tuple(map(ord, "aeiouyhàâäáèéêëìíîïòóôöùúûüœæAEIOUYHÀÂÄÁÈÉÊËÌÍÎÏÒÓÔÖÙÚÛÜŒÆ"))
_ELIDED_ENDS = tuple((ord(one), ord(two)) for one, two in ("qu", "un", "ll", "gl"))
_MINUS = (0x2D, 0x2212)
_POINT = 0x2E

Classes = npt.NDArray[np.uint8]
Measures = npt.NDArray[np.float64]
CodePoints = npt.NDArray[np.uint32]


class Words(NamedTuple):
    """The words of n texts. Those of text i are `offsets[i]:offsets[i + 1]` of the other columns.

    `begin` and `end` are positions in `data`, the texts' UTF-8, in which text i is `texts[i]:texts[i + 1]`. `hash`
    ignores case and thousands separators. `form` is one of the forms above. `sign` is the code point of a sign,
    otherwise 0.
    """

    data: Bytes
    texts: Offsets
    offsets: Offsets
    begin: Numbers
    end: Numbers
    hash: Hashes
    form: Classes
    sign: CodePoints

    def of(self, begin: int, end: int) -> Words:
        """Return the words of the texts `begin:end`, without copying."""
        low, high = self.offsets[begin], self.offsets[end]
        own = slice(low, high)
        return Words(
            self.data, self.texts[begin : end + 1], self.offsets[begin : end + 1] - low,
            self.begin[own], self.end[own], self.hash[own], self.form[own], self.sign[own],
        )  # fmt: skip


class ListedWords(NamedTuple):
    """Columns of `Words` as Python reads them fast, one by one."""

    data: bytes
    texts: list[int]
    offsets: list[int]
    begin: list[int]
    end: list[int]
    form: list[int]
    sign: list[int]

    def text(self, begin: int, end: int) -> str:
        """Return the text between two positions."""
        return self.data[begin:end].decode()


def listed(words: Words) -> ListedWords:
    """Return words as lists."""
    columns = (words.texts, words.offsets, words.begin, words.end, words.form, words.sign)
    return ListedWords(words.data.tobytes(), *(column.tolist() for column in columns))


def split_words(column: pa.LargeStringArray) -> Words:
    """Return the words of each text."""
    data, offsets = text_buffers(column)
    classes, lower = _characters()
    most = int(offsets[-1] - offsets[0])
    begin, end = np.empty(most, np.int64), np.empty(most, np.int64)
    hashes, form, sign = np.empty(most, np.uint64), np.empty(most, np.uint8), np.empty(most, np.uint32)
    bounds = np.zeros(len(offsets), np.int64)
    count = _split(data, offsets, classes, lower, (begin, end, hashes, form, sign), bounds)
    begin, end, hashes = begin[:count].copy(), end[:count].copy(), hashes[:count].copy()
    return Words(data, offsets, bounds, begin, end, hashes, form[:count].copy(), sign[:count].copy())


@kept
def _characters() -> tuple[Classes, CodePoints]:
    """Return the class and the lower-case form of every code point below `_BEYOND`, and of one more for all others."""
    codes = np.arange(_BEYOND + 1, dtype=np.uint32)
    codes[0xD800:0xE000] = 0xFFFD  # texts contain no surrogates
    spelled = codes.astype("<u4").tobytes().decode("utf-32-le")
    column = pa.array(list(spelled), pa.string())
    classes = np.full(len(codes), _SIGN, np.uint8)
    for what, of in (
        (pc.utf8_is_alpha, _LETTER),
        (pc.utf8_is_upper, _CAPITAL),
        (pc.utf8_is_digit, _DIGIT),
        (pc.utf8_is_space, _SPACE),
    ):
        classes[what(column).to_numpy(zero_copy_only=False)] = of
    for first, last in _MARK_BLOCKS:
        marks = [unicodedata.category(chr(code))[0] == "M" for code in range(first, last)]
        classes[first:last][marks] = _MARK
    for first, last in _ALONE_BLOCKS:
        alone = classes[first:last]
        alone[(alone == _LETTER) | (alone == _MARK)] = _ALONE
    classes[0x30A1:0x30FB] = classes[0x30FC] = _KATAKANA
    classes[:33] = _SPACE
    lowered = pc.utf8_lower(column).to_pylist()
    lower = np.array([ord(low) if len(low) == 1 else code for code, low in zip(codes, lowered, strict=True)], np.uint32)
    return classes, lower


_MARK_BLOCKS = ((0x300, 0x370), (0x483, 0x1E00), (0x1DC0, 0x1E00), (0x20D0, 0x2100), (0xA66F, 0xABFF), (0xFE20, 0xFE30))
_ALONE_BLOCKS = (
    (0xE00, 0xF00), (0x1000, 0x10A0), (0x1780, 0x1800), (0x3040, 0x3100), (0x3400, 0xA000), (0xF900, 0xFB00),
    (_BEYOND, _BEYOND + 1),
)  # fmt: skip


@compiled
def _split(
    data: Bytes,
    offsets: Offsets,
    classes: Classes,
    lower: CodePoints,
    columns: tuple[Numbers, Numbers, Hashes, Classes, CodePoints],
    bounds: Offsets,
) -> int:
    """Write the words of all texts to the columns, and the bounds of each text to `bounds`."""
    begin, end, hashes, form, sign = columns
    most = longest(offsets)
    units = np.empty(most, np.uint64)
    places = np.empty(most + 1, np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        size = code_points(data, offsets[text], offsets[text + 1], units)
        at = offsets[text]
        for index in range(size):
            places[index] = at
            code = units[index]
            at += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
        places[size] = at
        index = 0
        while index < size:
            kind = classes[min(units[index], _LAST)]
            if kind == _SPACE:
                index += 1
                continue
            start = index
            index += 1
            what = SIGN
            if _is_minus(units, classes, start, size):
                kind = _DIGIT
            if kind in (_LETTER, _CAPITAL, _DIGIT):
                what = NUMBER if kind == _DIGIT else NAME if kind == _CAPITAL else PLAIN
                while index < size:
                    kind = classes[min(units[index], _LAST)]
                    if kind in (_CAPITAL, _DIGIT):
                        if what == PLAIN:
                            what = NAME
                    elif kind != _LETTER and kind != _MARK:
                        if not _goes_on(units, classes, start, index, size):
                            break
                        index += 1
                    index += 1
            elif kind == _KATAKANA:
                what = NAME
                while index < size and classes[min(units[index], _LAST)] in (_KATAKANA, _MARK):
                    index += 1
            elif kind == _ALONE:
                what = PLAIN
                while index < size and classes[min(units[index], _LAST)] == _MARK:
                    index += 1
            else:
                while index < size and classes[min(units[index], _LAST)] == _MARK:
                    index += 1
            value = np.uint64(0)
            for place in range(start, index):
                code = units[place]
                if what == NUMBER and place > start and _parts_thousands(units, classes, place, index):
                    continue
                code = code if code >= _LAST else np.uint64(lower[code])
                value = mix(value * np.uint64(31) + code + np.uint64(1))
            begin[count], end[count], hashes[count], form[count] = places[start], places[index], value, what
            sign[count] = units[start] if what == SIGN else 0
            count += 1
        bounds[text + 1] = count
    return count


@compiled
def _three_digits(units: Hashes, classes: Classes, index: int, size: int) -> bool:
    """Return whether exactly three digits start at `index`."""
    for place in range(index, index + 3):
        if place >= size or classes[min(units[place], _LAST)] != _DIGIT:
            return False
    return index + 3 == size or classes[min(units[index + 3], _LAST)] != _DIGIT


@compiled
def _parts_thousands(units: Hashes, classes: Classes, place: int, end: int) -> bool:
    """Return whether the unit at `place` of a number, which ends at `end`, is a separator before three digits."""
    separator = units[place]
    if separator == _POINT or not (separator in _SEPARATORS or separator in _SPACES):
        return False
    return _three_digits(units, classes, place + 1, end)


@compiled
def _is_minus(units: Hashes, classes: Classes, index: int, size: int) -> bool:
    """Return whether a number begins with the sign at `index`: `-3`, but not in `2-3`."""
    if units[index] not in _MINUS or index + 1 >= size or classes[min(units[index + 1], _LAST)] != _DIGIT:
        return False
    return index == 0 or classes[min(units[index - 1], _LAST)] == _SPACE


@compiled
def _goes_on(units: Hashes, classes: Classes, start: int, index: int, size: int) -> bool:
    """Return whether the word that begins at `start` continues after the sign or space at `index`."""
    if index + 1 >= size:
        return False
    if units[index] in _SPACES:
        # groups of three digits after one to three digits: 12 345
        group = index - 1
        while group >= start and classes[min(units[group], _LAST)] == _DIGIT:
            group -= 1
        length = index - 1 - group
        first = group < start or (group == start and units[group] in _MINUS)
        parted = length <= 3 if first else length == 3 and units[group] in _SPACES
        return length > 0 and parted and _three_digits(units, classes, index + 1, size)
    before, sign, behind = classes[min(units[index - 1], _LAST)], units[index], classes[min(units[index + 1], _LAST)]
    if before == _DIGIT and behind == _DIGIT:
        return sign in _SEPARATORS
    if before not in (_LETTER, _CAPITAL) or behind not in (_LETTER, _CAPITAL) or sign not in APOSTROPHES:
        return False
    return behind == _LETTER and not (units[index + 1] in _AFTER_ELISION and _is_elided(units, start, index))


@compiled
def _is_elided(units: Hashes, start: int, index: int) -> bool:
    """Return whether a word that ends at an apostrophe has lost its last vowel, as in French and Italian: l', qu',
    dell'.
    """
    last = units[index - 1] | 32
    if index - start == 1:
        return last in _ELIDED
    return index - start > 1 and (units[index - 2] | 32, last) in _ELIDED_ENDS
