"""Signatures in the order of each permutation of their bits. Each is compared with the few before it.

They are sorted in memory if all fit there, otherwise by DuckDB, out of core. Both sort by bits and then by number, so
the pairs are the same. Meng and Zheng, section 3.2, algorithm 2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.database import Database
from esdedup.papers.projection.hyperplanes import Signatures, near_in_order, permutation, permute
from esdedup.papers.projection.matcher import ProjectionOptions

_SORTING_BYTES = 100  # a signature, its number and its position, while they are sorted in memory


class Windows:
    """Windows over the table `signed` (number, high, low) of `db`; `budget` in bytes."""

    def __init__(self, db: Database, options: ProjectionOptions, seed: int, budget: int) -> None:
        self._db = db
        self._options = options
        self._seed = seed
        self._at_once = max(1, budget // (16 * options.window))  # rows whose pairs are held at once
        self._held: tuple[Signatures, Numbers] | None = None
        if db.count("SELECT count(*) FROM signed") * _SORTING_BYTES <= budget:
            self._held = _columns(db.table("SELECT number, high, low FROM signed ORDER BY number"))

    def prepare(self, which: int) -> None:
        """Make the table `keys` that permutation `which` is sorted from, unless it is sorted in memory."""
        if self._held is None:
            order = permutation(self._seed, which, self._options.signature_bits)
            self._db.execute("CREATE OR REPLACE TABLE keys (high UBIGINT, low UBIGINT, number INTEGER)")
            for batch in self._db.batches("SELECT number, high, low FROM signed"):
                signatures, numbers = _columns(batch)
                self._db.insert("keys", signature_table(permute(signatures, order), numbers))

    def pairs(self, which: int) -> Iterator[pa.Table]:
        """Yield the pairs (a, b) of permutation `which`, a < b, each once, in batches."""
        window, most = self._options.window, self._options.hamming
        last, last_numbers = np.empty((0, 2), np.uint64), np.empty(0, np.int64)
        for signatures, numbers in self._sorted(which):
            for begin in range(0, len(numbers), self._at_once):
                part = np.concatenate([last, signatures[begin : begin + self._at_once]])
                part_numbers = np.concatenate([last_numbers, numbers[begin : begin + self._at_once]])
                found = near_in_order(part, part_numbers, len(last), window, most)
                if len(found):
                    yield pa.table({"a": found[:, 0].copy(), "b": found[:, 1].copy()})
                last, last_numbers = part[-window:], part_numbers[-window:]

    def _sorted(self, which: int) -> Iterator[tuple[Signatures, Numbers]]:
        if self._held is None:
            for batch in self._db.batches("SELECT number, high, low FROM keys ORDER BY high, low, number"):
                yield _columns(batch)
            return
        signatures, numbers = self._held
        permuted = permute(signatures, permutation(self._seed, which, self._options.signature_bits))
        order = np.lexsort((numbers, permuted[:, 1], permuted[:, 0]))
        for begin in range(0, len(order), self._at_once):
            chosen = order[begin : begin + self._at_once]
            yield permuted[chosen], numbers[chosen]


def signature_table(signatures: Signatures, numbers: Numbers) -> pa.Table:
    """Return rows (number, high, low)."""
    return pa.table(
        {"number": numbers.astype(np.int32), "high": signatures[:, 0].copy(), "low": signatures[:, 1].copy()}
    )


def _columns(rows: pa.Table | pa.RecordBatch) -> tuple[Signatures, Numbers]:
    signatures = np.stack([rows["high"].to_numpy(), rows["low"].to_numpy()], axis=1)
    return signatures, rows["number"].to_numpy().astype(np.int64)
