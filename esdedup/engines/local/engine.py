"""The local engine: a private DuckDB database that may spill to disk, kernels on all threads, one process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.components import roots, unite_runs
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.engines.cluster_tables import collapse, create_pairs, create_signatures
from esdedup.engines.local.cuts import Cutter, whole_groups
from esdedup.matching.engine import (
    Collisions,
    CompareGroups,
    ComparePairs,
    Engine,
    MatchContext,
    Meet,
    Post,
    S,
    Sentences,
    Survey,
)
from esdedup.matching.groups import group_tokens, token_matrix

_TEXTS_AT_ONCE = 1_000_000  # hashes per request for texts
_ROW_BYTES = 64  # of a text's row beside its characters and tokens
_SORTS = 4
"""Copies of a block's rows that are held while they are joined and sorted."""

_COPIES = 2
"""If texts are in more ranges than this, they are looked up for each range, and not copied to it."""

_GROUPING_BYTES = 40  # token, order, member and column of one posting while it is grouped in memory

SET_BYTES = 12
"""Memory for each byte of a text, after its shingles are 64-bit numbers."""


class LocalEngine(Engine):
    """One scan in `scratch`. If a killed scan of the same sentences has left work there, it is continued."""

    name = "local"

    def __init__(self, scratch: Database, sentences: Sentences, budget: int, threads: int) -> None:
        super().__init__(scratch, sentences, budget, threads)
        self.db.execute("CREATE TABLE IF NOT EXISTS done (stage VARCHAR PRIMARY KEY, result BIGINT)")

    def local(self) -> LocalEngine:
        """This engine."""
        return self

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
            self.db.execute("BEGIN")
            self.db.insert("pairs", pairs)
            self.finish(stage, done + 1)
            self.db.execute("COMMIT")
            self.sentences.progress(done + 1, steps)

    # -- sentences and texts ------------------------------------------------------------------------------

    def collapse(self) -> int:
        """Load the sentences, a slice at a time, and number the distinct texts."""
        return self.stage("load", self._load)

    def _load(self) -> int:
        create_signatures(self.db)
        done = {number for (number,) in self.db.rows("SELECT result FROM done WHERE stage LIKE 'slice %'")}
        for number, rows in self.sentences.signatures(done):
            self.db.execute("BEGIN")
            self.db.insert("signatures", rows)
            self.finish(f"slice {number}", number)
            self.db.execute("COMMIT")
        return collapse(self.db, self.sentences.stale)

    def bring_all(self) -> None:
        """Make the table `brought` (number, text) of every text, by number."""
        self.stage("bring", self._bring_all)

    def _bring_all(self) -> int:
        self.db.execute("CREATE OR REPLACE TABLE arrived (hash UBIGINT, text VARCHAR)")
        texts = self.db.count("SELECT count(*) FROM texts")
        for first in range(0, texts, _TEXTS_AT_ONCE):
            wanted = self.db.table(
                "SELECT hash FROM texts WHERE number >= ? AND number < ? ORDER BY hash", [first, first + _TEXTS_AT_ONCE]
            )
            for batch in self.sentences.texts(wanted):
                self.db.insert("arrived", pa.Table.from_batches([batch]))
        self.db.execute(
            "CREATE OR REPLACE TABLE brought AS "
            "SELECT t.number, a.text FROM texts t JOIN arrived a USING (hash) ORDER BY t.number"
        )
        self.db.execute("DROP TABLE arrived")
        return self.db.count("SELECT count(*) FROM brought")

    def brought(self, first: int, last: int) -> pa.LargeStringArray:
        """Return the texts numbered from `first` to `last` (exclusive)."""
        held = self.db.table("SELECT text FROM brought WHERE number >= ? AND number < ? ORDER BY number", [first, last])
        return held["text"].cast(pa.large_string()).combine_chunks()

    def batches(self, query: str) -> Iterator[tuple[Numbers, ...]]:
        """Yield an integer result in batches of columns."""
        for batch in self.db.batches(query):
            yield tuple(column.to_numpy().astype(np.int64) for column in batch.columns)

    # -- groups by token ----------------------------------------------------------------------------------

    def collide(self, hot_limit: int) -> Collisions:
        """In memory, as many columns at once as fit; in DuckDB if none does. Both give the same groups."""
        texts = self.collapse()
        tokens = self.stage("hold", lambda: self._hold(texts))
        hot = self.db.rows(
            "SELECT token, count(*) AS texts FROM held GROUP BY token HAVING texts > ? ORDER BY texts DESC, token",
            [hot_limit],
        )
        return Collisions(tokens, [(int(token), int(count)) for token, count in hot])

    def _hold(self, texts: int) -> int:
        """Fill `held` with the postings (token, number) of every token of two or more texts. Return their number."""
        self.db.execute("CREATE OR REPLACE TABLE held (token BIGINT, number INTEGER)")
        columns = self.sentences.tokens
        at_once = self.budget // (_GROUPING_BYTES * max(1, texts))
        if at_once:
            found = 0
            for first in range(0, columns, at_once):
                found += self._hold_columns(first, min(first + at_once, columns))
            return found
        collisions = 0
        for column in range(1, columns + 1):
            # tokens of different columns are never equal, so each column is grouped alone, in a tenth of the memory
            self.db.execute(
                f"CREATE OR REPLACE TEMP VIEW postings_of AS SELECT s.tokens[{column}] AS token, t.number, t.stale "
                f"FROM texts t JOIN signatures s ON s.rowid = t.first WHERE s.tokens[{column}] IS NOT NULL"
            )
            self.db.execute(
                "CREATE OR REPLACE TEMP TABLE shared AS "
                "SELECT token FROM postings_of GROUP BY token HAVING count(*) > 1 AND bool_or(stale)"
            )
            collisions += self.db.count("SELECT count(*) FROM shared")
            self.db.execute("INSERT INTO held SELECT token, number FROM postings_of SEMI JOIN shared USING (token)")
        self.db.execute("DROP TABLE IF EXISTS shared")
        return collisions

    def _hold_columns(self, first: int, last: int) -> int:
        """Add the postings of the tokens in columns from `first` to `last` (exclusive) to `held`, in memory."""
        signed = self.db.table(
            f"SELECT s.tokens[{first + 1}:{last}] AS tokens, t.stale "
            "FROM texts t JOIN signatures s ON s.rowid = t.first ORDER BY t.number"
        )
        tokens = token_matrix(signed["tokens"], last - first)
        groups = group_tokens(tokens)
        if not len(groups):
            return 0
        stale = signed["stale"].to_numpy(zero_copy_only=False).astype(np.bool_)
        wanted = np.logical_or.reduceat(stale[groups.members], groups.starts[:-1])
        chosen = np.repeat(wanted, groups.sizes())
        members = groups.members[chosen]
        held = tokens[members, np.repeat(groups.columns, groups.sizes())[chosen]]
        self.db.insert("held", pa.table({"token": held, "number": members.astype(np.int32)}))
        return int(wanted.sum())

    def compare_groups(self, function: CompareGroups, context: MatchContext) -> int:
        """In ranges of connected groups whose texts fit in memory, so that most texts are read once."""
        ranges = self.stage("order", lambda: self._order(self.collapse(), context))
        found = self.result("candidates") or 0
        for done in range(self.result("ranges") or 0, ranges):
            pairs, candidates = self._compare_range(function, context, done)
            found += candidates
            self.db.execute("BEGIN")
            self.db.insert("pairs", pairs)
            self.finish("ranges", done + 1)
            self.finish("candidates", found)
            self.db.execute("COMMIT")
            self.sentences.progress(done + 1, ranges)
        return found

    def _compare_range(self, function: CompareGroups, context: MatchContext, which: int) -> tuple[pa.Table, int]:
        postings = self.db.table("SELECT token, number FROM postings WHERE range = ? ORDER BY token, number", [which])
        # a text of very many ranges is in `active` once, otherwise once for each of its ranges
        own = "SEMI JOIN (SELECT number FROM postings WHERE range = ?) USING (number)"
        texts = self.db.table(
            "SELECT number, group_id, stale, text, tokens FROM active "
            f"{own if self.result('once') else 'WHERE range = ?'} ORDER BY number",
            [which],
        )
        return function(context, postings, texts)

    def _order(self, texts: int, context: MatchContext) -> int:
        """Give each posting a range, in component order, and load the texts of each range. Return the ranges."""
        parent = np.arange(texts, dtype=np.int32)
        last = (-1, -1)
        for tokens, numbers in self.batches("SELECT token, number FROM held ORDER BY token"):
            unite_runs(parent, tokens, numbers, *last)
            last = (int(tokens[-1]), int(numbers[-1]))
        active = self.db.arrays("SELECT DISTINCT number FROM held ORDER BY number")["number"]
        components = roots(parent, active.astype(np.int64))
        del parent
        self.db.create("components", pa.table({"number": active, "component": components.astype(np.int32)}))
        self.db.execute("CREATE OR REPLACE TABLE postings (range BIGINT, token BIGINT, number INTEGER, fresh BOOLEAN)")
        cutter = Cutter(texts, self.budget)
        ordered = self.batches(
            "SELECT h.token, h.number, 10 * t.length + 400 AS cost FROM held h JOIN components c USING (number) "
            "JOIN texts t USING (number) ORDER BY c.component, h.token, h.number"
        )
        ranges = 0
        for tokens, numbers, costs in whole_groups(ordered):
            cut = cutter.cut(tokens, numbers, costs)
            ranges = int(cut.ranges[-1]) + 1
            rows = {"range": cut.ranges, "token": tokens, "number": numbers.astype(np.int32), "fresh": cut.firsts}
            self.db.insert("postings", pa.table(rows))
        self.db.execute("DROP TABLE components")
        self._bring_held(context)
        create_pairs(self.db)
        return ranges

    def _bring_held(self, context: MatchContext) -> None:
        fresh = self.db.count("SELECT count(*) FROM postings WHERE fresh")
        held = self.db.count("SELECT count(DISTINCT number) FROM postings")
        once = fresh > _COPIES * held
        self.finish("once", int(once))
        row = _ROW_BYTES + 8 * self.sentences.tokens
        block = max(1, self.budget // row)
        placed = f"SELECT DISTINCT number // {block} AS range, number FROM postings"
        self.db.execute(
            f"""
            CREATE OR REPLACE TABLE active (
                range BIGINT, number INTEGER, group_id BIGINT, stale BOOLEAN, text VARCHAR, tokens BIGINT[]);
            CREATE OR REPLACE TABLE placed AS
            SELECT p.range, p.number, t.first, t.group_id, t.stale, t.hash, 2 * t.length + {row} AS bytes
            FROM ({placed if once else "SELECT range, number FROM postings WHERE fresh"}) p JOIN texts t USING (number)
            ORDER BY p.range, p.number
            """
        )
        compares = context.rule.verifier.compares or len(context.signer.kinds) > 1
        for first, end in self._blocks():
            rows = self.db.table(
                "SELECT p.range, p.number, p.group_id, p.stale, p.hash, s.tokens "
                f"FROM (SELECT * FROM placed WHERE range >= {first} AND range < {end}) p "
                "JOIN signatures s ON s.rowid = p.first ORDER BY p.range, p.number"
            )
            text = self._texts_of(rows["hash"].to_numpy()) if compares else pa.array([""] * len(rows))
            self.db.insert("active", rows.drop_columns("hash").add_column(4, "text", text))
            self.db.execute("CHECKPOINT")  # long texts do not stay in memory until a whole row group is there
        self.db.execute("DROP TABLE placed")

    def _texts_of(self, hashes: Hashes) -> pa.LargeStringArray:
        """Return the texts with these hashes, in their order. DuckDB would need much more memory to sort long texts."""
        wanted = np.unique(hashes)
        batches = list(self.sentences.texts(pa.table({"hash": wanted})))
        place = np.argsort(np.concatenate([batch["hash"].to_numpy() for batch in batches]))
        texts = pa.concat_arrays([batch["text"].cast(pa.large_string()) for batch in batches])
        return texts.take(pa.array(place[np.searchsorted(wanted, hashes)]))

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Yield runs of ranges (first, end) whose rows in `placed` fit in the budget while they are sorted."""
        sizes = self.db.rows("SELECT range, sum(bytes)::BIGINT FROM placed GROUP BY range ORDER BY range")
        first = held = 0
        for number, size in sizes:
            if held and held + size > self.budget // _SORTS:
                yield first, number
                first, held = number, 0
            held += size
        if held:
            yield first, int(sizes[-1][0]) + 1

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
        """
        self.db.execute("CREATE OR REPLACE TABLE candidates (a INTEGER, b INTEGER, slice BIGINT)")
        listed = self.batches(
            f"""
            SELECT m.a, m.b, {SET_BYTES} * (one.length::BIGINT + two.length) + 800 AS cost
            FROM (SELECT DISTINCT a, b FROM {candidates}) m
            JOIN texts one ON one.number = m.a JOIN texts two ON two.number = m.b
            WHERE one.group_id < 0 OR one.group_id <> two.group_id ORDER BY m.a, m.b
            """
        )
        spent = slices = 0
        for a, b, cost in listed:
            running = spent + np.cumsum(cost)
            rows = {"a": a.astype(np.int32), "b": b.astype(np.int32), "slice": running // self.budget}
            self.db.insert("candidates", pa.table(rows))
            spent, slices = int(running[-1]), int(running[-1] // self.budget) + 1
        create_pairs(self.db)
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
