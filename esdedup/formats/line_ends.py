"""Lines that end in a carriage return alone, as spreadsheets of old Macs write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from esdedup.errors import SourceError

_HEAD = 2**20  # bytes by which it is decided
_FIRST = re.compile(rb"[^\r\n]*([\r\n])")
_FIRST_OUTSIDE_QUOTES = re.compile(rb'(?:[^"\r\n]|"[^"]*")*([\r\n])')
_EXCHANGED = {13: 10, 10: 13}
_TABLE = bytes.maketrans(b"\r\n", b"\n\r")


def exchanged(text: str) -> str:
    """Return a text with line feeds in place of carriage returns, and the other way round."""
    return text.translate(_EXCHANGED)


def with_line_feeds(
    pieces: Iterator[bytes], label: str, *, quotes: bool, separator: bytes
) -> tuple[Iterator[bytes], bool]:
    """Return the bytes of a source whose lines end in line feeds, and whether carriage returns and line feeds were
    exchanged for that: its lines end in carriage returns alone.

    With `quotes`, line ends in quotes are not ends of records. A source that has both raises `SourceError`. A carriage
    return in a line that ends in a line feed is text, unless what is before it has as many separators as what is behind
    it.
    """
    head, pattern = b"", _FIRST_OUTSIDE_QUOTES if quotes else _FIRST
    first, returns = None, False
    for piece in pieces:
        head += piece
        first = first or pattern.match(head)
        returns = first is not None and first[1] == b"\r" and head[first.end() : first.end() + 1] not in (b"", b"\n")
        if len(head) > _HEAD or (first is not None and not returns and first.end() < len(head)):
            break
    pieces = chain([head], pieces)
    if not returns or not (quotes or _lines_of(head[:_HEAD], separator)):
        return pieces, False
    return _exchanged(pieces, label, quotes), True


def _lines_of(head: bytes, separator: bytes) -> bool:
    """Whether carriage returns part lines: there is no line feed, or what they part looks alike."""
    line, feed, _ = head.partition(b"\n")
    if not feed:
        return True
    first, second = line.split(b"\r")[:2]
    return bool(separator) and first.count(separator) == second.count(separator) > 0


def _exchanged(pieces: Iterator[bytes], label: str, quotes: bool) -> Iterator[bytes]:
    inside = False  # quotes
    for piece in pieces:
        found, inside = _line_feed(piece, inside) if quotes else (piece.find(b"\n"), False)
        if found >= 0:
            yield piece[:found].translate(_TABLE)
            raise SourceError(
                f"{label}: some of its lines end in CR alone, and others in LF; everything before that was read; make "
                "all line ends equal"
            )
        yield piece.translate(_TABLE)


def _line_feed(piece: bytes, inside: bool) -> tuple[int, bool]:
    """Return where the first line feed outside of quotes is, or -1, and whether the end of the piece is in quotes."""
    at = 0
    for number, part in enumerate(piece.split(b'"')):
        inside ^= number > 0
        if not inside and (found := part.find(b"\n")) >= 0:
            return at + found, inside
        at += len(part) + 1
    return -1, inside


def exchanged_back(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a source with the line ends that it had."""
    return (piece.translate(_TABLE) for piece in pieces)
