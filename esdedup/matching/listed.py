"""Candidates that stand in a list: brought with their texts, and compared in slices that fit in memory."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.matching.lsh.block import PAIRS
from esdedup.matching.lsh.collide import Similarities, shared_tokens
from esdedup.matching.lsh.collider import token_matrix
from esdedup.matching.protocol import Progress
from esdedup.matching.scan import StagedScan
from esdedup.matching.verify.verified import verify

SET_BYTES = 12
"""Of a text's byte, once its shingles are 64-bit numbers."""


class ListedScan(StagedScan):
    """A scan that makes a list of its candidates before it compares any."""

    def _list(self, candidates: str) -> int:
        """Make the table `candidates` of a query's pairs (a, b), each once and a < b, in slices; how many of those."""
        self._db.execute("CREATE OR REPLACE TABLE candidates (a INTEGER, b INTEGER, slice BIGINT)")
        listed = self._batches(
            f"""
            SELECT m.a, m.b, {SET_BYTES} * (one.length::BIGINT + two.length) + 800 AS cost
            FROM (SELECT DISTINCT a, b FROM ({candidates})) m
            JOIN texts one ON one.number = m.a JOIN texts two ON two.number = m.b
            WHERE one.home < 0 OR one.home <> two.home ORDER BY m.a, m.b
            """
        )
        spent = slices = 0
        for a, b, cost in listed:
            running = spent + np.cumsum(cost)
            rows = {"a": a.astype(np.int32), "b": b.astype(np.int32), "slice": running // self._budget}
            self._db.insert("candidates", pa.table(rows))
            spent, slices = int(running[-1]), int(running[-1] // self._budget) + 1
        self._create_pairs()
        return slices

    def _compare_all(self, slices: int, progress: Progress) -> None:
        """Fill `pairs` from the slices that are not done yet."""
        for done in range(self._result("slices") or 0, slices):
            pairs = self._compare(done)
            self._db.execute("BEGIN")
            self._db.insert("pairs", pairs)
            self._finish("slices", done + 1)
            self._db.execute("COMMIT")
            progress(done + 1, slices)

    def _compare(self, which: int) -> pa.Table:
        """Pairs of schema `PAIRS` among one slice of the candidates."""
        asked = self._db.arrays("SELECT a, b FROM candidates WHERE slice = ? ORDER BY a, b", [which])
        numbers = np.union1d(asked["a"], asked["b"])
        held = self._db.table(
            "SELECT b.number, b.text, s.tokens FROM brought b JOIN texts t USING (number) "
            "JOIN signatures s ON s.rowid = t.first WHERE b.number IN "
            "(SELECT a FROM candidates WHERE slice = $1 UNION ALL SELECT b FROM candidates WHERE slice = $1) "
            "ORDER BY b.number",
            [which],
        )
        texts = held["text"].cast(pa.large_string()).combine_chunks()
        tokens = token_matrix(held["tokens"], self._signer.signing.tokens)
        a, b = np.searchsorted(numbers, asked["a"]), np.searchsorted(numbers, asked["b"])
        near, closeness = self._scanning.verifier.near(partial(self._closeness, texts), a, b)
        found = verify(self._signer, self._scanning, self._threads, texts, a[near], b[near])
        a, b = a[near][found.kept], b[near][found.kept]
        told = self._scanning.verifier.compares
        columns = {
            "a": numbers[a],
            "b": numbers[b],
            "jaccard": found.jaccard if told else pa.nulls(len(a), pa.float64()),
            "word_edit_distance": found.distances if told else pa.nulls(len(a), pa.int32()),
            "shared_tokens": shared_tokens(tokens, a, b),
        }
        closeness = found.jaccard if closeness is None else closeness[found.kept]
        return pa.table(columns).cast(PAIRS).append_column("closeness", pa.array(closeness))

    def _closeness(self, texts: pa.LargeStringArray, a: Numbers, b: Numbers) -> Similarities:
        """How close the texts at places a[i] and b[i] are by the matcher's own measure, for verifiers that ask."""
        raise NotImplementedError("this matcher has no measure of its own")
