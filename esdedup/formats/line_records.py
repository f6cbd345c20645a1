"""Formats of one record a line: where the text stands in it, and how it is written with another one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Protocol

from esdedup.columns.records import Skips
from esdedup.files import compact_json
from esdedup.formats import fields as columns
from esdedup.formats.batches import replace_surrogates
from esdedup.formats.decisions import Decisions
from esdedup.formats.delimited import checked
from esdedup.formats.jsonl import locate
from esdedup.formats.raw_lines import body_and_end, numbered_lines
from esdedup.formats.reading_options import Reading

NOTE = "esdedup"
"""The key or column that annotations stand in."""


class RecordFormat(Protocol):
    """A format whose records are runs of bytes; one object reads one member."""

    def records(self, pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
        """Everything that stands in the member, with places; 0 for what is no record."""

    def text(self, data: bytes) -> str | None:
        """The text of a record as its reader gives it; `None` where it has none."""

    def with_text(self, data: bytes, text: str) -> bytes:
        """The record with another text."""

    def annotated(self, data: bytes, note: Any) -> bytes | None:
        """The record with an annotation; `None` if it is none that can carry one."""


def rewrite_records(
    form: RecordFormat, pieces: Iterator[bytes], decisions: Decisions, annotate: bool
) -> Iterator[bytes]:
    """One member again: records that stay, changed ones in new form, and all that is no record."""
    for place, data in form.records(pieces, decisions):
        if not place or data.isspace():
            yield data
        elif annotate:
            noted = form.annotated(data, decisions.note(place))
            yield data if noted is None else noted
        elif drops := decisions.drops(place):
            left = decisions.left(form.text(data) if decisions.needs_text else None, drops)
            if left is not None:
                yield form.with_text(data, left)
        else:
            decisions.stay()
            yield data


class PlainLines:
    """A line is a text."""

    def records(self, pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
        """All lines."""
        return numbered_lines(pieces, decisions)

    def text(self, data: bytes) -> str | None:
        """The line without its end."""
        return _decoded(body_and_end(data)[0])

    def with_text(self, data: bytes, text: str) -> bytes:
        """The text with the line's end."""
        return text.encode() + body_and_end(data)[1]

    def annotated(self, data: bytes, note: Any) -> bytes | None:
        """A line of text has no room for an annotation."""
        del data, note
        return None


class JsonLines:
    """A line is a JSON object."""

    def __init__(self, reading: Reading) -> None:
        self._path = reading.text_column or "text"

    def records(self, pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
        """All lines."""
        return numbered_lines(pieces, decisions)

    def text(self, data: bytes) -> str | None:
        """What stands under the text's key or path."""
        found = locate(_object(data) or {}, self._path)
        text = None if found is None else found[0][found[1]]
        return replace_surrogates(text) if isinstance(text, str) else None

    def with_text(self, data: bytes, text: str) -> bytes:
        """The object in compact form, with its keys in their order."""
        record = _object(data) or {}
        if found := locate(record, self._path):
            holder, key = found
            holder[key] = text
        return _json_bytes(record) + body_and_end(data)[1]

    def annotated(self, data: bytes, note: Any) -> bytes | None:
        """The object in compact form with the annotation as its last key."""
        record = _object(data)
        if record is None:
            return None
        record.pop(NOTE, None)
        return _json_bytes({**record, NOTE: note}) + body_and_end(data)[1]


class TabLines:
    """A line is cells, split by one character that stands in none of them but the last."""

    def __init__(self, reading: Reading, label: str, annotate: bool) -> None:
        self._reading = reading
        self._label = label
        self._annotate = annotate
        self._separator = reading.separator or "\t"
        self._chosen: columns.Columns | None = (
            None if reading.header else columns.one_text(columns.unnamed(reading, label), label)
        )
        self._rest = self._chosen is not None and self._chosen.text == self._chosen.last

    def records(self, pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
        """All lines; the header is no record."""
        for place, line in numbered_lines(pieces, decisions):
            body, end = body_and_end(line)
            names = _decoded(body) if place and self._chosen is None else None
            if names is None:
                yield place, line
                continue
            cells = names.split(self._separator)
            self._chosen = columns.one_text(
                columns.named(self._reading, cells, self._label, positional=True), self._label
            )
            self._rest = self._chosen.text == len(cells) - 1
            yield 0, body + self._separator.encode() + NOTE.encode() + end if self._annotate else line

    def text(self, data: bytes) -> str | None:
        """The cell that holds the text, or the rest of the line from there."""
        cells, chosen = self._cells(data)
        return cells[chosen.text] if chosen.text < len(cells) else None

    def with_text(self, data: bytes, text: str) -> bytes:
        """The line with another text in its cell."""
        cells, chosen = self._cells(data)
        cells[chosen.text] = text
        return self._separator.join(cells).encode() + body_and_end(data)[1]

    def annotated(self, data: bytes, note: Any) -> bytes | None:
        """The line with one more cell; one that no document is read from stays as it stands."""
        cells, chosen = self._cells(data)
        if checked(cells, 0, chosen, Skips()) is None:
            return None
        body, end = body_and_end(data)
        return body + f"{self._separator}{compact_json(note)}".encode() + end

    def _cells(self, data: bytes) -> tuple[list[str], columns.Columns]:
        line = _decoded(body_and_end(data)[0])
        assert self._chosen is not None, "a record was asked about before its header was met"
        splits = self._chosen.text if self._rest else self._chosen.last + 1
        return ([] if line is None else line.split(self._separator, splits)), self._chosen


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(data.decode())
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _json_bytes(record: dict[str, Any]) -> bytes:
    try:
        return compact_json(record).encode()
    except UnicodeEncodeError:
        # half of a surrogate pair can only be written as it was: escaped
        return json.dumps(record, separators=(",", ":")).encode()
