"""Bytes that never occur in UTF-8. The passes use them to mark what was at a position.

Something removed between two quote marks must not let them join into a longer run, and a line that begins with
something removed does not begin a list. So removed text leaves a mark. The last pass removes the marks.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

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
