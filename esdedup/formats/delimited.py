"""Tables as text: TSV (no quoting) and CSV (quoting as in RFC 4180)."""

from __future__ import annotations

import csv
import io
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from esdedup.errors import UsageError
from esdedup.files import compact_json
from esdedup.formats.csv_lines import HeldLines, NumberedLines, csv_records
from esdedup.formats.encoding import exchanged
from esdedup.formats.fields import Columns, TableFormat, several_texts
from esdedup.formats.line_format import (
    LineBlocks,
    LineFormat,
    Records,
    body_and_end,
    decode_lines,
    decoded,
    numbered_lines,
)
from esdedup.formats.protocol import NOTE, Walk
from esdedup.options import option

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.columns.records import Skips
    from esdedup.formats.batches import Row
    from esdedup.formats.decisions import Decisions


_MOST_LINES = 10_000


@dataclass(frozen=True)
class Delimited(LineFormat, TableFormat):
    """A table whose cells are separated by one character."""

    usual_separator: ClassVar[str]
    usual_header: ClassVar[bool]
    positional: ClassVar[bool]
    """Whether the first two columns are the id and the text if their names are unknown."""

    separator: str | None = option(
        None, "Column separator.", unit="CHAR", pattern=r"[^\r\n\"]",
        expected="allowed: one character, no quote or line end", usual="tab in TSV, comma in CSV",
    )  # fmt: skip
    header: bool | None = option(None, "Whether the first line contains the column names.", usual="in CSV")

    @property
    def between(self) -> str:
        """The separator."""
        return self.separator or self.usual_separator

    def without_header(self, label: str) -> Columns | None:
        """Return the columns of a table without a header; None if it needs a header."""
        has_header = self.usual_header if self.header is None else self.header
        return None if has_header else self.unnamed(label)

    def with_header(self, names: Sequence[str], label: str) -> Columns:
        """Return the columns that the cells of a header name."""
        return self.named(names, label, positional=self.positional)


class _Cells(Records):
    """Records of cells. If there is a header, the columns are known after it was read."""

    def __init__(self, table: Delimited, label: str, annotate: bool) -> None:
        self._table = table
        self._label = label
        self._annotate = annotate
        self._separator = table.between
        self._columns = table.without_header(label)
        self._names: Sequence[str] = ()

    @property
    def columns(self) -> Columns:
        assert self._columns is not None, "a record was used before its header was read"
        return self._columns

    @abstractmethod
    def cells(self, data: bytes) -> list[str]:
        """Return the cells of a record, as far as they are needed."""

    @abstractmethod
    def joined(self, cells: Sequence[str]) -> bytes:
        """Return cells as they are written in a line."""

    def text(self, data: bytes) -> str | None:
        if self.columns.more or self.columns.labels:
            raise several_texts(self._label)
        cells, at = self.cells(data), self.columns.text
        return cells[at] if at < len(cells) else None

    def with_text(self, data: bytes, text: str) -> bytes:
        cells = self.cells(data)
        cells[self.columns.text] = text
        return self.joined(cells) + body_and_end(data)[1]

    def values(self, data: bytes, columns: Sequence[str] | None) -> list[Any]:
        if columns is None:
            own = {self.columns.id, *([] if self.columns.more else [self.columns.text])}
            cells = self.cells_up_to(data, max(len(self._names) - 1, self.columns.last))
            names = self._names or list(map(str, range(1, len(cells) + 1)))
            return [{name: cell for at, (name, cell) in enumerate(zip(names, cells, strict=False)) if at not in own}]
        places = self._places(columns)
        cells = self.cells_up_to(data, max(places, default=0))
        return [cells[place] if place < len(cells) else None for place in places]

    def with_values(self, data: bytes, values: Mapping[str, Any]) -> bytes:
        places = self._places(list(values))
        cells = self.cells_up_to(data, max(places))
        cells += [""] * (max(places) + 1 - len(cells))
        for place, value in zip(places, values.values(), strict=True):
            cells[place] = value if isinstance(value, str) else compact_json(value)
        return self.joined(cells) + body_and_end(data)[1]

    def _places(self, columns: Sequence[str]) -> list[int]:
        return [self._table.place_of(column, self._names, self._label, "--merge") for column in columns]

    def cells_up_to(self, data: bytes, last: int) -> list[str]:
        """Return the cells of a record, at least those up to a place."""
        del last
        return self.cells(data)

    def annotated(self, data: bytes, note: Any) -> bytes | None:
        return self.with_cell(data, compact_json(note))

    def with_cell(self, data: bytes, cell: str) -> bytes:
        """Return the record unchanged, with one more cell."""
        body, end = body_and_end(data)
        return body + self._separator.encode() + self.joined([cell]) + end

    def take_header(self, names: Sequence[str], header: bytes) -> bytes:
        """Read the columns from the header, and return the header to write."""
        self._names = names
        self._columns = self._table.with_header(names, self._label)
        return self.with_cell(header, NOTE) if self._annotate else header


