"""Candidates by random projection: texts whose signatures differ in few bits, found in sorted orders of their bits.

Meng and Zheng, "Similar Sentence Detection Using MinHash and Random Projection on Wikipedia", sections 3.2 and 4.3.2.
The scan has four steps. It counts the words of all texts. It turns texts into vectors and signatures, a slice at a
time. It sorts the signatures for each permutation of the bits, in memory or out of core. It verifies the candidates, a
range at a time. Each finished slice, permutation and range is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.cuts import Cutter, roots, unite
from esdedup.columns.database import Database
from esdedup.engines.cluster_tables import create_pairs
from esdedup.engines.local.engine import LocalScan
from esdedup.matching.engine import PAIRS, Engine, Found, MatchContext
from esdedup.matching.groups import token_matrix
from esdedup.matching.lsh.collide import Similarities, shared_tokens
from esdedup.matching.verify.edits import measured
from esdedup.matching.verify.verified import verify
from esdedup.papers.projection.hyperplanes import (
    Signatures,
    cosines,
    hyperplanes,
    near_in_order,
    permutation,
    permute,
    sign,
)
from esdedup.papers.projection.projection_options import ProjectionOptions
from esdedup.papers.projection.sentence_vectors import SentenceVectors

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


class ProjectionScan(LocalScan):
    """One scan by random projection. Raises `VectorsError` if the file of word vectors is unusable."""

    def __init__(self, engine: Engine, context: MatchContext, options: ProjectionOptions) -> None:
        super().__init__(engine, context)
        self._options = options
        self._vectors = SentenceVectors(self._db, self._signer.signing, options, self._budget // 4, self._threads)
        self._planes = hyperplanes(self._signer.signing.seed, self._vectors.length, options.signature_bits)
        self._steps = [0, 0]

    def find(self) -> Found:
        """Find the candidates among the sentences of `signatures`, and verify them.

        With `stale` (a column `hash`), only pairs with one of those texts are found. They may change with every other
        text, so `signatures` must contain all sentences. A text in which no word has a vector is skipped (`no_words`).
        """
        texts = self._engine.collapse()
        self._engine.bring_all()
        self._forget_other_vectors()
        self._read_words()
        self._engine.stage("vocabulary", lambda: self._vectors.choose_vocabulary(texts))
        self._sign_texts()
        self._sort_permutations()
        candidates = self._engine.stage("candidates", self._gather)
        ranges = self._engine.stage("order", lambda: self._order(texts))
        self._plan(ranges)
        for done in self._left("ranges", ranges):
            pairs = self._verify_range(done)
            self._db.execute("BEGIN")
            self._db.insert("pairs", pairs)
            self._commit_step("ranges", done)
        wordless = texts - self._db.count("SELECT count(*) FROM signed")
        return Found(texts, None, candidates, skipped={"no_words": wordless} if wordless else {})

    # -- what is done already -----------------------------------------------------------------------------

    def _forget_other_vectors(self) -> None:
        """Start again after the words if the file of vectors has changed since the scan was killed."""
        if self._engine.result("vectors") not in (None, self._vectors.state):
            for stage in ("vocabulary", "signed", "permutations", "candidates", "order", "ranges"):
                self._db.execute("DELETE FROM done WHERE stage = ?", [stage])
            self._db.execute("DROP TABLE IF EXISTS signed; DROP TABLE IF EXISTS met")
        self._engine.finish("vectors", self._vectors.state)

    def _plan(self, steps: int) -> None:
        self._steps[1] += steps

    def _left(self, stage: str, steps: int) -> range:
        """Return the steps of a stage that are not done."""
        first = self._engine.result(stage) or 0
        self._steps[0] += first
        return range(first, steps)

    def _commit_step(self, stage: str, done: int) -> None:
        """Record step `done` of a stage, and commit the transaction with its rows."""
        self._engine.finish(stage, done + 1)
        self._db.execute("COMMIT")
        self._steps[0] += 1
        done, steps = self._steps
        self._engine.sentences.progress(done, steps)

    def _cuts(self, costs: str) -> list[int]:
        """Return numbers that cut the texts into slices of half the budget, or one text. The query `costs` returns
        their bytes.
        """
        cuts, total, texts = [0], 0, 0
        most = max(1, self._budget // 2)
        for (cost,) in self._engine.batches(costs):
            running = total + np.cumsum(cost)
            slices = np.concatenate(([total // most], running // most))
            cuts += (np.flatnonzero(np.diff(slices)) + texts).tolist()
            total, texts = int(running[-1]), texts + len(cost)
        return sorted({*cuts, texts})

    # -- words, vectors, signatures -----------------------------------------------------------------------

    def _read_words(self) -> None:
        cuts = self._cuts(f"SELECT {_READING_BYTES} * length + 200 AS cost FROM texts ORDER BY number")
        self._plan(len(cuts) - 1)
        for done in self._left("worded", len(cuts) - 1):
            texts = self._engine.brought(cuts[done], cuts[done + 1])
            self._db.execute("BEGIN")
            self._vectors.read(cuts[done], texts)
            self._commit_step("worded", done)

    def _sign_texts(self) -> None:
        self._db.execute("CREATE TABLE IF NOT EXISTS signed (number INTEGER, high UBIGINT, low UBIGINT)")
        each = 8 * (self._vectors.length + 2 * self._options.signature_bits) + 200
        cuts = self._cuts(f"SELECT {each} + {_WORD_BYTES} * len(words) AS cost FROM worded ORDER BY number")
        self._plan(len(cuts) - 1)
        for done in self._left("signed", len(cuts) - 1):
            first, last = cuts[done], cuts[done + 1]
            held = self._db.table(
                "SELECT words FROM worded WHERE number >= ? AND number < ? ORDER BY number", [first, last]
            )
            signatures, directed = sign(self._sums(held["words"]), self._planes)
            self._db.execute("BEGIN")
            self._db.insert("signed", signature_table(signatures[directed], first + np.flatnonzero(directed)))
            self._commit_step("signed", done)

    def _sums(self, words: pa.ChunkedArray) -> Similarities:
        column = words.combine_chunks()
        lengths = column.value_lengths().to_numpy(zero_copy_only=False)
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        return self._vectors.sums(column.flatten().to_numpy(), offsets)

    # -- candidates ---------------------------------------------------------------------------------------

    def _sort_permutations(self) -> None:
        self._db.execute("CREATE TABLE IF NOT EXISTS met (a INTEGER, b INTEGER)")
        self._plan(self._options.permutations)
        left = self._left("permutations", self._options.permutations)
        if not left:
            return
        windows = Windows(self._db, self._options, self._signer.signing.seed, self._budget)
        for which in left:
            windows.prepare(which)
            self._db.execute("BEGIN")
            for pairs in windows.pairs(which):
                self._db.insert("met", pairs)
            self._commit_step("permutations", which)

    def _gather(self) -> int:
        """Make `candidates` from the pairs of all permutations. Return their number."""
        self._db.execute(
            """
            CREATE OR REPLACE TABLE candidates AS
            SELECT m.a, m.b FROM (SELECT DISTINCT a, b FROM met) m
            JOIN texts one ON one.number = m.a JOIN texts two ON two.number = m.b
            WHERE (one.stale OR two.stale) AND NOT (one.group_id >= 0 AND one.group_id = two.group_id)
            """
        )
        return self._db.count("SELECT count(*) FROM candidates")

    # -- ranges that fit in memory ------------------------------------------------------------------------

    def _order(self, texts: int) -> int:
        """Assign each candidate to a range, with connected ones next to each other, and load what
        verification needs.
        """
        parent = np.arange(texts, dtype=np.int32)
        for a, b in self._engine.batches("SELECT a, b FROM candidates"):
            unite(parent, a, b)
        active = self._db.arrays("SELECT DISTINCT a AS number FROM candidates ORDER BY number")["number"]
        components = roots(parent, active.astype(np.int64))
        del parent
        self._db.create("components", pa.table({"number": active, "component": components.astype(np.int32)}))
        self._db.execute("CREATE OR REPLACE TABLE compared (range BIGINT, a INTEGER, b INTEGER)")
        self._db.execute("CREATE OR REPLACE TABLE members (range BIGINT, number INTEGER)")
        asks = self._rule.verifier.asks_closeness
        fixed = 400 + (8 * self._vectors.length if asks else 0)
        cutter = Cutter(texts, self._budget, 0)
        ranges = met = 0
        for a, b, length_a, length_b in self._engine.batches(
            "SELECT c.a, c.b, one.length, two.length FROM candidates c "
            "JOIN components k ON k.number = c.a JOIN texts one ON one.number = c.a JOIN texts two ON two.number = c.b "
            "ORDER BY k.component, c.a, c.b"
        ):
            ends = np.stack([a, b], axis=1).reshape(-1)
            pair = np.repeat(np.arange(met, met + len(a)), 2)
            cut = cutter.cut(pair, ends, 10 * np.stack([length_a, length_b], axis=1).reshape(-1) + fixed)
            met += len(a)
            ranges = int(cut.ranges[-1]) + 1
            self._db.insert("compared", pa.table({"range": cut.ranges[::2], "a": a, "b": b}))
            self._db.insert("members", pa.table({"range": cut.ranges[cut.firsts], "number": ends[cut.firsts]}))
        self._db.execute(
            f"""
            CREATE OR REPLACE TABLE active AS
            SELECT m.range, m.number, s.tokens, {"b.text" if self._rule.verifier.compares else "''"} AS text,
                {"w.words" if asks else "[]::UBIGINT[]"} AS words
            FROM members m JOIN texts t USING (number) JOIN signatures s ON s.rowid = t.first
            JOIN brought b USING (number) JOIN worded w USING (number)
            ORDER BY m.range, m.number;
            DROP TABLE components; DROP TABLE members
            """
        )
        create_pairs(self._engine.db)
        return ranges

    # -- one range ----------------------------------------------------------------------------------------

    def _verify_range(self, which: int) -> pa.Table:
        """Return the pairs of one range, of schema `PAIRS`."""
        held = self._db.table("SELECT number, text, tokens, words FROM active WHERE range = ? ORDER BY number", [which])
        pairs = self._db.arrays("SELECT a, b FROM compared WHERE range = ? ORDER BY a, b", [which])
        numbers = held["number"].to_numpy().astype(np.int64)
        a, b = np.searchsorted(numbers, pairs["a"]), np.searchsorted(numbers, pairs["b"])
        tokens = token_matrix(held["tokens"], self._signer.signing.tokens)

        def closeness(a: Numbers, b: Numbers) -> Similarities:
            sums = self._sums(held["words"])
            return measured(self._threads, lambda one, two: cosines(sums, one, two), a, b)

        near, _ = self._rule.verifier.near(closeness, a, b)
        a, b = a[near], b[near]
        if not self._rule.verifier.compares:
            jaccard, distances = pa.nulls(len(a), pa.float64()), pa.nulls(len(a), pa.int32())
            kind = np.zeros(len(numbers), np.int8)
        else:
            texts = held["text"].cast(pa.large_string()).combine_chunks()
            kept, jaccard, distances, kind = verify(self._signer, self._rule, self._threads, texts, a, b)
            a, b = a[kept], b[kept]
        columns = {
            "a": numbers[a],
            "b": numbers[b],
            "jaccard": jaccard,
            "word_edit_distance": distances,
            "shared_tokens": shared_tokens(tokens, kind, self._signer.signing.signer.tokens, a, b),
        }
        return pa.table(columns).cast(PAIRS)


_READING_BYTES = 30  # for one byte of text while it is split into words
_WORD_BYTES = 60  # for one word while vectors are added
