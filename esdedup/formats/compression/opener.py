"""An open source: plain bytes out, whatever the compression, with a known position."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple, TypeVar, cast

from esdedup.errors import SourceError
from esdedup.formats.compression.protocol import COMPRESSIONS, Compression, Raw, compression_of

T = TypeVar("T")


class Member(NamedTuple):
    """A run of plain bytes that holds documents: a source, or one file of an archive."""

    name: str | None  # in the archive
    pieces: Iterator[bytes]  # damage raises `SourceError` after those that stood before it
    path: Path | None = None  # the file with just these bytes, if there is one

    def file(self) -> BinaryIO:
        """The bytes as a file that can seek: the source itself, or where it is none, a temporary copy."""
        if self.path is not None:
            return self.path.open("rb")
        copy = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
        try:
            for piece in self.pieces:
                copy.write(piece)
            copy.seek(0)
        except BaseException:
            copy.close()
            raise
        return copy


class Opened:
    """An open source. With more than one thread, it is unpacked ahead of the reader. `label` names it in messages."""

    def __init__(self, path: Path | None, threads: int = 1) -> None:
        self.label = "standard input" if path is None else readable(path)
        self._path = path
        self._threads = threads
        self._closing = ExitStack()
        if path is None and sys.stdin is None:  # closed by whoever started us
            raise SourceError("standard input: is closed; pipe something into it, or name a file")
        try:
            file = cast(BinaryIO, sys.stdin.buffer if path is None else path.open("rb", buffering=0))
        except OSError as error:
            raise SourceError(
                f"{self.label}: cannot be opened: {error.strerror}; check the path and its permissions"
            ) from error
        if path is not None:
            self._closing.callback(file.close)
        self._raw = Raw(file, path)
        try:
            self.compression = self._detect()
        except OSError as error:
            self.close()
            raise SourceError(f"{self.label}: cannot be read: {error.strerror}") from error

    @property
    def position(self) -> int:
        """Bytes of the source, as it lies on disk, read so far."""
        return self._raw.position

    def members(self) -> Iterator[Member]:
        """The members one after another (one, unless the source is an archive).

        The pieces of one member have to be read before the next member is asked for.
        """
        path = self.compression.as_it_lies(self._raw)
        for name, pieces in self._guarded(self.compression.members(self._raw, self._threads, self._closing)):
            yield Member(name, self._guarded(pieces), path)

    def close(self) -> None:
        """Stop what runs ahead and close the file; standard input stays open."""
        self._closing.close()

    def _detect(self) -> Compression:
        """By the name's ending; without a known one, and on standard input, by the first bytes."""
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
                "what stands before was read; fetch or make the file again"
            ) from error


def readable(path: PurePath | str) -> str:
    """A path as text that UTF-8 can carry: of a name in another encoding, the bytes are shown."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
