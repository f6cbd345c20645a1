"""An open Parquet table: a bounded number of rows at a time as documents, or rewritten without some of them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from esdedup.columns.arrays import joined
from esdedup.columns.records import DOCUMENTS
from esdedup.errors import SourceError, UsageError
from esdedup.files import compact_json
from esdedup.formats.batches import MAX_BYTES, MAX_ROWS, cut
from esdedup.formats.decisions import Decisions
from esdedup.formats.fields import TableFormat, several_texts
from esdedup.formats.line_format import decoded
from esdedup.formats.parquet_pages import HeaderError, pages
from esdedup.formats.protocol import NOTE, Walk
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
            names = _leaves(self._file.schema_arrow)
        chosen = form.named(names, label)
        self._id = None if chosen.id is None else names[chosen.id]
        self._title = None if chosen.title is None else names[chosen.title]
        self._texts = [names[place] for place in (chosen.text, *chosen.more)]

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def documents(self, walk: Walk) -> Iterator[pa.RecordBatch]:
        """Yield the documents of all rows. Only the needed columns are read."""
        columns = [name for name in (self._id, self._title, *self._texts) if name is not None]
        first = 1
        with self._damage():
            for group in range(self._file.metadata.num_row_groups):
                rows = self._rows_of_text(group, columns)
                read = self._rows_at_once(group, columns, rows)
                for batch in _collected(self._file.iter_batches(read, row_groups=[group], columns=columns), rows):
                    documents = self._documents(batch, first, walk)
                    first += batch.num_rows
                    walk.share = min(first / max(self.rows, 1), 1.0)
                    yield from cut(documents)

    def rewritten(self, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        """Yield the bytes of the table without the dropped rows. If it is damaged, the rows before it make a table."""
        sink = _Sink()
        writer = _writer(sink, self._file, self._schema(annotate))
        damage: SourceError | None = None
        try:
            for batches in self._row_groups(decisions, annotate):
                rows = pa.Table.from_batches(batches)
                writer.write_table(rows, row_group_size=rows.num_rows)
                yield sink.take()
        except SourceError as error:
            damage = error
        writer.close()
        yield sink.take()
        if damage:
            raise damage

    @contextmanager
    def _damage(self) -> Iterator[None]:
        """Turn the exceptions of a damaged file into `SourceError`."""
        try:
            yield
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last one for names in its footer
            cause = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise SourceError(
                f"{self._label}: cannot be read as Parquet: {cause}; download or create the file again"
            ) from error

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
        next(self._file.iter_batches(1, row_groups=[group], columns=self._texts), None)
        part = self._file.metadata.row_group(group)
        paths = [self._file.schema.column(index).path for index in range(part.num_columns)]
        known = [paths.index(name) for name in columns if name in paths]
        if not known or not part.num_rows:
            return MAX_ROWS
        width: int = sum(part.column(index).total_uncompressed_size for index in known) // part.num_rows
        return max(1, min(MAX_ROWS, MAX_BYTES // max(1, width)))

    def _documents(self, batch: pa.RecordBatch, first: int, walk: Walk) -> pa.RecordBatch:
        rows = batch.num_rows
        nothing, bad = pa.nulls(rows, pa.large_string()), pa.array(np.zeros(rows, np.bool_))
        numbers = pa.array(np.arange(first, first + rows))
        id_, title = numbers.cast(pa.large_string()), nothing
        texts = []
        for path in self._texts:
            text, bad = self._strings(batch, path, bad)
            texts.append(text)
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

    def _schema(self, annotate: bool) -> pa.Schema:
        schema = self._file.schema_arrow
        if not annotate:
            return schema
        known = schema.get_field_index(NOTE)
        return (schema if known < 0 else schema.remove(known)).append(pa.field(NOTE, pa.string()))

    def _row_groups(self, decisions: Decisions, annotate: bool) -> Iterator[list[pa.RecordBatch]]:
        """Yield what remains of each row group, in parts of bounded size."""
        for group in range(self._file.metadata.num_row_groups):
            held: list[pa.RecordBatch] = []
            size = 0
            for batch in self._batches(group):
                kept = _noted(batch, decisions) if annotate else self._kept(batch, decisions)
                decisions.record += batch.num_rows
                if kept.num_rows:
                    held.append(kept)
                    size += kept.nbytes
                if size > _GROUP_BYTES:
                    yield held
                    held, size = [], 0
            if held:
                yield held

    def _kept(self, batch: pa.RecordBatch, decisions: Decisions) -> pa.RecordBatch:
        first = decisions.record + 1
        stays = np.ones(batch.num_rows, np.bool_)
        texts: dict[int, str] = {}
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
        decisions.stay(unmarked)
        if texts:
            batch = _with_texts(batch, self._texts[0], texts)
        return batch if stays.all() else batch.filter(pa.array(stays))

    def _text_of(self, batch: pa.RecordBatch, row: int) -> str | None:
        if len(self._texts) > 1:
            raise several_texts(self._label)
        text: str | None = _column_at(batch.slice(row, 1), self._texts[0]).cast(pa.large_string())[0].as_py()
        return text


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


def _leaves(schema: Any) -> list[str]:
    """Return column names, nested ones as dotted paths."""
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


def _path(batch: pa.RecordBatch, path: str) -> list[str]:
    """Return a column's name as a path, split at dots if it is nested."""
    return [path] if path in batch.schema.names else path.split(".")


