"""The collision scan against its definition: every way of running it gives the same exact answer."""

from __future__ import annotations

from typing import Any

import pytest

from esdedup.matching.protocol import Scanning
from esdedup.matching.signing import Signing
from tests.support.collisions import AMPLE, TIGHT, collide
from tests.support.corpus import corpus, jaccard, template, true_pairs
from tests.support.full import few
from tests.support.minhash import banded, colliding, drawn, tokens_of_text

SEED = Signing().seed
BANDS = banded(10, 4)
SCHEMES = {
    "bands": (Signing(), BANDS),
    "draws": (Signing.of(hashes=20, draw=3, draws=10), drawn(20, 3, 10, SEED)),
    "few": (Signing.of(bands=3, rows=1), banded(3, 1)),
}
"""Settings, and the same for the definition."""


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", few([1, 2], 0))
def test_pairs_are_the_true_ones_among_the_colliding(scheme: str, seed: int) -> None:
    texts = corpus(seed)
    signing, choices = SCHEMES[scheme]
    candidates = colliding(texts, choices, SEED)
    rows, collided = collide(texts, signing=signing)
    truth = true_pairs(texts, 0.8)
    assert {(a, b): jaccard for a, b, jaccard, _, _ in rows} == {
        pair: similarity for pair, similarity in truth.items() if pair in candidates
    }
    assert {(a, b): shared for a, b, _, _, shared in rows} == {(a, b): candidates[a, b] for a, b, *_ in rows}
    assert collided.candidates == len(candidates)
    assert len(rows) > 20


@pytest.mark.parametrize("options", [{"threads": 1}, {"budget": TIGHT}, {"budget": TIGHT, "threads": 1}])
def test_memory_and_threads_change_nothing(options: dict[str, Any]) -> None:
    texts = corpus(3, 600)
    rows, collided = collide(texts)
    again, collided_again = collide(texts, **options)
    assert again == rows
    assert collided_again == collided


def test_order_of_arrival_changes_nothing() -> None:
    texts = corpus(4) + template(1, 60)
    rows, collided = collide(texts, hot_limit=20)
    backwards, collided_backwards = collide(texts[::-1], hot_limit=20)
    assert backwards == rows
    assert collided_backwards == collided


@pytest.mark.parametrize("budget", few([AMPLE, 10 * TIGHT], 0))
def test_a_hot_token_finds_its_cluster_with_bounded_work(budget: int) -> None:
    texts = template(5, 700) + corpus(6, 100)
    rows, collided = collide(texts, hot_limit=100, budget=budget)
    assert collided.hot_tokens > 0
    assert collided.hot_places
    neighbours: dict[str, set[str]] = {}
    for a, b, *_ in rows:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    group, fresh = set[str](), {template(5, 700)[0]}
    while fresh:
        group |= fresh
        fresh = {other for one in fresh for other in neighbours[one]} - group
    assert group == set(template(5, 700))
    assert collided.candidates < 700 * 699 / 2 * 0.5
    assert len(rows) == len(set(rows))
    assert all(similarity == jaccard(a, b) >= 0.8 for a, b, similarity, _, _ in rows[::50])


def test_a_hot_group_is_compared_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = template(5, 400)
    found = collide(texts, hot_limit=100)
    assert found[1].hot_places
    monkeypatch.setattr("esdedup.matching.groups._LEADING", 13)
    assert collide(texts, hot_limit=100) == found


def test_pairs_that_share_a_token_that_is_not_hot_are_never_lost() -> None:
    texts = template(7, 150, edits=2)
    signing = Signing.of(bands=10, rows=4)
    limited, collided = collide(texts, signing=signing, hot_limit=60)
    everything, _ = collide(texts, signing=signing)
    assert collided.hot_tokens > 0
    tokens = {text: tokens_of_text(text, BANDS, SEED) for text in texts}
    holders: dict[int, int] = {}
    for row in tokens.values():
        for token in row:
            holders[token] = holders.get(token, 0) + 1
    mild = [row for row in everything if any(holders[token] <= 60 for token in tokens[row[0]] & tokens[row[1]])]
    assert mild
    assert set(mild) <= set(limited)


def test_texts_of_one_home_are_no_pairs() -> None:
    texts = corpus(8, 200)
    group_ids = [at % 2 for at in range(len(texts))]
    rows, _ = collide(texts, group_ids=group_ids)
    where: dict[str, set[int]] = {}
    for text, group_id in zip(texts, group_ids, strict=True):
        where.setdefault(text, set()).add(group_id)
    everything, _ = collide(texts)
    assert rows == [row for row in everything if len(where[row[0]] | where[row[1]]) > 1]
    assert 0 < len(rows) < len(everything)


def test_unverified_pairs_are_the_candidates() -> None:
    texts = corpus(9, 150)
    candidates = colliding(texts, BANDS, SEED)
    rows, collided = collide(texts, scanning=Scanning.of(verify="none"))
    assert {(a, b): shared for a, b, _, _, shared in rows} == candidates
    assert rows
    assert all(jaccard is None and distance is None for _, _, jaccard, distance, _ in rows)
    assert collided.candidates == len(candidates)


def test_word_edit_distance_limits_pairs() -> None:
    texts = corpus(10)
    everything, _ = collide(texts)
    near, _ = collide(texts, scanning=Scanning.of(word_edit_distance=1))
    assert near == [row for row in everything if row[3] is not None and row[3] <= 1]
    assert 0 < len(near) < len(everything)


@pytest.mark.parametrize("texts", [[], ["only one sentence stands here, all by itself"]])
def test_nothing_to_collide(texts: list[str]) -> None:
    rows, collided = collide(texts)
    assert rows == []
    assert (collided.collisions, collided.candidates) == (0, 0)
