"""Bytes that never occur in UTF-8. The passes use them to mark what was at a position.

Something removed between two quote marks must not let them join into a longer run, and a line that begins with
something removed does not begin a list. So removed text leaves a mark. The last pass removes the marks.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text.words import mix

GONE = 0xFF  # something was removed
SPLIT = 0xFE  # a block ends and another begins
SOFT = 0xFD  # a line break inside a block
TABLE_OPEN = 0xFC  # the `<` of `<table`
TABLE_CLOSE = 0xFB  # `</table>`

HOLE = 0x01  # a template or a formula that is not known; two bytes follow that tell it from others
SURE_HOLE = 0x08  # the same, where a reader surely sees something: a known template whose argument cannot be shown

# Signs of templates such as `{{!}}`, which become markup after the arguments of the outer template are separated.
LATE = {"|": 0x02, "=": 0x03}

# Before a raised or lowered character, or a fraction: a sign if two numbers would otherwise become another one.
RAISED, LOWERED, APART = 0x04, 0x05, 0x06

# Characters of literal text that later passes would interpret as markup.
PROTECTED: dict[str, int] = {
    "{": 0xF5,
    "}": 0xF6,
    "[": 0xF7,
    "]": 0xF8,
    "|": 0xF9,
    "'": 0xFA,
    "_": 0xC0,
    "=": 0xC1,
}


def byte_map(changes: Mapping[int, int]) -> npt.NDArray[np.uint8]:
    """Return a table of 256 bytes that maps each byte to itself, except for `changes`."""
    table = np.arange(256, dtype=np.uint8)
    for byte, changed in changes.items():
        table[byte] = changed
    return table


_NEVER = [*range(HOLE, APART + 1), SURE_HOLE, 0xC0, 0xC1, *range(0xF5, 0x100)]

SANE = byte_map({byte: ord("?") for byte in _NEVER})
"""Bytes of a page as read: bytes that look like a mark (and are not UTF-8) become question marks."""

PROTECT = byte_map({byte: ord("?") for byte in _NEVER} | {ord(char): mark for char, mark in PROTECTED.items()})
"""Bytes of literal text as the later passes may see them."""

RESTORE = byte_map({mark: ord(char) for signs in (PROTECTED, LATE) for char, mark in signs.items()})
"""Turns marks back into the characters that they represent."""


_FIRST = constant(0xCBF29CE484222325 - 2**64)  # where FNV-1a begins


@compiled
def write_hole(text: Bytes, start: int, end: int, out: Bytes, at: int, sure: bool = False) -> int:
    """Write a hole for text[start:end] to out[at:]. Return its end. If it is not `sure`, it may be a note."""
    key = _FIRST
    for i in range(start, end):
        byte = int(text[i])
        if (byte >= 48 and byte <= 57) or (byte >= 65 and byte <= 90) or (byte >= 97 and byte <= 122) or byte >= 0x80:
            key = mix(key, byte)  # only letters and digits, so that markup makes no difference
    key ^= key >> 32
    out[at] = SURE_HOLE if sure else HOLE
    out[at + 1] = 0x80 | (key & 63)
    out[at + 2] = 0x80 | ((key >> 6) & 63)
    return at + 3


@compiled
def _is_small_letter(text: Bytes, i: int, end: int) -> bool:
    """Return whether text[i] begins a small letter: Latin, Greek or Cyrillic."""
    byte = text[i]
    if byte < 128 or i + 1 == end:
        return bool(byte >= 97 and byte <= 122)
    code = (int(byte) & 31) << 6 | (int(text[i + 1]) & 63)
    return byte < 0xE0 and (
        (code >= 0xDF and code < 0x100 and code != 0xF7)
        or (code >= 0x3AC and code < 0x3CF)
        or (code >= 0x430 and code < 0x460)
    )


@compiled
def sentence_goes_on(text: Bytes, at: int, length: int) -> tuple[int, bool]:
    """Return where the first visible line at or after text[at] is that is not indented, and whether it continues a
    sentence; `length` if there is none.
    """
    while at < length:
        i = at
        while i < length and (text[i] == 32 or text[i] == 9 or text[i] == GONE or text[i] == 39):
            i += 1
        if i < length and text[i] != 10 and text[at] != 58:
            return at, _is_small_letter(text, i, length)
        while at < length and text[at] != 10:
            at += 1
        at += 1
    return length, False


@compiled
def ends_sentence(out: Bytes, end: int) -> bool:
    """Return whether the text before out[end] ends with the end of a sentence."""
    last = out[end - 1]
    return bool(last == 46 or last == 33 or last == 63)


@compiled
def odd_quote(text: Bytes, start: int, end: int) -> int:
    """Return where MediaWiki reads `'''` in this line as an apostrophe and `''`, or -1.

    It does so if a line has an odd number both of bold and of italic marks. The first mark after a word of one letter
    wins, otherwise the first after a longer word, otherwise the first after a space.
    """
    bold, italic = 0, 0
    single, multiple, space = -1, -1, -1
    before = start  # start of the text between the last mark and this one
    i = start
    while i < end:
        if text[i] != 39:
            i += 1
            continue
        run = 1
        while i + run < end and text[i + run] == 39:
            run += 1
        if run == 1:
            i += 1
            continue
        if run != 2:
            bold += 1
        if run == 2 or run >= 5:
            italic += 1
        if run == 3 or run == 4:
            # Of four, the first is an apostrophe, so it is the last character before the mark.
            last = i if run == 4 else i - 1
            if last >= before and text[last] == 32:
                space = i if space < 0 else space
            elif last - 1 >= before and text[last - 1] == 32:
                single = i if single < 0 else single
            elif multiple < 0:
                multiple = i
        i += run
        before = i
    if bold % 2 == 0 or italic % 2 == 0:
        return -1
    if single >= 0:
        return single
    return multiple if multiple >= 0 else space
