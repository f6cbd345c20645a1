"""The local engine: a private DuckDB database that may spill to disk, kernels on all threads, one process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.cuts import Cutter, roots, unite, whole_groups
from esdedup.columns.database import Database
from esdedup.engines.cluster_tables import create_pairs
from esdedup.engines.local.group_scan import GroupScan, hold_postings
from esdedup.engines.local.local_texts import LocalTexts
from esdedup.matching.engine import (
    Collisions,
    ComparePairs,
    Engine,
    GroupComparison,
    MatchContext,
    Meet,
    Post,
    S,
    Survey,
)
from esdedup.matching.signers.text_signer import SET_BYTES

_PAIR_BYTES = 128  # of a listed pair while it is verified, beside its texts


class LocalEngine(LocalTexts):
    """One scan in `scratch`. If a killed scan of the same sentences has left work there, it is continued."""

    name = "local"
    is_local = True

    def local(self) -> LocalEngine:
        """This engine."""
        return self

    # -- groups by token ----------------------------------------------------------------------------------

    def collide(self, hot_limit: int) -> Collisions:
        """Tokens that do not fit in memory together are parted on disk."""
        self.collapse()
        every = self.sentences.stale is None
        tokens = self.stage("hold", lambda: hold_postings(self.db, self.budget, every=every))
        hot = self.db.rows(
            "SELECT token, count(*) AS texts FROM held GROUP BY token HAVING texts > ? ORDER BY texts DESC, token",
            [hot_limit],
        )
        return Collisions(tokens, [(int(token), int(count)) for token, count in hot])

    def compare_groups(self, functions: GroupComparison, context: MatchContext) -> int:
        """In ranges of connected groups that fit in memory."""
        self.collapse()
        return GroupScan(self, functions, context).compare()

    # -- all texts, and postings made of them ---------------------------------------------------------------

    def survey(
        self, function: Survey[S], context: MatchContext, begin: Callable[[], S], unite: Callable[[S, S], S]
    ) -> S:
        """One state, to which all batches are added."""
        self.bring_all()
        state = begin()
        for first, last in self._text_ranges():
            function(context, state, first, self.brought(first, last))
        return state

    def _text_ranges(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of text numbers, cut so that the shingle sets of a range fit in a quarter of the budget."""
        texts = self.collapse()
        total = self.db.count("SELECT sum(length) FROM texts")
        at_once = max(1, min(100_000, self.budget // 4 * texts // max(1, SET_BYTES * total)))
        for first in range(0, texts, at_once):
            yield first, min(first + at_once, texts)

    def meet(self, post: Post[S], meet: Meet[S], context: MatchContext, state: Callable[[], S]) -> None:
        """Postings are sorted by DuckDB, out of core."""
        if self.result("meet") is None:
            known = state()
            self.stage("post", lambda: self._post(post, context, known))
            self.stage("meet", lambda: self._meet(meet, context, known))
        self.db.execute("DROP TABLE IF EXISTS postings")

    def _post(self, post: Post[S], context: MatchContext, state: S) -> int:
        self.db.execute("CREATE OR REPLACE TABLE postings (token UBIGINT, number INTEGER, size INTEGER, place INTEGER)")
        for first, last in self._text_ranges():
            for rows in post(context, state, first, self.brought(first, last)):
                self.db.insert("postings", rows)
        return self.db.count("SELECT count(*) FROM postings")

    def _meet(self, meet: Meet[S], context: MatchContext, state: S) -> int:
        self.db.execute("CREATE OR REPLACE TABLE met (a INTEGER, b INTEGER)")
        batches = self.db.batches("SELECT token, number, size, place FROM postings ORDER BY token, size, number")
        columns: Iterator[tuple[Any, ...]] = (tuple(column.to_numpy() for column in batch.columns) for batch in batches)
        for group in whole_groups(columns):
            rows = pa.table(dict(zip(("token", "number", "size", "place"), group, strict=True)))
            for found in meet(context, state, rows):
                self.db.insert("met", found)
        return self.db.count("SELECT count(*) FROM met")

    # -- lists of candidates ------------------------------------------------------------------------------

    def compare_pairs(self, function: ComparePairs, context: MatchContext, candidates: str = "met") -> None:
        """In slices of the table `candidates` (a, b) that fit in memory."""
        slices = self.stage("list", lambda: self._list(candidates))
        self.steps("slices", slices, lambda which: self._compare(function, context, which))

    def _list(self, candidates: str) -> int:
        """Make the table `candidates` of the pairs in another table, each once and a < b, in slices. Return their
        number.

        Pairs of a component come together. If one is larger than memory, its texts are cut into tiles, and two tiles
        are compared at once, so that each text is read once for each tile it meets, not once for each pair.
        """
        db = self.db
        db.execute(
            f"""
            CREATE OR REPLACE TABLE listed AS SELECT m.a, m.b FROM (SELECT DISTINCT a, b FROM {candidates}) m
            JOIN texts one ON one.number = m.a JOIN texts two ON two.number = m.b
            WHERE one.group_id < 0 OR one.group_id <> two.group_id;
            CREATE OR REPLACE TABLE tiled (tile BIGINT, a INTEGER, b INTEGER);
            CREATE OR REPLACE TABLE candidates (slice BIGINT, a INTEGER, b INTEGER)
            """
        )
        cost = SET_BYTES * db.arrays("SELECT length FROM texts ORDER BY number")["length"].astype(np.int64)
        parent = np.arange(len(cost), dtype=np.int32)
        for a, b in self.batches("SELECT a, b FROM listed"):
            unite(parent, a, b)
        place = np.empty(len(cost), np.int64)
        place[np.argsort(roots(parent, np.arange(len(cost))), kind="stable")] = np.arange(len(cost))
        at_once = max(1, self.budget // 2 * len(cost) // max(1, int(cost.sum())))
        tile, tiles = place // at_once, len(cost) // at_once + 1
        for a, b in self.batches("SELECT a, b FROM listed"):
            rows = {"tile": tile[a] * tiles + tile[b], "a": a.astype(np.int32), "b": b.astype(np.int32)}
            db.insert("tiled", pa.table(rows))
        cutter, slices = Cutter(len(cost), self.budget, _PAIR_BYTES // 2), 0
        for a, b in self.batches("SELECT a, b FROM tiled ORDER BY tile, a, b"):
            members = np.column_stack((a, b)).ravel()
            ranges = cutter.cut(np.repeat(np.arange(len(a)), 2), members, cost[members]).ranges[::2]
            db.insert("candidates", pa.table({"slice": ranges, "a": a.astype(np.int32), "b": b.astype(np.int32)}))
            slices = int(ranges[-1]) + 1
        db.execute("DROP TABLE listed; DROP TABLE tiled")
        create_pairs(db)
        return slices

    def _compare(self, function: ComparePairs, context: MatchContext, which: int) -> pa.Table:
        asked = self.db.table("SELECT a, b FROM candidates WHERE slice = ? ORDER BY a, b", [which])
        held = self.db.table(
            "SELECT b.number, b.text, s.tokens FROM brought b JOIN texts t USING (number) "
            "JOIN signatures s ON s.rowid = t.first WHERE b.number IN "
            "(SELECT a FROM candidates WHERE slice = $1 UNION ALL SELECT b FROM candidates WHERE slice = $1) "
            "ORDER BY b.number",
            [which],
        )
        return function(context, asked, held)


class LocalScan:
    """What such scans have in common. Raise `UsageError` for another engine."""

    def __init__(self, engine: Engine, context: MatchContext) -> None:
        self._engine: LocalEngine = engine.local()
        self._db: Database = self._engine.db
        self._context = context
        self._signer = context.signer
        self._rule = context.rule
        self._budget = self._engine.budget
        self._threads = self._engine.threads
