"""Compiled reading of characters and words, forward and backward, in UTF-8, and classes of letters."""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from esdedup.columns.arrays import decode
from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text.folded_names import LAST_FOLDED
from esdedup.text.words import ABSENT, LETTERS, Numbers, find, mix

OTHER, SPACE, LINE, UPPER, LOWER, LETTER, DIGIT, STOP, END, WIDE, ELLIPSIS, OPEN, CLOSE, QUOTE, DASH, MARK = (
    constant(number) for number in range(16)
)
"""Classes of characters. `STOP` may also stand after an abbreviation; `END` ends a sentence before white space; `WIDE`
ends one without white space, too. `QUOTE` can open and close."""

_LINES = "\n\r\v\f\x85\u2028"
_STOPS = "."
_ENDS = "!?‼‽⁇⁈⁉؟۔।॥։።፧፨᙮᠃᠉჻⳹⳺⳻⳾⸮"
_WIDE = "。｡！？．︒︕︖︙၊။។៕།༎꓿"
_ELLIPSES = "…‥"
_QUOTES = "\"'`´＂″“”‘’„‚‟‛«»‹›〝〞〟"
_DASHES = "-‐‑‒–—―−•·*▪●■◦‣⁃"

_CATEGORIES = {
    "Lu": UPPER, "Lt": UPPER, "Ll": LOWER, "Lo": LETTER, "Lm": LETTER, "Nd": DIGIT, "Nl": DIGIT, "No": DIGIT,
    "Ps": OPEN, "Pe": CLOSE, "Pi": QUOTE, "Pf": QUOTE, "Mn": MARK, "Mc": MARK, "Me": MARK, "Cf": MARK, "Zs": SPACE,
    "Zl": LINE, "Zp": SPACE,
}  # fmt: skip


def _class_of(char: str) -> int:
    groups = (
        (_LINES, LINE), (_STOPS, STOP), (_ENDS, END), (_WIDE, WIDE), (_ELLIPSES, ELLIPSIS), (_QUOTES, QUOTE),
        (_DASHES, DASH), ("¿¡", OPEN), ("\t\x1c\x1d\x1e\x1f ", SPACE),
    )  # fmt: skip
    for characters, number in groups:
        if char in characters:
            return int(number)
    return int(_CATEGORIES.get(unicodedata.category(char), OTHER))


CLASSES: npt.NDArray[np.uint8] = np.full(0x11000, LETTER, np.uint8)
"""The class of every code point below U+11000. Ideographs and syllables of Hangul are all `LETTER`."""

for _first, _last in ((0, 0x3100), (0x3200, 0x3400), (0xA640, 0xAC00), (0xD800, 0xE000), (0xFB00, 0x10000)):
    CLASSES[_first:_last] = [_class_of(chr(_code)) for _code in range(_first, _last)]


LONGEST = 40
"""Characters of a word that is looked up."""

_ROMAN = 5  # letters of a Roman numeral
_PLANE = len(CLASSES)
BRACKET = ord("[")
_STRAIGHT, _APOSTROPHE, _END_BRACKET = ord('"'), ord("'"), ord("]")
_OPENING = tuple(map(ord, "“‘«‹„‚"))  # they close in other languages
_CLOSING = tuple(map(ord, "”’»›"))


@compiled
def class_of(code: int) -> int:
    """Return the class of a code point (see `letters`)."""
    if code < _PLANE:
        return int(CLASSES[code])
    return int(MARK) if is_selector(code) else int(LETTER)


@compiled
def is_selector(code: int) -> bool:
    """Return whether a code point is a variation selector, which marks a hole."""
    return code >> 8 == 0xE01


@compiled
def is_letter(kind: int) -> bool:
    """Return whether a class is that of letters."""
    return kind in (UPPER, LOWER, LETTER)


@compiled
def is_alphanumeric(kind: int) -> bool:
    """Return whether a class is that of letters or digits."""
    return is_letter(kind) or kind == DIGIT


