"""An open Parquet table: a bounded number of rows at a time as documents, or rewritten without some of them."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from esdedup.columns.arrays import without_views
from esdedup.errors import SourceError
from esdedup.formats.arrow_rows import ArrowRows, Sink, damage_of
from esdedup.formats.batches import MAX_BYTES, MAX_ROWS, cut
from esdedup.formats.decisions import Decisions, Wanted
from esdedup.formats.fields import TableFormat
from esdedup.formats.parquet_pages import HeaderError, pages
from esdedup.formats.protocol import Walk
from esdedup.formats.text_limit import USUAL

_BUFFER = 2**20
_ROWS_AT_ONCE = 4096
_BYTES_AT_ONCE = 2**22
_USUAL_PAGE = 2**23
_DICTIONARY_BYTES = 2**26
_GROUP_BYTES = 2**26
"""A row group that is larger in memory is written as several."""

_ARROW = b"ARROW:schema"
_VERSIONS = ("1.0", "2.4", "2.6")


class ParquetTable(AbstractContextManager["ParquetTable"]):
    """One file with `rows` rows. Damage raises `SourceError` after the rows before it."""

    def __init__(self, file: BinaryIO, form: TableFormat, label: str, max_text: int = USUAL) -> None:
        self._label = label
        self._bytes = file
        self._most_page = max(max_text, _USUAL_PAGE) * 3 // 2
        with self._damage():
            self._file = pq.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)
            self.rows: int = self._file.metadata.num_rows
            self._table = ArrowRows(self._file.schema_arrow, form, label)

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def documents(self, walk: Walk) -> Iterator[pa.RecordBatch]:
        """Yield the documents of all rows. Only the needed columns are read."""
        columns = self._table.columns
        first = 1
        with self._damage():
            for group in range(self._file.metadata.num_row_groups):
                rows = self._rows_of_text(group, columns)
                read = self._rows_at_once(group, columns, rows)
                for batch in _collected(self._file.iter_batches(read, row_groups=[group], columns=columns), rows):
                    documents = self._table.documents(batch, first, walk)
                    first += batch.num_rows
                    walk.share = min(first / max(self.rows, 1), 1.0)
                    yield from cut(documents)

    def rewritten(self, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        """Yield the bytes of the table without the dropped rows. If it is damaged, the rows before it make a table."""
        sink = Sink()
        writer = _writer(sink, self._file, self._table.schema(annotate))
        damage: SourceError | None = None
        try:
            for batches in self._row_groups(decisions, annotate):
                rows = pa.Table.from_batches(batches).cast(writer.schema)
                writer.write_table(rows, row_group_size=rows.num_rows)
                yield sink.take()
        except SourceError as error:
            damage = error
        writer.close()
        yield sink.take()
        if damage:
            raise damage

    def values(self, first: int, columns: Sequence[str] | None, wanted: Wanted) -> Iterator[tuple[int, list[Any]]]:
        """As `Format.values`; the first row has the number `first`."""
        for group in range(self._file.metadata.num_row_groups):
            if wanted.next >= first + (rows := self._file.metadata.row_group(group).num_rows):
                first += rows
                continue
            for batch in self._batches(group):
                yield from self._table.values(batch, first, columns, wanted)
                first += batch.num_rows

    def _damage(self) -> AbstractContextManager[None]:
        return damage_of(self._label, "Parquet")

    def _batches(self, group: int) -> Iterator[pa.RecordBatch]:
        about = self._file.metadata.row_group(group)
        widest = max(1, about.total_byte_size // max(1, about.num_rows))
        rows = max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE // widest))
        with self._damage():
            read = self._rows_at_once(group, None, rows)
            yield from _collected(self._file.iter_batches(read, row_groups=[group]), rows)

    def _rows_at_once(self, group: int, columns: list[str] | None, most: int) -> int:
        """Return how many rows of a group can be read at once, by the pages of these columns, or of all: each row may
        have the longest value that the pages allow.

        Raise `SourceError` for a page that takes too much memory.
        """
        part = self._file.metadata.row_group(group)
        if part.total_byte_size <= self._most_page:
            # if a damaged footer is inconsistent, asking the library about its columns can end the process; reading a
            # row raises instead. A group that says it is large is not read before its pages are known
            next(self._file.iter_batches(1, row_groups=[group], columns=columns), None)
        longest = 0
        for index in range(part.num_columns):
            column = part.column(index)
            if columns is not None and not any(_is_within(column.path_in_schema, name) for name in columns):
                continue
            try:
                for page in pages(self._bytes, column):
                    if page.size > self._most_page:
                        raise SourceError(
                            f"{self._label}: row group {group + 1} of {self._file.metadata.num_row_groups}: the column "
                            f"{column.path_in_schema!r} has a page of {page.size:,} bytes, more than "
                            f"{self._most_page:,}; write the file with smaller pages or row groups, or increase "
                            "--memory and --max-text"
                        )
                    longest = max(longest, page.size if page.dictionary else 0)
            except HeaderError as error:
                raise pa.ArrowInvalid(str(error)) from error
        return max(1, min(most, _DICTIONARY_BYTES // max(longest, 1))) if longest * most > _DICTIONARY_BYTES else most

    def _rows_of_text(self, group: int, columns: list[str]) -> int:
        """Return how many rows of a group make about one batch of text, according to the sizes in the file's footer."""
        self._rows_at_once(group, columns, 1)
        next(self._file.iter_batches(1, row_groups=[group], columns=self._table.texts), None)
        part = self._file.metadata.row_group(group)
        paths = [self._file.schema.column(index).path for index in range(part.num_columns)]
        known = [paths.index(name) for name in columns if name in paths]
        if not known or not part.num_rows:
            return MAX_ROWS
        width: int = sum(part.column(index).total_uncompressed_size for index in known) // part.num_rows
        return max(1, min(MAX_ROWS, MAX_BYTES // max(1, width)))

    def _row_groups(self, decisions: Decisions, annotate: bool) -> Iterator[list[pa.RecordBatch]]:
        """Yield what remains of each row group, in parts of bounded size."""
        for group in range(self._file.metadata.num_row_groups):
            held: list[pa.RecordBatch] = []
            size = 0
            for batch in self._batches(group):
                kept = self._table.rewritten(batch, decisions, annotate)
                if kept.num_rows:
                    held.append(kept)
                    size += kept.nbytes
                if size > _GROUP_BYTES:
                    yield held
                    held, size = [], 0
            if held:
                yield held


def _is_within(path: str, name: str) -> bool:
    """Whether a column of the file belongs to a column of the table, which may be nested."""
    return path == name or path.startswith(f"{name}.")


def _collected(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Put small batches together, up to so many rows or the bytes of a batch."""
    held: list[pa.RecordBatch] = []
    count = size = 0
    for batch in batches:
        if held and (count + batch.num_rows > rows or size + batch.nbytes > MAX_BYTES):
            yield _one(held)
            held, count, size = [], 0, 0
        held.append(batch)
        count += batch.num_rows
        size += batch.nbytes
    if held:
        yield _one(held)


def _one(held: list[pa.RecordBatch]) -> pa.RecordBatch:
    return held[0] if len(held) == 1 else pa.concat_batches(held)


def _writer(sink: Sink, table: pq.ParquetFile, schema: pa.Schema) -> pq.ParquetWriter:
    """Return a writer with the settings of the file that was read.

    The library cannot write all views of strings: the writer's schema has none. The one in the file's metadata has.
    """
    metadata = table.metadata
    codecs: dict[str, str] = {}
    if metadata.num_row_groups:
        group = metadata.row_group(0)
        for index in range(group.num_columns):
            column = group.column(index)
            codecs[column.path_in_schema] = column.compression.replace("UNCOMPRESSED", "NONE")
    custom = metadata.metadata or {}
    written = pa.schema([field.with_type(without_views(field.type)) for field in schema])
    writer = pq.ParquetWriter(
        sink,
        written,
        version=metadata.format_version if metadata.format_version in _VERSIONS else _VERSIONS[-1],
        compression=codecs or "NONE",
        use_compliant_nested_type=False,  # inner names stay unchanged, compliant or not
        store_schema=False,
    )
    if _ARROW in custom:
        custom = {**custom, _ARROW: base64.b64encode(schema.serialize().to_pybytes())}
    if custom:
        writer.add_key_value_metadata(custom)
    return writer
