"""Candidates by queries, as with a search engine: for each record, the others that contain most of its terms.

Pal 2014 ("Near Duplicate Detection using MinHashing and Solr") finds near-duplicates among short records like this.
Terms are word n-grams, or the values of a MinHash signature. A query finds only records with the same first word, and
the best matches within a few words of edit distance are kept. The store ranks (`Store.rank`): a server with queries, a
file with joins.

Beyond the article, matches may be verified by Jaccard, or by the cosine of their shingles with higher weights for rare
ones. They may be kept only if each is the other's best match.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Hashes, Offsets, mix
from esdedup.columns.kernels import compiled
from esdedup.engines.local.engine import LocalScan
from esdedup.matching.engine import Engine, Found, MatchContext
from esdedup.matching.lsh.collide import Similarities
from esdedup.matching.signers.minhash_kernels import family, minhash_values
from esdedup.matching.signers.text_signer import SET_BYTES
from esdedup.matching.verify.edits import measured
from esdedup.matching.verify.verified import compare_listed
from esdedup.papers.queries.query_options import QueryOptions
from esdedup.text.normalize import normalize
from esdedup.text.shingles import shingle_sets
from esdedup.text.words import find_words

_TERM_BITS = np.uint64(11)  # bits that are cut off: a term is an integer below 2^53


class QueriesScan(LocalScan):
    """One scan by queries, which `rank` answers."""

    def __init__(self, engine: Engine, context: MatchContext, options: QueryOptions) -> None:
        super().__init__(engine, context)
        assert self._engine.sentences.rank is not None, "a store ranks"
        self._rank = self._engine.sentences.rank
        self._options = options

    def find(self) -> Found:
        """Query for each text, and verify the results. A text without words has none."""
        texts = self._engine.collapse()
        self._engine.bring_all()
        records = self._engine.stage("records", lambda: self._describe(texts))
        self._engine.stage("ranked", self._ask)
        self._engine.compare_pairs(partial(compare_listed, closeness=self._closeness), self._context, "ranked")
        if self._options.reciprocal:
            self._engine.stage("reciprocal", self._keep_best)
        skipped = {"no_words": texts - records} if texts > records else {}
        return Found(texts, None, self._db.count("SELECT count(*) FROM candidates"), skipped=skipped)

    # -- records ------------------------------------------------------------------------------------------

    def _describe(self, texts: int) -> int:
        """Make `records`, and `shingles` with the number of texts that contain each one. Return the number
        of records.
        """
        self._db.execute(
            "CREATE OR REPLACE TABLE records (number INTEGER, hash UBIGINT, words INTEGER, first_word VARCHAR, "
            "group_id BIGINT, terms BIGINT[]); CREATE OR REPLACE TABLE shingles (shingle UBIGINT, texts BIGINT)"
        )
        total = self._db.count("SELECT sum(length) FROM texts")
        at_once = max(1, min(50_000, self._budget * texts // max(1, 4 * SET_BYTES * total)))
        signing = self._signer.signing
        for first in range(0, texts, at_once):
            column = self._engine.brought(first, first + at_once)
            words, offsets = find_words(normalize(column, signing.form, signing.word_lang, signing.scheme))
            there = np.flatnonzero(np.diff(offsets))
            shingled = self._signer.shingled(column.take(pa.array(there)))
            flat, bounds = shingle_sets(*shingled)
            self._db.insert("shingles", pa.table({"shingle": flat, "texts": np.ones(len(flat), np.int64)}))
            if self._options.query_by == "signature":
                values = self._options.signature
                flat = value_terms(minhash_values(*shingled, *family(signing.seed, values), signing.hash_bits))
                bounds = np.arange(len(there) + 1) * values
            terms = (flat >> _TERM_BITS).astype(np.int64)
            firsts = [words[offsets[at]] if self._options.same_first_word else "" for at in there]
            about = self._db.arrays(
                "SELECT hash, group_id FROM texts WHERE number >= ? AND number < ? ORDER BY number",
                [first, first + at_once],
            )
            rows = pa.table(
                {
                    "number": (first + there).astype(np.int32),
                    "hash": about["hash"][there],
                    "words": np.diff(offsets)[there].astype(np.int32),
                    "first_word": pa.array(firsts, pa.string()),
                    "group_id": about["group_id"][there],
                    "terms": pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), pa.array(terms)),
                }
            )
            self._db.insert("records", rows)
        self._db.execute(
            "CREATE OR REPLACE TABLE shingles AS SELECT shingle, sum(texts)::BIGINT AS texts FROM shingles "
            "GROUP BY shingle ORDER BY shingle"
        )
        return self._db.count("SELECT count(*) FROM records")

    def _ask(self) -> int:
        self._rank(self._db, self._options.top)
        return self._db.count("SELECT count(*) FROM ranked")

    # -- matches ------------------------------------------------------------------------------------------

    def _closeness(self, texts: pa.LargeStringArray, a: Numbers, b: Numbers) -> Similarities:
        flat, bounds = shingle_sets(*self._signer.shingled(texts))
        weights = self._weights(flat)
        return measured(self._threads, lambda one, two: weighted_cosines(one, two, flat, bounds, weights), a, b)

    def _weights(self, flat: Hashes) -> Similarities:
        """Return the weight of each shingle: the logarithm of the number of texts divided by the texts that
        contain it.
        """
        known = self._db.arrays("SELECT shingle, texts FROM shingles ORDER BY shingle")
        texts = self._db.count("SELECT count(*) FROM texts")
        held = known["texts"][np.searchsorted(known["shingle"], flat)]
        return np.log(texts / held)

    def _keep_best(self) -> int:
        """Delete pairs if one of the two has a closer match. Among equally close ones, the smallest number wins."""
        self._db.execute(
            """
            CREATE OR REPLACE TABLE pairs AS
            WITH ends AS (
                SELECT a AS one, b AS other, closeness FROM pairs UNION ALL SELECT b, a, closeness FROM pairs
            ), best AS (
                SELECT one, other FROM ends
                QUALIFY row_number() OVER (PARTITION BY one ORDER BY closeness DESC, other) = 1
            )
            SELECT p.* FROM pairs p
            JOIN best x ON x.one = p.a AND x.other = p.b JOIN best y ON y.one = p.b AND y.other = p.a
            ORDER BY p.a, p.b
            """
        )
        return self._db.count("SELECT count(*) FROM pairs")


@compiled
def value_terms(values: Hashes) -> Hashes:
    """Return the terms of signatures (n, functions), flat. The same value of another function is another term."""
    terms = np.empty(values.size, np.uint64)
    for text in range(len(values)):
        for function in range(values.shape[1]):
            mixed = mix(values[text, function] ^ mix(np.uint64(function + 1)))
            terms[text * values.shape[1] + function] = mixed
    return terms


@compiled
def weighted_cosines(a: Numbers, b: Numbers, flat: Hashes, bounds: Offsets, weights: Similarities) -> Similarities:
    """Return the cosine of the weighted sets a[i] and b[i], shape (pairs,); 0 if a set has no weight."""
    out = np.zeros(len(a), np.float64)
    for pair in range(len(a)):
        one, end_one = bounds[a[pair]], bounds[a[pair] + 1]
        two, end_two = bounds[b[pair]], bounds[b[pair] + 1]
        square_one = 0.0
        for at in range(one, end_one):
            square_one += weights[at] * weights[at]
        square_two = 0.0
        for at in range(two, end_two):
            square_two += weights[at] * weights[at]
        common = 0.0
        while one < end_one and two < end_two:
            if flat[one] == flat[two]:
                common += weights[one] * weights[two]
                one += 1
                two += 1
            elif flat[one] < flat[two]:
                one += 1
            else:
                two += 1
        if square_one > 0.0 and square_two > 0.0:
            out[pair] = common / np.sqrt(square_one * square_two)
    return out
