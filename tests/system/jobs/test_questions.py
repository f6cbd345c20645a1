"""Questions to a store, each against its definition by brute force."""

from __future__ import annotations

import json
import random
import uuid
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.errors import StoreError, UsageError
from esdedup.output.overlap import COMMON
from esdedup.store.corpus import SentenceQuery
from esdedup.store.store import Store
from tests.support.corpus import corpus, edited, jaccard, sentence
from tests.support.records import SIGNED, records, table
from tests.support.stores import KINDS
from tests.support.written import lines

ROWS = records(31, 500)


@pytest.fixture(scope="module", params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("questions")
    path = str(folder / "s.duckdb")
    if request.param == "server":
        path = f"{request.getfixturevalue('elastic_url')}/questions-{uuid.uuid4().hex[:8]}"
    esdedup.index(table(folder / "news.tsv", ROWS), store=path, **SIGNED)
    esdedup.scan(store=path)
    with esdedup.open_store(path, read_only=True) as opened:
        yield opened
    esdedup.drop(store=path)


def test_explain_says_why(tmp_path: Path, address: str) -> None:
    source = random.Random(5)
    base = sentence(source, 30)
    near, far = edited(source, base, 1), edited(source, base, 6)
    rows = [("a", base), ("b", near), ("c", far), ("d", sentence(source, 30)), ("e", base)]
    path = address
    esdedup.index(table(tmp_path / "t.tsv", rows), store=path, **SIGNED)
    esdedup.scan(store=path)
    verdicts = {key: esdedup.explain("a", key, store=path)["verdict"] for key in "bcde"}
    assert verdicts["b"].startswith("a pair")
    assert verdicts["c"].startswith("not a pair")
    assert "no token in common" in verdicts["d"]
    assert verdicts["e"].startswith("identical")
    found = esdedup.explain("a", "b", store=path)
    assert found["jaccard"] == round(jaccard(base, near), 6)
    assert found["word_edit_distance"] == 1
    assert " ".join(words for what, words in found["diff"] if what in "=-") == base
    assert " ".join(words for what, words in found["diff"] if what in "=+") == near
    esdedup.scan(store=path, word_edit_distance=0)
    assert "1 words differ" in esdedup.explain("a", "b", store=path)["verdict"]
    esdedup.scan(store=path, across="sources")
    assert "in one source alone" in esdedup.explain("a", "e", store=path)["verdict"]
    assert "both stand in one source" in esdedup.explain("a", "b", store=path)["verdict"]
    with pytest.raises(StoreError, match="no record zz"):
        esdedup.explain("a", "zz", store=path)


def test_overlap_counts_sentences_that_stand_elsewhere(tmp_path: Path, address: str) -> None:
    pool = corpus(41, 60)
    source = random.Random(41)
    documents = {f"d{n}": [source.choice(pool) for _ in range(source.randint(1, 9))] for n in range(25)}
    path = address
    rows = [{"id": key, "title": key.upper(), "text": "\n\n".join(texts)} for key, texts in documents.items()]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    esdedup.index(tmp_path / "t.jsonl", store=path, min_chars=1, max_chars=10_000)
    esdedup.scan(store=path, out=tmp_path / "out")
    stored: dict[str, list[str]] = {}
    with esdedup.open_store(path, read_only=True) as opened:
        named = SentenceQuery(ids=list(documents))
        held = opened.corpus.sentences(named).to_pylist()
    for row in held:
        stored.setdefault(row["document"], []).append(row["text"])
    names = {
        member["id"]: member["text"] for one in lines(tmp_path / "out" / "clusters.jsonl") for member in one["members"]
    }
    alike = {frozenset((names[pair["a"]], names[pair["b"]])) for pair in lines(tmp_path / "out" / "pairs.jsonl")}

    def standing(a: str, b: str) -> int:
        return sum(any(x == y or frozenset((x, y)) in alike for y in stored[b]) for x in stored[a])

    expected = {(a, b): (standing(a, b), standing(b, a)) for a, b in combinations(sorted(stored), 2) if standing(a, b)}
    found = esdedup.overlap(store=path)
    assert {(row["a"], row["b"]): (row["a_in_b"], row["b_in_a"]) for row in found.rows} == expected
    assert found.common_texts == 0
    for row in found.rows:
        assert (row["a_title"], row["a_sentences"]) == (row["a"].upper(), len(stored[row["a"]]))
        assert row["a_share"] == round(row["a_in_b"] / row["a_sentences"], 6)
    most = [max(row["a_in_b"], row["b_in_a"]) for row in found.rows]
    assert most == sorted(most, reverse=True)
    one = found.rows[0]["a"]
    assert esdedup.overlap(store=path, document=one).rows == [row for row in found.rows if one in (row["a"], row["b"])]
    assert esdedup.overlap(store=path, limit=3).rows == found.rows[:3]
    assert esdedup.overlap(store=path, by="sources").rows == []
    with pytest.raises(UsageError, match="nobody"):
        esdedup.overlap(store=path, document="nobody")


def test_what_stands_everywhere_says_nothing_of_two_documents(tmp_path: Path, address: str) -> None:
    notice, own = sentence(random.Random(1), 20), corpus(2, 1)[0]
    rows = [(f"d{n}", notice if n > 1 else f"{notice} {own}") for n in range(COMMON + 5)]
    path = address
    esdedup.index(table(tmp_path / "t.tsv", rows), store=path)
    esdedup.scan(store=path)
    found = esdedup.overlap(store=path)
    assert [(row["a"], row["b"]) for row in found.rows] == [("d0", "d1")]
    assert found.common_texts == 1


def test_clusters_come_in_pages(store: Store) -> None:
    for sort in ("size", "jaccard"):
        everything = list(esdedup.clusters(store=store, sort=sort))
        pages, after = [], None
        while page := list(esdedup.clusters(store=store, sort=sort, limit=7, after=after)):
            pages += page
            after = page[-1]["id"]
        assert pages == everything
    weakest = [one["min_jaccard"] for one in esdedup.clusters(store=store, sort="jaccard")]
    assert weakest == sorted(weakest)
    assert Counter(weakest)[1.0] < len(weakest)
    for after in ("nothing", "0" * 16, "f" * 40):
        with pytest.raises(UsageError, match="no cluster has this id"):
            next(esdedup.clusters(store=store, after=after))
    with pytest.raises(UsageError, match="allowed: size, jaccard"):
        next(esdedup.clusters(store=store, sort="colour"))


TEXTS = [
    "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน!",
    "日本語 の文章。 Really!",
    "One (two) three-four, five.",
    "Straße: 12,5 km",
]
ASKED = [
    *("!", "ภาษา", "ภาษาไทย", "日本", "本", "really!", "one two", "(two)", "two)", "three-four", "three four"),
    *("STRASSE", "straße:", "12", "12,5", "km one"),
]
EXPECTED = {
    "!": "01", "ภาษา": "0", "ภาษาไทย": "0", "日本": "1", "本": "1", "really!": "1", "one two": "2", "(two)": "2",
    "two)": "2", "three-four": "2", "three four": "2", "STRASSE": "", "straße:": "3", "12": "", "12,5": "3",
    "km one": "",
}  # fmt: skip


def test_clusters_by_odd_words(tmp_path: Path, address: str) -> None:
    """A word is one where Unicode says so, and signs count where they are asked for."""
    rows = [(f"r{number}", TEXTS[number // 2]) for number in range(2 * len(TEXTS))]
    esdedup.index(table(tmp_path / "a.tsv", rows), store=address, **SIGNED)
    esdedup.scan(store=address)
    found = [
        "".join(
            str(TEXTS.index(cluster["members"][0]["text"])) for cluster in esdedup.clusters(store=address, text=asked)
        )
        for asked in ASKED
    ]
    assert {asked: "".join(sorted(at)) for asked, at in zip(ASKED, found, strict=True)} == EXPECTED


def test_other_questions_may_come_between_two_clusters(store: Store) -> None:
    for cluster, other in zip(esdedup.clusters(store=store), esdedup.clusters(store=store, min_size=1), strict=True):
        assert cluster == other
        assert esdedup.similar(cluster["members"][0]["text"], store=store)[0]["jaccard"] == 1.0


def test_results_of_another_time_are_not_shown(tmp_path: Path, address: str) -> None:
    path = address
    esdedup.index(table(tmp_path / "a.tsv", records(1, 200)), store=path)
    for ask in (lambda: next(esdedup.clusters(store=path)), lambda: esdedup.overlap(store=path)):
        with pytest.raises(StoreError, match="not scanned yet"):
            ask()
    esdedup.scan(store=path)
    esdedup.index(table(tmp_path / "b.tsv", records(2, 3)), store=path)
    with pytest.raises(StoreError, match="since the last scan"):
        next(esdedup.clusters(store=path))
    assert esdedup.similar(records(2, 3)[0][1], store=path)[0]["jaccard"] == 1.0
