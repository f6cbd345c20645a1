"""The scan by random projection against its definition, one text after another in plain Python."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import Stemmer
import xxhash

from esdedup.columns.arrays import text_column
from esdedup.columns.database import Database
from esdedup.errors import VectorsError
from esdedup.matching.engine import Found
from esdedup.matching.groups import NO_TOKEN
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.papers.projection import projection_scan as windows
from esdedup.papers.projection.hyperplanes import add_hashed, hashed_key, hyperplanes, permutation
from esdedup.papers.projection.projection_options import ProjectionOptions
from esdedup.papers.projection.projection_scan import ProjectionScan
from esdedup.text.topics import stop_words
from tests.support.collisions import AMPLE, Row, collide
from tests.support.corpus import corpus, edited, jaccard, sentence
from tests.support.full import few
from tests.support.vectors import as_binary, as_text

TIGHT = 18_000  # bytes: nothing is sorted in memory, and a slice has a few texts

SEED = Signing().seed

Vector = np.ndarray


def by_projection(**options: Any) -> Scanning:
    return Scanning.of(candidates="projection", **{"verify": "none", **options})


def project(texts: list[str], scanning: Scanning, **options: Any) -> tuple[list[Row], Found]:
    return collide(texts, scanning=scanning, **options)


# -- the definition ---------------------------------------------------------------------------------------------------


def code_of(word: str) -> int:
    return xxhash.xxh64_intdigest(word.encode())


def surfaces(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", text.lower()) if word not in stop_words("en")]


def drawn_vectors(texts: list[str]) -> dict[str, Vector]:
    """Sentence vectors of distinct texts, in the order of their hashes, without a file."""
    stem = Stemmer.Stemmer("en").stemWord
    words = {text: sorted((stem(word) for word in surfaces(text)), key=code_of) for text in texts}
    holders = Counter(word for found in words.values() for word in set(found))
    made = {}
    for text, found in words.items():
        total = np.zeros(400)
        for word in found:
            drawn = np.zeros((1, 400))
            code = np.array([code_of(word)], np.uint64)
            add_hashed(code, np.ones(1), np.array([0, 1]), hashed_key(SEED), drawn)
            total = total + math.log(1 + len(texts) / holders[word]) * drawn[0]
        made[text] = total
    return made


def candidates(vectors: dict[str, Vector], scanning: Scanning) -> set[tuple[str, str]]:
    """Pairs within the window of any permutation whose signatures differ in few bits."""
    matcher = scanning.matcher
    assert isinstance(matcher, ProjectionOptions)
    ordered = sorted(vectors, key=code_of)
    directed = [(number, text) for number, text in enumerate(ordered) if vectors[text].any()]
    bits = {}
    for number, text in directed:
        vector = vectors[text]
        planes = hyperplanes(SEED, len(vector), matcher.signature_bits)
        bits[number] = (np.rint(vector / np.abs(vector).max() * 2**25) @ planes >= 0).astype(int)
    found = set()
    for which in range(matcher.permutations):
        order = permutation(SEED, which, matcher.signature_bits)
        rows = sorted((bits[number][order].tolist(), number) for number, _ in directed)
        for at, (mine, number) in enumerate(rows):
            for theirs, other in rows[max(0, at - matcher.window) : at]:
                if sum(one != two for one, two in zip(mine, theirs, strict=True)) <= matcher.hamming:
                    found.add(tuple(sorted((ordered[number], ordered[other]))))
    return found


def cosine(one: Vector, two: Vector) -> float:
    return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))


# -- the tests --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"signature_bits": 128, "hamming": 20, "window": 3, "permutations": 2}, {"signature_bits": 40, "window": 1}],
)
def test_candidates_are_those_of_the_definition(options: dict[str, int]) -> None:
    texts = [*corpus(1), "It was what it was.", "And so it is, 1999!", "They were 12 of 144."]
    scanning = by_projection(**options)
    expected = candidates(drawn_vectors(sorted(set(texts))), scanning)
    rows, collided = project(texts, scanning)
    assert {(a, b) for a, b, *_ in rows} == expected
    assert len(rows) == len(expected) == collided.candidates > 5
    assert collided.skipped == {"no_words": 3}
    assert (collided.texts, collided.collisions) == (len(set(texts)), None)
    assert all(similarity is None and distance is None for _, _, similarity, distance, _ in rows)


@pytest.mark.parametrize("verify", ["none", "exact", "cosine"])
@pytest.mark.parametrize("options", few([{"threads": 1}, {"budget": TIGHT, "threads": 1}], 1))
def test_memory_and_threads_change_nothing(options: dict[str, Any], verify: str) -> None:
    texts = corpus(3, 200)
    near = {"cosine": 0.8} if verify == "cosine" else {}
    scanning = by_projection(verify=verify, vector_length=70, signature_bits=70, hamming=12, jaccard=0.5, **near)
    rows, collided = project(texts, scanning)
    again, collided_again = project(texts, scanning, **options)
    assert again == rows
    assert collided_again == collided
    assert len(rows) > 20


def test_windows_carry_over_the_borders_of_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(words) for words in (random.Random(n).sample(corpus(4, 40), 1) for n in range(40))]
    texts = [f"{text} Number {'x' * n} of them." for n, text in enumerate(texts)]
    scanning = by_projection(hamming=30)
    rows, _ = project(texts, scanning)
    monkeypatch.setattr(windows, "_SORTING_BYTES", 2**40)
    out_of_core, _ = project(texts, scanning)
    few, _ = project(texts, scanning, budget=2_000)  # twelve rows at once
    assert rows == out_of_core == few
    assert len(rows) > 20


def test_order_of_arrival_changes_nothing() -> None:
    texts = corpus(4)
    assert project(texts[::-1], by_projection()) == project(texts, by_projection())


def test_exact_pairs_are_the_candidates_that_are_similar() -> None:
    texts = corpus(5)
    scanning = by_projection(hamming=15)
    everything = {(a, b): shared for a, b, _, _, shared in project(texts, scanning)[0]}
    rows, collided = project(texts, by_projection(hamming=15, verify="exact"))
    truth = {pair: jaccard(*pair) for pair in everything}
    assert {(a, b): similarity for a, b, similarity, _, _ in rows} == {
        pair: similarity for pair, similarity in truth.items() if similarity >= 0.8
    }
    assert collided.candidates == len(everything) > len(rows) > 10
    assert all(shared == everything[a, b] for a, b, _, _, shared in rows)
    signer = TextSigner(Signing())
    tokens = {text: signer.tokens(signer.views(text_column([text])))[0] for text in set(texts)}
    shared = {(a, b): (tokens[a] == tokens[b]) & (tokens[a] != NO_TOKEN) for a, b in everything}
    assert everything == {pair: int(equal.sum()) for pair, equal in shared.items()}
    assert 0 in everything.values()
    near, _ = project(texts, by_projection(hamming=15, verify="exact", word_edit_distance=1))
    assert near == [row for row in rows if row[3] is not None and row[3] <= 1]
    assert 0 < len(near) < len(rows)


def test_pairs_by_cosine_have_their_jaccard() -> None:
    texts = corpus(6)
    # two of the same words in another order: no shingle in common
    words = sentence(random.Random(1), 30)[:-1].lower().split()
    texts += [" ".join(words), " ".join(words[::-1])]
    rows, _ = project(texts, by_projection(hamming=25, verify="cosine", cosine=0.85))
    vectors = drawn_vectors(sorted(set(texts)))
    expected = {
        pair for pair in candidates(vectors, by_projection(hamming=25)) if cosine(*map(vectors.get, pair)) >= 0.85
    }
    assert {(a, b) for a, b, *_ in rows} == expected
    assert tuple(sorted(texts[-2:])) in expected
    assert all(similarity == jaccard(a, b) for a, b, similarity, _, _ in rows)
    assert all(distance is not None for *_, distance, _ in rows)
    assert min(similarity for _, _, similarity, _, _ in rows if similarity is not None) < 0.1


def test_texts_of_one_home_are_no_pairs() -> None:
    texts = corpus(8, 200)
    group_ids = [at % 2 for at in range(len(texts))]
    rows, _ = project(texts, by_projection(), group_ids=group_ids)
    where: dict[str, set[int]] = {}
    for text, group_id in zip(texts, group_ids, strict=True):
        where.setdefault(text, set()).add(group_id)
    everything, _ = project(texts, by_projection())
    assert rows == [row for row in everything if len(where[row[0]] | where[row[1]]) > 1]
    assert 0 < len(rows) < len(everything)


def test_near_identical_texts_are_found() -> None:
    source = random.Random(9)
    texts = [sentence(source, 40) for _ in range(150)]
    twins = [(text, edited(source, text, 1)) for text in texts]
    twins = [(one, two) for one, two in twins if one != two]
    rows, _ = project([text for twin in twins for text in twin], by_projection(hamming=10))
    found = {(a, b) for a, b, *_ in rows}
    assert sum(tuple(sorted(twin)) in found for twin in twins) / len(twins) > 0.7


@pytest.mark.parametrize("texts", [[], ["only one sentence stands here, all by itself"], ["1", "2", "and"]])
@pytest.mark.parametrize("verify", ["none", "exact", "cosine"])
def test_nothing_to_find(texts: list[str], verify: str) -> None:
    rows, collided = project(texts, by_projection(verify=verify))
    assert rows == []
    assert (collided.collisions, collided.candidates) == (None, 0)
    assert collided.skipped == ({"no_words": 3} if len(texts) == 3 else {})


# -- files of word vectors --------------------------------------------------------------------------------------------


def some_vectors(texts: list[str]) -> dict[str, list[float]]:
    """Vectors for most words as they stand, and for some only for their stems."""
    stem = Stemmer.Stemmer("en").stemWord
    random_numbers = np.random.default_rng(2)
    words = sorted({word for text in texts for word in surfaces(text)})
    named = {word if at % 3 else stem(word) for at, word in enumerate(words) if at % 7}
    named |= {"Capital", "elsewhere"}
    return {word: random_numbers.normal(size=48).astype(np.float32).tolist() for word in sorted(named)}


@pytest.mark.full
def test_vectors_of_a_file(tmp_path: Path) -> None:
    texts = [*corpus(7, 200), "Zzyzx qqq."]
    vectors = some_vectors(texts[:-1])
    stem = Stemmer.Stemmer("en").stemWord
    expected_vectors = {}
    for text in sorted(set(texts)):
        total = np.zeros(48)
        for word in sorted(surfaces(text), key=code_of):
            row = vectors.get(word, vectors.get(stem(word)))
            total = total + (0 if row is None else np.array(row))
        expected_vectors[text] = total
    (tmp_path / "text").write_bytes(as_text(vectors))
    (tmp_path / "binary").write_bytes(as_binary(vectors))
    found = {
        (name, budget): project(texts, by_projection(vectors=str(tmp_path / name)), budget=budget)
        for name in ("text", "binary")
        for budget in (AMPLE, TIGHT)
    }
    rows, collided = found["text", AMPLE]
    assert all(one == (rows, collided) for one in found.values())
    assert {(a, b) for a, b, *_ in rows} == candidates(expected_vectors, by_projection())
    assert len(rows) > 2
    assert collided.skipped == {"no_words": 1}
    by_cosine, _ = project(texts, by_projection(vectors=str(tmp_path / "text"), verify="cosine", cosine=0.99))
    assert {(a, b) for a, b, *_ in by_cosine} == {
        (a, b) for a, b, *_ in rows if cosine(expected_vectors[a], expected_vectors[b]) >= 0.99
    }


def test_vectors_of_other_words_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(as_text({"unheard": [1.0, 2.0], "The": [1.0, 2.0]}))
    with pytest.raises(VectorsError, match="none of its 2 words is in these texts") as refused:
        project(corpus(1, 20), by_projection(vectors=str(tmp_path / "v")))
    assert "\n" not in str(refused.value)


def test_vectors_of_nothing_but_zeros_have_no_direction(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(as_text({"alpha": [0.0, 0.0], "beta": [1.0, 2.0]}))
    texts = ["alpha one", "alpha two", "beta three", "beta four", "alpha beta"]
    rows, collided = project(texts, by_projection(vectors=str(tmp_path / "v"), verify="cosine"))
    assert {(a, b) for a, b, *_ in rows} == {
        ("beta four", "beta three"), ("alpha beta", "beta four"), ("alpha beta", "beta three"),
    }  # fmt: skip
    assert collided.skipped == {"no_words": 2}


# -- killed scans -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verify", few(["none", "cosine"], 1))
def test_a_killed_scan_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verify: str) -> None:
    texts = corpus(11, 80)
    scanning = by_projection(verify=verify, vector_length=70, signature_bits=70, hamming=15, permutations=3)
    expected = project(texts, scanning, budget=TIGHT)
    steps = 0
    original = ProjectionScan._commit_step

    def dying(self: ProjectionScan, stage: str, done: int) -> None:
        nonlocal steps
        steps += 1
        if steps % 12 == 0:
            raise KeyboardInterrupt
        original(self, stage, done)

    monkeypatch.setattr(ProjectionScan, "_commit_step", dying)
    deaths = 0
    while True:
        db = Database(tmp_path / "scratch.duckdb", memory=2**27, threads=2)
        try:
            found = project(texts, scanning, budget=TIGHT, scratch=db)
            break
        except KeyboardInterrupt:
            deaths += 1
    assert found == expected
    assert deaths > 2


def test_vectors_that_changed_after_a_kill_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = corpus(12, 120)
    vectors = some_vectors(texts)
    path = tmp_path / "v"
    scanning = by_projection(vectors=str(path))
    path.write_bytes(as_text({word: [3.0, *row[1:]] for word, row in vectors.items()}))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ProjectionScan, "_order", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        project(texts, scanning, scratch=Database(tmp_path / "s.duckdb", memory=2**27, threads=2))
    path.write_bytes(as_binary(vectors))
    found = project(texts, scanning, scratch=Database(tmp_path / "s.duckdb", memory=2**27, threads=2))
    assert found == project(texts, scanning)
