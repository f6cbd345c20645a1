"""One opener for every source: plain bytes out, whatever the compression, with a known position."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from typing import BinaryIO, TypeVar, cast

from esdedup.columns.ahead import Ahead
from esdedup.errors import SourceError
from esdedup.formats.compression import decoders
from esdedup.formats.compression.decoders import Raw
from esdedup.formats.compression.sevenzip import SevenZip

T = TypeVar("T")

COMPRESSIONS = {
    ".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".lzma": "xz", ".zst": "zstd", ".7z": "7z",
}  # fmt: skip
"""Compression by the ending of a file's name."""

_MAGIC = {
    b"\x1f\x8b\x08": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf\x27\x1c": "7z",
}
_DECODERS: dict[str, Callable[[Raw], Iterator[bytes]]] = {
    "plain": decoders.plain,
    "gzip": decoders.gzip,
    "bzip2": decoders.bzip2,
    "xz": decoders.xz,
    "zstd": decoders.zstd,
}


class Opened:
    """An open source: its members one after another (one, unless it is a .7z with several files).

    With more than one thread, decompression runs ahead of the reader, for bzip2 on many cores. `label` names
    the source in messages.
    """

    def __init__(self, path: Path | None, threads: int = 1) -> None:
        self.label = "standard input" if path is None else readable(path)
        self._path = path
        self._threads = threads
        self._ahead: Ahead[bytes] | None = None
        self._seven: SevenZip | None = None
        if path is None and sys.stdin is None:  # closed by whoever started us
            raise SourceError("standard input: is closed; pipe something into it, or name a file")
        try:
            file = cast(BinaryIO, sys.stdin.buffer if path is None else path.open("rb", buffering=0))
        except OSError as error:
            raise SourceError(
                f"{self.label}: cannot be opened: {error.strerror}; check the path and its permissions"
            ) from error
        self._raw = Raw(file)
        try:
            self.compression = self._detect()
        except OSError as error:
            self.close()
            raise SourceError(f"{self.label}: cannot be read: {error.strerror}") from error

    @property
    def position(self) -> int:
        """Bytes of the source, as it lies on disk, read so far."""
        return self._seven.position if self._seven else self._raw.position

    def members(self) -> Iterator[tuple[str | None, Iterator[bytes]]]:
        """Each member's name (`None` unless inside an archive) and its bytes in pieces.

        The pieces of one member have to be read before the next member is asked for. Damage raises
        `SourceError` after the pieces that stood before it.
        """
        if self.compression != "7z":
            yield None, self._guarded(self._pieces())
        elif self._path is None:
            raise SourceError("standard input: a .7z archive cannot be read as a stream; save it and name the file")
        else:
            self._seven = SevenZip(self._path)
            for name, pieces in self._guarded(self._seven.members()):
                yield name, self._guarded(pieces)

    def seekable(self, pieces: Iterator[bytes]) -> BinaryIO:
        """The bytes of a member as a file that can seek: the source itself, or where it is none, a temporary copy."""
        if self._path is not None and self._path.is_file() and self.compression == "plain":
            return self._path.open("rb")
        copy = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
        try:
            for piece in pieces:
                copy.write(piece)
            copy.seek(0)
        except BaseException:
            copy.close()
            raise
        return copy

    def close(self) -> None:
        """Stop what runs ahead and close the file; standard input stays open."""
        if self._ahead:
            self._ahead.close()
        if self._seven:
            self._seven.close()
        if self._path is not None:
            self._raw.file.close()

    def _detect(self) -> str:
        """By the name's ending; without a known one, and on standard input, by the first bytes."""
        if self._path is not None and (named := COMPRESSIONS.get(self._path.suffix.lower())):
            return named
        head = self._raw.peek(13)
        for magic, compression in _MAGIC.items():
            if head.startswith(magic):
                return compression
        if self._path is None and _is_legacy_lzma(head):
            return "xz"
        return "plain"

    def _pieces(self) -> Iterator[bytes]:
        # the parallel reader opens the file again by its name and seeks in it; with one thread it is no faster
        # than the standard one and hands on damaged blocks
        path = self._path
        if self.compression == "bzip2" and self._threads > 1 and path is not None and path.is_file():
            return decoders.bzip2_parallel(self._raw, str(path), self._threads)
        pieces = _DECODERS[self.compression](self._raw)
        if self._threads == 1 or self.compression == "plain":
            return pieces

        def produce(put: Callable[[bytes], None]) -> None:
            for piece in pieces:
                put(piece)

        self._ahead = Ahead(produce)
        return iter(self._ahead)

    def _guarded(self, pieces: Iterator[T]) -> Iterator[T]:
        try:
            yield from pieces
        except SourceError:
            raise
        except decoders.CODEC_ERRORS as error:
            cause = " ".join(str(error).split()) or type(error).__name__
            raise SourceError(
                f"{self.label}: damaged near byte {self.position} of the {self.compression} data: {cause}; "
                "what stands before was read; fetch or make the file again"
            ) from error


def _is_legacy_lzma(head: bytes) -> bool:
    """The .lzma header has no magic: default properties, a dictionary size, a plausible length."""
    if len(head) < 13 or head[:3] != b"\x5d\0\0":
        return False
    length = int.from_bytes(head[5:13], "little")
    return length == 2**64 - 1 or length < 2**40


def readable(path: PurePath | str) -> str:
    """A path as text that UTF-8 can carry: of a name in another encoding, the bytes are shown."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
