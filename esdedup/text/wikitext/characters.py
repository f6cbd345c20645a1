"""Single characters in the last pass: entities, magic words and formatted numbers."""

from __future__ import annotations

import numpy as np

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled
from esdedup.text.wikitext.lookup import ENTITY, MAGIC_WORD, Tables, folded_key
from esdedup.text.wikitext.marks import GONE, LOWERED, RAISED, byte_map
from esdedup.text.words import ABSENT, find, mix

_LONGEST_ENTITY = 33
_LONGEST_MAGIC_WORD = 80  # bytes

NO_ENTITY = (-1, 0)


@compiled
def is_character(code: int) -> bool:
    """Return whether a numeric entity may refer to this code point."""
    if code < 32:
        return code == 9 or code == 10 or code == 13
    return code < 0xD800 or (code >= 0xE000 and code <= 0xFFFD) or (code >= 0x10000 and code <= 0x10FFFF)


@compiled
def read_entity(text: Bytes, start: int, end: int, tables: Tables) -> tuple[int, int]:
    """Return the code point of the entity whose ampersand is text[start], and its end; or `NO_ENTITY`."""
    i = start + 1
    last = min(end, start + _LONGEST_ENTITY)
    if i < last and text[i] == 35:
        i += 1
        base = 10
        if i < last and (text[i] | 32) == 120:
            base = 16
            i += 1
        digits = i
        code = 0
        while i < last:
            byte = int(text[i])
            if byte >= 48 and byte <= 57:
                digit = byte - 48
            elif base == 16 and (byte | 32) >= 97 and (byte | 32) <= 102:
                digit = (byte | 32) - 87
            else:
                break
            code = min(code * base + digit, 0x110000)
            i += 1
        if i > digits and i < last and text[i] == 59 and is_character(code):
            return code, i + 1
        return NO_ENTITY
    key = ENTITY
    while i < last:
        byte = int(text[i])
        if byte == 59:
            code = find(tables.keys, tables.values, key)
            return (code, i + 1) if code != ABSENT else NO_ENTITY
        if not ((byte >= 97 and byte <= 122) or (byte >= 65 and byte <= 90) or (byte >= 48 and byte <= 57)):
            break
        key = mix(key, byte)
        i += 1
    return NO_ENTITY


@compiled
def read_magic_word(text: Bytes, start: int, end: int, tables: Tables) -> int:
    """Return the end of the magic word that begins at text[start], an underscore; or -1."""
    if start + 4 >= end or text[start + 1] != 95 or text[start + 2] == 95:
        return -1
    i = start + 2
    last = min(end - 1, i + _LONGEST_MAGIC_WORD)
    while i < last and text[i] > 32:
        if text[i] == 95 and text[i + 1] == 95:
            key = folded_key(text, start + 2, i, MAGIC_WORD, tables.letters)
            return i + 2 if find(tables.keys, tables.values, key) != ABSENT else -1
        i += 1
    return -1


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
def _after_sign(text: Bytes, i: int, end: int, tables: Tables) -> int:
    """Return where the character after a plus or minus sign at text[i] begins, if there is a sign."""
    if text[i] == 45 or text[i] == 43:
        return i + 1
    if text[i] == 38:
        code, after = read_entity(text, i, end, tables)
        return after if code in _SIGNS else i
    if i + 2 < end and text[i] == 0xE2:
        minus = (text[i + 1] == 0x88 and text[i + 2] == 0x92) or (text[i + 1] == 0x80 and text[i + 2] == 0x93)
        return i + 3 if minus else i
    return i


@compiled
def number_sign(text: Bytes, mark: int, i: int, end: int, out: Bytes, o: int, tables: Tables) -> int:
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
    i = _after_sign(text, i, end, tables)
    while i < end and (text[i] == 39 or text[i] == GONE):
        i += 1
    if i == end:
        return 0
    variable = _VARIABLES[text[i]] and (i + 1 == end or _CLASS[text[i + 1]] != _LETTER)
    return 94 if variable or _CLASS[text[i]] == _DIGIT else 0
