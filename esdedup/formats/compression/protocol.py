"""The protocol of a compression: how it is detected, decompressed and compressed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, ClassVar, NamedTuple

from esdedup.options import Choice, Registry

BLOCK = 2**16
PIECE = 2**18

Members = Iterator[tuple[str | None, Iterator[bytes]]]
"""Names (None outside an archive) and bytes in pieces, one member after another."""


class Span(NamedTuple):
    """A part of a file that is read on its own: compressed bytes from `begin` to `end`, and the plain bytes that must
    come before and after what is in them.
    """

    begin: int
    end: int | None = None
    before: bytes = b""
    after: bytes = b""


class Raw:
    """The compressed bytes of a source, and how many of them were read. `path` is None for standard input.

    They end at `end`, if it is given.
    """

    def __init__(self, file: BinaryIO, path: Path | None, end: int | None = None) -> None:
        self.file = file
        self.path = path
        self.position = 0
        self._end = end
        self._pushed = b""

    def read(self, size: int = BLOCK) -> bytes:
        """Return up to `size` bytes; empty only at the end."""
        if self._end is not None:
            size = max(0, min(size, self._end - self.position))
        if self._pushed:
            data, self._pushed = self._pushed[:size], self._pushed[size:]
        else:
            data = self.file.read(size)
        self.position += len(data)
        return data

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes (fewer at the end) without consuming them."""
        while len(self._pushed) < size and (data := self.file.read(size - len(self._pushed))):
            self._pushed += data
        return self._pushed[:size]

    def seek(self, position: int) -> None:
        """Continue reading at `position`. The file must be seekable."""
        self.file.seek(position)
        self.position = position
        self._pushed = b""


class Compression(Choice):
    """A compression. It works in bounded memory, and equal bytes give equal files."""

    endings: ClassVar[tuple[str, ...]] = ()
    """File extensions, in lower case."""

    magic: ClassVar[bytes]
    """The first bytes of compressed data."""

    errors: ClassVar[tuple[type[Exception], ...]] = (EOFError, OSError, ValueError)
    """Exceptions that damaged data raises."""

    def marks(self, head: bytes, *, stream: bool) -> bool:
        """Return whether data that begins with `head` has this compression. A `stream` has no file extension."""
        del stream
        return head.startswith(self.magic)

    def as_it_lies(self, raw: Raw) -> Path | None:
        """Return the file that contains exactly the plain bytes, if there is one."""
        del raw
        return None

    def seams(self, path: Path, places: Sequence[int]) -> list[int]:
        """Return where a file can be read from, at or after each of these places; none if only from its start."""
        del path, places
        return []

    @abstractmethod
    def members(self, raw: Raw, threads: int, closing: ExitStack) -> Members:
        """Yield the members of a source: one, unless it is an archive. With more than one thread, decompression runs
        ahead.

        Read all pieces of one member before you ask for the next. `closing` stops background work. Damage raises one of
        `errors` after everything before it.
        """

    @abstractmethod
    def write(self, path: Path, members: Members, *, apart: bool = False) -> None:
        """Write the members to a new file `path`.

        If they are `apart`, what is between two empty pieces is compressed by itself, if a stream costs little.
        """


COMPRESSIONS: Registry[Compression] = Registry(
    "compression",
    {
        "gzip": "esdedup.formats.compression.streams:Gzip",
        "bzip2": "esdedup.formats.compression.bzip2:Bzip2",
        "xz": "esdedup.formats.compression.streams:Xz",
        "zstd": "esdedup.formats.compression.streams:Zstandard",
        "7z": "esdedup.formats.compression.sevenzip:SevenZip",
        "lzma": "esdedup.formats.compression.streams:Lzma",
        "plain": "esdedup.formats.compression.streams:Plain",
    },
)
"""In the order in which they are tried on data without a known file extension. Any data may be plain."""


def compression_of(ending: str) -> Compression | None:
    """Return the compression for a file extension."""
    return next((each() for each in COMPRESSIONS if ending.lower() in each.endings), None)
