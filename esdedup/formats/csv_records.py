"""CSV records as they stand, with quotes and all, over as many lines as each takes."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator
from typing import Any

from esdedup.columns.records import Skips
from esdedup.files import compact_json
from esdedup.formats import fields as columns
from esdedup.formats.decisions import Decisions
from esdedup.formats.delimited import csv_records
from esdedup.formats.line_records import NOTE
from esdedup.formats.raw_lines import body_and_end, numbered_lines
from esdedup.formats.reading_options import Reading

_HELD_IN_MEMORY = 2**24
_PIECE = 2**18


class CsvRecords:
    """A record is cells, quoted where they have to be."""

    def __init__(self, reading: Reading, label: str, annotate: bool) -> None:
        self._reading = reading
        self._label = label
        self._annotate = annotate
        self._separator = reading.separator or ","
        self._chosen = columns.one_text(columns.unnamed(reading, label), label) if reading.header is False else None

    def records(self, pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
        """Records at the places of their first lines; the header and what cannot be read are none."""
        with _HeldLines(numbered_lines(pieces, decisions)) as lines:
            for place, cells in csv_records(lines, self._separator, Skips()):
                yield from ((0, piece) for piece in lines.before_record())
                if self._chosen is None:
                    self._chosen = columns.one_text(columns.named(self._reading, cells, self._label), self._label)
                    header = b"".join(lines.record())
                    yield 0, self._with_cell(header, NOTE) if self._annotate else header
                elif lines.torn:
                    yield from ((0, piece) for piece in lines.record())
                else:
                    yield place, b"".join(lines.record())
                lines.release()
            yield from ((0, piece) for piece in lines.all())

    def text(self, data: bytes) -> str | None:
        """The cell that holds the text."""
        cells = self._cells(data)
        text = self._text_column
        return cells[text] if text < len(cells) else None

    def with_text(self, data: bytes, text: str) -> bytes:
        """The record written anew, with its cells quoted where they have to be."""
        cells = self._cells(data)
        cells[self._text_column] = text
        return self._line(cells) + body_and_end(data)[1]

    def annotated(self, data: bytes, note: Any) -> bytes | None:
        """The record as it stands, with one more cell."""
        return self._with_cell(data, compact_json(note))

    @property
    def _text_column(self) -> int:
        assert self._chosen is not None, "a record was asked about before its header was met"
        return self._chosen.text

    def _cells(self, data: bytes) -> list[str]:
        record = data.decode("utf-8", "surrogateescape")
        return next(csv.reader([record], delimiter=self._separator, strict=True))

    def _with_cell(self, data: bytes, cell: str) -> bytes:
        body, end = body_and_end(data)
        return body + self._separator.encode() + self._line([cell]) + end

    def _line(self, cells: list[str]) -> bytes:
        line = io.StringIO()
        # the writer quotes what its line end is made of: with this one both characters
        csv.writer(line, delimiter=self._separator, lineterminator="\r\n").writerow(cells)
        return line.getvalue().removesuffix("\r\n").encode("utf-8", "surrogateescape")


class _HeldLines:
    """Lines for the csv module, whose bytes are held until they are released, on disk if they are many.

    `torn` tells that a part without a place stands inside the record that was begun.
    """

    def __init__(self, lines: Iterator[tuple[int, bytes]]) -> None:
        self.first_of_record = 0
        self.torn = False
        self._lines = lines
        self._begin = 0
        self._held = tempfile.SpooledTemporaryFile(_HELD_IN_MEMORY)  # noqa: SIM115

    def __enter__(self) -> _HeldLines:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def __iter__(self) -> _HeldLines:
        return self

    def __next__(self) -> str:
        for place, line in self._lines:
            if place and not self.first_of_record:
                self.first_of_record = place
                self._begin = self._held.tell()
                self.torn = False
            self._held.write(line)
            if place:
                # invalid bytes travel as surrogates, as the reader has them
                return line.decode("utf-8", "surrogateescape")
            self.torn = True
        raise StopIteration

    def before_record(self) -> Iterator[bytes]:
        """What is held from before the record that was begun last."""
        return self._pieces(0, self._begin)

    def record(self) -> Iterator[bytes]:
        """What is held of that record, to the end."""
        return self._pieces(self._begin, self._held.tell())

    def all(self) -> Iterator[bytes]:
        """All that is held."""
        return self._pieces(0, self._held.tell())

    def release(self) -> None:
        """Hold nothing any more."""
        self._held.seek(0)
        self._held.truncate()
        self._begin = 0

    def _pieces(self, begin: int, end: int) -> Iterator[bytes]:
        self._held.seek(begin)
        while begin < end:
            piece = self._held.read(min(_PIECE, end - begin))
            begin += len(piece)
            yield piece
        self._held.seek(0, io.SEEK_END)