@compiled
def skip_spaces(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return where white space from `at` ends, and how many line ends are in it."""
    lines = 0
    while at < end:
        code, following = decode(data, at, end)
        kind = class_of(code)
        if kind == LINE:
            lines += not (code == 10 and lines and data[at - 1] == 13)  # CR LF is one
        elif kind != SPACE:
            break
        at = following
    return at, lines


@compiled
def word_before(
    data: Bytes, at: int, begin: int, seed: int, keys: Numbers, values: Numbers
) -> tuple[int, int, int, int, int]:
    """Return lists that the word before `at` is in, and its letters, digits, inner stops and capitals."""
    start = at
    for _ in range(LONGEST):
        if start <= begin:
            break
        before = start - 1
        while before > begin and (data[before] & 0xC0) == 0x80:
            before -= 1
        kind = class_of(decode(data, before, at)[0])
        if not (is_alphanumeric(kind) or kind in (STOP, MARK)):
            break
        start = before
    key, letters, digits, stops, capitals = seed, 0, 0, 0, 0
    place = start
    while place < at:
        code, place = decode(data, place, at)
        kind = class_of(code)
        if kind == STOP and letters + digits == 0:
            continue
        letters += is_letter(kind)
        digits += kind == DIGIT
        stops += kind == STOP
        capitals += kind == UPPER
        if kind != MARK:
            key = mix(key, int(LETTERS[code]) if code < LAST_FOLDED else code)
    found = find(keys, values, key)
    return (0 if found == ABSENT else found), letters, digits, stops, capitals


@compiled
def word_after(data: Bytes, at: int, end: int, seed: int, keys: Numbers, values: Numbers) -> tuple[int, int, bool]:
    """Return the class of the first letter or digit from `at` on, the lists that its word is in, and whether that may
    be a Roman numeral.
    """
    first = int(OTHER)
    for _ in range(LONGEST):
        if at >= end:
            break
        code, following = decode(data, at, end)
        first = class_of(code)
        if first not in (OPEN, QUOTE, DASH, MARK, SPACE):
            break
        at = following
    key, letters, capitals = seed, 0, 0
    for _ in range(LONGEST):
        if at >= end:
            break
        code, at = decode(data, at, end)
        kind = class_of(code)
        if kind not in (UPPER, LOWER, LETTER, MARK):
            break
        letters += 1
        capitals += kind == UPPER
        if kind != MARK:
            key = mix(key, int(LETTERS[code]) if code < LAST_FOLDED else code)
    found = find(keys, values, key)
    return first, (0 if found == ABSENT else found), 0 < letters == capitals <= _ROMAN


@compiled
def begins_small(data: Bytes, at: int, end: int) -> bool:
    """Return whether the first letter or digit from `at` on is a small letter."""
    for _ in range(LONGEST):
        if at >= end:
            break
        code, at = decode(data, at, end)
        kind = class_of(code)
        if is_alphanumeric(kind):
            return kind == LOWER
    return False


@compiled
def opens(data: Bytes, code: int, following: int, end: int) -> bool:
    """Return whether the quote `code` opens: it has that form, and a letter or digit is at `following`."""
    return code in _OPENING and following < end and is_alphanumeric(class_of(decode(data, following, end)[0]))


@compiled
def end_of_closing(data: Bytes, at: int, end: int, quoted: bool) -> int:
    """Return the end of what stands apart at `at` but belongs to the sentence before: stops, a closing quote or the
    number of a reference; `at` if there is nothing. `quoted` says whether a straight quote is open.
    """
    if at >= end:
        return at
    code, place = decode(data, at, end)
    kind = class_of(code)
    if code == BRACKET:
        while place < end and (0x30 <= data[place] <= 0x39 or data[place] == 0x2C or data[place] == 0x20):
            place += 1
        return place + 1 if place > at + 1 and place < end and data[place] == _END_BRACKET else at
    if kind in (END, STOP, ELLIPSIS):
        while place < end and decode(data, place, end)[0] == code:
            place = decode(data, place, end)[1]
    elif code == _APOSTROPHE and place < end and data[place] == _APOSTROPHE:
        place += 1
    elif not ((code == _STRAIGHT and quoted) or code in _CLOSING or kind == CLOSE):
        return at
    if place < end:
        kind = class_of(decode(data, place, end)[0])
        if kind not in (SPACE, LINE, STOP, END):
            return at
    return place
