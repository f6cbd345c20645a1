"""Candidates by agreement against their definition: every two signatures compared in full."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.database import Database
from esdedup.columns.hashing import content_hashes
from esdedup.engines.local.engine import LocalEngine
from esdedup.errors import SettingsError
from esdedup.matching.engine import SIGNATURES, Found, MatchContext, Sentences
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.minhash_kernels import family, minhash_values
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.papers.agreement.counting import number_values
from tests.support.corpus import corpus, edited, word
from tests.support.full import few

AMPLE = 2**28
TIGHT = 1_000_000  # bytes: some two hundred texts a tile

SIGNING = Signing.of(unit="record", min_chars=0, max_chars=100_000, normalize="expanded", shingle="word:2")

Row = tuple[str, str, float | None, int | None, int]


def scanning(**options: Any) -> Scanning:
    return Scanning.of(**{"candidates": "agreement", "verify": "none", **options})


def scan(
    texts: list[str],
    options: Scanning,
    *,
    signing: Signing = SIGNING,
    budget: int = AMPLE,
    threads: int = 2,
    group_ids: list[int] | None = None,
    stale: list[str] | None = None,
    killed_after: int = 0,
) -> tuple[list[Row], Found]:
    data, offsets = text_buffers(text_column(texts))
    hashes = content_hashes(data, offsets)
    text_of = dict(zip(hashes.tolist(), texts, strict=True))
    columns = [
        pa.array(hashes),
        pa.array(group_ids or [-1] * len(texts), pa.int64()),
        pa.array(np.diff(offsets), pa.int32()),
        pa.array([[0] * signing.tokens] * len(texts), pa.list_(pa.int64())),
    ]
    rows = pa.table(columns, schema=SIGNATURES)

    def fetch(wanted: pa.Table) -> Iterator[pa.RecordBatch]:
        found = wanted["hash"].combine_chunks()
        yield pa.record_batch({"hash": found, "text": [text_of[value] for value in found.to_pylist()]})

    def slices(done: set[int]) -> list[tuple[int, pa.Table]]:
        return [] if done else [(0, rows)]

    def interrupted(done: int, steps: int) -> None:
        if done == killed_after:
            raise KeyboardInterrupt

    changed = None if stale is None else pa.table({"hash": content_hashes(*text_buffers(text_column(stale)))})
    with Database(memory=2**28, threads=threads) as scratch:
        context = MatchContext(signing, options.rule, threads)

        def find(**more: Any) -> Found:
            sentences = Sentences(signing.tokens, slices, fetch, changed, **more)
            return options.matcher.find(LocalEngine(scratch, sentences, budget, threads), context)

        if killed_after:
            with pytest.raises(KeyboardInterrupt):
                find(progress=interrupted)
        found = find()
        pairs: list[Row] = []
        for one, two, *scores in scratch.rows(
            "SELECT one.hash, two.hash, jaccard, word_edit_distance, shared_tokens FROM pairs p "
            "JOIN texts one ON one.number = p.a JOIN texts two ON two.number = p.b"
        ):
            assert one < two
            a, b = sorted([text_of[one], text_of[two]])
            pairs.append((a, b, *scores))
    return sorted(pairs, key=lambda row: row[:2]), found


def signatures(texts: list[str], values: int, signing: Signing = SIGNING) -> npt.NDArray[np.uint64]:
    shingled = TextSigner(signing).shingled(text_column(texts))
    return minhash_values(*shingled, *family(signing.seed, values), signing.hash_bits)


def agreeing(texts: list[str], values: int, more_than: float, signing: Signing = SIGNING) -> dict[tuple[str, str], int]:
    """Distinct pairs that agree on more than so many values, and on how many: each pair compared."""
    distinct = sorted(set(texts))
    signed = signatures(distinct, values, signing)
    found = {}
    for at in range(len(distinct)):
        counts = (signed[at + 1 :] == signed[at]).sum(axis=1)
        found |= {
            (distinct[at], distinct[at + 1 + other]): int(counts[other]) for other in np.flatnonzero(counts > more_than)
        }
    return found


def documents(seed: int, count: int) -> list[str]:
    """Texts of some 1,600 characters, every tenth an edited version of an earlier one."""
    source = random.Random(seed)
    words = [word(source) for _ in range(3000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    made: list[str] = []
    for _ in range(count):
        if made and source.random() < 0.1:
            made.append(edited(source, source.choice(made), source.choice([1, 5, 15, 30, 50])))
        else:
            made.append(" ".join(source.choices(words, weights, k=source.randint(115, 275))))
    return made


def test_three_thousand_documents_equal_brute_force() -> None:
    texts = documents(1, 3000)
    assert 1400 < np.mean([len(text) for text in texts]) < 1800
    rows, found = scan(texts, scanning())
    expected = agreeing(texts, 200, 100)
    assert {(a, b): shared for a, b, _, _, shared in rows} == expected
    assert len(expected) > 150
    assert (found.texts, found.collisions, found.candidates) == (len(set(texts)), None, len(expected))


@pytest.mark.parametrize(("values", "share"), [(1, 0.0), (7, 0.5), (50, 0.0), (50, 0.02), (50, 0.3), (100, 0.99)])
@pytest.mark.parametrize("budget", few([AMPLE, TIGHT // 5], 1))
def test_any_signature_and_share(values: int, share: float, budget: int) -> None:
    texts = corpus(2, 500)
    signing = Signing.of(shingle="word:1", normalize="words", hash_bits=16)
    rows, _ = scan(texts, scanning(signature=values, agreement=share), signing=signing, budget=budget)
    assert {(a, b): shared for a, b, _, _, shared in rows} == agreeing(texts, values, values * share, signing)
    assert rows


def test_just_the_share_is_not_enough() -> None:
    """29 of 100 is no more than 0.29, whatever binary fractions say."""
    texts = corpus(3, 300)
    counts = set(agreeing(texts, 100, 0).values())
    exact = next(count for count in (29, 57, 58, *sorted(counts)) if count in counts)
    rows, _ = scan(texts, scanning(signature=100, agreement=exact / 100))
    assert min(shared for *_, shared in rows) > exact


@pytest.mark.parametrize("options", few([{"threads": 1}, {"budget": TIGHT}, {"budget": TIGHT // 5, "threads": 1}], 1))
def test_memory_and_threads_change_nothing(options: dict[str, Any]) -> None:
    texts = documents(4, 300)
    answer = scan(texts, scanning(verify="exact", jaccard=0.5))
    assert scan(texts, scanning(verify="exact", jaccard=0.5), **options) == answer
    assert scan(texts[::-1], scanning(verify="exact", jaccard=0.5), **options) == answer
    assert answer[0]


@pytest.mark.parametrize("verify", few(["none", "exact"], 1))
def test_a_killed_scan_is_gone_on_with(verify: str) -> None:
    texts = corpus(8, 200)
    answer = scan(texts, scanning(verify=verify, jaccard=0.5), budget=TIGHT // 5)
    for step in (1, 4):
        again = scan(texts, scanning(verify=verify, jaccard=0.5), budget=TIGHT // 5, killed_after=step)
        assert again == answer
    assert answer[0]


def test_verified_pairs_are_similar_too() -> None:
    texts = documents(5, 600)
    everything, _ = scan(texts, scanning())
    rows, found = scan(texts, scanning(verify="exact", jaccard=0.6))
    assert found.candidates == len(everything) > len(rows) > 10
    words = {
        text: TextSigner(SIGNING).shingled(text_column([text])).words.tolist()
        for text in {t for r in everything for t in r[:2]}
    }
    sets = {text: {*pairwise(its)} for text, its in words.items()}
    for a, b, _, _, shared in everything:
        exact = len(sets[a] & sets[b]) / len(sets[a] | sets[b])
        assert any(row[:2] == (a, b) and row[4] == shared for row in rows) == (exact >= 0.6)
    for a, b, jaccard, distance, _ in rows:
        assert jaccard == len(sets[a] & sets[b]) / len(sets[a] | sets[b])
        assert distance == sum(one != two for one, two in zip(a.split(), b.split(), strict=True))
    near, _ = scan(texts, scanning(verify="exact", jaccard=0.6, word_edit_distance=5))
    assert near == [row for row in rows if row[3] is not None and row[3] <= 5]
    assert 0 < len(near) < len(rows)


@pytest.mark.parametrize("budget", few([AMPLE, TIGHT // 5], 0))
def test_texts_of_one_home_are_no_candidates(budget: int) -> None:
    texts = corpus(6, 300)
    group_ids = [at % 3 - 1 for at in range(len(texts))]  # -1: in several
    rows, found = scan(texts, scanning(), group_ids=group_ids, budget=budget)
    where: dict[str, set[int]] = {}
    for text, group_id in zip(texts, group_ids, strict=True):
        where.setdefault(text, set()).add(group_id)
    expected = [
        row for row in scan(texts, scanning())[0]
        if len(where[row[0]] | where[row[1]]) > 1 or where[row[0]] == {-1}
    ]  # fmt: skip
    assert rows == expected
    assert found.candidates == len(rows) > 0


def test_only_pairs_with_what_has_changed() -> None:
    texts = corpus(7, 300)
    changed = texts[:40]
    rows, _ = scan(texts, scanning(), stale=changed)
    assert rows == [row for row in scan(texts, scanning())[0] if {*row[:2]} & {*changed}]
    assert rows


@pytest.mark.parametrize("texts", [[], ["only one text stands here"], ["one", "two", "three"]])
def test_nothing_to_find(texts: list[str]) -> None:
    rows, found = scan(texts, scanning())
    assert rows == []
    assert found == Found(len(texts), None, 0)


@given(st.lists(st.integers(0, 8)))
def test_numbers_are_equal_where_values_are(values: list[int]) -> None:
    numbers, groups, meetings = number_values(np.array(values, np.uint64))
    for one, a in zip(values, numbers, strict=True):
        assert (a == -1) == (values.count(one) == 1)
        assert all((a == b) == (one == two) for two, b in zip(values, numbers, strict=True) if a >= 0)
    assert set(numbers.tolist()) - {-1} == set(range(groups))
    assert meetings == sum(values[:at].count(value) for at, value in enumerate(values))


def test_options_are_checked_and_shown_only_where_they_count() -> None:
    assert "signature" not in Scanning().described()
    shown = scanning().described()
    assert (shown["signature"], shown["agreement"]) == (200, 0.5)
    assert Scanning.from_described(shown) == scanning()
    with pytest.raises(SettingsError, match="needs candidates agreement or queries; now candidates is tokens"):
        Scanning.of(signature=7)
    for wrong in ({"signature": 0}, {"signature": 2000}, {"agreement": 1}, {"agreement": -0.1}, {"agreement": "x"}):
        with pytest.raises(SettingsError, match="allowed"):
            scanning(**wrong)
        with pytest.raises(SettingsError, match="allowed"):
            Scanning.of(**wrong)
