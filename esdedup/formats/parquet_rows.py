"""Parquet tables again, without some of their rows or with other texts in them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from esdedup.errors import SourceError
from esdedup.files import compact_json
from esdedup.formats import fields as columns
from esdedup.formats.decisions import Decisions
from esdedup.formats.line_records import NOTE
from esdedup.formats.parquet import DAMAGE, column_at, damaged, leaves
from esdedup.formats.reading_options import Reading

_PIECE = 2**18
_ROWS_AT_ONCE = 4096
_BYTES_AT_ONCE = 2**22
_GROUP_BYTES = 2**26
"""A row group that is larger in memory is written as several."""

_ARROW = b"ARROW:schema"
_VERSIONS = ("1.0", "2.4", "2.6")


def rewrite_parquet(
    file: BinaryIO, label: str, reading: Reading, decisions: Decisions, annotate: bool
) -> Iterator[bytes]:
    """The table again, as the bytes of a file: schema, metadata, row groups and codecs are kept.

    A table whose rows all stay as they are is copied. Where the rows end in damage, those before it make a
    whole table; then `SourceError` is raised.
    """
    try:
        table = pq.ParquetFile(file, buffer_size=2**20, pre_buffer=False)
        rows: int = table.metadata.num_rows
        rewriter = _Rewriter(table, label, reading, decisions, annotate)
    except DAMAGE as error:
        raise damaged(label, error) from error
    if not annotate and decisions.next_place > decisions.place + rows:
        decisions.place += rows
        decisions.stay(rows)
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece
        return
    yield from rewriter.pieces()


class _Rewriter:
    """Reads a table batch by batch and writes what stays."""

    def __init__(
        self, table: pq.ParquetFile, label: str, reading: Reading, decisions: Decisions, annotate: bool
    ) -> None:
        self._table = table
        self._label = label
        self._decisions = decisions
        self._annotate = annotate
        names = leaves(table.schema_arrow)
        self._text = names[columns.one_text(columns.named(reading, names, label), label).text]

    def pieces(self) -> Iterator[bytes]:
        sink = _Sink()
        writer = _writer(sink, self._table, self._schema())
        damage: SourceError | None = None
        try:
            for batches in self._row_groups():
                rows = pa.Table.from_batches(batches)
                writer.write_table(rows, row_group_size=rows.num_rows)
                yield sink.take()
        except SourceError as error:
            damage = error
        writer.close()
        yield sink.take()
        if damage:
            raise damage

    def _schema(self) -> pa.Schema:
        schema = self._table.schema_arrow
        if not self._annotate:
            return schema
        known = schema.get_field_index(NOTE)
        return (schema if known < 0 else schema.remove(known)).append(pa.field(NOTE, pa.string()))

    def _row_groups(self) -> Iterator[list[pa.RecordBatch]]:
        """What stays of each row group, in parts of bounded size."""
        for group in range(self._table.metadata.num_row_groups):
            held: list[pa.RecordBatch] = []
            size = 0
            for batch in self._batches(group):
                kept = self._noted(batch) if self._annotate else self._kept(batch)
                self._decisions.place += batch.num_rows
                if kept.num_rows:
                    held.append(kept)
                    size += kept.nbytes
                if size > _GROUP_BYTES:
                    yield held
                    held, size = [], 0
            if held:
                yield held

    def _batches(self, group: int) -> Iterator[pa.RecordBatch]:
        about = self._table.metadata.row_group(group)
        widest = max(1, about.total_byte_size // max(1, about.num_rows))
        rows = max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE // widest))
        try:
            yield from self._table.iter_batches(rows, row_groups=[group])
        except DAMAGE as error:
            raise damaged(self._label, error) from error

    def _noted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        first = self._decisions.place + 1
        notes = [compact_json(self._decisions.note(first + row)) for row in range(batch.num_rows)]
        if NOTE in batch.schema.names:
            batch = batch.drop_columns([NOTE])
        return batch.append_column(pa.field(NOTE, pa.string()), pa.array(notes, pa.string()))

    def _kept(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        decisions, first = self._decisions, self._decisions.place + 1
        stays = np.ones(batch.num_rows, np.bool_)
        texts: dict[int, str] = {}
        unmarked = batch.num_rows
        while (place := decisions.next_place) < first + batch.num_rows:
            row = place - first
            unmarked -= 1
            if drops := decisions.drops(place):
                left = decisions.left(self._text_of(batch, row) if decisions.needs_text else None, drops)
                if left is None:
                    stays[row] = False
                else:
                    texts[row] = left
            else:
                decisions.stay()
        decisions.stay(unmarked)
        if texts:
            batch = _with_texts(batch, self._text, texts)
        return batch if stays.all() else batch.filter(pa.array(stays))

    def _text_of(self, batch: pa.RecordBatch, row: int) -> str | None:
        cell = column_at(batch.slice(row, 1), self._text)
        if pa.types.is_dictionary(cell.type):
            cell = cell.cast(cell.type.value_type)
        text: str | None = cell.cast(pa.large_string())[0].as_py()
        return text


class _Sink(io.RawIOBase):
    """Takes what the Parquet library writes, until it is fetched."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        piece = bytes(memoryview(data))  # type: ignore[arg-type]
        self._held.append(piece)
        return len(piece)

    def take(self) -> bytes:
        data = b"".join(self._held)
        self._held.clear()
        return data


def _writer(sink: _Sink, table: pq.ParquetFile, schema: pa.Schema) -> pq.ParquetWriter:
    """A writer with the habits of the file that was read."""
    metadata = table.metadata
    codecs: dict[str, str] = {}
    if metadata.num_row_groups:
        group = metadata.row_group(0)
        for index in range(group.num_columns):
            column = group.column(index)
            codecs[column.path_in_schema] = column.compression.replace("UNCOMPRESSED", "NONE")
    told = metadata.metadata or {}
    arrow = _ARROW in told
    writer = pq.ParquetWriter(
        sink,
        schema,
        version=metadata.format_version if metadata.format_version in _VERSIONS else _VERSIONS[-1],
        compression=codecs or "NONE",
        use_compliant_nested_type=False,  # inner names stay what they are, compliant or not
        store_schema=arrow,
    )
    if told and not arrow:
        writer.add_key_value_metadata(told)  # else they come with the schema
    return writer


def _with_texts(batch: pa.RecordBatch, path: str, texts: Mapping[int, str]) -> pa.RecordBatch:
    names = batch.schema.names
    head, *rest = [path] if path in names else path.split(".")
    at = names.index(head)
    return batch.set_column(at, batch.schema.field(at), _replaced(batch.column(at), rest, texts))


def _replaced(array: pa.Array, path: list[str], texts: Mapping[int, str]) -> pa.Array:
    """The array with other texts in some rows: in itself, or in the field of its structs that `path` names."""
    if path:
        fields = list(array.type)
        children = [array.field(index) for index in range(len(fields))]
        at = array.type.get_field_index(path[0])
        children[at] = _replaced(children[at], path[1:], texts)
        return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
    order = np.arange(len(array))
    order[list(texts)] = np.arange(len(array), len(array) + len(texts))
    return pa.concat_arrays([array, pa.array(list(texts.values()), array.type)]).take(pa.array(order))
