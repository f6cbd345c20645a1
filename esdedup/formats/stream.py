"""An open source as a stream of document batches, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import text_buffers
from esdedup.columns.records import DOCUMENTS, Skips
from esdedup.formats.compression.opener import Opened
from esdedup.formats.locations import Source
from esdedup.formats.protocol import Walk
from esdedup.formats.text_limit import too_large


class DocumentStream(AbstractContextManager["DocumentStream"]):
    """Iterates once over batches of the `DOCUMENTS` schema; also a context manager.

    Skipped records are counted in `skips`. A damaged source raises `SourceError` after the batches before the damage.
    With more than one thread, it is decompressed ahead of the reader, bzip2 on that many cores. `limit` is the maximum
    number of documents (pages, not revisions).
    """

    def __init__(self, source: Source, skips: Skips, *, limit: int | None = None, threads: int = 1) -> None:
        self._source = source
        self._opened = Opened(source.path, threads, source.span)
        self._walk = Walk(self._opened.label, source.document, skips, limit, source.max_text)

    @property
    def namespaces(self) -> dict[int, str]:
        """The names of a wiki's namespaces, known when the first batch is yielded; empty for other formats."""
        return self._walk.namespaces

    @property
    def language(self) -> str:
        """What the source says about its language, known when the first batch is yielded; otherwise empty."""
        return self._walk.language

    @property
    def site(self) -> str:
        """The language and kind of a wiki, known when the first batch is yielded; otherwise empty."""
        return self._walk.site

    @property
    def records(self) -> int:
        """Raw records of the members read so far."""
        return self._walk.records

    @property
    def position(self) -> int:
        """Bytes consumed so far, as stored on disk."""
        share = self._walk.share
        return self._opened.position if share is None else int(self._source.size * share)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        walk = self._walk
        for member in self._opened.members():
            if walk.limit == 0:
                return
            before = walk.records
            for batch in self._source.format.read(member, walk):
                if self._fits(batch):
                    yield _moved(batch, before)

    def _fits(self, batch: pa.RecordBatch) -> bool:
        """Whether a text is small enough. Each text that is larger than a batch has its own."""
        texts = batch["text"]
        if batch.num_rows != 1 or not too_large(text_buffers(texts)[0], self._walk.max_text):
            return True
        self._walk.skips.add("too_long_text", batch["title"][0].as_py() or batch["id"][0].as_py())
        return False

    def close(self) -> None:
        """Close the source. Reading may stop anywhere."""
        self._opened.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _moved(batch: pa.RecordBatch, before: int) -> pa.RecordBatch:
    """Return the batch with its record numbers shifted by `before`, the records of earlier members."""
    if not before:
        return batch
    at = DOCUMENTS.get_field_index("place")
    return batch.set_column(at, DOCUMENTS.field(at), pc.add(batch.column(at), before))
