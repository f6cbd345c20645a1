"""Tables as text: TSV (no quoting) and CSV (quoting as in RFC 4180)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from esdedup.columns.records import Skips
from esdedup.formats import fields as columns
from esdedup.formats.batches import Row, collect, from_columns
from esdedup.formats.fields import Columns
from esdedup.formats.line_blocks import MAX_LINE, Block, decode_lines
from esdedup.formats.reading_options import Reading


def read_tsv(blocks: Iterable[Block], label: str, reading: Reading, skips: Skips) -> Iterator[pa.RecordBatch]:
    """Documents of a table whose cells are split by one character.

    The text takes the rest of the line when its column is the last one: of the header, or without header
    of the columns asked for.
    """
    separator = reading.separator or "\t"
    chosen = None if reading.header else columns.unnamed(reading, label)
    rest = chosen is not None and chosen.text == chosen.last and not chosen.more
    for number, block in blocks:
        numbers, lines = decode_lines(number, block, skips)
        if chosen is None:
            if not lines:
                continue
            names = lines[0].split(separator)
            chosen = columns.named(reading, names, label, positional=True)
            rest = chosen.text == len(names) - 1 and not chosen.more
            numbers, lines = numbers[1:], lines[1:]
        splits = chosen.text if rest else chosen.last + 1
        cells = [line.split(separator, splits) for line in lines]
        yield from from_columns(*_columns(cells, numbers, chosen, skips))


def read_csv(blocks: Iterable[Block], label: str, reading: Reading, skips: Skips) -> Iterator[pa.RecordBatch]:
    """Documents of a CSV table; its first record is the header unless `reading.header` is false."""
    return collect(_csv_rows(blocks, label, reading, skips))


def _columns(
    cells: list[list[str]], numbers: Sequence[int], chosen: Columns, skips: Skips
) -> tuple[Sequence[str], Sequence[str] | None, Sequence[str], Sequence[int]]:
    """Ids, titles, texts and numbers of split lines: all at once, line by line only where one has to be skipped."""
    place, title = chosen.id, chosen.title
    try:
        texts = [chosen.texts(line) for line in cells] if chosen.more else [line[chosen.text] for line in cells]
        ids = list(map(str, numbers)) if place is None else [line[place] for line in cells]
        titles = None if title is None else [line[title] for line in cells]
    except IndexError:
        pass
    else:
        if all(texts) and all(ids) and not any(map(str.isspace, texts)):
            return ids, titles, texts, numbers
    kept: list[tuple[str, str, str, int]] = []
    for number, line in zip(numbers, cells, strict=True):
        row = checked(line, number, chosen, skips)
        if row:
            kept.append((*row, number))
    if not kept:
        return [], None, [], []
    names, found, bodies, places = zip(*kept, strict=True)
    return names, None if title is None else found, bodies, places


def checked(cells: Sequence[str], number: int, chosen: Columns, skips: Skips) -> tuple[str, str, str] | None:
    """Id, title and text of one record, or `None` and a count."""
    text = chosen.texts(cells) if max(chosen.text, *chosen.more, -1) < len(cells) else ""
    if not text or text.isspace():
        skips.add("no_text", f"line {number}")
        return None
    if chosen.id is None:
        identifier = str(number)
    elif chosen.id >= len(cells) or not cells[chosen.id]:
        skips.add("no_id", f"line {number}")
        return None
    else:
        identifier = cells[chosen.id]
    title = cells[chosen.title] if chosen.title is not None and chosen.title < len(cells) else ""
    return identifier, title, text


class CsvLines(Protocol):
    """Lines for the csv module. `first_of_record` is set by the next line when it is 0."""

    first_of_record: int

    def __iter__(self) -> Iterator[str]: ...
    def __next__(self) -> str: ...


class _NumberedLines:
    """The lines of blocks, with the number of the one handed out last."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks = iter(blocks)
        self._lines: Iterator[bytes] = iter(())
        self.number = 0
        self.first_of_record = 0

    def __iter__(self) -> _NumberedLines:
        return self

    def __next__(self) -> str:
        line = next(self._lines, None)
        while line is None:
            start, block = next(self._blocks)
            self.number = start - 1
            self._lines = iter(block.splitlines(keepends=True) if b"\r" not in block else _split(block))
            line = next(self._lines, None)
        self.number += 1
        if not self.first_of_record:
            self.first_of_record = self.number
        # invalid bytes travel as surrogates and are found again in the field
        return line.decode("utf-8", "surrogateescape")


def _split(block: bytes) -> list[bytes]:
    """Lines by line feed alone: a carriage return inside a field is no line end."""
    lines = [line + b"\n" for line in block.split(b"\n")]
    last = lines.pop().removesuffix(b"\n")
    return [*lines, last] if last else lines


def _csv_rows(blocks: Iterable[Block], label: str, reading: Reading, skips: Skips) -> Iterator[Row]:
    lines = _NumberedLines(blocks)
    chosen = columns.unnamed(reading, label) if reading.header is False else None
    for number, record in csv_records(lines, reading.separator or ",", skips):
        if chosen is None:
            chosen = columns.named(reading, record, label)
            continue
        row = checked(record, number, chosen, skips)
        if row is None:
            continue
        identifier, title, text = row
        if not (_is_utf8(text) and _is_utf8(identifier) and _is_utf8(title)):
            skips.add("bad_utf8", f"line {number}")
            continue
        yield identifier, None if chosen.title is None else title, text, None, None, None, number


def csv_records(lines: CsvLines, separator: str, skips: Skips) -> Iterator[tuple[int, list[str]]]:
    """Records with the number of their first line; a record that cannot be read is skipped and counted."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        lines.first_of_record = 0
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            number = lines.first_of_record
            if "field limit" not in str(error):
                skips.add("bad_csv", f"line {number}")
                continue
            skips.add("too_long_field", f"line {number}")
            # the field is open: its quote ends on the next line with an odd number of them
            for line in lines:
                if line.count('"') % 2:
                    break
            continue
        if record:
            yield lines.first_of_record, record


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
