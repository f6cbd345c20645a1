"""Lines of any end, and texts in other encodings than UTF-8: read as UTF-8, and written back as they were."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from esdedup.errors import SettingsError, SourceError
from esdedup.formats.protocol import Format
from esdedup.options import option

_UTF8 = "utf-8"
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be",
}  # fmt: skip
"""Byte order marks. They go before any other encoding: nothing else begins with one."""
_LONGEST = max(map(len, _MARKS))
_WITHOUT_MARK = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_WIDE = ("utf-16", "utf-32")


@dataclass(frozen=True)
class EncodedText(Format):
    """A format of text."""

    encoding: str = option(
        _UTF8, "Encoding of the source, such as cp1252, latin-1, utf-16 or shift_jis.", unit="NAME",
        pattern=r"[A-Za-z0-9_.:-]+", expected="give the name of an encoding, such as cp1252 or utf-16",
    )  # fmt: skip

    def check_together(self) -> None:
        """Check that the encoding exists, and is one of text."""
        try:
            known = codecs.lookup(self.encoding)
            "".encode(known.name)
        except LookupError:
            raise SettingsError(
                f"encoding is {self.encoding!r}; give the name of an encoding, such as cp1252 or utf-16"
            ) from None

    def as_utf8(self, pieces: Iterator[bytes], label: str) -> Iterator[bytes]:
        """Yield pieces of a source as UTF-8. Bytes that are invalid in the encoding are invalid there too.

        Raise `SourceError` for UTF-16 and UTF-32 that end inside a character, and for what no character has.
        """
        first = head_of(pieces, _LONGEST)
        name = self._marked(first)
        pieces = chain([first], pieces)
        return pieces if name == _UTF8 else _converted(pieces, name, _UTF8, label)

    def rewritten(
        self, pieces: Iterator[bytes], label: str, rewrite: Callable[[Iterator[bytes]], Iterator[bytes]]
    ) -> Iterator[bytes]:
        """Return the pieces of a source as `rewrite` changes them: it gets UTF-8 and returns UTF-8."""
        first = head_of(pieces, _LONGEST)
        name = self._marked(first)
        changed = rewrite(self.as_utf8(chain([first], pieces), label))
        return changed if name == _UTF8 else _converted(changed, _UTF8, name, label)

    def _marked(self, first: bytes) -> str:
        """Return the encoding of a source that begins with these bytes: with its byte order."""
        name = codecs.lookup(self.encoding).name
        marked = (encoding for mark, encoding in _MARKS.items() if first.startswith(mark))
        return next(marked, _WITHOUT_MARK.get(name, name))


def head_of(pieces: Iterator[bytes], size: int) -> bytes:
    """Return the first pieces: at least so many bytes, if there are."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= size:
            break
    return head


def _converted(pieces: Iterator[bytes], source: str, target: str, label: str) -> Iterator[bytes]:
    # what is invalid stays what it is, so the reader counts it, and a rewritten source has it again
    wide = source if target == _UTF8 else target
    kept = "surrogatepass" if wide.startswith(_WIDE) else "surrogateescape"
    decode = codecs.getincrementaldecoder(source)(kept)
    encode = codecs.getincrementalencoder(target)(kept)
    try:
        for piece in pieces:
            yield encode.encode(decode.decode(piece))
        yield encode.encode(decode.decode(b"", final=True), final=True)
    except UnicodeError as error:
        if isinstance(error, UnicodeDecodeError):
            yield encode.encode(error.object[: error.start].decode(source, kept))
        raise SourceError(
            f"{label}: is damaged {wide}: {getattr(error, 'reason', error)}; everything before that was read; "
            "download or create the file again"
        ) from None


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
