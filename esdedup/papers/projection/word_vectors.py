"""Word vectors of a file in word2vec's format, text or binary. The file is mapped into memory and read on demand.

The first line has the number of words and the length of their vectors. Then each word follows, with a space after it:
in text files its numbers and a line feed, in binary files its numbers as four bytes each, least significant first
(Mikolov et al. 2013; the files that `word2vec` writes).
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from esdedup.columns.hashing import Bytes, Hashes, mix, xxh64
from esdedup.columns.kernels import compiled
from esdedup.errors import VectorsError

Places = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

LONGEST = 4096
"""Largest allowed length of a vector."""

_WORDS_AT_ONCE = 100_000
_LONGEST_HEADER = 64
_HEADER = re.compile(rb"\s*([0-9]{1,12})[ \t]+([0-9]{1,9})[ \t]*\r?\n")
_NUMERALS = np.zeros(256, np.bool_)
_NUMERALS[np.frombuffer(b"0123456789+-.eE \t\r", np.uint8)] = True

_FINE, _CUT, _UNEVEN, _NO_WORD = 0, 1, 2, 3


class VectorsFile:
    """A file of `words` vectors with `length` numbers each. Raises `VectorsError` if it is unreadable or in another
    format.

    `state` is a different number after the file changed.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            with Path(path).open("rb") as file:
                stat = os.fstat(file.fileno())
                self._data: Bytes = np.empty(0, np.uint8)
                if stat.st_size:
                    self._data = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise self._error(f"{why}; name a file in word2vec's format") from error
        header = _HEADER.match(self._data[:_LONGEST_HEADER].tobytes())
        if header is None or not 1 <= int(header[2]) <= LONGEST:
            raise self._error(
                "not in word2vec's format: its first line must have the number of words and the length of a vector "
                f"(up to {LONGEST}); decompress the file, or add such a first line"
            )
        self.words, self.length = int(header[1]), int(header[2])
        self._start = header.end()
        self._binary = self._is_binary()
        self.state = int(mix(np.uint64(stat.st_mtime_ns) ^ mix(np.uint64(stat.st_size)))) >> 2

    def entries(self) -> Iterator[tuple[Hashes, Places]]:
        """Yield the hash (XXH64 of its UTF-8 bytes) and the position of the numbers of every word, in batches.

        Raises `VectorsError` if the content of the file does not match its first line.
        """
        at, done = self._start, 0
        while done < self.words:
            asked = min(_WORDS_AT_ONCE, self.words - done)
            walk = _walk_binary if self._binary else _walk_text
            hashes, places, at, status = walk(self._data, at, asked, self.length)
            done += len(hashes)
            if status != _FINE:
                raise self._error(self._what(status, done + 1))
            yield hashes, places
        if np.any(self._data[at : at + 2**20] > ord(" ")):
            raise self._error(
                f"there is data after the {self.words:,} words of {self.length} numbers that its first line declares; "
                "the first line is wrong, or the file is damaged: create it again"
            )

    def rows(self, places: Places) -> Vectors:
        """Return the vectors at `places`, shape (n, length). Raises `VectorsError` if there are no finite numbers."""
        if self._binary:
            rows = _gather(self._data, places, self.length).view(np.float32)
        else:
            rows = _parse(self._data, places, self.length)
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(bad):
            raise self._error(
                f"no {self.length} finite numbers at byte {places[bad[0]]:,}; the file is damaged: create it again"
            )
        return rows

    def _is_binary(self) -> bool:
        """Return whether the first line is not a word with numbers as text (or `nan` and the like)."""
        head = self._data[self._start : self._start + 2**20].tobytes()
        _, *numbers = head.partition(b"\n")[0].split() or [b""]
        if len(numbers) == self.length:
            return not all(_NUMERALS[np.frombuffer(number, np.uint8)].all() or number.isalpha() for number in numbers)
        body = head.partition(b" ")[2][: 4 * self.length]
        return not _NUMERALS[np.frombuffer(body.partition(b"\n")[0], np.uint8)].all() or body.startswith(b"\n")

    def _what(self, status: int, number: int) -> str:
        if status == _UNEVEN:
            return (
                f"line {number + 1:,} does not contain a word and {self.length} numbers, as the first line says; "
                "create it again, with vectors of equal length"
            )
        if status == _CUT:
            return (
                f"ends within word {number:,} of the {self.words:,} words of {self.length} numbers that its first line "
                "declares; download it again"
            )
        return f"there is no word number {number:,}; the first line is wrong, or the file is damaged: download it again"

    def _error(self, what: str) -> VectorsError:
        return VectorsError(f"--vectors {self.path}: {what}")


