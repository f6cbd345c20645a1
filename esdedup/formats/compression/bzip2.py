"""bzip2, on one core or several."""

from __future__ import annotations

import bz2
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import rapidgzip

from esdedup.formats.compression.protocol import PIECE, Members, Raw
from esdedup.formats.compression.streams import Stream, after_padding, streams

# The checksum of a block follows its last byte. This many bytes are held back, so that a damaged block is not passed on
# as text: the largest block, plus room for runs that noise expands into.
_BLOCK = 1_500_000

_STREAM = re.compile(rb"BZh[1-9]1AY&SY")
_STREAM_BYTES = 9

_log = logging.getLogger("esdedup")


class Bzip2(Stream):
    """The streams of a .bz2 file."""

    name = "bzip2"
    endings = (".bz2",)
    magic = b"BZh"

    def decode(self, raw: Raw) -> Iterator[bytes]:
        """Decode all streams as one, on one core."""
        return streams(raw, bz2.BZ2Decompressor, self.magic, hold=_BLOCK)

    def seams(self, path: Path, places: Sequence[int]) -> list[int]:
        """Return where streams begin: their marks are random enough, and what is between streams is whole bytes."""
        found = set()
        with path.open("rb") as file:
            for place in places:
                file.seek(place)
                before, held = place, b""
                while data := file.read(PIECE):
                    held += data
                    if (match := _STREAM.search(held)) is not None:
                        found.add(before + match.start())
                        break
                    before, held = before + len(held) - _STREAM_BYTES, held[-_STREAM_BYTES:]
        return sorted(found)

    def encoder(self, file: BinaryIO) -> AbstractContextManager[Any]:
        """Write one stream."""
        return bz2.BZ2File(file, "wb")

    def members(self, raw: Raw, threads: int, closing: ExitStack) -> Members:
        """Return the only member. A file is read on several cores."""
        # The parallel reader opens the file again by its name and seeks in it. With one thread it is not faster than
        # the standard reader, and it passes on damaged blocks.
        if threads > 1 and raw.path is not None and raw.path.is_file():
            yield None, self._in_parallel(raw, str(raw.path), threads)
        else:
            yield from super().members(raw, threads, closing)

    def _in_parallel(self, raw: Raw, path: str, threads: int) -> Iterator[bytes]:
        """Decode all streams as one. `raw` is the same file, at its beginning.

        The parallel reader stops some whole blocks before damage, and skips a last stream that is cut in its first
        bytes. In both cases the one-core reader continues where the parallel one stopped.
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
            rest = after_padding(raw, b"")
            if not self.magic.startswith(rest[:3]):
                _log.warning("%s: bytes after the end of the bzip2 data are ignored", path)
            elif rest:
                raise EOFError("the last stream is cut short")
            return
        raw.seek(0)
        skipped = 0
        for piece in self.decode(raw):
            fresh = piece[max(0, delivered - skipped) :]
            skipped += len(piece) - len(fresh)
            if fresh:
                yield fresh
