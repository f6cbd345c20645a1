"""Compressions that are one or more streams of bytes, decoded piece by piece.

At most `PIECE` bytes are decoded at a time, whatever the ratio. Several streams in one file are read as one.
"""

from __future__ import annotations

import bz2
import gzip
import logging
import lzma
import zlib
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TypeAlias

import zstandard

from esdedup.columns.ahead import read_ahead
from esdedup.formats.compression.protocol import PIECE, Compression, Members, Raw

_GZIP_LEVEL = 6
_ZSTD_LEAST, _ZSTD_BLOCK = 2**6, 2**12
_MAX_WINDOW = 2**31

_log = logging.getLogger("esdedup")


class _Inflate:
    """zlib with the interface of the bz2 and lzma decoders."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._zlib.decompress(data or self._zlib.unconsumed_tail, max_length)


class _Frame:
    """One zstd frame. The library cannot limit its output, so it gets little input at a time: less if the last one
    became much.
    """

    needs_input = True

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj()
        self._rest = b""
        self._step = _ZSTD_LEAST

    @property
    def eof(self) -> bool:
        return self._frame.eof

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data + self._rest

    def decompress(self, data: bytes, max_length: int) -> bytes:
        del max_length
        pending = self._rest + data
        self._rest = pending[self._step :]
        self.needs_input = not self._rest
        found = self._frame.decompress(pending[: self._step])
        if len(found) > PIECE:
            self._step = _ZSTD_LEAST
        elif self._step < _ZSTD_BLOCK:
            self._step *= 2
        return found


_Decoder: TypeAlias = bz2.BZ2Decompressor | lzma.LZMADecompressor | _Inflate | _Frame


class Stream(Compression):
    """Compresses one run of bytes."""

    small: ClassVar[bool] = False
    """Whether a stream of a few bytes takes little time and room, so that each record of a web archive is one."""

    @abstractmethod
    def decode(self, raw: Raw) -> Iterator[bytes]:
        """Yield plain bytes in pieces."""

    @abstractmethod
    def encoder(self, file: BinaryIO) -> AbstractContextManager[Any]:
        """Return a file for plain bytes that writes them compressed to `file`."""

    def members(self, raw: Raw, threads: int, closing: ExitStack) -> Members:
        """Return the only member."""
        pieces = self.decode(raw)
        yield None, closing.enter_context(read_ahead(pieces)) if threads > 1 else pieces

    def write(self, path: Path, members: Members, *, apart: bool = False) -> None:
        """Write all members as one; if they are `apart`, as many small streams."""
        apart = apart and self.small
        whole = (piece for _, pieces in members for piece in (pieces if apart else gathered(pieces)))
        with path.open("wb") as file:
            for stream in _streams_of(whole) if apart else [whole]:
                with self.encoder(file) as encoder:
                    for piece in stream:
                        encoder.write(piece)


def _streams_of(pieces: Iterator[bytes]) -> Iterator[Iterator[bytes]]:
    """Yield what is between empty pieces."""
    for first in pieces:
        if first:
            yield chain([first], takewhile(bool, pieces))


class Plain(Stream):
    """Not compressed."""

    name = "plain"
    magic = b""

    def as_it_lies(self, raw: Raw) -> Path | None:
        """Return the source itself, if it is a file."""
        return raw.path if raw.path is not None and raw.file.seekable() else None

    def decode(self, raw: Raw) -> Iterator[bytes]:
        """Yield the bytes unchanged."""
        while data := raw.read(PIECE):
            yield data

    def members(self, raw: Raw, threads: int, closing: ExitStack) -> Members:
        """Return one member that is read on demand: there is nothing to decompress ahead."""
        del threads, closing
        yield None, self.decode(raw)

    def encoder(self, file: BinaryIO) -> AbstractContextManager[Any]:
        """Return the file itself. The code that opened it closes it."""
        return nullcontext(file)


class Gzip(Stream):
    """The members of a .gz file."""

    name = "gzip"
    small = True
    endings = (".gz",)
    magic = b"\x1f\x8b\x08"
    errors = (*Compression.errors, zlib.error)

    def decode(self, raw: Raw) -> Iterator[bytes]:
        """Decode all members as one."""
        return streams(raw, _Inflate, b"\x1f\x8b")

    def encoder(self, file: BinaryIO) -> AbstractContextManager[Any]:
        """Write one member without name or time."""
        return gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0)


class Xz(Stream):
    """The streams of an .xz file."""

    name = "xz"
    endings = (".xz",)
    magic = b"\xfd7zXZ\0"
    errors = (*Compression.errors, lzma.LZMAError)
    container: ClassVar[int] = lzma.FORMAT_XZ

    def decode(self, raw: Raw) -> Iterator[bytes]:
        """Decode all streams as one, or one stream of the legacy format."""
        return streams(raw, lambda: lzma.LZMADecompressor(lzma.FORMAT_AUTO), Xz.magic)

    def encoder(self, file: BinaryIO) -> AbstractContextManager[Any]:
        """Write one stream."""
        return lzma.LZMAFile(file, "wb", format=self.container)


class Lzma(Xz):
    """The legacy format of xz, which has no magic bytes."""

    name = "lzma"
    endings = (".lzma",)
    container = lzma.FORMAT_ALONE

    def marks(self, head: bytes, *, stream: bool) -> bool:
        """Check for default properties, a dictionary size and a plausible length. Not used if a file has a name."""
        length = int.from_bytes(head[5:13], "little")
        return stream and len(head) >= 13 and head[:3] == b"\x5d\0\0" and (length == 2**64 - 1 or length < 2**40)


class Zstandard(Stream):
    """The frames of a .zst file, including skippable ones."""

    name = "zstd"
    small = True
    endings = (".zst",)
    magic = b"\x28\xb5\x2f\xfd"
    errors = (*Compression.errors, zstandard.ZstdError)

    def decode(self, raw: Raw) -> Iterator[bytes]:
        """Decode all frames as one."""
        return streams(raw, _Frame, self.magic, *(bytes([0x50 + i, 0x2A, 0x4D, 0x18]) for i in range(16)))

    def encoder(self, file: BinaryIO) -> AbstractContextManager[Any]:
        """Write one frame with a checksum."""
        return zstandard.ZstdCompressor(write_checksum=True).stream_writer(file)


def streams(raw: Raw, make: Callable[[], _Decoder], *marks: bytes, hold: int = 0) -> Iterator[bytes]:
    """Decode one stream after another. Each begins with one of `marks`. Hold back `hold` bytes."""
    held: deque[bytes] = deque()
    size = 0
    data = raw.read()
    while data:
        decoder = make()
        while not decoder.eof:
            if decoder.needs_input and not data and not (data := raw.read()):
                yield from held
                raise EOFError("the compressed data is cut short")
            piece = decoder.decompress(data, PIECE)
            data = b""
            if not piece:
                continue
            held.append(piece)
            size += len(piece)
            while held and size - len(held[0]) >= hold:
                size -= len(held[0])
                yield held.popleft()
        yield from held
        held.clear()
        size = 0
        data = next_stream(raw, decoder.unused_data, *marks)


def gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Collect the bytes in larger pieces."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield b"".join(held)
            held.clear()
            size = 0
    yield b"".join(held)


def next_stream(raw: Raw, data: bytes, *marks: bytes) -> bytes:
    """Return the first bytes of the next stream, or none. `data` are the first bytes after the last stream.

    Zero bytes may be between streams. If anything else follows, a warning is logged, and none is returned.
    """
    while not (data := data.lstrip(b"\0")):
        if not (data := raw.read()):
            return b""
    if len(data) < 8:
        data += raw.read(8)
    if any(data.startswith(mark) or mark.startswith(data) for mark in marks):
        return data
    _log.warning("%s: bytes after the end of the compressed data are ignored", raw.file.name)
    return b""
