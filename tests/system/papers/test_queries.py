"""Candidates by queries against their definition, on joins."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.hashing import content_hashes
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.minhash_kernels import family, minhash_values
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.matching.verify.edits import word_edit_distances
from esdedup.papers.queries.queries_scan import value_terms, weighted_cosines
from esdedup.text.shingles import shingle_sets
from tests.support.collisions import TIGHT, Row, collide
from tests.support.corpus import corpus, template

SIGNING = Signing.of(shingle="word:2", normalize="words")


def by_queries(texts: list[str], *, budget: int = 2**28, threads: int = 2, **options: Any) -> tuple[list[Row], int]:
    scanning = Scanning.of(candidates="queries", **{"verify": "words", "word_edit_distance": 3, **options})
    rows, collided = collide(texts, scanning=scanning, signing=SIGNING, budget=budget, threads=threads)
    assert collided.candidates is not None
    return rows, collided.candidates


def terms_of(texts: list[str], query_by: str) -> list[set[int]]:
    signer = TextSigner(SIGNING)
    shingled = signer.shingled(text_column(texts))
    if query_by == "signature":
        values = minhash_values(*shingled, *family(SIGNING.seed, 20), SIGNING.hash_bits)
        return [set((value_terms(row.reshape(1, -1)) >> np.uint64(11)).tolist()) for row in values]
    flat, bounds = shingle_sets(*shingled)
    return [set((flat[begin:end] >> np.uint64(11)).tolist()) for begin, end in pairwise(bounds)]


def best_matches(texts: list[str], query_by: str, same_first_word: bool, top: int) -> set[tuple[str, str]]:
    """By definition: of each text, those behind it in the order of hashes with most terms in common."""
    hashes = content_hashes(*text_buffers(text_column(texts)))
    texts = [texts[at] for at in np.argsort(hashes)]
    terms = terms_of(texts, query_by)
    found = set()
    for one, text in enumerate(texts):
        matches = []
        for two in range(one + 1, len(texts)):
            common = len(terms[one] & terms[two])
            if common and (not same_first_word or text.split()[0].lower() == texts[two].split()[0].lower()):
                matches.append((-common, two))
        found |= {(min(text, texts[two]), max(text, texts[two])) for _, two in sorted(matches)[:top]}
    return found


@pytest.mark.parametrize("query_by", ["shingles", "signature"])
@pytest.mark.parametrize("same_first_word", [True, False])
@pytest.mark.parametrize("top", [1, 3, 1000])
def test_the_best_matches_within_a_few_words(query_by: str, same_first_word: bool, top: int) -> None:
    texts = sorted(set(corpus(101, 250)))
    rows, candidates = by_queries(texts, query_by=query_by, same_first_word=same_first_word, top=top)
    matches = best_matches(texts, query_by, same_first_word, top)
    assert candidates == len(matches)
    near = set()
    for a, b in matches:
        [distance] = word_edit_distances(text_column([a, b]), np.array([0]), np.array([1]))
        if distance <= 3:
            near.add((a, b))
    assert {(a, b) for a, b, *_ in rows} == near
    assert near


@pytest.mark.parametrize("options", [{"threads": 1}, {"budget": TIGHT}])
def test_memory_and_threads_change_nothing(options: dict[str, Any]) -> None:
    texts = corpus(102, 300)
    assert by_queries(texts, **options) == by_queries(texts)
    assert by_queries(texts[::-1]) == by_queries(texts)


def test_verified_by_jaccard() -> None:
    texts = corpus(103, 250)
    rows, _ = by_queries(texts, verify="exact", jaccard=0.6, word_edit_distance=None, top=1000)
    every, _ = by_queries(texts, verify="words", word_edit_distance=10_000, top=1000)
    assert rows == [row for row in every if row[2] is not None and row[2] >= 0.6]
    assert 0 < len(rows) < len(every)


def test_verified_by_the_cosine_of_rare_shingles() -> None:
    texts = sorted(set(corpus(104, 200)))
    rows, _ = by_queries(texts, verify="cosine", cosine=0.5, word_edit_distance=None, top=1000)
    signer = TextSigner(SIGNING)
    flat, bounds, _ = signer.sets(signer.views(text_column(texts))).trimmed()
    sets = [set(flat[begin:end].tolist()) for begin, end in pairwise(bounds)]
    held = {shingle: sum(shingle in one for one in sets) for shingle in set(flat.tolist())}

    def norm(shingles: set[int]) -> float:
        return sum(math.log(len(texts) / held[shingle]) ** 2 for shingle in shingles)

    close = {
        (texts[one], texts[two])
        for one in range(len(texts))
        for two in range(one + 1, len(texts))
        if sets[one] & sets[two] and norm(sets[one] & sets[two]) >= 0.5 * math.sqrt(norm(sets[one]) * norm(sets[two]))
    }
    assert {(a, b) for a, b, *_ in rows} == close
    assert close


def test_only_the_best_of_both() -> None:
    texts = corpus(105, 300)
    options: dict[str, Any] = {"verify": "exact", "jaccard": 0.3, "word_edit_distance": None, "top": 1000}
    every, _ = by_queries(texts, **options)
    best, _ = by_queries(texts, reciprocal=True, **options)
    assert best
    assert set(best) < set(every)
    ends = [text for a, b, *_ in best for text in (a, b)]
    assert len(ends) == len(set(ends))
    closest: dict[str, float] = {}
    for a, b, jaccard, *_ in every:
        assert jaccard is not None
        for end in (a, b):
            closest[end] = max(closest.get(end, 0), jaccard)
    assert all(jaccard == closest[a] == closest[b] for a, b, jaccard, *_ in best)


def test_values_of_other_functions_are_other_terms() -> None:
    assert len(set(value_terms(np.zeros((1, 20), np.uint64)).tolist())) == 20
    assert (
        value_terms(np.full((2, 3), 7, np.uint64)).tolist() == 2 * value_terms(np.full((1, 3), 7, np.uint64)).tolist()
    )


def test_without_verification_every_match_is_a_pair() -> None:
    texts = sorted(set(corpus(106, 150)))
    rows, candidates = by_queries(texts, verify="none", word_edit_distance=None)
    assert candidates == len(rows) == len(best_matches(texts, "shingles", False, 10))
    assert {(jaccard, distance) for _, _, jaccard, distance, _ in rows} == {(None, None)}


def test_matches_of_one_home_take_no_place_among_the_best() -> None:
    texts = template(107, 40)
    group_ids = [0] * 37 + [1] * 3
    scanning = Scanning.of(candidates="queries", verify="none", top=3)
    rows, _ = collide(texts, scanning=scanning, signing=SIGNING, group_ids=group_ids)
    few = set(texts[37:])
    assert all((a in few) != (b in few) for a, b, *_ in rows)
    assert {a if a in few else b for a, b, *_ in rows} == few
    assert len(rows) > 37


def test_texts_without_words_are_counted() -> None:
    scanning = Scanning.of(candidates="queries", verify="words", word_edit_distance=5)
    rows, collided = collide(["...", "!!!", "one two three", "one two four"], scanning=scanning, signing=SIGNING)
    assert collided.skipped == {"no_words": 2}
    assert [(a, b) for a, b, *_ in rows] == [("one two four", "one two three")]


def test_cosine_of_nothing_is_nothing() -> None:
    flat, bounds = np.array([1, 2, 1, 2], np.uint64), np.array([0, 2, 4])
    ends = np.array([0]), np.array([1])
    assert weighted_cosines(*ends, flat, bounds, np.zeros(4)) == [0.0]
    assert weighted_cosines(*ends, flat, bounds, np.ones(4)) == pytest.approx([1.0])