def _column_at(batch: pa.RecordBatch, path: str) -> pa.Array:
    """Return a column by its name or its dotted path. Of a dictionary column, return the values."""
    head, *rest = _path(batch, path)
    array = batch.column(head)
    for name in rest:
        array = pc.struct_field(array, name)
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def _noted(batch: pa.RecordBatch, decisions: Decisions) -> pa.RecordBatch:
    first = decisions.record + 1
    notes = [compact_json(decisions.note(first + row)) for row in range(batch.num_rows)]
    if NOTE in batch.schema.names:
        batch = batch.drop_columns([NOTE])
    return batch.append_column(pa.field(NOTE, pa.string()), pa.array(notes, pa.string()))


class _Sink(io.RawIOBase):
    """Collects what the Parquet library writes until it is fetched."""

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
    """Return a writer with the settings of the file that was read."""
    metadata = table.metadata
    codecs: dict[str, str] = {}
    if metadata.num_row_groups:
        group = metadata.row_group(0)
        for index in range(group.num_columns):
            column = group.column(index)
            codecs[column.path_in_schema] = column.compression.replace("UNCOMPRESSED", "NONE")
    custom = metadata.metadata or {}
    arrow = _ARROW in custom
    writer = pq.ParquetWriter(
        sink,
        schema,
        version=metadata.format_version if metadata.format_version in _VERSIONS else _VERSIONS[-1],
        compression=codecs or "NONE",
        use_compliant_nested_type=False,  # inner names stay unchanged, compliant or not
        store_schema=arrow,
    )
    if custom and not arrow:
        writer.add_key_value_metadata(custom)  # otherwise they come with the schema
    return writer


def _with_texts(batch: pa.RecordBatch, path: str, texts: Mapping[int, str]) -> pa.RecordBatch:
    head, *rest = _path(batch, path)
    at = batch.schema.names.index(head)
    return batch.set_column(at, batch.schema.field(at), _replaced(batch.column(at), rest, texts))


def _replaced(array: pa.Array, path: list[str], texts: Mapping[int, str]) -> pa.Array:
    """Return the array with other texts in some rows: in the array itself, or in the struct field at `path`."""
    if path:
        fields = list(array.type)
        children = [array.field(index) for index in range(len(fields))]
        at = array.type.get_field_index(path[0])
        children[at] = _replaced(children[at], path[1:], texts)
        return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
    order = np.arange(len(array))
    order[list(texts)] = np.arange(len(array), len(array) + len(texts))
    return pa.concat_arrays([array, pa.array(list(texts.values()), array.type)]).take(pa.array(order))
