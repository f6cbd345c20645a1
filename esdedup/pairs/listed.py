"""Candidates that stand in a list: brought with their texts, and compared in slices that fit in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from esdedup.pairs.block import PAIRS
from esdedup.pairs.collider import token_matrix
from esdedup.pairs.edits import word_edit_distances
from esdedup.pairs.exact import similarities
from esdedup.pairs.groups import Flags, Numbers
from esdedup.pairs.scan import Progress, Scan
from esdedup.pairs.threads import measured
from esdedup.pairs.verify import Similarities, shared_tokens, sketches

SET_BYTES = 12
"""Of a text's byte, once its shingles are 64-bit numbers."""


class ListedScan(Scan):
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
        jaccard, closeness, kept = self._judge(texts, a, b)
        a, b, jaccard, closeness = a[kept], b[kept], jaccard[kept], closeness[kept]
        told = self._scanning.verify != "none"
        distances = word_edit_distances(texts, a, b, self._threads) if told else None
        if distances is not None and self._scanning.word_edit_distance is not None:
            near = distances <= self._scanning.word_edit_distance
            a, b, jaccard, closeness, distances = a[near], b[near], jaccard[near], closeness[near], distances[near]
        columns = {
            "a": numbers[a],
            "b": numbers[b],
            "jaccard": jaccard if told else pa.nulls(len(a), pa.float64()),
            "word_edit_distance": pa.nulls(len(a), pa.int32()) if distances is None else distances,
            "shared_tokens": shared_tokens(tokens, a, b),
        }
        return pa.table(columns).cast(PAIRS).append_column("closeness", pa.array(closeness))

    def _judge(self, texts: pa.LargeStringArray, a: Numbers, b: Numbers) -> tuple[Similarities, Similarities, Flags]:
        """Jaccard of the texts at places a[i] and b[i], how close they are, and whether that is enough."""
        jaccard = self._jaccard(texts, a, b, self._scanning.jaccard)
        return jaccard, jaccard, jaccard >= 0

    def _jaccard(self, texts: pa.LargeStringArray, a: Numbers, b: Numbers, least: float) -> Similarities:
        """Exact Jaccard of pairs of texts, -1 where it is below `least`; on all threads."""
        flat, bounds = self._signer.sets(self._signer.shingled(texts))
        sketch = sketches(flat, bounds)
        return measured(self._threads, lambda one, two: similarities(one, two, flat, bounds, sketch, least), a, b)
