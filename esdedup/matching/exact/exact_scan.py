"""The exact scan: every pair at or above the threshold, whatever it costs; nothing left to chance, nothing capped.

Texts are read once into the scratch database. A first pass over them counts shingles in a table of fixed size and
makes a sketch of each set, as wide as the memory allows. A second one writes the postings of the prefixes, which
DuckDB sorts, out of core. Texts that meet there and whose sketches do not keep them apart are compared in full.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.matching.exact.prefixes import Small, count_shingles, group_ends, join, prefixes
from esdedup.matching.listed import SET_BYTES, ListedScan
from esdedup.matching.lsh.collide import SKETCH_WORDS, Sketches, sketches
from esdedup.matching.lsh.collider import whole_groups
from esdedup.matching.protocol import Collided, FetchSignatures, FetchTexts, Progress, no_progress

_ROOM = 1 << 18  # pairs that a thread writes before they go to the database


class ExactScan(ListedScan):
    """Prefix-filtered join of all texts with all."""

    def collide(
        self,
        signatures: FetchSignatures,
        fetch: FetchTexts,
        progress: Progress = no_progress,
        dirty: pa.Table | None = None,
    ) -> Collided:
        """Find every pair with Jaccard at or above the threshold; `dirty` must be None: all are compared with all."""
        assert dirty is None
        texts = self._stage("load", lambda: self._load(signatures, None))
        self._stage("bring", lambda: self._bring_all(fetch))
        if self._result("meet") is None:
            sketch = self._sketch(texts)
            self._stage("post", lambda: self._post(texts))
            del self._counts
            self._stage("meet", lambda: self._meet(sketch))
        self._db.execute("DROP TABLE IF EXISTS postings")
        slices = self._stage("list", lambda: self._list("SELECT a, b FROM met"))
        self._compare_all(slices, progress)
        return Collided(texts, None, None)

    # -- postings -----------------------------------------------------------------------------------------

    def _sketch(self, texts: int) -> Sketches:
        """Count every shingle, into `_counts`, and make a sketch of each text."""
        words = SKETCH_WORDS
        while words and words * 8 * texts > self._budget // 2:
            words //= 2
        counters = 1 << max(16, min(30, (self._budget // 4).bit_length() - 1))
        self._counts = np.zeros(counters, np.uint8)
        sketch = np.zeros((texts, words), np.uint64)
        with ThreadPoolExecutor(self._threads) as pool:
            for first, sets in self._sets(texts, pool):
                for flat, bounds in sets:
                    list(pool.map(lambda part, held=flat: self._count(held, part), range(self._threads)))
                    if words:
                        sketch[first : first + len(bounds) - 1] = sketches(flat, bounds, words)
                    first += len(bounds) - 1
        return sketch

    def _count(self, flat: Hashes, part: int) -> None:
        count_shingles(flat, self._counts, part, self._threads)

    def _post(self, texts: int) -> int:
        """Fill `postings` with the prefixes of all texts; how many there are."""
        self._db.execute(
            "CREATE OR REPLACE TABLE postings (token UBIGINT, number INTEGER, size INTEGER, place INTEGER)"
        )
        with ThreadPoolExecutor(self._threads) as pool:
            for first, sets in self._sets(texts, pool):
                starts = first + np.cumsum([0, *(len(bounds) - 1 for _, bounds in sets)])
                parts = pool.map(self._prefixes, sets, starts)
                for token, number, size, place in parts:
                    self._db.insert(
                        "postings", pa.table({"token": token, "number": number, "size": size, "place": place})
                    )
        return self._db.count("SELECT count(*) FROM postings")

    def _prefixes(self, sets: tuple[Hashes, Offsets], first: int) -> tuple[Hashes, Small, Small, Small]:
        return prefixes(*sets, self._counts, self._scanning.jaccard, int(first))

    def _sets(self, texts: int, pool: ThreadPoolExecutor) -> Iterator[tuple[int, list[tuple[Hashes, Offsets]]]]:
        """The shingle sets of all texts in batches: the number of the first text, and sets in order, one a thread."""
        for first, last in self._text_ranges(texts):
            column = self._brought(first, last)
            cuts = np.linspace(0, len(column), self._threads + 1).astype(int)
            slices = [column.slice(begin, end - begin) for begin, end in pairwise(cuts)]
            yield first, list(pool.map(lambda part: self._signer.sets(self._signer.shingled(part)), slices))

    def _text_ranges(self, texts: int) -> Iterator[tuple[int, int]]:
        """Numbers of texts, cut so that the sets of a range fit in a quarter of the budget."""
        total = self._db.count("SELECT sum(length) FROM texts")
        at_once = max(1, min(100_000, self._budget // 4 * texts // max(1, SET_BYTES * total)))
        for first in range(0, texts, at_once):
            yield first, min(first + at_once, texts)

    # -- who meets ----------------------------------------------------------------------------------------

    def _meet(self, sketch: Sketches) -> int:
        """Fill `met` with the pairs that share a posting and may reach the threshold, some more than once."""
        self._db.execute("CREATE OR REPLACE TABLE met (a INTEGER, b INTEGER)")
        batches = self._db.batches("SELECT token, number, size, place FROM postings ORDER BY token, size, number")
        alone = Lock()  # one thread at a time writes to the database what it has found
        columns: Iterator[tuple[Any, ...]] = (tuple(column.to_numpy() for column in batch.columns) for batch in batches)
        with ThreadPoolExecutor(self._threads) as pool:
            for tokens, numbers, sizes, places in whole_groups(columns):
                ends = group_ends(tokens)
                widest = int(np.diff(ends, prepend=0).max())
                cuts = np.searchsorted(ends, np.linspace(0, len(tokens), self._threads + 1)[1:-1])
                edges = [0, *(int(cut) for cut in cuts), len(ends)]

                def part(
                    begin: int,
                    end: int,
                    ends: Numbers = ends,
                    members: tuple[Small, Small, Small] = (numbers, sizes, places),
                    room: int = max(_ROOM, widest),
                ) -> None:
                    member = 0
                    rows = np.empty((room, 2), np.int32)
                    while begin < end:
                        count, begin, member = join(
                            ends, begin, member, end, *members, sketch, self._scanning.jaccard, rows
                        )
                        with alone:
                            self._db.insert("met", pa.table({"a": rows[:count, 0], "b": rows[:count, 1]}))

                list(pool.map(part, edges[:-1], edges[1:]))
        return self._db.count("SELECT count(*) FROM met")
