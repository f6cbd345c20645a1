"""Collect rows in Arrow batches of bounded size: at most 4,096 rows or about 2 MiB of text each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import replace_surrogates, texts_from
from esdedup.columns.records import DOCUMENTS
from esdedup.errors import SourceError

MAX_ROWS = 4096
MAX_BYTES = 2 * 2**20

Row = tuple[str, str | None, str | bytes, int | None, str | None, str | None, int]
"""One document, in the order of the `DOCUMENTS` columns. A text given as bytes is UTF-8."""


def collect(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """Collect rows in batches. A text larger than a batch gets its own batch.

    If the rows end with a `SourceError`, the rows before it are yielded first.
    """
    held: list[Row] = []
    texts: list[bytes] = []
    size = 0
    try:
        for row in rows:
            encoded = _encode(row[2])
            grown = len(encoded) + len(row[0]) + len(row[1] or "")
            if held and (size + grown > MAX_BYTES or len(held) == MAX_ROWS):
                yield _batch(held, texts)
                held, texts, size = [], [], 0
            held.append((*row[:2], b"", *row[3:]))
            texts.append(encoded)
            size += grown
            del row, encoded  # nothing else keeps a large text while its batch is used
            if size > MAX_BYTES:
                batch = _batch(held, texts)
                held, texts, size = [], [], 0
                yield batch
                del batch
    except SourceError:
        if held:
            yield _batch(held, texts)
        raise
    if held:
        yield _batch(held, texts)


def from_columns(
    ids: Sequence[str], titles: Sequence[str] | None, texts: Sequence[str], places: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    """Make batches from whole columns, for sources without revisions."""
    rows = len(texts)
    # avoids iterating over a range
    numbers = np.arange(places.start, places.stop) if isinstance(places, range) else places
    columns = [
        pa.array(ids, pa.string()),
        pa.nulls(rows, pa.string()) if titles is None else pa.array(titles, pa.string()),
        pa.array(texts, pa.large_string()),
        pa.nulls(rows, pa.int64()),
        pa.nulls(rows, pa.string()),
        pa.nulls(rows, pa.string()),
        pa.array(numbers, pa.int64()),
    ]
    return cut(pa.RecordBatch.from_arrays(columns, schema=DOCUMENTS))


def cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Slice a batch of any size into batches of bounded size."""
    rows = batch.num_rows
    text = batch.column("text")
    if not rows:
        return
    offsets = np.frombuffer(text.buffers()[1], np.int64, rows + 1, text.offset * 8)
    start = 0
    while start < rows:
        end = int(np.searchsorted(offsets, offsets[start] + MAX_BYTES, side="right")) - 1
        end = min(max(end, start + 1), start + MAX_ROWS, rows)
        yield batch.slice(start, end - start)
        start = end


def _encode(text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError:
        return replace_surrogates(text).encode()


def _batch(rows: list[Row], texts: list[bytes]) -> pa.RecordBatch:
    ids, titles, _, revisions, timestamps, contributors, places = zip(*rows, strict=True)
    columns = [
        _strings(ids),
        _strings(titles),
        texts_from(np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)])),
        pa.array(revisions, pa.int64()),
        _strings(timestamps),
        _strings(contributors),
        pa.array(places, pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=DOCUMENTS)


def _strings(values: Sequence[str | None]) -> pa.Array:
    try:
        return pa.array(values, pa.string())
    except (UnicodeEncodeError, pa.ArrowInvalid):
        return pa.array([value and replace_surrogates(value) for value in values], pa.string())
