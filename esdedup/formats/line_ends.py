"""Lines that end in a carriage return alone, as spreadsheets of old Macs write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from esdedup.errors import SourceError

_HEAD = 2**20  # bytes in which the first line should end
_FIRST = re.compile(rb"[^\r\n]*([\r\n])")
_FIRST_OUTSIDE_QUOTES = re.compile(rb'(?:[^"\r\n]|"[^"]*")*([\r\n])')
_EXCHANGED = {13: 10, 10: 13}
_TABLE = bytes.maketrans(b"\r\n", b"\n\r")


def exchanged(text: str) -> str:
    """Return a text with line feeds in place of carriage returns, and the other way round."""
    return text.translate(_EXCHANGED)


def with_line_feeds(pieces: Iterator[bytes], label: str, *, quotes: bool) -> tuple[Iterator[bytes], bool]:
    """Return the bytes of a source whose lines end in line feeds, and whether carriage returns and line feeds were
    exchanged for that: the first line ends in a carriage return alone.

    With `quotes`, line ends in quotes are not ends of records. Without them, a source that has both raises
    `SourceError`.
    """
    head, pattern = b"", _FIRST_OUTSIDE_QUOTES if quotes else _FIRST
    first = None
    for piece in pieces:
        head += piece
        first = pattern.match(head)
        if len(head) > _HEAD or (first is not None and first.end() < len(head)):
            break
    pieces = chain([head], pieces)
    if first is None or first[1] == b"\n" or head[first.end() : first.end() + 1] in (b"", b"\n"):
        return pieces, False
    return _exchanged(pieces, label, quotes), True


def _exchanged(pieces: Iterator[bytes], label: str, quotes: bool) -> Iterator[bytes]:
    for piece in pieces:
        if not quotes and b"\n" in piece:
            raise SourceError(
                f"{label}: its first lines end in CR alone, and later ones in LF; everything before that was read; "
                "make all line ends equal"
            )
        yield piece.translate(_TABLE)


def exchanged_back(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a source with the line ends that it had."""
    return (piece.translate(_TABLE) for piece in pieces)
