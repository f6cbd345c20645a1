"""Batches of an Arrow table, of whatever file: as documents, or rewritten without some of their rows."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import LIST, joined, list_texts, taken, without_dictionary
from esdedup.columns.changed import json_values, shown_values, with_changed
from esdedup.columns.labelled import labelled_texts
from esdedup.columns.labels import ALL
from esdedup.columns.records import DOCUMENTS
from esdedup.errors import SourceError, UsageError
from esdedup.files import compact_json
from esdedup.formats.decisions import Decisions, Wanted
from esdedup.formats.fields import TableFormat, several_texts
from esdedup.formats.line_format import decoded
from esdedup.formats.protocol import NOTE, Walk


class ArrowRows:
    """The rows of a table with this schema. `columns` are those that are read, `texts` those of the texts."""

    def __init__(self, schema: pa.Schema, form: TableFormat, label: str) -> None:
        self._schema = schema
        self._label = label
        every = _leaves(schema)
        names = [name for name, kind in every.items() if form.text_column != ALL or _is_value(kind)]
        chosen = form.named(names, label)
        self._id = None if chosen.id is None else names[chosen.id]
        self._title = None if chosen.title is None else names[chosen.title]
        self._texts = [names[place] for place in (chosen.text, *chosen.more)]
        self._labels = chosen.labels
        self.texts = [path.partition(LIST)[0] for path in self._texts]
        self.columns = list(dict.fromkeys(name for name in (self._id, self._title, *self.texts) if name is not None))

    def documents(self, batch: pa.RecordBatch, first: int, walk: Walk) -> pa.RecordBatch:
        """Return the documents among rows of which the first has the number `first`."""
        rows = batch.num_rows
        nothing, bad = pa.nulls(rows, pa.large_string()), pa.array(np.zeros(rows, np.bool_))
        numbers = pa.array(np.arange(first, first + rows))
        id_, title = numbers.cast(pa.large_string()), nothing
        texts = []
        for path in self._texts:
            text, bad = self._strings(batch, path, bad)
            texts.append(text)
        if self._labels:
            text = labelled_texts(self._labels, texts)
        else:
            text = texts[0] if len(texts) == 1 else joined(texts)
        if self._id is not None:
            id_, bad = self._strings(batch, self._id, bad)
        if self._title is not None:
            title, bad = self._strings(batch, self._title, bad)
        no_text = pc.equal(pc.binary_length(pc.utf8_trim_whitespace(pc.fill_null(text, ""))), 0)
        no_id = pc.equal(pc.binary_length(pc.fill_null(id_, "")), 0)
        kept = pa.array(np.ones(rows, np.bool_))
        for reason, mask in (("bad_utf8", bad), ("no_text", no_text), ("no_id", no_id)):
            for row in pc.indices_nonzero(pc.and_(kept, mask)).to_pylist():
                walk.skips.add(reason, f"row {first + row}")
            kept = pc.and_(kept, pc.invert(mask))
        arrays = [
            id_.cast(pa.string()), title.cast(pa.string()), text, nothing.cast(pa.int64()), nothing.cast(pa.string()),
            nothing.cast(pa.string()), numbers,
        ]  # fmt: skip
        return pa.RecordBatch.from_arrays(arrays, schema=DOCUMENTS).filter(kept)

    def _strings(self, batch: pa.RecordBatch, path: str, bad: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Return a column as strings, and the rows that are `bad` or invalid UTF-8 (these are null)."""
        array = _column_at(batch, path)
        if (texts := list_texts(array, path.partition(LIST)[2])) is not None:
            return texts, bad
        try:
            array = array.cast(pa.large_string())
            array.validate(full=True)
        except pa.ArrowInvalid:
            array = array.cast(pa.large_binary())
            values = [None if value is None else decoded(value) for value in array.to_pylist()]
            text = pa.array(values, pa.large_string())
            return text, pc.or_(bad, pc.and_not(text.is_null(), array.is_null()))
        except pa.ArrowNotImplementedError as error:
            raise UsageError(f"{self._label}: column {path!r} contains {array.type}, not text") from error
        return array, bad

    def values(
        self, batch: pa.RecordBatch, first: int, columns: Sequence[str] | None, wanted: Wanted
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield the values of columns in the wanted rows of a batch, of which the first has the number `first`. Without
        `columns`, as `Format.values`.
        """
        rows = [row for row in range(batch.num_rows) if wanted.takes(first + row)]
        if columns is None and rows:
            own = {self._id, *(self.texts if len(self.texts) == 1 else ())}
            others = batch.select([at for at, name in enumerate(batch.schema.names) if name not in own])
            values = [shown_values(column) for column in taken(others, np.array(rows)).columns]
            for row, *held in zip(rows, *values, strict=True):
                yield first + row, [dict(zip(others.schema.names, held, strict=True))]
        elif columns is not None and rows:
            for column in columns:
                if column not in _leaves(self._schema):
                    raise UsageError(f"{self._label}: no column {column!r} (--merge)")
            held = [json_values(taken(_column_at(batch, column), np.array(rows))) for column in columns]
            yield from ((first + row, list(values)) for row, *values in zip(rows, *held, strict=True))

    def schema(self, annotate: bool) -> pa.Schema:
        """Return the schema of the rewritten table."""
        schema = self._schema
        if not annotate:
            return schema
        known = schema.get_field_index(NOTE)
        return (schema if known < 0 else schema.remove(known)).append(pa.field(NOTE, pa.string()))

    def rewritten(self, batch: pa.RecordBatch, decisions: Decisions, annotate: bool) -> pa.RecordBatch:
        """Return what remains of rows. `decisions.record` counts them."""
        kept = _noted(batch, decisions) if annotate else self._kept(batch, decisions)
        decisions.record += batch.num_rows
        return kept

    def _kept(self, batch: pa.RecordBatch, decisions: Decisions) -> pa.RecordBatch:
        first = decisions.record + 1
        stays = np.ones(batch.num_rows, np.bool_)
        texts: dict[int, str] = {}
        merged: dict[str, dict[int, Any]] = {}
        unmarked = batch.num_rows
        while (record := decisions.next_record) < first + batch.num_rows:
            row = record - first
            unmarked -= 1
            if drops := decisions.drops(record):
                left = decisions.left(self._text_of(batch, row) if decisions.needs_text else None, drops)
                if left is None:
                    stays[row] = False
                else:
                    texts[row] = left
            else:
                decisions.stay()
                for column, value in (decisions.values or {}).items():
                    merged.setdefault(column, {})[row] = value
        decisions.stay(unmarked)
        if texts:
            batch = with_changed(batch, _path(batch, self._texts[0]), texts)
        for column, values in merged.items():
            batch = with_changed(batch, _path(batch, column), values)
        return batch if stays.all() else taken(batch, np.flatnonzero(stays))

    def _text_of(self, batch: pa.RecordBatch, row: int) -> str | None:
        array = _column_at(batch.slice(row, 1), self._texts[0])
        if len(self._texts) > 1 or list_texts(array, self._texts[0].partition(LIST)[2]) is not None:
            raise several_texts(self._label)
        text: str | None = array.cast(pa.large_string())[0].as_py()
        return text


def _leaves(schema: Any) -> dict[str, pa.DataType]:
    """Return the types of columns by name, of nested ones by dotted paths."""
    names: dict[str, pa.DataType] = {}

    def visit(prefix: str, fields: Any) -> None:
        for field in fields:
            path = f"{prefix}{field.name}"
            if pa.types.is_struct(field.type):
                visit(f"{path}.", field.type)
            else:
                names[path] = field.type
                if _is_list(field.type) and pa.types.is_struct(field.type.value_type):
                    visit(f"{path}{LIST}.", field.type.value_type)

    visit("", schema)
    return names


def _is_value(kind: pa.DataType) -> bool:
    """Whether each row of a column has one value, or a list of strings, that can be shown as text."""
    if _is_list(kind):
        return _is_text(kind.value_type)
    return not (pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_text(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _is_list(kind: pa.DataType) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_list_view, pa.types.is_large_list_view)
    return any(test(kind) for test in tests)


def _path(batch: pa.RecordBatch, path: str) -> list[str]:
    """Return a column's name as a path, split at dots if it is nested."""
    return [path] if path in batch.schema.names else path.split(".")


def _column_at(batch: pa.RecordBatch, path: str) -> pa.Array:
    """Return a column by its name or its dotted path, up to a list. Of a dictionary column, return the values."""
    path = path if path in batch.schema.names else path.partition(LIST)[0]
    head, *rest = _path(batch, path)
    array = batch.column(head)
    for name in rest:
        array = pc.struct_field(array, name)
    return without_dictionary(array)


def _noted(batch: pa.RecordBatch, decisions: Decisions) -> pa.RecordBatch:
    first = decisions.record + 1
    notes = [compact_json(decisions.note(first + row)) for row in range(batch.num_rows)]
    if NOTE in batch.schema.names:
        batch = batch.drop_columns([NOTE])
    return batch.append_column(pa.field(NOTE, pa.string()), pa.array(notes, pa.string()))


class Sink(io.RawIOBase):
    """Collects what the library writes until it is fetched."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def writable(self) -> bool:
        """Say yes."""
        return True

    def write(self, data: object, /) -> int:
        """Keep bytes."""
        piece = bytes(memoryview(data))  # type: ignore[arg-type]
        self._held.append(piece)
        return len(piece)

    def take(self) -> bytes:
        """Return what was written since the last time."""
        data = b"".join(self._held)
        self._held.clear()
        return data


@contextmanager
def damage_of(label: str, what: str) -> Iterator[None]:
    """Turn the exceptions of a damaged file into `SourceError`."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last one for names in its footer
        cause = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SourceError(f"{label}: cannot be read as {what}: {cause}; download or create the file again") from error
