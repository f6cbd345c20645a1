"""Which rows of a store have a text: a sorted list of numbers, which is memory-mapped and never read as a whole.

Each number has the first bits of the content hash of a text and, in as many bits as the largest one takes, a row. So
there may also be rows of another text whose hash begins alike: who asks compares the hashes of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Hashes
from esdedup.lookup.mapped_file import MappedFile


class Rows(NamedTuple):
    """The rows of a store: how many, a number that is higher than theirs, and a function that yields, as batches of
    `hash` and `row`, those with a hash from one to another, both included.
    """

    size: int
    end: int
    read: Callable[[int, int], Iterator[pa.RecordBatch]]


_AT_ONCE = 2**24
"""So many rows are sorted at once, in 16 bytes each."""


def write_rows(path: Path, rows: Rows) -> None:
    """Write the list of rows."""
    bits = _bits(rows.end)
    parts = 1 + rows.size // _AT_ONCE
    with path.open("wb") as file:
        for low, high in pairwise(2**64 * part // parts for part in range(parts + 1)):
            read = [np.empty(0, np.uint64), *(_keys(batch, bits) for batch in rows.read(low, high - 1))]
            keys = np.concatenate(read)
            del read
            keys.sort()
            keys.tofile(file)


def _bits(end: int) -> int:
    """Return how many bits each row takes."""
    return max(1, (end - 1).bit_length())


def _keys(batch: pa.RecordBatch, bits: int) -> Hashes:
    hashes: Hashes = batch["hash"].to_numpy()
    keys: Hashes = hashes >> np.uint64(bits) << np.uint64(bits) | batch["row"].to_numpy().astype(np.uint64)
    return keys


class TextRows:
    """A list that was written by `write_rows`. Raises `OSError` or `ValueError` if it cannot be read.

    Rows move when a database closes the gaps of deleted ones. Then the last of them moves too, so a store has another
    `end` than the list.
    """

    def __init__(self, path: Path, end: int) -> None:
        if not 0 <= end <= 2**63:
            raise ValueError("rows have numbers of 63 bits")
        self.end = end
        self._bits = np.uint64(_bits(end))
        self._keys: Hashes = MappedFile(path).array(np.uint64)

    def spans(self, hashes: Hashes) -> tuple[Numbers, Numbers]:
        """Return where the rows of each text begin and end in the list, by content hash."""
        low = hashes >> self._bits << self._bits
        high = low | (np.uint64(1) << self._bits) - np.uint64(1)
        return np.searchsorted(self._keys, low), np.searchsorted(self._keys, high, "right")

    def between(self, begins: Numbers, ends: Numbers) -> tuple[Numbers, Hashes]:
        """Return the rows at these places, in the order given, and the first bits of the hash that each should have; of
        each text they are sorted.
        """
        lists = [np.empty(0, np.uint64), *(self._keys[begin:end] for begin, end in zip(begins, ends, strict=True))]
        keys = np.concatenate(lists)
        return (keys & ((np.uint64(1) << self._bits) - np.uint64(1))).astype(np.int64), self.beginnings(keys)

    def beginnings(self, hashes: Hashes) -> Hashes:
        """Return the first bits of hashes, as many as the list has."""
        return hashes >> self._bits
