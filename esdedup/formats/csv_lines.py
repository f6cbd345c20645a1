"""Lines for the csv module, and the records that it makes from them."""

from __future__ import annotations

import csv
import io
import tempfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import chain
from typing import TYPE_CHECKING

from esdedup.errors import SourceError
from esdedup.formats.line_format import Block, split_lines

if TYPE_CHECKING:
    from esdedup.columns.records import Skips

_HELD_IN_MEMORY = 2**24
_PIECE = 2**18
_REPEATED = 2**20  # characters of a record that is not valid, of which all lines but the first are read again


class CsvLines(Iterator[str]):
    """Numbered lines for the csv module.

    A record of more than twice `most` characters, or of more than `most_lines` lines, raises `TooLongError`: its fields
    may all be short.
    """

    def __init__(self, most: int, most_lines: int, label: str) -> None:
        self.label = label
        self.most = most
        self.most_lines = most_lines
        self.begin()

    def begin(self) -> None:
        """Begin a record."""
        self.first_of_record = 0
        self.size = 0  # characters of the record so far
        self.lines = 0
        self.open = 0  # 1 if a quote of the record is open
        self.opened = 0  # the line where it opens
        self._record: list[str] = []  # its lines, while they are few

    def taken(self, number: int, line: str) -> str:
        """Count a line of the record."""
        self.first_of_record = self.first_of_record or number
        self.size += len(line)
        self.lines += 1
        if line.count('"') % 2:
            self.open ^= 1
            self.opened = number if self.open else self.opened
        if self.size <= _REPEATED:
            self._record.append(line)
        if self.size > 2 * self.most or self.lines > self.most_lines:
            raise TooLongError
        return line

    def after_first(self) -> list[bytes] | None:
        """Return the lines of the record but for the first; None if there are none, or too many."""
        lines = self._record[1:] if self.size <= _REPEATED else []
        return [line.encode("utf-8", "surrogateescape") for line in lines] or None

    @abstractmethod
    def repeat(self) -> bool:
        """Go back to the second line of the record. Return whether there is one."""


class TooLongError(Exception):
    """A record is too long."""


class NumberedLines(CsvLines):
    """The lines of blocks."""

    def __init__(self, blocks: Iterable[Block], most: int, most_lines: int, label: str = "") -> None:
        super().__init__(most, most_lines, label)
        self._blocks = iter(blocks)
        self._lines: Iterator[bytes] = iter(())
        self._number = 0

    def __next__(self) -> str:
        line = next(self._lines, None)
        while line is None:
            start, block = next(self._blocks)
            self._number = start - 1
            self._lines = iter(split_lines(block))
            line = next(self._lines, None)
        self._number += 1
        # surrogates stand for invalid bytes and are detected later in the field
        return self.taken(self._number, line.decode("utf-8", "surrogateescape"))

    def repeat(self) -> bool:
        """See `CsvLines`."""
        again = self.after_first()
        if again is None or self._number - self.first_of_record != len(again):  # lines between were left out
            return False
        self._lines, self._number = chain(again, self._lines), self.first_of_record
        return True


class HeldLines(CsvLines, AbstractContextManager["HeldLines"]):
    """Numbered lines whose bytes are kept until they are released, on disk if there are many.

    `torn` is true if a part without a line number is inside the current record.
    """

    def __init__(self, lines: Iterator[tuple[int, bytes]], most: int, most_lines: int, label: str = "") -> None:
        super().__init__(most, most_lines, label)
        self.torn = False
        self._lines = lines
        self._begin = 0
        self._held = tempfile.SpooledTemporaryFile(_HELD_IN_MEMORY)  # noqa: SIM115

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def __next__(self) -> str:
        for number, line in self._lines:
            if number and not self.first_of_record:
                self._begin = self._held.tell()
                self.torn = False
            self._held.write(line)
            if number:
                return self.taken(number, line.decode("utf-8", "surrogateescape"))
            self.torn = True
        raise StopIteration

    def repeat(self) -> bool:
        """See `CsvLines`."""
        again = self.after_first()
        if again is None or self.torn:
            return False
        self._held.seek(self._held.tell() - sum(map(len, again)))
        self._held.truncate()
        self._lines = chain(enumerate(again, self.first_of_record + 1), self._lines)
        return True

    def before_record(self) -> Iterator[bytes]:
        """Yield the kept bytes before the current record."""
        return self._pieces(0, self._begin)

    def record(self) -> Iterator[bytes]:
        """Yield the kept bytes of the current record, to the end."""
        return self._pieces(self._begin, self._held.tell())

    def all(self) -> Iterator[bytes]:
        """Yield all kept bytes."""
        return self._pieces(0, self._held.tell())

    def release(self) -> None:
        """Discard the kept bytes."""
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


def csv_records(lines: CsvLines, separator: str, skips: Skips) -> Iterator[tuple[int, list[str]]]:
    """Yield records with the number of their first line. An unreadable record is skipped and counted.

    If its quotes are wrong, the lines behind its first one are records of their own.
    """
    csv.field_size_limit(max(csv.field_size_limit(), lines.most))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    width = 0
    while True:
        lines.begin()
        try:
            record = next(reader)
        except StopIteration:
            return
        except (csv.Error, TooLongError) as error:
            number = lines.first_of_record
            if "unexpected end" in str(error) or lines.lines > lines.most_lines:
                ended = lines.lines <= lines.most_lines
                raise SourceError(
                    f"{lines.label}: the quote that opens at line {lines.opened or number} is "
                    + ("never closed; " if ended else f"not closed within {lines.most_lines:,} lines; ")
                    + "everything before it was read; close it"
                    + ("" if ended else ", give a larger --max-quoted-lines")
                    + ", or give --format tsv if quotes mean nothing"
                ) from None
            if isinstance(error, csv.Error) and "field limit" not in str(error):
                _skip(lines, skips)
                continue
            skips.add("too_long_field", f"line {number}")
            # if the field is open, its quote ends on the next line with an odd number of quotes
            lines.size = 0
            try:
                while lines.open and next(lines, None) is not None:
                    pass
            except TooLongError:
                raise SourceError(
                    f"{lines.label}: the record at line {number} has a quote without an end; everything before it was "
                    "read; close the quote, or give --format tsv if quotes mean nothing"
                ) from None
            continue
        width = width or len(record)
        if lines.lines > 1 and _holds_a_row(record, width, separator):
            _skip(lines, skips)
        elif record:
            yield lines.first_of_record, record


def _holds_a_row(record: list[str], width: int, separator: str) -> bool:
    """Whether a record has too few cells, and a whole row in one of them: a quote is closed in a later row."""
    if len(record) >= width:
        return False
    return any(line.count(separator) == width - 1 for cell in record for line in cell.split("\n")[1:])


def _skip(lines: CsvLines, skips: Skips) -> None:
    """Count the record as unreadable, and go back to its second line."""
    skips.add("bad_csv", f"line {lines.first_of_record}")
    if not lines.repeat() and lines.lines > 1:
        raise SourceError(
            f"{lines.label}: the quotes of the record at line {lines.first_of_record} are wrong, and it has "
            f"{lines.lines:,} lines; everything before it was read; mend the quotes, or give --format tsv if quotes "
            "mean nothing"
        )
