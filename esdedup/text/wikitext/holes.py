"""Holes: where something stood that a reader sees and we do not know."""

from __future__ import annotations

from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.lookup import Bytes
from esdedup.text.wikitext.marks import HOLE, SURE_HOLE
from esdedup.text.word_table import mix

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
