"""The collision scan against its definition: every way of running it gives the same exact answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.database import Database
from esdedup.columns.hashing import content_hashes
from esdedup.engines.local.engine import LocalEngine, Sentences
from esdedup.matching.engine import Found, MatchContext, signatures_schema
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.store.ranking_joins import rank_by_joins
from tests.support.corpus import corpus, jaccard, template, true_pairs

AMPLE = 2**28
TIGHT = 60_000  # bytes: a few dozen texts at once

Row = tuple[str, str, float | None, int | None, int]


def collide(
    texts: list[str],
    *,
    scanning: Scanning | None = None,
    signing: Signing | None = None,
    budget: int = AMPLE,
    threads: int = 2,
    group_ids: list[int] | None = None,
    hot_limit: int = 2000,
    scratch: Database | None = None,
) -> tuple[list[Row], Found]:
    signer = TextSigner(signing or Signing())
    column = text_column(texts)
    data, offsets = text_buffers(column)
    hashes = content_hashes(data, offsets)
    text_of = dict(zip(hashes.tolist(), texts, strict=True))
    schema = signatures_schema(signer.signing.tokens)
    tokens = signer.tokens(signer.shingled(column))
    columns = [
        pa.array(hashes),
        pa.array(group_ids or [-1] * len(texts), pa.int64()),
        pa.array(np.diff(offsets), pa.int32()),
        pa.FixedSizeListArray.from_arrays(pa.array(tokens.reshape(-1)), signer.signing.tokens),
    ]

    def fetch(wanted: pa.Table) -> Iterator[pa.RecordBatch]:
        found = wanted["hash"].combine_chunks()
        yield pa.record_batch({"hash": found, "text": [text_of[value] for value in found.to_pylist()]})

    with scratch or Database(memory=2**27, threads=threads) as db:
        asked = scanning or Scanning()
        batch = pa.record_batch(columns, schema)
        sentences = Sentences(
            signer.signing.tokens, lambda _: [(0, pa.table(batch.columns, schema))], fetch, rank=rank_by_joins
        )
        engine = LocalEngine(db, sentences, budget, threads)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("esdedup.matching.lsh.collide.HOT_LIMIT", hot_limit)
            collided = asked.matcher.find(engine, MatchContext(signer.signing, asked.rule, threads))
        rows: list[Row] = []
        for one, two, *scores in db.rows(
            "SELECT one.hash, two.hash, jaccard, word_edit_distance, shared_tokens FROM pairs p "
            "JOIN texts one ON one.number = p.a JOIN texts two ON two.number = p.b"
        ):
            assert one < two
            a, b = sorted([text_of[one], text_of[two]])
            rows.append((a, b, *scores))
    return sorted(rows), collided


def colliding(texts: list[str], signing: Signing) -> dict[tuple[str, str], int]:
    """Distinct pairs that share a token, and how many they share."""
    signer = TextSigner(signing)
    distinct = sorted(set(texts))
    tokens = signer.tokens(signer.shingled(text_column(distinct))).tolist()
    found = {}
    for (one, mine), (two, others) in combinations(zip(distinct, tokens, strict=True), 2):
        shared = len(set(mine) & set(others))
        if shared:
            found[one, two] = shared
    return found


SCHEMES = {"bands": Signing(), "draws": Signing.of(hashes=20, draw=3, draws=10), "few": Signing.of(bands=3, rows=1)}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", [1, 2])
def test_pairs_are_the_true_ones_among_the_colliding(scheme: str, seed: int) -> None:
    texts = corpus(seed)
    candidates = colliding(texts, SCHEMES[scheme])
    rows, collided = collide(texts, signing=SCHEMES[scheme])
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


@pytest.mark.parametrize("budget", [AMPLE, TIGHT])
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


def test_pairs_that_share_a_token_that_is_not_hot_are_never_lost() -> None:
    texts = template(7, 150, edits=2)
    signing = Signing.of(bands=10, rows=4)
    limited, collided = collide(texts, signing=signing, hot_limit=60)
    everything, _ = collide(texts, signing=signing)
    assert collided.hot_tokens > 0
    signer = TextSigner(signing)
    tokens = dict(zip(texts, signer.tokens(signer.shingled(text_column(texts))).tolist(), strict=True))
    holders: dict[int, int] = {}
    for row in tokens.values():
        for token in row:
            holders[token] = holders.get(token, 0) + 1
    mild = [
        row for row in everything if any(holders[token] <= 60 for token in set(tokens[row[0]]) & set(tokens[row[1]]))
    ]
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
    candidates = colliding(texts, Signing())
    rows, collided = collide(texts, scanning=Scanning.of(verify="none"))
    assert {(a, b): shared for a, b, _, _, shared in rows} == candidates
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
