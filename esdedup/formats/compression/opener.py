"""Open a source: plain bytes, whatever the compression, with a known position."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple, TypeVar, cast

from esdedup.errors import SourceError
from esdedup.formats.compression.protocol import BLOCK, COMPRESSIONS, Compression, Raw, Span, compression_of

T = TypeVar("T")

MOST_COPIED = 2**32
"""Bytes of a temporary copy. What is compressed is rarely larger, and a small file can unpack to any size."""


class Member(NamedTuple):
    """A run of plain bytes that contains documents: a source, or one file of an archive."""

    name: str | None  # in the archive
    pieces: Iterator[bytes]  # damage raises `SourceError` after the pieces before it
    path: Path | None = None  # the file with exactly these bytes, if there is one

    def file(self, label: str, magic: bytes) -> BinaryIO:
        """Return the bytes as a seekable file: the source itself if it is a plain file, otherwise a temporary copy.

        Raise `SourceError` if a copy does not begin with `magic`, or takes more than `MOST_COPIED` bytes or half of the
        disk that is free.
        """
        if self.path is not None:
            return self.path.open("rb")
        copy = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
        try:
            most = min(MOST_COPIED, shutil.disk_usage(tempfile.gettempdir()).free // 2)
            size = 0
            for piece in self.pieces:
                if not size and not piece.startswith(magic[: len(piece)]):
                    raise SourceError(f"{label}: what is in it does not begin as it should; check what was packed")
                size += len(piece)
                if size > most:
                    raise SourceError(
                        f"{label}: takes more than {most:,} bytes of {tempfile.gettempdir()} when it is unpacked; "
                        "unpack it yourself and give the file, or set TMPDIR to a larger disk"
                    )
                copy.write(piece)
            copy.seek(0)
        except BaseException:
            copy.close()
            raise
        return copy


class Opened:
    """An open source, or a span of it. With more than one thread, it is decompressed ahead of the reader. Messages call
    it `label`.
    """

    def __init__(self, path: Path | None, threads: int = 1, span: Span | None = None) -> None:
        self.label = "standard input" if path is None else readable(path)
        self._path = path
        self._threads = threads if span is None else 1
        self._span = span
        self._closing = ExitStack()
        if path is None and sys.stdin is None:  # the parent process closed it
            raise SourceError("standard input: is closed; pipe data into it, or name a file")
        try:
            file = cast(BinaryIO, sys.stdin.buffer if path is None else path.open("rb", buffering=0))
        except OSError as error:
            raise SourceError(
                f"{self.label}: cannot be opened: {error.strerror}; check the path and its permissions"
            ) from error
        if path is not None:
            self._closing.callback(file.close)
        self._raw = Raw(file, path, span and span.end)
        if span is not None:
            self._raw.seek(span.begin)
        try:
            self.compression = self._detect()
        except OSError as error:
            self.close()
            raise SourceError(f"{self.label}: cannot be read: {error.strerror}") from error

    @property
    def position(self) -> int:
        """Bytes read so far, as stored on disk."""
        return self._raw.position

    def members(self) -> Iterator[Member]:
        """Yield the members one after another (one, unless the source is an archive).

        Read all pieces of one member before you ask for the next.
        """
        path = self.compression.as_it_lies(self._raw)
        for name, pieces in self._guarded(self.compression.members(self._raw, self._threads, self._closing)):
            held = self._guarded(pieces)
            yield Member(name, held if self._span is None else _between(held, self._span), path)

    def close(self) -> None:
        """Stop background work and close the file. Standard input stays open."""
        self._closing.close()

    def _detect(self) -> Compression:
        """Detect the compression by the file extension. Without a known one, and for standard input, use the first
        bytes.
        """
        if self._path is not None and (named := compression_of(self._path.suffix)):
            return named
        head = self._raw.peek(13)
        return next(each() for each in COMPRESSIONS if each().marks(head, stream=self._path is None))

    def _guarded(self, items: Iterator[T]) -> Iterator[T]:
        try:
            yield from items
        except SourceError:
            raise
        except self.compression.errors as error:
            cause = " ".join(str(error).split()) or type(error).__name__
            raise SourceError(
                f"{self.label}: damaged near byte {self.position} of the {self.compression.name} data: {cause}; "
                "everything before it was read; download or create the file again"
            ) from error


def first_bytes(path: Path, place: int = 0) -> bytes:
    """Return the first plain bytes of a file, or of its stream at `place`; none of a damaged one."""
    head = b""
    with suppress(SourceError), closing(Opened(path, 1, Span(place) if place else None)) as opened:
        for piece in (piece for member in opened.members() for piece in member.pieces):
            head += piece
            if len(head) >= BLOCK:
                break
    return head


def _between(pieces: Iterator[bytes], span: Span) -> Iterator[bytes]:
    if span.before:
        yield span.before
    yield from pieces
    if span.after:
        yield span.after


def readable(path: PurePath | str) -> str:
    """Return a path as valid UTF-8 text. Bytes of a name in another encoding are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
