"""Parquet tables: only the columns that are needed, a bounded number of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from esdedup.columns.records import DOCUMENTS, Skips
from esdedup.errors import SourceError, UsageError
from esdedup.formats import fields as columns
from esdedup.formats.batches import MAX_BYTES, MAX_ROWS, cut
from esdedup.formats.reading_options import Reading

_BUFFER = 2**20
DAMAGE = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What a damaged file makes the Parquet library raise, the last for names in its footer."""


class ParquetReader:
    """Reads one Parquet file of `rows` rows; `done` is the share of them that were read."""

    def __init__(self, file: object, label: str, reading: Reading, skips: Skips) -> None:
        self.done = 0.0
        self._label = label
        self._skips = skips
        try:
            self._file = pq.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)
            self.rows: int = self._file.metadata.num_rows
            names = leaves(self._file.schema_arrow)
        except DAMAGE as error:
            raise damaged(self._label, error) from error
        chosen = columns.one_text(columns.named(reading, names, label), label)
        self._id = None if chosen.id is None else names[chosen.id]
        self._title = None if chosen.title is None else names[chosen.title]
        self._text = names[chosen.text]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        wanted = [name for name in (self._id, self._title, self._text) if name is not None]
        first = 1
        try:
            for group in range(self._file.metadata.num_row_groups):
                for batch in self._file.iter_batches(self._batch_rows(group), row_groups=[group], columns=wanted):
                    documents = self._documents(batch, first)
                    first += batch.num_rows
                    self.done = first / max(self.rows, 1)
                    yield from cut(documents)
        except DAMAGE as error:
            raise damaged(self._label, error) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _batch_rows(self, group: int) -> int:
        """Rows of a group that make about one batch of text, by the sizes the file's footer gives."""
        # the footer of a damaged file ends the process when it is asked for what does not fit together; reading
        # a row raises instead
        next(self._file.iter_batches(1, row_groups=[group], columns=[self._text]), None)
        part = self._file.metadata.row_group(group)
        paths = [self._file.schema.column(index).path for index in range(part.num_columns)]
        if self._text not in paths or not part.num_rows:
            return MAX_ROWS
        width: int = part.column(paths.index(self._text)).total_uncompressed_size // part.num_rows
        return max(1, min(MAX_ROWS, MAX_BYTES // max(1, width)))

    def _documents(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        rows = batch.num_rows
        text, bad = self._strings(batch, self._text)
        ids = pa.array([str(number) for number in range(first, first + rows)], pa.large_string())
        if self._id is not None:
            ids, bad_ids = self._strings(batch, self._id)
            bad = pc.or_(bad, bad_ids)
        title = pa.nulls(rows, pa.large_string())
        if self._title is not None:
            title, bad_titles = self._strings(batch, self._title)
            bad = pc.or_(bad, bad_titles)
        no_text = pc.equal(pc.binary_length(pc.utf8_trim_whitespace(pc.fill_null(text, ""))), 0)
        no_id = pc.equal(pc.binary_length(pc.fill_null(ids, "")), 0)
        kept = pa.array([True] * rows, pa.bool_())
        for reason, mask in (("bad_utf8", bad), ("no_text", no_text), ("no_id", no_id)):
            for row in pc.indices_nonzero(pc.and_(kept, mask)).to_pylist():
                self._skips.add(reason, f"row {first + row}")
            kept = pc.and_(kept, pc.invert(mask))
        arrays = [
            ids.cast(pa.string()),
            title.cast(pa.string()),
            text,
            pa.nulls(rows, pa.int64()),
            pa.nulls(rows, pa.string()),
            pa.nulls(rows, pa.string()),
            pa.array(np.arange(first, first + rows), pa.int64()),
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=DOCUMENTS).filter(kept)

    def _strings(self, batch: pa.RecordBatch, path: str) -> tuple[pa.Array, pa.Array]:
        """A column as strings, and which of its rows are not UTF-8 (these are null)."""
        array = column_at(batch, path)
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        good = pa.array([False] * len(array), pa.bool_())
        try:
            array = array.cast(pa.large_string())
            array.validate(full=True)
        except pa.ArrowInvalid:
            return self._valid(array.cast(pa.large_binary()))
        except pa.ArrowNotImplementedError as error:
            raise UsageError(f"{self._label}: column {path!r} holds {array.type}, not text") from error
        return array, good

    def _valid(self, array: pa.Array) -> tuple[pa.Array, pa.Array]:
        values: list[str | None] = []
        bad: list[bool] = []
        for value in array.to_pylist():
            try:
                values.append(None if value is None else value.decode())
                bad.append(False)
            except UnicodeDecodeError:
                values.append(None)
                bad.append(True)
        return pa.array(values, pa.large_string()), pa.array(bad, pa.bool_())


def damaged(label: str, error: Exception) -> SourceError:
    """What to raise for an error of the Parquet library."""
    cause = str(error).splitlines()[0] if str(error) else type(error).__name__
    return SourceError(f"{label}: cannot be read as Parquet: {cause}; fetch or make the file again")


def leaves(schema: Any) -> list[str]:
    """Column names, nested ones as dotted paths."""
    names: list[str] = []

    def visit(prefix: str, fields: Any) -> None:
        for field in fields:
            path = f"{prefix}{field.name}"
            if pa.types.is_struct(field.type):
                visit(f"{path}.", field.type)
            else:
                names.append(path)

    visit("", schema)
    return names


def column_at(batch: pa.RecordBatch, path: str) -> pa.Array:
    """A column by its name, or where it is nested, by its dotted path."""
    if path in batch.schema.names:
        return batch.column(path)
    head, *rest = path.split(".")
    array = batch.column(head)
    for name in rest:
        array = pc.struct_field(array, name)
    return array
