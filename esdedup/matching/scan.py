"""What every source of candidates has in common: sentences in, identical ones collapsed, stages that are done once.

A scan works in a private database, `scratch`. It leaves there the tables `texts` (number, hash, copies, length, home,
dirty, first) and `pairs` (a, b, jaccard, word_edit_distance, shared_tokens), a < b by number; clusters come of them.
A scan of the same sentences that was killed is gone on with where it stood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.database import Database
from esdedup.matching.protocol import FetchSignatures, FetchTexts, Scan, ScanContext


def signatures_schema(tokens: int) -> pa.Schema:
    """One row a sentence. `home` is what `--across` looks at: the document or source, or -1 for `any`."""
    return pa.schema(
        [
            ("hash", pa.uint64()),  # content hash of the text
            ("home", pa.int64()),
            ("length", pa.int32()),  # bytes of the text
            ("tokens", pa.list_(pa.int64(), tokens)),
        ]
    )


class StagedScan(Scan):
    """One scan in a private database, in stages that are each done once."""

    def __init__(self, context: ScanContext) -> None:
        self._db = context.scratch
        self._signer = context.signer
        self._scanning = context.scanning
        self._budget = context.budget
        self._threads = context.threads
        self._db.execute("CREATE TABLE IF NOT EXISTS done (stage VARCHAR PRIMARY KEY, result BIGINT)")

    # -- what is done already -----------------------------------------------------------------------------

    def _stage(self, name: str, work: Callable[[], int]) -> int:
        """The result of `work`, done now unless it was done before; it leaves whole tables and starts anew."""
        known = self._result(name)
        if known is None:
            known = work()
            self._finish(name, known)
        return known

    def _result(self, stage: str) -> int | None:
        row = self._db.row("SELECT result FROM done WHERE stage = ?", [stage])
        return int(row[0]) if row else None

    def _finish(self, stage: str, result: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO done VALUES (?, ?)", [stage, result])

    # -- sentences and texts ------------------------------------------------------------------------------

    def _load(self, signatures: FetchSignatures, dirty: pa.Table | None) -> int:
        """Bring the slices that are not there yet, each with its mark; the number of texts."""
        create_signatures(self._db, self._signer.signing.tokens)
        done = {number for (number,) in self._db.rows("SELECT result FROM done WHERE stage LIKE 'slice %'")}
        for number, rows in signatures(done):
            self._db.execute("BEGIN")
            self._db.insert("signatures", rows)
            self._finish(f"slice {number}", number)
            self._db.execute("COMMIT")
        return collapse(self._db, dirty)

    def _bring_all(self, fetch: FetchTexts) -> int:
        """Make the table `brought` (number, text) of every text, by number; how many there are."""
        self._db.execute("CREATE OR REPLACE TABLE arrived (hash UBIGINT, text VARCHAR)")
        texts = self._db.count("SELECT count(*) FROM texts")
        for first in range(0, texts, _TEXTS_AT_ONCE):
            wanted = self._db.table(
                "SELECT hash FROM texts WHERE number >= ? AND number < ? ORDER BY hash", [first, first + _TEXTS_AT_ONCE]
            )
            for batch in fetch(wanted):
                self._db.insert("arrived", pa.Table.from_batches([batch]))
        self._db.execute(
            "CREATE OR REPLACE TABLE brought AS "
            "SELECT t.number, a.text FROM texts t JOIN arrived a USING (hash) ORDER BY t.number"
        )
        self._db.execute("DROP TABLE arrived")
        return self._db.count("SELECT count(*) FROM brought")

    def _brought(self, first: int, last: int) -> pa.LargeStringArray:
        """The texts numbered from `first` up to, not including, `last`."""
        held = self._db.table(
            "SELECT text FROM brought WHERE number >= ? AND number < ? ORDER BY number", [first, last]
        )
        return held["text"].cast(pa.large_string()).combine_chunks()

    def _batches(self, query: str) -> Iterator[tuple[Numbers, ...]]:
        for batch in self._db.batches(query):
            yield tuple(column.to_numpy().astype(np.int64) for column in batch.columns)

    def _create_pairs(self) -> None:
        self._db.execute(
            "CREATE OR REPLACE TABLE pairs (a INTEGER, b INTEGER, jaccard DOUBLE, word_edit_distance INTEGER, "
            "shared_tokens INTEGER, closeness DOUBLE)"  # by whatever made the pair, where that is not Jaccard
        )


_TEXTS_AT_ONCE = 1_000_000  # hashes of one request for texts


def create_signatures(db: Database, tokens: int) -> None:
    """Make the table `signatures`, if there is none."""
    db.execute(
        f"CREATE TABLE IF NOT EXISTS signatures (hash UBIGINT, home BIGINT, length INTEGER, tokens BIGINT[{tokens}])"
    )


def collapse(db: Database, dirty: pa.Table | None = None) -> int:
    """Make the table `texts` from `signatures`; the number of texts.

    Identical sentences are one text (number, hash, copies, length, home, dirty), numbered from 0 in the order of
    their content hashes. Without `dirty` (a column `hash`) all are.
    """
    if dirty is not None:
        db.create("wanted", dirty)
    db.execute(
        f"""
        CREATE OR REPLACE TABLE texts AS
        SELECT (row_number() OVER (ORDER BY hash) - 1)::INTEGER AS number, *,
            {"true" if dirty is None else "hash IN (SELECT hash FROM wanted)"} AS dirty
        FROM (
            SELECT hash, count(*) AS copies, min(length) AS length, min(rowid) AS first,
                CASE WHEN min(home) = max(home) THEN min(home) ELSE -1 END AS home
            FROM signatures GROUP BY hash
        )
        ORDER BY hash
        """
    )
    return db.count("SELECT count(*) FROM texts")
