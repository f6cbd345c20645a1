"""Groups of texts with a common token on the local engine: found, cut into ranges, and compared.

A range is a run of whole groups whose texts fit in memory together. Groups come in the order of their connected
components, so that most texts are in one range. Long texts of one language share many tokens by chance; then nearly all
of them are one component, and each would be in many ranges. Instead, their sketches are compared first, and they
themselves only if those are similar.
"""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.cuts import Cutter, roots, unite_runs, whole_groups
from esdedup.columns.database import Database
from esdedup.engines.cluster_tables import create_pairs
from esdedup.engines.local.local_texts import LocalTexts
from esdedup.matching.engine import GroupComparison, MatchContext
from esdedup.matching.groups import NO_TOKEN, POSTING, parted, runs
from esdedup.matching.signers.text_signer import SET_BYTES

_ROW_BYTES = 64  # of a text's row beside its characters and tokens
_COPIES = 2
"""If texts are in more ranges than this on average, they are compared by sketches first."""

_SORTS = 2
"""Copies of a block's rows that are held while they are joined and sorted."""

_SORTING_BYTES = 48  # of one posting while it is sorted: as it was read, its token, key twice, member and end
_GROUPING_BYTES = 40  # token, number, order and member of one posting while it is grouped in memory

_Compared: TypeAlias = Iterator[tuple[pa.Table, int]]


def hold_postings(db: Database, budget: int, *, every: bool) -> int:
    """Fill the table `held` with the postings (token, number) of every token that two or more texts have, one of them
    stale, as is `every` text perhaps. Return the number of these tokens.

    The rows of `signatures` are read once, as they come.
    """
    is_first = np.zeros(db.count("SELECT count(*) FROM signatures"), np.bool_)
    for batch in db.batches("SELECT first FROM texts"):
        is_first[batch["first"].to_numpy()] = True
    db.execute("CREATE OR REPLACE TABLE shared (token BIGINT, row BIGINT)")
    found = sum(_share(db, *postings) for postings in _postings(db, is_first, budget))
    db.execute("CREATE OR REPLACE TABLE held AS SELECT s.token, t.number FROM shared s JOIN texts t ON t.first = s.row")
    db.execute("DROP TABLE shared")
    if not every:
        db.execute(
            "CREATE TABLE wanted_groups AS SELECT token FROM held JOIN texts USING (number) GROUP BY token "
            "HAVING bool_or(stale); DELETE FROM held WHERE token NOT IN (FROM wanted_groups)"
        )
        found = db.count("SELECT count(*) FROM wanted_groups")
        db.execute("DROP TABLE wanted_groups")
    return found