@compiled
def _word_end(data: Bytes, at: int) -> int:
    """Return the position of the space after the word at `at`; -1 at the end of the data, -2 if there is no word."""
    start = at
    while at < len(data) and data[at] != 32:
        if data[at] < 32 or at - start > 10_000:
            return -2
        at += 1
    return at if at < len(data) else -1


@compiled
def _walk_binary(data: Bytes, at: int, words: int, length: int) -> tuple[Hashes, Places, int, int]:
    """Return hashes and positions of the next `words` words from `at`, where they end, and whether they are valid."""
    hashes, places = np.empty(words, np.uint64), np.empty(words, np.int64)
    for found in range(words):
        while at < len(data) and (data[at] == 10 or data[at] == 13):
            at += 1
        end = _word_end(data, at)
        if end == -2:
            return hashes[:found], places[:found], at, _NO_WORD
        if end < 0 or end + 1 + 4 * length > len(data):
            return hashes[:found], places[:found], at, _CUT
        hashes[found] = xxh64(data, at, end)
        places[found] = end + 1
        at = end + 1 + 4 * length
    return hashes, places, at, _FINE


@compiled
def _walk_text(data: Bytes, at: int, words: int, length: int) -> tuple[Hashes, Places, int, int]:
    """Like `_walk_binary`. Every line must have a word and `length` numbers."""
    hashes, places = np.empty(words, np.uint64), np.empty(words, np.int64)
    for found in range(words):
        if at >= len(data):
            return hashes[:found], places[:found], at, _CUT
        end = _word_end(data, at)
        if end < 0:
            return hashes[:found], places[:found], at, _CUT if end == -1 else _UNEVEN
        hashes[found] = xxh64(data, at, end)
        places[found] = end + 1
        at = end
        numbers = 0
        blank = True
        while at < len(data) and data[at] != 10:
            if not _NUMERALS[data[at]]:
                return hashes[:found], places[:found], at, _UNEVEN
            now = data[at] == 32 or data[at] == 9 or data[at] == 13
            numbers += blank and not now
            blank = now
            at += 1
        if numbers != length:
            return hashes[:found], places[:found], at, _CUT if at == len(data) and numbers < length else _UNEVEN
        at += 1
    return hashes, places, at, _FINE


@compiled
def _gather(data: Bytes, places: Places, length: int) -> npt.NDArray[np.uint32]:
    """Return the bits of the numbers at each position, shape (n, length)."""
    out = np.empty((len(places), length), np.uint32)
    for row in range(len(places)):
        at = places[row]
        for number in range(length):
            first = at + 4 * number
            out[row, number] = (
                np.uint32(data[first])
                | np.uint32(data[first + 1]) << np.uint32(8)
                | np.uint32(data[first + 2]) << np.uint32(16)
                | np.uint32(data[first + 3]) << np.uint32(24)
            )
    return out


@compiled
def _parse(data: Bytes, places: Places, length: int) -> Vectors:
    """Return the decimal numbers at each position, shape (n, length); NaN if there is none."""
    out = np.empty((len(places), length), np.float32)
    for row in range(len(places)):
        at = places[row]
        for number in range(length):
            while data[at] == 32 or data[at] == 9:
                at += 1
            out[row, number], at = _decimal(data, at)
    return out


@compiled
def _decimal(data: Bytes, at: int) -> tuple[float, int]:
    """Return the number that begins at `at`, and where it ends: up to 18 digits, a point, an exponent."""
    negative = data[at] == 45
    at += data[at] == 45 or data[at] == 43
    value, scale, digits, point, seen = 0, 0, 0, False, False
    while at < len(data):
        byte = int(data[at])
        if byte == 46 and not point:
            point = True
        elif 48 <= byte <= 57:
            seen = True
            if digits < 18:
                value = value * 10 + (byte - 48)
                digits += value > 0
                scale -= point
            else:
                scale += not point
        else:
            break
        at += 1
    if at < len(data) and (data[at] == 69 or data[at] == 101):
        at += 1
        down = at < len(data) and data[at] == 45
        at += at < len(data) and (data[at] == 45 or data[at] == 43)
        seen = seen and at < len(data) and 48 <= data[at] <= 57
        power = 0
        while at < len(data) and 48 <= data[at] <= 57:
            power = min(power * 10 + int(data[at]) - 48, 9999)
            at += 1
        scale += -power if down else power
    if not seen or (at < len(data) and data[at] > 32):
        return np.nan, at
    number = float(value) * 10.0**scale if scale >= -300 else 0.0
    return (-number if negative else number), at
