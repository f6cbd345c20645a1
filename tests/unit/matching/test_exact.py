"""The exact scan against its definition: all pairs, and no others, however it is run."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.matching.exact.prefixes import count_shingles, group_ends, join, prefixes
from esdedup.matching.lsh.collide import needed_overlap
from esdedup.matching.lsh.sketches import sketches
from esdedup.matching.protocol import Scanning
from esdedup.matching.signing import Signing
from tests.support.collisions import TIGHT, Row, collide
from tests.support.corpus import corpus, template, true_pairs
from tests.support.full import few


def exact(texts: list[str], jaccard: float = 0.8, **options: Any) -> list[Row]:
    scanning = Scanning.of(jaccard=jaccard, candidates="exact")
    rows, collided = collide(texts, scanning=scanning, **options)
    assert collided.texts == len(set(texts))
    assert (collided.collisions, collided.candidates) == (None, None)
    return rows


def shingles(text: str, shingle: str) -> set[str | tuple[str, ...]]:
    """By definition; the words here are of letters alone."""
    kind, length = shingle.split(":")
    units = text if kind == "char" else tuple(re.findall(r"\w+", text))
    return {units[at : at + int(length)] for at in range(max(len(units) - int(length), 0) + 1)} if units else set()


def by_definition(texts: list[str], threshold: float, shingle: str) -> dict[tuple[str, str], float]:
    """Every pair at or above the threshold, for any kind of shingles."""
    sets = {text: shingles(text, shingle) for text in sorted(set(texts))}
    return {
        (one, two): len(sets[one] & sets[two]) / len(sets[one] | sets[two])
        for one, two in combinations(sets, 2)
        if sets[one] and sets[two] and len(sets[one] & sets[two]) / len(sets[one] | sets[two]) >= threshold
    }


@pytest.mark.parametrize("threshold", [0.5, 0.65, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("seed", few([1, 2], 0))
def test_every_true_pair_and_no_other(threshold: float, seed: int) -> None:
    texts = corpus(seed)
    rows = exact(texts, threshold)
    assert {(a, b): jaccard for a, b, jaccard, _, _ in rows} == true_pairs(texts, threshold)
    assert len(rows) == len({(a, b) for a, b, *_ in rows})
    assert threshold == 1 or rows


@pytest.mark.parametrize("shingle", ["char:1", "char:5", "word:1", "word:2"])
def test_any_shingles(shingle: str) -> None:
    signing = Signing.of(shingle=shingle)
    texts = [*corpus(3, 200), "", "a", "ab", "  ", "one two"]
    expected = by_definition(texts, 0.6, shingle)
    assert {(a, b): jaccard for a, b, jaccard, _, _ in exact(texts, 0.6, signing=signing)} == expected
    assert len(expected) > 20


@pytest.mark.parametrize("options", few([{"threads": 1}, {"budget": TIGHT}, {"budget": TIGHT, "threads": 3}], 2))
def test_memory_and_threads_change_nothing(options: dict[str, Any]) -> None:
    texts = corpus(4, 600)
    assert exact(texts, 0.6, **options) == exact(texts, 0.6)


def test_order_changes_nothing() -> None:
    texts = corpus(5, 400)
    assert exact(texts[::-1], 0.7) == exact(texts, 0.7)


def test_nothing_is_capped() -> None:
    texts = template(6, 400)
    assert len(exact(texts, 0.5)) == len(true_pairs(texts, 0.5)) > 50_000


def test_texts_of_one_home_are_no_pair() -> None:
    texts = corpus(7, 200)
    group_ids = [at % 2 for at in range(len(texts))]
    home_of: dict[str, set[int]] = {}
    for text, group_id in zip(texts, group_ids, strict=True):
        home_of.setdefault(text, set()).add(group_id)
    apart = {pair for pair in true_pairs(texts, 0.6) if len(home_of[pair[0]] | home_of[pair[1]]) > 1}
    assert {(a, b) for a, b, *_ in exact(texts, 0.6, group_ids=group_ids)} == apart


def test_words_apart_may_be_limited() -> None:
    texts = corpus(8, 300)
    rows = exact(texts, 0.5)
    scanning = Scanning.of(jaccard=0.5, candidates="exact", word_edit_distance=1)
    near, _ = collide(texts, scanning=scanning)
    assert near == [row for row in rows if row[3] is not None and row[3] <= 1]
    assert 0 < len(near) < len(rows)


def test_the_same_scores_as_the_token_scan() -> None:
    texts = corpus(9, 400)
    by_tokens, _ = collide(texts)
    assert set(by_tokens) <= set(exact(texts))


sets_of_numbers = st.lists(st.frozensets(st.integers(0, 25), min_size=1, max_size=14), min_size=2, max_size=25)


@given(sets_of_numbers, st.sampled_from([0.5, 0.6, 0.75, 0.8, 0.9, 1.0]), st.integers(0, 2), st.integers(25, 40))
def test_join_meets_every_true_pair(sets: list[frozenset[int]], threshold: float, log_words: int, room: int) -> None:
    flat = np.concatenate([np.array(sorted(one), np.uint64) for one in sets])
    bounds = np.cumsum([0, *(len(one) for one in sets)])
    counts = np.zeros(64, np.uint16)
    for part in range(2):
        count_shingles(flat, counts, part, 2)
    assert counts.tolist()[:26] == [sum(value in one for one in sets) for value in range(26)]
    token, number, size, place = prefixes(flat, bounds, counts, threshold, 0)
    order = np.lexsort((number, size, token))
    token, number, size, place = token[order], number[order], size[order], place[order]
    ends = group_ends(token)
    words = 1 << log_words
    sketch = sketches(flat, bounds, words * np.arange(len(bounds))).reshape(-1, words)
    rows = np.empty((room, 2), np.int32)
    met: set[tuple[int, int]] = set()
    group = member = 0
    while group < len(ends):
        found, group, member = join(ends, group, member, len(ends), number, size, place, sketch, threshold, rows)
        met |= {(int(a), int(b)) for a, b in rows[:found]}
    truth = {
        (one, two)
        for one, two in combinations(range(len(sets)), 2)
        if len(sets[one] & sets[two]) >= needed_overlap(len(sets[one]), len(sets[two]), threshold)
    }
    assert met >= truth