@dataclass(frozen=True)
class Tsv(Delimited):
    """A table in which no cell contains the separator, except possibly the last one.

    If the text is in the last column, it takes the rest of the line. Without a header, the last column is the last one
    of the options.
    """

    name = "tsv"
    summary = "tab-separated, no quotes"
    endings = (".tsv", ".tab")
    stdin_name = "stdin.tsv"
    usual_separator = "\t"
    usual_header = False
    positional = True

    def documents(self, blocks: LineBlocks, walk: Walk) -> Iterator[pa.RecordBatch]:
        """Read each line as a document."""
        from esdedup.formats.batches import from_columns

        separator, columns = self.between, self.without_header(walk.label)
        splits = 0 if columns is None else _splits(columns)
        for number, block in blocks:
            numbers, lines = decode_lines(number, block, walk.skips)
            if columns is None:
                if not lines:
                    continue
                names = lines[0].split(separator)
                columns = self.with_header(names, walk.label)
                splits = _splits(columns, len(names))
                numbers, lines = numbers[1:], lines[1:]
            cells = [line.split(separator, splits) for line in lines]
            yield from from_columns(*_documents(cells, numbers, columns, walk.skips))

    def records(self, label: str, annotate: bool) -> Records:
        """Return the lines as records."""
        return _TabLines(self, label, annotate)


def _splits(columns: Columns, width: int | None = None) -> int:
    """Return how often a line is split: up to the text, if it is the last of `width` (or of the given) columns."""
    last = columns.last if width is None else width - 1
    return columns.text if columns.text == last and not columns.more else columns.last + 1


def _documents(
    cells: list[list[str]], numbers: Sequence[int], columns: Columns, skips: Skips
) -> tuple[Sequence[str], Sequence[str] | None, Sequence[str], Sequence[int]]:
    """Return ids, titles, texts and line numbers of split lines: all at once, or line by line if one is skipped."""
    id_column, title = columns.id, columns.title
    try:
        if columns.more or columns.labels:
            texts = [columns.texts(line) for line in cells]
        else:
            texts = [line[columns.text] for line in cells]
        ids = list(map(str, numbers)) if id_column is None else [line[id_column] for line in cells]
        titles = None if title is None else [line[title] for line in cells]
    except IndexError:
        pass
    else:
        if all(texts) and all(ids) and not any(map(str.isspace, texts)):
            return ids, titles, texts, numbers
    kept: list[tuple[str, str, str, int]] = []
    for number, line in zip(numbers, cells, strict=True):
        record = columns.record(line, number)
        if isinstance(record, str):
            skips.add(record, f"line {number}")
        else:
            kept.append((*record, number))
    if not kept:
        return [], None, [], []
    kept_ids, kept_titles, kept_texts, kept_numbers = zip(*kept, strict=True)
    return kept_ids, None if title is None else kept_titles, kept_texts, kept_numbers


