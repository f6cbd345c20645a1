"""Candidates by agreement: all pairs of texts whose signatures share more than a given share of their values.

Ahmed 2022 ("Near Duplicate Detection", section 2.4) finds pairs like this, with 200 values and a share of one half. The
paper compares all signatures in full, in a matrix of all texts by all texts. Here, pairs are counted from an index
(`esdedup.papers.agreement.counting`), tile by tile: the same pairs, in memory that does not grow with the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Numbers, text_column
from esdedup.engines.cluster_tables import create_pairs
from esdedup.engines.local.engine import LocalScan
from esdedup.matching.engine import Engine, Found, MatchContext
from esdedup.matching.signers.minhash_kernels import family, minhash_values
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.verify.verified import verify
from esdedup.papers.agreement.counting import Tile, agreeing, invert, number_values

_SPARE = 8
"""One in this many functions is indexed in addition to those that the pigeonhole principle requires. Unrelated texts
share a few values by chance, but not that many, so they are rarely compared in full.
"""

_TEXT_BYTES = 30  # of one byte of a text while it is split into words: each is a Python string in a list
_VALUE_BYTES = 50  # of one value while it is numbered: itself, its order, its group, and copies of them
_SLICES = 16  # of a tile, for each thread: later slices take longer
_LEAST_TILE = 64


def agreeing_values(signer: TextSigner, values: int, one: str, two: str) -> int:
    """Return the number of values on which the signatures of two texts agree. Each has at least one shingle."""
    shingled = signer.shingled(text_column([one, two]))
    found = minhash_values(*shingled, *family(signer.signing.seed, values), signer.signing.hash_bits)
    return int((found[0] == found[1]).sum())


class AgreementScan(LocalScan):
    """A scan that counts which texts agree on at least `need` of `values` MinHash values."""

    def __init__(self, engine: Engine, context: MatchContext, values: int, need: int) -> None:
        super().__init__(engine, context)
        self._values = values
        self._need = need
        self._indexed = min(self._values, self._values - self._need + 1 + self._values // _SPARE)

    def find(self) -> Found:
        """Find every pair that agrees on more than the share of values and, with `verify exact`, is similar enough."""
        texts = self._engine.collapse()
        self._engine.bring_all()
        self._engine.stage("sign", lambda: self._sign(texts))
        self._engine.stage("number", lambda: self._number(texts))
        self._db.execute("DROP TABLE IF EXISTS signed")
        if not self._rule.verifier.compares:
            self._db.execute("DROP TABLE IF EXISTS brought")  # frees disk space; the texts are not needed
        self._engine.stage("tile", self._create_agreeing)
        tiles = self._tiles(texts)
        steps = [(held, asking) for held in range(len(tiles)) for asking in range(held, len(tiles))]
        for done in range(self._engine.result("steps") or 0, len(steps)):
            held, asking = steps[done]
            self._db.execute("BEGIN")
            self._count(tiles[held], tiles[asking])
            self._engine.finish("steps", done + 1)
            self._db.execute("COMMIT")
            self._engine.sentences.progress(done + 1, len(steps))
        candidates = self._db.count("SELECT count(*) FROM agreeing")
        self._engine.stage("verify", self._verify)
        return Found(texts, None, candidates)

    # -- signatures -----------------------------------------------------------------------------------------

    def _sign(self, texts: int) -> int:
        """Fill `signed` with one row for each text: its number and its values, a column for each function."""
        names = [f"v{function}" for function in range(self._values)]
        columns = ", ".join(f"{name} UBIGINT" for name in names)
        self._db.execute(f"CREATE OR REPLACE TABLE signed (number INTEGER, {columns})")
        functions = family(self._signer.signing.seed, self._values)
        lengths = self._db.arrays("SELECT length FROM texts ORDER BY number")["length"]
        costs = lengths.astype(np.int64) * _TEXT_BYTES + 16 * self._values
        for first, last in _cuts(costs, self._budget):
            # a stored text has at least one shingle
            shingled = self._signer.shingled(self._engine.brought(first, last))
            values = minhash_values(*shingled, *functions, self._signer.signing.hash_bits)
            held = {"number": np.arange(first, last, dtype=np.int32)}
            self._db.insert("signed", pa.table(held | dict(zip(names, values.T.copy(), strict=True))))
        return texts

    def _number(self, texts: int) -> int:
        """Make tables `numbered N` with the values as numbers, a few functions in each, and `functions` that describes
        them.
        """
        self._db.execute(
            "CREATE OR REPLACE TABLE functions (function INTEGER, held_in INTEGER, groups BIGINT, meetings BIGINT)"
        )
        at_once = max(1, self._budget // (_VALUE_BYTES * max(1, texts)))
        for first in range(0, self._values, at_once):
            names = [f"v{function}" for function in range(first, min(first + at_once, self._values))]
            held = self._db.arrays(f"SELECT number, {', '.join(names)} FROM signed")
            order = np.argsort(held.pop("number"))
            with ThreadPoolExecutor(self._threads) as pool:
                numbered = list(pool.map(lambda name, held=held, order=order: number_values(held[name][order]), names))
            columns = {name: column.numbers for name, column in zip(names, numbered, strict=True)}
            self._db.create(f"numbered{first}", pa.table({"number": np.arange(texts, dtype=np.int32)} | columns))
            about = {
                "function": np.arange(first, first + len(names), dtype=np.int32),
                "held_in": np.full(len(names), first, np.int32),
                "groups": [column.groups for column in numbered],
                "meetings": [column.meetings for column in numbered],
            }
            self._db.insert("functions", pa.table(about))
        return texts

    # -- tiles ----------------------------------------------------------------------------------------------

    def _create_agreeing(self) -> int:
        self._db.execute("CREATE OR REPLACE TABLE agreeing (a INTEGER, b INTEGER, shared_tokens INTEGER)")
        return 0

    def _tiles(self, texts: int) -> list[tuple[int, int]]:
        """Return the first and last (exclusive) number of each tile. Two tiles, their index and its creation fit in
        memory.
        """
        size = max(_LEAST_TILE, self._budget // (2 * 3 * 4 * self._values))
        return [(first, min(first + size, texts)) for first in range(0, texts, size)]

    def _tile(self, first: int, last: int) -> Tile:
        numbers = np.empty((last - first, self._values), np.int32)
        for (held_in,) in self._db.rows("SELECT DISTINCT held_in FROM functions ORDER BY held_in"):
            where = f"FROM numbered{held_in} WHERE number >= ? AND number < ?"
            held = self._db.arrays(f"SELECT * {where}", [first, last])
            rows = held.pop("number") - first
            for at, column in enumerate(held.values()):
                numbers[rows, held_in + at] = column
        about = self._db.table(
            "SELECT group_id, stale FROM texts WHERE number >= ? AND number < ? ORDER BY number", [first, last]
        )
        stale = about["stale"].to_numpy(zero_copy_only=False).astype(np.bool_)
        return Tile(first, numbers, about["group_id"].to_numpy(), stale)

    def _count(self, held_at: tuple[int, int], asking_at: tuple[int, int]) -> None:
        """Append the pairs between the texts of two tiles, or within one, to `agreeing`."""
        one_tile = held_at == asking_at
        held = self._tile(*held_at)
        asking = held if one_tile else self._tile(*asking_at)
        if not (held.stale.any() or asking.stale.any()):
            return
        about = self._db.arrays("SELECT function, groups FROM functions ORDER BY meetings, function")
        functions = about["function"][: self._indexed].astype(np.int64)
        others = about["function"][self._indexed :].astype(np.int64)
        groups = about["groups"][: self._indexed].astype(np.int64)
        index = invert(held.numbers, asking.numbers, functions, groups)

        def part(begin: int, end: int) -> Numbers:
            least = self._need - len(others)
            return agreeing(index, asking, held, others, begin, end, one_tile, least, self._need)

        cuts = np.unique(np.linspace(0, len(asking.numbers), self._threads * _SLICES + 1).astype(int))
        with ThreadPoolExecutor(self._threads) as pool:
            for at in range(0, len(cuts) - 1, self._threads):
                # a few at a time: their result is stored before there is more of it
                mine = cuts[at : at + self._threads + 1]
                for found in pool.map(part, mine[:-1], mine[1:]):
                    a, b, agree = found.T
                    columns = {"a": a + held.first, "b": b + asking.first, "shared_tokens": agree}
                    self._db.insert("agreeing", pa.table(columns))

    # -- verification ---------------------------------------------------------------------------------------

    def _verify(self) -> int:
        """Make `pairs` from those that agree: all of them or, with `verify exact`, the similar ones."""
        create_pairs(self._engine.db)
        if not self._rule.verifier.compares:
            self._db.execute("INSERT INTO pairs BY NAME SELECT a, b, shared_tokens FROM agreeing ORDER BY a, b")
            return 0
        lengths = self._db.arrays("SELECT length FROM texts ORDER BY number")["length"].astype(np.int64)
        for a, b, shared in self._engine.batches("SELECT a, b, shared_tokens FROM agreeing ORDER BY a, b"):
            for first, last in _cuts((lengths[a] + lengths[b]) * _TEXT_BYTES, self._budget):
                part = slice(first, last)
                self._db.insert("pairs", self._verified(a[part], b[part], shared[part]))
        return 0

    def _verified(self, a: Numbers, b: Numbers, shared: Numbers) -> pa.Table:
        used, places = np.unique(np.concatenate([a, b]), return_inverse=True)
        self._db.create("used", pa.table({"number": used}), temporary=True)
        held = self._db.table("SELECT text FROM brought SEMI JOIN used USING (number) ORDER BY number")
        texts = held["text"].cast(pa.large_string()).combine_chunks()
        one, two = places[: len(a)], places[len(a) :]
        found = verify(self._signer, self._rule, self._threads, texts, one, two)
        columns: dict[str, npt.NDArray[Any]] = {
            "a": a[found.kept],
            "b": b[found.kept],
            "jaccard": found.jaccard,
            "word_edit_distance": found.distances,
            "shared_tokens": shared[found.kept],
        }
        return pa.table(columns)


def _cuts(costs: Numbers, budget: int) -> Iterator[tuple[int, int]]:
    """Yield first and last (exclusive) index of runs that cost at most `budget`, or have one item."""
    ends = np.cumsum(costs)
    first = 0
    while first < len(costs):
        spent = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, spent + budget, "right")))
        yield first, last
        first = last
