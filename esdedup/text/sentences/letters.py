"""What a character is to a splitter: one class for each code point, in a table for compiled code."""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from esdedup.columns.kernels import constant

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
