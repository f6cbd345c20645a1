"""The texts of a scan on the local engine, in a database of its own, and which of its stages are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.engines.cluster_tables import collapse, create_signatures
from esdedup.matching.engine import Engine, Sentences

_ROW_BYTES = 64  # of a text's row beside its characters
_TEXT_COPIES = 4
"""Copies of a text that are held while it is brought."""


class LocalTexts(Engine):
    """The part of the local engine that holds texts."""

    def __init__(
        self, scratch: Database, sentences: Sentences, budget: int, threads: int, place: str = "local"
    ) -> None:
        super().__init__(scratch, sentences, budget, threads, place)
        self.db.execute("CREATE TABLE IF NOT EXISTS done (stage VARCHAR PRIMARY KEY, result BIGINT)")

    # -- progress -----------------------------------------------------------------------------------------

    def stage(self, name: str, work: Callable[[], int]) -> int:
        """Return the result of `work`, run now unless it was done before. It leaves complete tables and starts from
        scratch.
        """
        known = self.result(name)
        if known is None:
            known = work()
            self.finish(name, known)
        return known

    def result(self, stage: str) -> int | None:
        """Return the result of a stage, if it is done."""
        row = self.db.row("SELECT result FROM done WHERE stage = ?", [stage])
        return int(row[0]) if row else None

    def finish(self, stage: str, result: int) -> None:
        """Record that a stage is done."""
        self.db.execute("INSERT OR REPLACE INTO done VALUES (?, ?)", [stage, result])

    def steps(self, stage: str, steps: int, work: Callable[[int], pa.Table]) -> None:
        """Add the result of each step that is not done yet to `pairs`."""
        for done in range(self.result(stage) or 0, steps):
            pairs = work(done)
            with self.db.transaction():
                self.db.insert("pairs", pairs)
                self.finish(stage, done + 1)
            self.sentences.progress(done + 1, steps)

    # -- sentences and texts ------------------------------------------------------------------------------

    def collapse(self) -> int:
        """Load the sentences, a slice at a time, and number the distinct texts."""
        return self.stage("load", self._load)

    def _load(self) -> int:
        create_signatures(self.db)
        done = {number for (number,) in self.db.rows("SELECT result FROM done WHERE stage LIKE 'slice %'")}
        for number, rows in self.sentences.signatures(done):
            with self.db.transaction():
                self.db.insert("signatures", rows)
                self.finish(f"slice {number}", number)
        return collapse(self.db, self.sentences.stale)

    def bring_all(self) -> None:
        """Make the table `brought` (number, text) of every text, by number."""
        self.stage("bring", self.bring)

    def bring(self, chosen: str = "") -> int:
        """Make the table `brought` (number, text) of the texts that a clause chooses. Return their number."""
        self.db.execute("CREATE OR REPLACE TABLE brought (number INTEGER, text VARCHAR)")
        for numbers, texts in self.text_blocks(chosen, _TEXT_COPIES):
            self.db.insert("brought", pa.table({"number": numbers, "text": texts}))
            self.db.execute("CHECKPOINT")  # long texts do not stay in memory until a whole row group is there
        return self.db.count("SELECT count(*) FROM brought")

    def text_blocks(self, chosen: str, share: int) -> Iterator[tuple[Numbers, pa.LargeStringArray]]:
        """Yield the numbers and the texts that a clause chooses, in blocks: `share` times the text of each fits in the
        budget.
        """
        self.db.execute(
            f"""
            CREATE OR REPLACE TABLE blocks AS SELECT number, hash,
                sum({share} * length + {_ROW_BYTES}) OVER (ORDER BY number)::BIGINT // {self.budget} AS block
            FROM texts {chosen} ORDER BY number
            """
        )
        for (block,) in self.db.rows("SELECT DISTINCT block FROM blocks ORDER BY block"):
            rows = self.db.arrays("SELECT number, hash FROM blocks WHERE block = ? ORDER BY number", [block])
            yield rows["number"], self.texts_of(rows["hash"])
        self.db.execute("DROP TABLE blocks")

    def texts_of(self, hashes: Hashes) -> pa.LargeStringArray:
        """Return the texts with these hashes, in their order. DuckDB would need much more memory to sort long texts."""
        wanted = np.unique(hashes)
        batches = list(self.sentences.texts(pa.table({"hash": wanted})))
        place = np.argsort(np.concatenate([batch["hash"].to_numpy() for batch in batches]))
        texts = pa.concat_arrays([batch["text"].cast(pa.large_string()) for batch in batches])
        return texts.take(pa.array(place[np.searchsorted(wanted, hashes)]))

    def brought(self, first: int, last: int) -> pa.LargeStringArray:
        """Return the texts numbered from `first` to `last` (exclusive)."""
        held = self.db.table("SELECT text FROM brought WHERE number >= ? AND number < ? ORDER BY number", [first, last])
        return held["text"].cast(pa.large_string()).combine_chunks()

    def batches(self, query: str) -> Iterator[tuple[Numbers, ...]]:
        """Yield an integer result in batches of columns."""
        for batch in self.db.batches(query):
            yield tuple(column.to_numpy().astype(np.int64) for column in batch.columns)
