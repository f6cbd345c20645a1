"""Raised and lowered characters and fractions: 10<sup>8</sup> is 10^8, not 108, and `3{{frac|1|2}}` is 3 1/2, not 31/2.

Of other raised characters only the characters stay: 5<sup>th</sup> is 5th.
"""

from __future__ import annotations

import numpy as np

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled
from esdedup.text.wikitext.characters import read_entity
from esdedup.text.wikitext.lookup import Numbers
from esdedup.text.wikitext.marks import GONE, LOWERED, RAISED, byte_map

_DIGIT, _LETTER, _CLOSING = 1, 2, 3
_CLASS = byte_map(
    dict.fromkeys(range(128), 0)
    | dict.fromkeys(range(128, 256), _CLOSING)
    | dict.fromkeys(b"0123456789", _DIGIT)
    | dict.fromkeys((*range(65, 91), *range(97, 123)), _LETTER)
    | dict.fromkeys(b")]}'", _CLOSING)
)

_VARIABLES = np.zeros(256, np.bool_)
_VARIABLES[list(b"ijkmnpqxyz")] = True

_SIGNS = (0x2212, 0x2013, 0x2D, 0x2B)  # minus, dash, hyphen, plus


@compiled
def _after_sign(text: Bytes, i: int, end: int, keys: Numbers, values: Numbers) -> int:
    """Return where the character after a plus or minus sign at text[i] begins, if there is a sign."""
    if text[i] == 45 or text[i] == 43:
        return i + 1
    if text[i] == 38:
        code, after = read_entity(text, i, end, keys, values)
        return after if code in _SIGNS else i
    if i + 2 < end and text[i] == 0xE2:
        minus = (text[i + 1] == 0x88 and text[i + 2] == 0x92) or (text[i + 1] == 0x80 and text[i + 2] == 0x93)
        return i + 3 if minus else i
    return i


@compiled
def number_sign(text: Bytes, mark: int, i: int, end: int, out: Bytes, o: int, keys: Numbers, values: Numbers) -> int:
    """Return the sign that stands for a mark between out[:o], which is not empty, and text[i:end]; 0 if it needs none.
    Signs of Chinese and Japanese that end a sentence have no power.
    """
    last = out[o - 1]
    if o > 2 and ((out[o - 3] == 0xE3 and out[o - 2] == 0x80) or (out[o - 3] == 0xEF and out[o - 2] == 0xBC)):
        return 0
    while i < end and (text[i] == 39 or text[i] == 32 or text[i] == GONE):
        i += 1
    if i == end or _CLASS[last] == 0:
        return 0
    if mark != RAISED:
        if _CLASS[last] != _DIGIT or _CLASS[text[i]] != _DIGIT:
            return 0
        return 95 if mark == LOWERED else 32
    i = _after_sign(text, i, end, keys, values)
    while i < end and (text[i] == 39 or text[i] == GONE):
        i += 1
    if i == end:
        return 0
    variable = _VARIABLES[text[i]] and (i + 1 == end or _CLASS[text[i + 1]] != _LETTER)
    return 94 if variable or _CLASS[text[i]] == _DIGIT else 0
