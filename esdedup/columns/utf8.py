"""Code points in UTF-8 bytes, for compiled code."""

from __future__ import annotations

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled


@compiled
def decode(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return the code point at `at`, and where the next one begins. A byte that is not UTF-8 is a code point."""
    byte = int(data[at])
    if byte < 0x80 or at + 1 >= end:
        return byte, at + 1
    if byte < 0xE0:
        return (byte & 31) << 6 | (int(data[at + 1]) & 63), at + 2
    if byte < 0xF0 and at + 2 < end:
        return (byte & 15) << 12 | (int(data[at + 1]) & 63) << 6 | (int(data[at + 2]) & 63), at + 3
    if at + 3 < end:
        code = (byte & 7) << 18 | (int(data[at + 1]) & 63) << 12 | (int(data[at + 2]) & 63) << 6
        return code | (int(data[at + 3]) & 63), at + 4
    return byte, at + 1


@compiled
def encode(out: Bytes, at: int, code: int) -> int:
    """Write a code point at `at`. Return where the next one begins."""
    if code < 0x80:
        out[at] = code
        return at + 1
    if code < 0x800:
        out[at] = 0xC0 | code >> 6
        out[at + 1] = 0x80 | code & 0x3F
        return at + 2
    if code < 0x10000:
        out[at] = 0xE0 | code >> 12
        out[at + 1] = 0x80 | code >> 6 & 0x3F
        out[at + 2] = 0x80 | code & 0x3F
        return at + 3
    out[at] = 0xF0 | code >> 18
    out[at + 1] = 0x80 | code >> 12 & 0x3F
    out[at + 2] = 0x80 | code >> 6 & 0x3F
    out[at + 3] = 0x80 | code & 0x3F
    return at + 4
