"""Tokens to verified pairs, within a memory budget: the collision scan, the same for every store.

A store hands over one row a sentence (`SIGNATURES`). Identical sentences are collapsed first. Where all
tokens fit in memory they are grouped there; otherwise DuckDB groups them, out of core. Both ways give the
same groups, hence the same pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.components import roots, unite_runs
from esdedup.matching.cuts import Cutter, groups_of
from esdedup.matching.groups import group_tokens
from esdedup.matching.lsh.block import Block, collide_block
from esdedup.matching.lsh.collide import HOT_LIMIT
from esdedup.matching.protocol import Collided, FetchSignatures, FetchTexts, Progress, ScanContext, no_progress
from esdedup.matching.scan import StagedScan
from esdedup.matching.signers.minhash_kernels import COLUMN_BITS, Tokens


class Collider(StagedScan):
    """One collision scan. `scratch` is a private database that may spill to disk."""

    def __init__(self, context: ScanContext, hot_limit: int | None = None) -> None:
        super().__init__(context)
        self.hot_limit = HOT_LIMIT if hot_limit is None else hot_limit

    def collide(
        self,
        signatures: FetchSignatures,
        fetch: FetchTexts,
        progress: Progress = no_progress,
        dirty: pa.Table | None = None,
    ) -> Collided:
        """Find every pair among the sentences of `signatures`; texts are asked of `fetch` when needed.

        Signatures come in numbered slices, but for those that are named as done.

        With `dirty` (a column `hash`), only pairs with one of those texts, and only collisions that they take
        part in; `signatures` must then hold every sentence that shares a token with them. A scratch database
        in which a killed scan of the same sentences has got somewhere is gone on with.
        """
        texts = self._stage("load", lambda: self._load(signatures, dirty))
        collisions = self._stage("hold", lambda: self._hold(texts))
        hot = self._db.arrays(
            "SELECT token, count(*) AS texts FROM held GROUP BY token HAVING texts > ? ORDER BY texts DESC, token",
            [self.hot_limit],
        )
        ranges = self._stage("order", lambda: self._order(texts, fetch))
        first, candidates = self._result("ranges") or 0, self._result("candidates") or 0
        for done in range(first, ranges):
            pairs, met = self._collide_range(done, hot["token"])
            candidates += met
            self._db.execute("BEGIN")
            self._db.insert("pairs", pairs)
            self._finish("ranges", done + 1)
            self._finish("candidates", candidates)
            self._db.execute("COMMIT")
            progress(done + 1, ranges)
        places = [f"token {token} is held by {count:,} texts" for token, count in zip(*hot.values(), strict=True)]
        return Collided(texts, collisions, candidates, len(places), places[:5])

    # -- collisions -------------------------------------------------------------------------------------

    def _hold(self, texts: int) -> int:
        """Fill `held` with the postings (token, number) of every token of two or more texts; their number."""
        self._db.execute("CREATE OR REPLACE TABLE held (token BIGINT, number INTEGER)")
        columns = self._signer.signing.tokens
        if texts * columns * _GROUPING_BYTES <= self._budget:
            signed = self._db.table(
                "SELECT s.tokens, t.dirty FROM texts t JOIN signatures s ON s.rowid = t.first ORDER BY t.number"
            )
            tokens = token_matrix(signed["tokens"], columns)
            groups = group_tokens(tokens)
            if not len(groups):
                return 0
            dirty = signed["dirty"].to_numpy(zero_copy_only=False).astype(np.bool_)
            wanted = np.logical_or.reduceat(dirty[groups.members], groups.starts[:-1])
            chosen = np.repeat(wanted, groups.sizes())
            members = groups.members[chosen]
            held = tokens[members, np.repeat(groups.columns, groups.sizes())[chosen]]
            self._db.insert("held", pa.table({"token": held, "number": members.astype(np.int32)}))
            return int(wanted.sum())
        collisions = 0
        for column in range(1, columns + 1):
            # tokens of different columns never meet, so each column is grouped alone, in a tenth of the memory
            self._db.execute(
                f"CREATE OR REPLACE TEMP VIEW postings_of AS SELECT s.tokens[{column}] AS token, t.number, t.dirty "
                "FROM texts t JOIN signatures s ON s.rowid = t.first"
            )
            self._db.execute(
                "CREATE OR REPLACE TEMP TABLE shared AS "
                "SELECT token FROM postings_of GROUP BY token HAVING count(*) > 1 AND bool_or(dirty)"
            )
            collisions += self._db.count("SELECT count(*) FROM shared")
            self._db.execute("INSERT INTO held SELECT token, number FROM postings_of SEMI JOIN shared USING (token)")
        self._db.execute("DROP TABLE IF EXISTS shared")
        return collisions

    # -- ranges that fit in memory ------------------------------------------------------------------------

    def _order(self, texts: int, fetch: FetchTexts) -> int:
        """Give each posting a range, in component order, and bring the texts of each range; the ranges."""
        parent = np.arange(texts, dtype=np.int32)
        last = (-1, -1)
        for batch in self._batches("SELECT token, number FROM held ORDER BY token"):
            tokens, numbers = batch
            unite_runs(parent, tokens, numbers, *last)
            last = (int(tokens[-1]), int(numbers[-1]))
        active = self._db.arrays("SELECT DISTINCT number FROM held ORDER BY number")["number"]
        components = roots(parent, active.astype(np.int64))
        del parent
        self._db.create("components", pa.table({"number": active, "component": components.astype(np.int32)}))
        self._db.execute("CREATE OR REPLACE TABLE postings (range BIGINT, token BIGINT, number INTEGER, fresh BOOLEAN)")
        cutter = Cutter(texts, self._budget)
        ordered = self._batches(
            "SELECT h.token, h.number, 10 * t.length + 400 AS cost FROM held h JOIN components c USING (number) "
            "JOIN texts t USING (number) ORDER BY c.component, h.token, h.number"
        )
        ranges = 0
        for tokens, numbers, costs in whole_groups(ordered):
            cut = cutter.cut(tokens, numbers, costs)
            ranges = int(cut.ranges[-1]) + 1
            self._db.insert(
                "postings",
                pa.table(
                    {
                        "range": cut.ranges,
                        "token": tokens,
                        "number": numbers.astype(np.int32),
                        "fresh": cut.news,
                    }
                ),
            )
        self._db.execute("DROP TABLE components")
        self._bring_texts(fetch)
        self._create_pairs()
        return ranges

    def _bring_texts(self, fetch: FetchTexts) -> None:
        wanted = self._db.table("SELECT hash FROM texts WHERE number IN (SELECT number FROM held) ORDER BY hash")
        self._db.execute("CREATE OR REPLACE TABLE brought (hash UBIGINT, text VARCHAR)")
        if self._scanning.verifier.compares:
            for batch in fetch(wanted):
                self._db.insert("brought", pa.Table.from_batches([batch]))
        self._db.execute(
            """
            CREATE OR REPLACE TABLE active AS
            SELECT p.range, p.number, t.home, t.dirty, coalesce(b.text, '') AS text, s.tokens
            FROM postings p JOIN texts t USING (number) JOIN signatures s ON s.rowid = t.first
            LEFT JOIN brought b ON b.hash = t.hash
            WHERE p.fresh ORDER BY p.range, p.number
            """
        )
        self._db.execute("DROP TABLE brought")

    # -- one range ----------------------------------------------------------------------------------------

    def _collide_range(self, which: int, hot: Tokens) -> tuple[pa.Table, int]:
        held = self._db.table(
            "SELECT number, home, dirty, text, tokens FROM active WHERE range = ? ORDER BY number", [which]
        )
        numbers = held["number"].to_numpy().astype(np.int64)
        block = Block(
            numbers,
            held["text"].cast(pa.large_string()).combine_chunks(),
            token_matrix(held["tokens"], self._signer.signing.tokens),
            held["home"].to_numpy(),
            held["dirty"].to_numpy(zero_copy_only=False).astype(np.bool_),
        )
        postings = self._db.arrays("SELECT token, number FROM postings WHERE range = ? ORDER BY token, number", [which])
        places = np.searchsorted(numbers, postings["number"])
        groups = groups_of(postings["token"], places, COLUMN_BITS)
        return collide_block(block, groups, hot, self._signer, self._scanning, self._threads)


_GROUPING_BYTES = 40  # token, order, member and column of one posting while it is grouped in memory


def token_matrix(column: pa.ChunkedArray, tokens: int) -> Numbers:
    """A column of token lists as one array of shape (rows, tokens)."""
    parts = [chunk.flatten().to_numpy() for chunk in column.chunks]
    flat = np.concatenate(parts) if parts else np.empty(0, np.int64)
    return flat.reshape(-1, tokens)


def whole_groups(batches: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Batches again, cut so that rows of one token never stand in two."""
    rest: tuple[Any, ...] | None = None
    for batch in batches:
        rows = batch if rest is None else tuple(map(np.concatenate, zip(rest, batch, strict=True)))
        last = int(np.searchsorted(rows[0][::-1] != rows[0][-1], True))
        cut = len(rows[0]) - last
        if cut:
            yield tuple(column[:cut] for column in rows)
        rest = tuple(column[cut:] for column in rows)
    if rest is not None:
        yield rest
