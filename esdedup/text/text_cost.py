"""What a text costs in memory beyond its bytes."""

from __future__ import annotations

from esdedup.columns.arrays import decode
from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled
from esdedup.text.sentences.characters_and_words import ELLIPSIS, END, LINE, STOP, WIDE, class_of


@compiled
def measured(data: Bytes) -> tuple[int, int, int]:
    """Return the characters of a text, the bytes that Python needs for each, and how many of them may end a unit."""
    characters, widest, ends = 0, 1, 0
    at = 0
    while at < len(data):
        code, at = decode(data, at, len(data))
        characters += 1
        if code >= 0x10000:
            widest = 4
        elif code >= 0x100 and widest < 2:
            widest = 2
        ends += class_of(code) in (LINE, STOP, END, WIDE, ELLIPSIS)
    return characters, widest, ends
