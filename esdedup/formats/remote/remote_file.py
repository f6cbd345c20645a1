"""The bytes of a file on a server: in blocks that are asked for ahead, or as one stream."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO

from esdedup.errors import SourceChangedError, SourceError
from esdedup.formats.remote.protocol import About, RemoteError, server_of, shown, tried

BLOCK = 2**22
"""Bytes of one request."""
_AHEAD = 3
_KEPT = 2 + _AHEAD


class _RemoteFile(io.RawIOBase):
    """Reads; and compares a checksum, if all bytes are read in order. `right` is called if it is the same."""

    def __init__(self, url: str, about: About, checksum: str | None, right: Callable[[], None]) -> None:
        self._url, self._about, self._checksum, self._right = url, about, checksum, right
        self._place = 0
        self._hash, self._hashed = hashlib.sha256(), 0

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        data = self._next(len(buffer))
        buffer[: len(data)] = data
        if self._checksum is not None and self._hashed == self._place:
            self._hash.update(data)
            self._hashed += len(data)
            if self._hashed == self._about.size or not data:
                self._compare(self._checksum)
        self._place += len(data)
        return len(data)

    def _next(self, size: int) -> bytes | memoryview:
        raise NotImplementedError

    def _compare(self, checksum: str) -> None:
        if self._hash.hexdigest() != checksum:
            raise SourceError(f"{shown(self._url)}: its SHA-256 is not the one in SHA256SUMS; download it again")
        self._right()

    def _check(self, state: str) -> None:
        if state != self._about.state:
            raise SourceChangedError.at(shown(self._url))


class RangeFile(_RemoteFile):
    """Reads blocks of `BLOCK` bytes, at most five of them in memory. While they are read in order, three are asked
    for ahead.
    """

    def __init__(self, url: str, about: About, checksum: str | None, right: Callable[[], None]) -> None:
        super().__init__(url, about, checksum, right)
        self._blocks: dict[int, Future[bytes]] = {}
        self._threads = ThreadPoolExecutor(_AHEAD, "esdedup-remote")
        self._last, self._in_order = -1, False

    def seekable(self) -> bool:
        """Whether it can be read from any place."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Read on from another place."""
        self._place = max(0, offset + (0, self._place, self._about.size)[whence])
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place

    def close(self) -> None:
        """Stop reading ahead, and give the blocks back."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._blocks.clear()
        super().close()

    def _next(self, size: int) -> memoryview:
        number, at = divmod(self._place, BLOCK)
        if self._place >= self._about.size:
            return memoryview(b"")
        if number != self._last:
            self._in_order = number == self._last + 1 and number > 0
        self._last, ahead = number, _AHEAD if self._in_order else 0
        for each in range(number, number + ahead + 1):
            if each not in self._blocks and each * BLOCK < self._about.size:
                self._blocks[each] = self._threads.submit(self._block, each)
        for old in sorted(self._blocks, key=lambda each: (each < number, abs(each - number)))[_KEPT:]:
            self._blocks.pop(old).cancel()
        return memoryview(self._blocks[number].result())[at : at + size]

    def _block(self, number: int) -> bytes:
        begin, end = number * BLOCK, (number + 1) * BLOCK
        size = min(end, self._about.size) - begin

        def once() -> bytes:
            data, state = server_of(self._url).read(self._url, begin, end if end < self._about.size else None)
            self._check(state)
            if len(data) != size:
                raise RemoteError(f"{shown(self._url)}: {len(data):,} bytes came instead of {size:,}")
            return data

        return tried(once)


class StreamFile(_RemoteFile):
    """Reads a file from its beginning, of a server that sends no parts. If the connection is cut, it is read again up
    to the same place.
    """

    def __init__(self, url: str, about: About, checksum: str | None, right: Callable[[], None]) -> None:
        super().__init__(url, about, checksum, right)
        self._stream: BinaryIO | None = None

    def close(self) -> None:
        """Close the connection."""
        if self._stream is not None:
            self._stream.close()
        super().close()

    def _next(self, size: int) -> bytes:
        def once() -> bytes:
            try:
                if self._stream is None:
                    self._stream = self._opened()
                return self._stream.read(size)
            except RemoteError:
                self._stream = None
                raise

        return tried(once)

    def _opened(self) -> BinaryIO:
        about = server_of(self._url).about(self._url)
        self._check("" if about is None else about.state)
        stream, left = server_of(self._url).stream(self._url), self._place
        while left and (skipped := stream.read(min(left, BLOCK))):
            left -= len(skipped)
        if left:
            raise SourceChangedError.at(shown(self._url))
        return stream
