"""What a compression is: how its bytes are told from others, unpacked and packed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, ClassVar

from esdedup.options import Choice, Registry

BLOCK = 2**16
PIECE = 2**18

Members = Iterator[tuple[str | None, Iterator[bytes]]]
"""Names (None unless inside an archive) and bytes in pieces, one member after another."""


class Raw:
    """The compressed bytes of a source, and how many of them were read. `path` is None for standard input."""

    def __init__(self, file: BinaryIO, path: Path | None) -> None:
        self.file = file
        self.path = path
        self.position = 0
        self._pushed = b""

    def read(self, size: int = BLOCK) -> bytes:
        """Up to `size` bytes; empty only at the end."""
        if self._pushed:
            data, self._pushed = self._pushed[:size], self._pushed[size:]
        else:
            data = self.file.read(size)
        self.position += len(data)
        return data

    def peek(self, size: int) -> bytes:
        """The next `size` bytes (fewer at the end), which stay to be read."""
        while len(self._pushed) < size and (data := self.file.read(size - len(self._pushed))):
            self._pushed += data
        return self._pushed[:size]

    def seek(self, position: int) -> None:
        """Go on reading at `position` of a file that can seek."""
        self.file.seek(position)
        self.position = position
        self._pushed = b""


class Compression(Choice):
    """A way to compress. Bytes are unpacked and packed in bounded memory; equal bytes make equal files."""

    endings: ClassVar[tuple[str, ...]] = ()
    """Of file names, in lower case."""

    magic: ClassVar[bytes]
    """What compressed bytes begin with."""

    errors: ClassVar[tuple[type[Exception], ...]] = (EOFError, OSError, ValueError)
    """What damaged bytes make it raise."""

    def marks(self, head: bytes, *, stream: bool) -> bool:
        """Whether bytes that begin with `head` are compressed in this way; a stream has no name that could tell."""
        del stream
        return head.startswith(self.magic)

    def as_it_lies(self, raw: Raw) -> Path | None:
        """The file that holds just the plain bytes, if there is one."""
        del raw
        return None

    @abstractmethod
    def members(self, raw: Raw, threads: int, closing: ExitStack) -> Members:
        """The members of a source: one, unless it is an archive. With more than one thread, unpacking runs ahead.

        The pieces of one member have to be read before the next member is asked for. `closing` ends what runs.
        Damage raises one of `errors` after everything that stood before it.
        """

    @abstractmethod
    def write(self, path: Path, members: Members) -> None:
        """Write `path` anew."""


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
"""In the order in which they are tried on bytes without a name that tells. Any bytes may be plain."""


def compression_of(ending: str) -> Compression | None:
    """The compression that the ending of a file's name tells."""
    return next((each() for each in COMPRESSIONS if ending.lower() in each.endings), None)
