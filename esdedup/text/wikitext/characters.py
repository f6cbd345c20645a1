"""Single characters in the last pass: entities and magic words."""

from __future__ import annotations

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled
from esdedup.text.wikitext.lookup import ENTITY, MAGIC_WORD, Numbers, folded_key
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
def read_entity(text: Bytes, start: int, end: int, keys: Numbers, values: Numbers) -> tuple[int, int]:
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
            code = find(keys, values, key)
            return (code, i + 1) if code != ABSENT else NO_ENTITY
        if not ((byte >= 97 and byte <= 122) or (byte >= 65 and byte <= 90) or (byte >= 48 and byte <= 57)):
            break
        key = mix(key, byte)
        i += 1
    return NO_ENTITY


@compiled
def read_magic_word(text: Bytes, start: int, end: int, keys: Numbers, values: Numbers, letters: Numbers) -> int:
    """Return the end of the magic word that begins at text[start], an underscore; or -1."""
    if start + 4 >= end or text[start + 1] != 95 or text[start + 2] == 95:
        return -1
    i = start + 2
    last = min(end - 1, i + _LONGEST_MAGIC_WORD)
    while i < last and text[i] > 32:
        if text[i] == 95 and text[i + 1] == 95:
            key = folded_key(text, start + 2, i, MAGIC_WORD, letters)
            return i + 2 if find(keys, values, key) != ABSENT else -1
        i += 1
    return -1