class _TabLines(_Cells):
    """A line is a record."""

    def __init__(self, table: Delimited, label: str, annotate: bool) -> None:
        super().__init__(table, label, annotate)
        self._splits = 0 if self._columns is None else _splits(self._columns)

    def records(self, pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
        for number, line in numbered_lines(pieces, decisions):
            names = decoded(body_and_end(line)[0]) if number and self._columns is None else None
            if names is None:
                yield number, line
                continue
            header = names.split(self._separator)
            yield 0, self.take_header(header, line)
            self._splits = _splits(self.columns, len(header))

    def annotated(self, data: bytes, note: Any) -> bytes | None:
        """Return the annotated line. A line that is not a document stays unchanged."""
        cells = self.cells(data)
        if not cells or isinstance(self.columns.record(cells, 0), str):
            return None
        return super().annotated(data, note)

    def cells(self, data: bytes) -> list[str]:
        return self._split(data, self._splits)

    def cells_up_to(self, data: bytes, last: int) -> list[str]:
        """As `_Cells`. What is behind them is one cell more, or belongs to the last column."""
        ends_here = last == (len(self._names) - 1 if self._names else self.columns.text)
        return self._split(data, max(self._splits, last if ends_here else last + 1))

    def _split(self, data: bytes, splits: int) -> list[str]:
        line = decoded(body_and_end(data)[0])
        return [] if line is None else line.split(self._separator, splits)

    def joined(self, cells: Sequence[str]) -> bytes:
        return self._separator.join(cells).encode()

    def with_values(self, data: bytes, values: Mapping[str, Any]) -> bytes:
        for column, value in values.items():
            if any(sign in str(value) for sign in (self._separator, "\n", "\r")):
                raise UsageError(
                    f"{self._label}: the merged value of {column} has a separator or a line end, which TSV cannot "
                    "hold; use CSV or JSON Lines"
                )
        return super().with_values(data, values)


@dataclass(frozen=True)
class Csv(Delimited):
    """Cells may be quoted; then they may contain separators and line ends. The first record is the header."""

    name = "csv"
    summary = "comma-separated, with quotes"
    endings = (".csv",)
    stdin_name = "stdin.csv"
    usual_separator = ","
    usual_header = True
    positional = False
    quotes = True

    max_quoted_lines: int | None = option(
        None, "Lines that a record with quotes may span; more are an error: a quote is not closed.", unit="N", low=1,
        high=2**40, usual="10,000",
    )  # fmt: skip

    @property
    def most_lines(self) -> int:
        """The lines that a record may span."""
        return self.max_quoted_lines or _MOST_LINES

    def documents(self, blocks: LineBlocks, walk: Walk) -> Iterator[pa.RecordBatch]:
        """Read each record as a document."""
        from esdedup.formats.batches import collect

        return collect(self._rows(blocks, walk))

    def _rows(self, blocks: LineBlocks, walk: Walk) -> Iterator[Row]:
        columns, skips = self.without_header(walk.label), walk.skips
        lines = NumberedLines(blocks, walk.max_text, self.most_lines, walk.label)
        for number, cells in csv_records(lines, self.between, skips):
            if blocks.exchanged:
                cells = [exchanged(cell) for cell in cells]
            if columns is None:
                columns = self.with_header(cells, walk.label)
                continue
            record = columns.record(cells, number)
            if isinstance(record, str):
                skips.add(record, f"line {number}")
                continue
            identifier, title, text = record
            if len(text) > walk.max_text:
                skips.add("too_long_field", f"line {number}")
                continue
            if _is_utf8(text) and _is_utf8(identifier) and _is_utf8(title):
                yield identifier, None if columns.title is None else title, text, None, None, None, number
            else:
                skips.add("bad_utf8", f"line {number}")

    def records(self, label: str, annotate: bool) -> Records:
        """Return records with their quotes, over as many lines as each takes."""
        return _CsvRecords(self, label, annotate, self.most_lines)


class _CsvRecords(_Cells):
    """A changed record is written again, with cells quoted if necessary."""

    def __init__(self, table: Delimited, label: str, annotate: bool, most_lines: int) -> None:
        super().__init__(table, label, annotate)
        self._most_lines = most_lines

    def records(self, pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
        from esdedup.columns.records import Skips

        with HeldLines(
            numbered_lines(pieces, decisions), 2 * decisions.max_text, self._most_lines, self._label
        ) as lines:
            for number, cells in csv_records(lines, self._separator, Skips()):
                yield from ((0, piece) for piece in lines.before_record())
                if self._columns is None:
                    yield 0, self.take_header(cells, b"".join(lines.record()))
                elif lines.torn:
                    yield from ((0, piece) for piece in lines.record())
                else:
                    yield number, b"".join(lines.record())
                lines.release()
            yield from ((0, piece) for piece in lines.all())

    def cells(self, data: bytes) -> list[str]:
        record = data.decode("utf-8", "surrogateescape")
        cells = next(csv.reader([record], delimiter=self._separator, strict=True))
        return [exchanged(cell) for cell in cells] if self.exchanged else cells

    def joined(self, cells: Sequence[str]) -> bytes:
        line = io.StringIO()
        # the writer quotes cells that contain a character of its line end; this line end contains both
        cells = [exchanged(cell) for cell in cells] if self.exchanged else cells
        csv.writer(line, delimiter=self._separator, lineterminator="\r\n").writerow(cells)
        return line.getvalue().removesuffix("\r\n").encode("utf-8", "surrogateescape")


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
