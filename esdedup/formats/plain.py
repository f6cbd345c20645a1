"""Plain text: a file a document, or a line a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from esdedup.columns.records import Skips
from esdedup.formats.batches import Row, collect, from_columns
from esdedup.formats.line_blocks import Block, decode_lines

MAX_TEXT = 2**28
"""A text file larger than this is skipped and counted: one document is held in memory as a whole."""


def read_text(identifier: str, pieces: Iterator[bytes], skips: Skips) -> Iterator[pa.RecordBatch]:
    """The file as one document. Invalid UTF-8 is replaced by U+FFFD and counted."""
    return collect(_text(identifier, pieces, skips))


def _text(identifier: str, pieces: Iterator[bytes], skips: Skips) -> Iterator[Row]:
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > MAX_TEXT:
            skips.add("too_long_text", identifier)
            return
    data = b"".join(held).removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        skips.add("bad_utf8", identifier)
        text = data.decode(errors="replace")
    if not text or text.isspace():
        skips.add("no_text", identifier)
        return
    yield identifier, None, text, None, None, None, 1


def read_lines(blocks: Iterable[Block], skips: Skips) -> Iterator[pa.RecordBatch]:
    """Each line as a document, its number from 1 as id; empty lines are counted."""
    for first, block in blocks:
        numbers, lines = decode_lines(first, block, skips)
        if not all(lines) or any(map(str.isspace, lines)):
            pairs = zip(numbers, lines, strict=True)
            kept = [(at, line) for at, line in pairs if line and not line.isspace()]
            skips.add("no_text", count=len(lines) - len(kept))
            numbers, lines = [at for at, _ in kept], [line for _, line in kept]
        yield from from_columns(list(map(str, numbers)), None, lines, numbers)
