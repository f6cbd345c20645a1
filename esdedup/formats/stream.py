"""An open source as a stream of document batches, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from types import TracebackType

import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.records import DOCUMENTS, Skips
from esdedup.errors import SourceError
from esdedup.formats.compression.opener import Opened, readable
from esdedup.formats.delimited import read_csv, read_tsv
from esdedup.formats.discover import Source
from esdedup.formats.jsonl import read_jsonl
from esdedup.formats.line_blocks import LineBlocks
from esdedup.formats.mediawiki.dump import WikipediaReader
from esdedup.formats.parquet import ParquetReader
from esdedup.formats.plain import read_lines, read_text
from esdedup.formats.reading_options import Reading


class DocumentStream:
    """Iterates once over batches of the `DOCUMENTS` schema; also a context manager.

    `namespaces` holds the wiki's namespace names by the time the first batch is yielded; it stays empty for
    other formats. A damaged source raises `SourceError` after the batches that stood before the damage.
    """

    def __init__(self, source: Source, reading: Reading, skips: Skips, threads: int = 1) -> None:
        self.namespaces: dict[int, str] = {}
        self._source = source
        self._reading = reading
        self._skips = skips
        self._parquet: ParquetReader | None = None
        self._before = 0  # raw records in the members that were read
        self._opened = Opened(source.path, threads)

    @property
    def position(self) -> int:
        """Bytes of the source, as it lies on disk, consumed so far."""
        if self._parquet is not None:
            return int(self._source.size * min(self._parquet.done, 1.0))
        return self._opened.position

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        left = self._reading.limit
        # with all revisions rows are not documents: that reader counts for itself
        counted = self._source.format != "wikipedia"
        for name, pieces in self._opened.members():
            if left == 0:
                return
            before = self._before
            if not counted:
                reader = self._wikipedia(pieces, left)
                yield from (_moved(batch, before) for batch in reader)
                left = None if left is None else left - reader.documents
                self._before += reader.pages
                continue
            for batch in self._batches(name, pieces):
                if left is not None:
                    batch = batch.slice(0, left)
                    left -= batch.num_rows
                yield _moved(batch, before)
                if left == 0:
                    return

    def close(self) -> None:
        """Close the source; reading may stop anywhere."""
        if self._parquet is not None:
            self._parquet.close()
        self._opened.close()

    def __enter__(self) -> DocumentStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _wikipedia(self, pieces: Iterator[bytes], limit: int | None) -> WikipediaReader:
        return WikipediaReader(pieces, self._opened.label, self._reading, limit, self._skips, self.namespaces)

    def _batches(self, member: str | None, pieces: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
        """The documents of one member, whose raw records are added up when all were read."""
        source, reading, skips, label = self._source, self._reading, self._skips, self._opened.label
        blocks = LineBlocks(pieces, skips)
        match source.format:
            case "tsv":
                yield from read_tsv(blocks, label, reading, skips)
            case "csv":
                yield from read_csv(blocks, label, reading, skips)
            case "jsonl":
                yield from read_jsonl(blocks, reading, skips)
            case "lines":
                yield from read_lines(blocks, skips)
            case "text":
                yield from read_text(member or _text_id(source), pieces, skips)
                self._before += 1
            case "parquet":
                yield from self._parquet_batches(pieces)
            case _:
                raise SourceError(f"{label}: format {source.format!r} is not known")
        self._before += blocks.lines

    def _parquet_batches(self, pieces: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
        """From the file itself, or where it is compressed or a stream, from a temporary copy."""
        with self._opened.seekable(pieces) as file:
            self._parquet = ParquetReader(file, self._opened.label, self._reading, self._skips)
            yield from self._parquet
            self._before += self._parquet.rows
            self._parquet.close()


def open_documents(source: Source, reading: Reading, skips: Skips, *, threads: int = 1) -> DocumentStream:
    """Open a source for reading. Skipped records are counted in `skips`.

    With more than one thread, bzip2 is decompressed on that many cores, and the other compressions ahead of
    the reader. `reading.limit` is the number of documents at most (pages, not revisions).
    """
    return DocumentStream(source, reading, skips, threads)


def _moved(batch: pa.RecordBatch, before: int) -> pa.RecordBatch:
    """The batch with its places after `before` records of earlier members."""
    if not before:
        return batch
    at = DOCUMENTS.get_field_index("place")
    return batch.set_column(at, DOCUMENTS.field(at), pc.add(batch.column(at), before))


def _text_id(source: Source) -> str:
    if source.path is None:
        return source.name
    path: PurePath = source.path
    return readable((path.relative_to(source.base) if source.base else PurePath(path.name)).as_posix())