def _postings(db: Database, is_first: Flags, budget: int) -> Iterator[tuple[Numbers, npt.NDArray[np.uint32]]]:
    """Yield all tokens, and the row of each, with all postings of a token together. Only the first row of a text
    counts.

    If they do not fit in memory, they are parted on disk first: tokens are hash values, so ranges of them have about as
    many.
    """
    count = db.count("SELECT sum(len(tokens)) FROM signatures")
    parts = 1 << (_SORTING_BYTES * count // budget).bit_length()
    if db.spill is not None:
        db.spill.mkdir(exist_ok=True)
    with TemporaryFile(dir=db.spill) as file:
        ends_of_batches = [np.zeros(parts + 1, np.int64)]  # where, in the file, the parts of each batch begin and end
        for batch in db.batches("SELECT rowid, tokens FROM signatures"):
            lists = batch["tokens"]
            flat, ends = pc.fill_null(lists.values, NO_TOKEN).to_numpy(), lists.offsets.to_numpy()
            rows = batch["rowid"].to_numpy()
            postings, bounds = parted(flat, ends, rows, is_first, np.empty(len(flat), POSTING), parts)
            postings.tofile(file)
            ends_of_batches.append(bounds + ends_of_batches[-1][-1])
        for part in range(parts):
            read = np.concatenate([_read(file, *bounds[part : part + 2]) for bounds in ends_of_batches])
            yield read["token"].copy(), read["row"]


def _read(file: IO[bytes], begin: int, end: int) -> npt.NDArray[Any]:
    file.seek(begin * POSTING.itemsize)
    return np.fromfile(file, POSTING, end - begin)


def _share(db: Database, tokens: Numbers, rows: npt.NDArray[np.uint32]) -> int:
    """Add the postings of tokens that two or more rows have to `shared`. Return the number of these tokens."""
    ends, members = runs(tokens)
    if len(ends):
        db.insert("shared", pa.table({"token": tokens[members], "row": rows[members].astype(np.int64)}))
    return len(ends)


class GroupScan:
    """The groups in `held` are compared in ranges, each once."""

    def __init__(self, engine: LocalTexts, functions: GroupComparison, context: MatchContext) -> None:
        self._engine = engine
        self._db = engine.db
        self._functions = functions
        self._context = context
        self._row = _ROW_BYTES + 8 * engine.sentences.tokens

    def compare(self) -> int:
        """Store the pairs. Return the number of candidates."""
        engine, db = self._engine, self._db
        ranges = engine.stage("order", self._order)
        found = engine.result("candidates") or 0
        table = "met" if engine.result("by sketches") else "pairs"
        whole = engine.result("pairs of ranges") or 0
        if db.count(f"SELECT count(*) FROM {table}") > whole:  # a killed command has not finished its last range
            db.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM {table} WHERE rowid < {whole}")
        for done in range(engine.result("ranges") or 0, ranges):
            for pairs, candidates in self._compare_range(done):  # not in a transaction, which holds them in memory
                db.insert(table, pairs)
                found += candidates
            with db.transaction():
                engine.finish("ranges", done + 1)
                engine.finish("candidates", found)
                engine.finish("pairs of ranges", db.count(f"SELECT count(*) FROM {table}"))
            engine.sentences.progress(done + 1, ranges)
        if engine.result("by sketches"):
            engine.stage("bring", lambda: engine.bring("WHERE number IN (SELECT a FROM met UNION SELECT b FROM met)"))
            engine.compare_pairs(self._functions.verify, self._context)
        return found

    def _compare_range(self, which: int) -> _Compared:
        """Yield the pairs of a range and the number of candidates, in parts."""
        postings = self._db.table("SELECT token, number FROM postings WHERE range = ? ORDER BY token, number", [which])
        compare = self._sifted if self._engine.result("by sketches") else self._compared
        return compare(which, postings)

    def _compared(self, which: int, postings: pa.Table) -> _Compared:
        texts = self._db.table(
            "SELECT number, group_id, stale, text, tokens FROM active WHERE range = ? ORDER BY number", [which]
        )
        return self._functions.compare(self._context, postings, texts)

    def _sifted(self, which: int, postings: pa.Table) -> _Compared:
        of_range = "SEMI JOIN (SELECT number FROM postings WHERE range = ?) USING (number)"
        texts = self._db.table(
            "SELECT t.number, t.group_id, t.stale, k.kind, s.tokens FROM texts t JOIN kinds k USING (number) "
            f"JOIN signatures s ON s.rowid = t.first {of_range} ORDER BY t.number",
            [which],
        )
        sketches = self._db.table(
            f"SELECT view, number, size, sketch FROM sketches {of_range} ORDER BY view, number", [which]
        )
        return self._functions.sift(self._context, postings, texts, sketches)

    def _order(self) -> int:
        """Give each posting a range, and bring what is compared. Return the number of ranges."""
        db, rule = self._db, self._context.rule
        self._connect()
        ranges = self._cut(
            f"SELECT number, {self._row} + {SET_BYTES} * length AS cost FROM texts SEMI JOIN held USING (number)"
        )
        fresh = db.count("SELECT count(*) FROM postings WHERE fresh")
        by_sketches = rule.least > 0 and fresh > _COPIES * db.count("SELECT count(DISTINCT number) FROM held")
        self._engine.finish("by sketches", int(by_sketches))
        if by_sketches:
            self._sketch()
            ranges = self._cut(
                f"SELECT number, ({self._row} + sum(octet_length(sketch)))::BIGINT AS cost "
                "FROM sketches GROUP BY number"
            )
            db.execute("CREATE OR REPLACE TABLE met (a INTEGER, b INTEGER)")
        else:
            self._bring()
        create_pairs(db)
        db.execute("DROP TABLE components")
        return ranges

    def _connect(self) -> None:
        """Make the table `components` (number, component) of the texts that are connected by groups."""
        db = self._db
        parent = np.arange(db.count("SELECT count(*) FROM texts"), dtype=np.int32)
        last = (-1, -1)
        for tokens, numbers in self._engine.batches("SELECT token, number FROM held ORDER BY token"):
            unite_runs(parent, tokens, numbers, *last)
            last = (int(tokens[-1]), int(numbers[-1]))
        number = db.arrays("SELECT DISTINCT number FROM held ORDER BY number")["number"]
        component = roots(parent, number.astype(np.int64)).astype(np.int32)
        db.create("components", pa.table({"number": number, "component": component}))

    def _cut(self, costs: str) -> int:
        """Make the table `postings`: those that are held, with their ranges. Return the number of ranges."""
        db = self._db
        db.execute("CREATE OR REPLACE TABLE postings (range BIGINT, token BIGINT, number INTEGER, fresh BOOLEAN)")
        cutter = Cutter(db.count("SELECT count(*) FROM texts"), self._engine.budget, _GROUPING_BYTES)
        ordered = self._engine.batches(
            f"SELECT h.token, h.number, p.cost FROM held h JOIN components c USING (number) JOIN ({costs}) p "
            "USING (number) ORDER BY c.component, h.token, h.number"
        )
        ranges = 0
        for tokens, numbers, cost in whole_groups(ordered):
            cut = cutter.cut(tokens, numbers, cost)
            ranges = int(cut.ranges[-1]) + 1
            rows = {"range": cut.ranges, "token": tokens, "number": numbers.astype(np.int32), "fresh": cut.firsts}
            db.insert("postings", pa.table(rows))
        return ranges

    def _sketch(self) -> None:
        """Make the tables `kinds` (number, kind) and `sketches` (view, number, size, sketch)."""
        db = self._db
        db.execute("CREATE OR REPLACE TABLE kinds (number INTEGER, kind TINYINT)")
        db.execute("CREATE OR REPLACE TABLE sketches (view TINYINT, number INTEGER, size INTEGER, sketch BLOB)")
        for numbers, texts in self._engine.text_blocks("SEMI JOIN held USING (number)", SET_BYTES):
            kind, sketches = self._functions.sketch(self._context, numbers, texts)
            db.insert("kinds", pa.table({"number": numbers, "kind": kind}))
            db.insert("sketches", sketches)

    def _bring(self) -> None:
        """Make the table `active`: the texts of each range, and what else is compared."""
        db = self._db
        db.execute(
            f"""
            CREATE OR REPLACE TABLE active (
                range BIGINT, number INTEGER, group_id BIGINT, stale BOOLEAN, text VARCHAR, tokens BIGINT[]);
            CREATE OR REPLACE TABLE placed AS
            SELECT p.range, p.number, t.first, t.group_id, t.stale, t.hash, 2 * t.length + {self._row} AS bytes
            FROM postings p JOIN texts t USING (number) WHERE p.fresh ORDER BY p.range, p.number
            """
        )
        for first, end in self._blocks():
            rows = db.table(
                "SELECT p.range, p.number, p.group_id, p.stale, p.hash, s.tokens "
                f"FROM (SELECT * FROM placed WHERE range >= {first} AND range < {end}) p "
                "JOIN signatures s ON s.rowid = p.first ORDER BY p.range, p.number"
            )
            text = (
                self._engine.texts_of(rows["hash"].to_numpy())
                if self._context.reads_texts
                else pa.array([""] * len(rows))
            )
            db.insert("active", rows.drop_columns("hash").add_column(4, "text", text))
            db.execute("CHECKPOINT")  # long texts do not stay in memory until a whole row group is there
        db.execute("DROP TABLE placed")

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Yield runs of ranges (first, end) whose rows in `placed` fit in the budget while they are sorted."""
        sizes = self._db.rows("SELECT range, sum(bytes)::BIGINT FROM placed GROUP BY range ORDER BY range")
        first = held = 0
        for number, size in sizes:
            if held and held + size > self._engine.budget // _SORTS:
                yield first, number
                first, held = number, 0
            held += size
        if held:
            yield first, int(sizes[-1][0]) + 1
