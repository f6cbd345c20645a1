"""The pages of a Parquet file, before any of them is unpacked.

A page is unpacked as a whole, and its size is only in its own header, which the library does not show. A header is a
struct in Thrift's compact protocol, of which the first three fields are needed. The others are passed over.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

_DICTIONARY = 2
_AT_ONCE = 2**12
_LONGEST_HEADER = 2**22  # it may hold two values, as statistics
_DEEPEST = 8


class Page(NamedTuple):
    """The size of a page when it is unpacked, and whether it holds the values that the others refer to."""

    size: int
    dictionary: bool


class HeaderError(ValueError):
    """The header of a page is not valid."""


def pages(file: BinaryIO, column: Any) -> Iterator[Page]:
    """Yield the pages of a column of a row group (its metadata), by their headers. Raise `HeaderError` for damage."""
    if not column.num_values:
        return
    at = column.data_page_offset
    if column.has_dictionary_page and column.dictionary_page_offset and column.dictionary_page_offset > 0:
        at = min(at, column.dictionary_page_offset)
    end = at + column.total_compressed_size
    while at < end:
        header = _Header(file, at)
        kind, size, packed = header.read()
        if size < 0 or packed < 0:
            raise HeaderError(f"a page at byte {at} has a negative size")
        yield Page(size, kind == _DICTIONARY)
        at = header.end + packed


class _Header:
    """Reads one header that begins at `at`. `end` is where the page itself begins."""

    def __init__(self, file: BinaryIO, at: int) -> None:
        self._file = file
        self._begin = at
        self._place = 0
        self._data = b""

    @property
    def end(self) -> int:
        return self._begin + self._place

    def read(self) -> tuple[int, int, int]:
        """Return the kind of the page, and its size unpacked and packed."""
        found = {1: -1, 2: -1, 3: -1}
        field = 0
        while kind_and_step := self._byte():
            field = field + (kind_and_step >> 4) if kind_and_step >> 4 else self._number()
            if field in found and kind_and_step & 15 == 5:
                found[field] = self._number()
            else:
                self._pass_over(kind_and_step & 15, 0)
        return found[1], found[2], found[3]

    def _pass_over(self, kind: int, depth: int) -> None:
        if depth > _DEEPEST:
            raise HeaderError(f"the header of the page at byte {self._begin} is too deep")
        if kind in (1, 2):  # a boolean, which is in the kind
            return
        if kind == 3:
            self._skip(1)
        elif kind in (4, 5, 6):
            self._number()
        elif kind == 7:
            self._skip(8)
        elif kind == 8:
            self._skip(self._unsigned())
        elif kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 != 15 else self._unsigned()
            for _ in range(count):
                # booleans of a list take a byte
                self._pass_over(3 if head & 15 in (1, 2) else head & 15, depth + 1)
        elif kind == 12:
            while inner := self._byte():
                if not inner >> 4:
                    self._number()
                self._pass_over(inner & 15, depth + 1)
        else:
            raise HeaderError(f"the header of the page at byte {self._begin} is not valid")

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise HeaderError(f"the header of the page at byte {self._begin} is not valid")

    def _number(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def _byte(self) -> int:
        self._need(1)
        self._place += 1
        return self._data[self._place - 1]

    def _skip(self, count: int) -> None:
        self._need(count)
        self._place += count

    def _need(self, count: int) -> None:
        missing = self._place + count - len(self._data)
        if missing <= 0:
            return
        if self._place + count > _LONGEST_HEADER:
            raise HeaderError(f"the header of the page at byte {self._begin} is too long")
        self._file.seek(self._begin + len(self._data), os.SEEK_SET)
        more = self._file.read(max(missing, _AT_ONCE))
        if len(more) < missing:
            raise HeaderError("the file is cut short")
        self._data += more
