"""Compressed bytes into plain bytes, piece by piece, for every compression but .7z.

All decoders work in bounded memory: at most `PIECE` bytes come out at a time, whatever the ratio. Many
streams one after another in a file are read as one. Damage raises the library's own error, or `EOFError`,
after everything that stood before it.
"""

from __future__ import annotations

import bz2
import logging
import lzma
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol

import rapidgzip
import zstandard

BLOCK = 2**16
PIECE = 2**18

# A bzip2 block is checked only after its last byte came out. This much is held back, the largest block and
# room for the runs that noise expands into, so that a damaged block is not handed on as text.
_BZIP2_BLOCK = 1_500_000
_ZSTD_BLOCK = 2**12
_MAX_WINDOW = 2**31

CODEC_ERRORS = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
"""What damaged input makes the decoders raise."""

_log = logging.getLogger("esdedup")


class Raw:
    """The compressed bytes of a source, and how many of them were read."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
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


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


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


class _Zstandard:
    """One zstd frame. The library cannot bound its output, so it is fed in small bites."""

    needs_input = True

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj()
        self._rest = b""

    @property
    def eof(self) -> bool:
        return self._frame.eof

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data + self._rest

    def decompress(self, data: bytes, max_length: int) -> bytes:
        del max_length
        pending = self._rest + data
        self._rest = pending[_ZSTD_BLOCK:]
        self.needs_input = not self._rest
        return self._frame.decompress(pending[:_ZSTD_BLOCK])


def plain(raw: Raw) -> Iterator[bytes]:
    """Bytes as they stand."""
    while data := raw.read(PIECE):
        yield data


def gzip(raw: Raw) -> Iterator[bytes]:
    """The members of a .gz file."""
    return _streams(raw, _Inflate, b"\x1f\x8b")


def xz(raw: Raw) -> Iterator[bytes]:
    """The streams of an .xz file, or one legacy .lzma stream."""
    return _streams(raw, lambda: lzma.LZMADecompressor(lzma.FORMAT_AUTO), b"\xfd7zXZ\0")


def zstd(raw: Raw) -> Iterator[bytes]:
    """The frames of a .zst file, skippable ones among them."""
    return _streams(raw, _Zstandard, b"\x28\xb5\x2f\xfd", *(bytes([0x50 + i, 0x2A, 0x4D, 0x18]) for i in range(16)))


def bzip2(raw: Raw) -> Iterator[bytes]:
    """The streams of a .bz2 file, on one core."""
    return _streams(raw, bz2.BZ2Decompressor, b"BZh", hold=_BZIP2_BLOCK)


def bzip2_parallel(raw: Raw, path: str, threads: int) -> Iterator[bytes]:
    """The streams of a .bz2 file, on many cores; `raw` is the same file, at its beginning.

    The parallel reader gives up some whole blocks before the damage and passes over a last stream cut in its
    first bytes; both are left to the one-core reader, from the point that was delivered.
    """
    reader = rapidgzip.IndexedBzip2FileRaw(path, threads)
    delivered = 0
    try:
        buffer = bytearray(PIECE)
        while count := reader.readinto(buffer):
            delivered += count
            raw.position = reader.bz2reader.tell_compressed() // 8
            yield bytes(memoryview(buffer)[:count])
        end = (reader.bz2reader.tell_compressed() + 7) // 8
    except (RuntimeError, ValueError, IndexError, OSError):
        end = -1
    finally:
        reader.close()
    if end >= 0 and delivered:
        raw.seek(end)
        rest = _after_padding(raw, b"")
        if not b"BZh".startswith(rest[:3]):
            _log.warning("%s: bytes after the end of the bzip2 data are ignored", path)
        elif rest:
            raise EOFError("the last stream is cut short")
        return
    raw.seek(0)
    skipped = 0
    for piece in bzip2(raw):
        if skipped < delivered:
            fresh = piece[delivered - skipped :]
            skipped += len(piece) - len(fresh)
            piece = fresh
        if piece:
            yield piece


def _streams(raw: Raw, make: Callable[[], _Decoder], *marks: bytes, hold: int = 0) -> Iterator[bytes]:
    """Decode stream after stream, each of which begins with one of `marks`; keep `hold` bytes back."""
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
        data = _after_padding(raw, decoder.unused_data)
        if data and not any(data.startswith(mark) or mark.startswith(data) for mark in marks):
            _log.warning("%s: bytes after the end of the compressed data are ignored", raw.file.name)
            return


def _after_padding(raw: Raw, data: bytes) -> bytes:
    """What follows, without the zero bytes that may stand between and after streams."""
    while not (data := data.lstrip(b"\0")):
        if not (data := raw.read()):
            return b""
    return data if len(data) >= 8 else data + raw.read(8)
