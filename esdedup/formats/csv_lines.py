"""Lines for the csv module, and the records that it makes from them."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from esdedup.formats.line_format import MAX_LINE, Block, split_lines

if TYPE_CHECKING:
    from esdedup.columns.records import Skips

_HELD_IN_MEMORY = 2**24
_PIECE = 2**18


class CsvLines(Iterator[str]):
    """Lines for the csv module. If `first_of_record` is 0, the next line sets it."""

    def __init__(self) -> None:
        self.first_of_record = 0


class NumberedLines(CsvLines):
    """The lines of blocks."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        super().__init__()
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
        if not self.first_of_record:
            self.first_of_record = self._number
        # surrogates stand for invalid bytes and are detected later in the field
        return line.decode("utf-8", "surrogateescape")


class HeldLines(CsvLines, AbstractContextManager["HeldLines"]):
    """Numbered lines whose bytes are kept until they are released, on disk if there are many.

    `torn` is true if a part without a line number is inside the current record.
    """

    def __init__(self, lines: Iterator[tuple[int, bytes]]) -> None:
        super().__init__()
        self.torn = False
        self._lines = lines
        self._begin = 0
        self._held = tempfile.SpooledTemporaryFile(_HELD_IN_MEMORY)  # noqa: SIM115

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def __next__(self) -> str:
        for number, line in self._lines:
            if number and not self.first_of_record:
                self.first_of_record = number
                self._begin = self._held.tell()
                self.torn = False
            self._held.write(line)
            if number:
                return line.decode("utf-8", "surrogateescape")
            self.torn = True
        raise StopIteration

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
    """Yield records with the number of their first line. An unreadable record is skipped and counted."""
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
            # the field is open: its quote ends on the next line with an odd number of quotes
            for line in lines:
                if line.count('"') % 2:
                    break
            continue
        if record:
            yield lines.first_of_record, record
