"""bzip2, on one core or several."""

from __future__ import annotations

import bz2
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, BinaryIO

from esdedup.columns.ahead import begun_ahead
from esdedup.formats.compression.bzip2_blocks import Blocks
from esdedup.formats.compression.protocol import PIECE, Members, Raw
from esdedup.formats.compression.streams import Stream, next_stream, streams

# A block is damaged if its checksum, known after its last byte, is wrong. This many bytes are held back, so that a
# damaged block is not passed on as text: the largest block, plus room for runs that noise expands into. Only of a block
# that is nothing but long runs, the first of its 46 megabytes may be passed on.
_BLOCK = 1_500_000

_STREAM = re.compile(rb"BZh[1-9]1AY&SY")
_STREAM_BYTES = 9

# Blocks that are decoded or wait, for each core. A block has 900,000 bytes, and 46 million if it is nothing but runs.
_AHEAD = 2


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
        if threads > 1 and raw.path is not None and raw.file.seekable():
            yield None, self._in_parallel(raw, raw.path, threads, closing)
        else:
            yield from super().members(raw, threads, closing)

    def _in_parallel(self, raw: Raw, path: Path, threads: int, closing: ExitStack) -> Iterator[bytes]:
        """Decode all streams as one. `raw` is the same file, at its beginning.

        From a stream on that cannot be cut into blocks or is damaged, one core decodes, which says what is wrong.
        """
        blocks = Blocks(closing.enter_context(path.open("rb")))
        pool = ThreadPoolExecutor(threads, "esdedup-bzip2")
        closing.callback(pool.shutdown, cancel_futures=True)
        stream = delivered = 0
        begun = ((block, pool.submit(bz2.decompress, block.data)) for block in blocks)
        for block, decoding in begun_ahead(begun, _AHEAD * threads):
            if block.stream != stream:
                stream, delivered = block.stream, 0
            if decoding.exception() is not None:
                break
            plain = decoding.result()
            raw.position = block.end
            delivered += len(plain)
            yield from (plain[place : place + PIECE] for place in range(0, len(plain), PIECE))
        else:
            if blocks.stream != stream:
                stream, delivered = blocks.stream, 0
        raw.seek(stream)
        if stream and not delivered:
            first = next_stream(raw, b"", self.magic)
            if not first:
                return
            raw.seek(raw.position - len(first))
        skipped = 0
        for piece in self.decode(raw):
            fresh = piece[max(0, delivered - skipped) :]
            skipped += len(piece) - len(fresh)
            if fresh:
                yield fresh
