"""An open source as a stream of document batches, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.records import DOCUMENTS, Skips
from esdedup.formats.compression.opener import Opened
from esdedup.formats.locations import Source
from esdedup.formats.protocol import Walk


class DocumentStream(AbstractContextManager["DocumentStream"]):
    """Iterates once over batches of the `DOCUMENTS` schema; also a context manager.

    Skipped records are counted in `skips`. A damaged source raises `SourceError` after the batches that stood before
    the damage. With more than one thread, it is unpacked ahead of the reader, bzip2 on that many cores. `limit` is the
    number of documents at most (pages, not revisions).
    """

    def __init__(self, source: Source, skips: Skips, *, limit: int | None = None, threads: int = 1) -> None:
        self._source = source
        self._opened = Opened(source.path, threads)
        self._walk = Walk(self._opened.label, source.document, skips, limit)

    @property
    def namespaces(self) -> dict[int, str]:
        """The names of a wiki's namespaces, by the time the first batch is yielded; empty for other formats."""
        return self._walk.namespaces

    @property
    def position(self) -> int:
        """Bytes of the source, as it lies on disk, consumed so far."""
        share = self._walk.share
        return self._opened.position if share is None else int(self._source.size * share)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        walk = self._walk
        for member in self._opened.members():
            if walk.limit == 0:
                return
            before = walk.records
            for batch in self._source.format.read(member, walk):
                yield _moved(batch, before)

    def close(self) -> None:
        """Close the source; reading may stop anywhere."""
        self._opened.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _moved(batch: pa.RecordBatch, before: int) -> pa.RecordBatch:
    """The batch with its places after `before` records of earlier members."""
    if not before:
        return batch
    at = DOCUMENTS.get_field_index("place")
    return batch.set_column(at, DOCUMENTS.field(at), pc.add(batch.column(at), before))
