"""The made-up wiki: same numbers, same bytes; what is planted stands in the cleaned text; nothing else is alike."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import esdedup
from esdedup.analysis.names import KINDS
from esdedup.errors import UsageError
from esdedup.text.segment import segment
from esdedup.text.splitting import Splitting
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.rules import Names
from scripts.wiki.clauses import generate_sentences
from scripts.wiki.density import REAL, markup_density
from scripts.wiki.english.names import name_of
from scripts.wiki.wiki import generate, page_id

ARTICLES = 60
SHINGLE = 12


def made(articles: int, seed: int = 1) -> tuple[bytes, list[dict[str, Any]]]:
    out, truth = io.BytesIO(), io.StringIO()
    generate(articles, seed, out, truth)
    return out.getvalue(), [json.loads(line) for line in truth.getvalue().splitlines()]


def wikitexts(dump: bytes, revision: int = -1) -> dict[str, str]:
    texts = {}
    for page in etree.fromstring(dump).iterfind("{*}page"):
        if page.findtext("{*}ns") == "0" and page.find("{*}redirect") is None:
            texts[page.findtext("{*}id") or ""] = page.findall("{*}revision")[revision].findtext("{*}text") or ""
    return texts


def sentences_of(dump: bytes, revision: int = -1) -> dict[str, list[str]]:
    cleaner = FastCleaner(Names())
    texts = wikitexts(dump, revision)
    units = segment([cleaner.clean(text) for text in texts.values()], Splitting("sentence", "en"))
    found: dict[str, list[str]] = {document: [] for document in texts}
    documents = list(texts)
    for text, owner in zip(units.texts.to_pylist(), units.document.tolist(), strict=True):
        found[documents[owner]].append(text)
    return found


def shingles(text: str) -> set[str]:
    return {text[start : start + SHINGLE] for start in range(len(text) - SHINGLE + 1)}


@pytest.fixture(scope="module")
def wiki() -> tuple[bytes, list[dict[str, Any]]]:
    return made(ARTICLES)


@pytest.fixture(scope="module")
def found(wiki: tuple[bytes, list[dict[str, Any]]]) -> dict[str, list[str]]:
    return sentences_of(wiki[0])


def test_equal_numbers_give_equal_bytes(wiki: tuple[bytes, list[dict[str, Any]]]) -> None:
    assert made(ARTICLES) == wiki
    assert made(ARTICLES, seed=2)[0] != wiki[0]


def test_first_articles_do_not_depend_on_how_many_follow(wiki: tuple[bytes, list[dict[str, Any]]]) -> None:
    more, _ = made(130)
    assert more.startswith(wiki[0].removesuffix(b"</mediawiki>\n"))


def test_number_of_articles_is_checked() -> None:
    with pytest.raises(UsageError, match="articles is 0"):
        made(0)


def test_every_kind_is_planted(wiki: tuple[bytes, list[dict[str, Any]]]) -> None:
    assert {plant["kind"] for plant in wiki[1]} == set(KINDS) - {"record"}
    assert all(len(plant["members"]) > 1 for plant in wiki[1])
    numbers = [plant["plant"] for plant in wiki[1]]
    assert len(set(numbers)) == len(numbers)


def test_planted_sentences_stand_in_the_cleaned_text(
    wiki: tuple[bytes, list[dict[str, Any]]], found: dict[str, list[str]]
) -> None:
    assert len(found) == ARTICLES
    earlier = sentences_of(wiki[0], 0)
    for plant in wiki[1]:
        for place, member in enumerate(plant["members"]):
            held = earlier if plant["update"] and place == 0 else found
            assert held[member["document"]].count(member["text"]) == 1
            assert 75 <= len(member["text"]) <= 600


def test_facts_of_every_sort_are_planted_and_found(tmp_path: Path) -> None:
    out, truth = tmp_path / "wiki.xml", io.StringIO()
    with out.open("wb") as dump:
        generate(200, 1, dump, truth)
    plants = [json.loads(line) for line in truth.getvalue().splitlines()]
    updates = {member["text"] for plant in plants if plant["update"] for member in plant["members"]}
    in_one_page = [plant for plant in plants if len({member["document"] for member in plant["members"]}) == 1]
    siblings = {member["text"] for plant in in_one_page if not plant["update"] for member in plant["members"]}
    esdedup.run(out, out=tmp_path / "found", revisions="all", workers=1, lookup=False, report=False)
    facts = set()
    for row in esdedup.drift(store=tmp_path / "found" / "store.duckdb"):
        texts = {sentence["text"] for value in row["values"] for sentence in value["sentences"]}
        assert (row["change"] == "update") == (texts <= updates)
        assert not texts & siblings
        facts.add(row["fact"])
    assert {"number", "quantity", "date", "negation"} <= facts
    assert len(siblings) > 6


def test_planted_pairs_are_alike_or_clearly_not(wiki: tuple[bytes, list[dict[str, Any]]]) -> None:
    for plant in wiki[1]:
        texts = sorted({member["text"] for member in plant["members"]})
        for one, two in combinations(map(shingles, texts), 2):
            jaccard = len(one & two) / len(one | two)
            assert jaccard >= 0.88 or 0.4 < jaccard < 0.77, plant


def test_no_other_sentences_are_alike(wiki: tuple[bytes, list[dict[str, Any]]], found: dict[str, list[str]]) -> None:
    planted = {member["text"]: plant["plant"] for plant in wiki[1] for member in plant["members"]}
    texts = sorted({text for sentences in found.values() for text in sentences if 75 <= len(text) <= 600})
    sets = [shingles(text) for text in texts]
    homes = defaultdict(list)
    for place, one in enumerate(sets):
        for shingle in one:
            homes[shingle].append(place)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for places in homes.values():
        for pair in combinations(places, 2):
            shared[pair] += 1
    worst = 0.0
    for (one_place, two_place), count in shared.items():
        one_plant, two_plant = planted.get(texts[one_place]), planted.get(texts[two_place])
        if one_plant is None or one_plant != two_plant:
            worst = max(worst, count / (len(sets[one_place]) + len(sets[two_place]) - count))
    assert 0 < worst < 0.3


def test_sentences_are_as_many_and_as_long_as_in_articles(found: dict[str, list[str]]) -> None:
    kept = [text for sentences in found.values() for text in sentences if 75 <= len(text) <= 600]
    assert 28 <= len(kept) / ARTICLES <= 38


def test_markup_is_as_dense_as_in_real_articles() -> None:
    dump, _ = made(300)
    density = markup_density(wikitexts(dump).values())
    assert density.keys() == REAL.keys()
    for sort, real in REAL.items():
        # tables and comments are few: three hundred articles hold some fifty of each
        assert density[sort] == pytest.approx(real, rel=0.3 if sort in ("tables", "comments") else 0.15), sort


def test_markup_density_counts() -> None:
    density = markup_density(["''a'' [[b]]", "{{c}} <ref>d</ref>\n== e =="])
    assert density["templates"] == pytest.approx(1000 / 37)
    assert density["quotes"] == pytest.approx(2000 / 37)
    assert density["headings"] == density["refs"] == density["links"] == pytest.approx(1000 / 37)
    assert markup_density([])["text"] == 0


def test_pages_that_are_no_articles(wiki: tuple[bytes, list[dict[str, Any]]]) -> None:
    root = etree.fromstring(wiki[0])
    assert root.get("version") == "0.11"
    pages = root.findall("{*}page")
    assert sum(page.find("{*}redirect") is not None for page in pages) == 18
    assert sum(page.findtext("{*}ns") == "1" for page in pages) == 6
    identifiers = [int(page.findtext("{*}id") or 0) for page in pages]
    assert identifiers == sorted(set(identifiers))
    assert list(wikitexts(wiki[0])) == [str(page_id(article)) for article in range(ARTICLES)]
    text = pages[0].findall("{*}revision/{*}text")[-1]
    assert text is not None
    assert text.get("bytes") == str(len((text.text or "").encode()))


def test_memory_does_not_grow_with_the_wiki() -> None:
    class Nowhere(io.RawIOBase):
        def write(self, data: Any) -> int:
            return len(data)

    def peak(articles: int) -> int:
        tracemalloc.start()
        with Nowhere() as out:
            generate(articles, 1, out, io.StringIO())  # type: ignore[arg-type]
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(400)  # what is imported and kept once does not count
    assert peak(400) < peak(100) + 2**20


def test_names_differ() -> None:
    numbers = [*range(5000), *range(589_800, 589_900), 10**9, 10**9 + 1]
    assert len({name_of(number) for number in numbers}) == len(numbers)


def test_generated_sentences_split_where_they_were_joined() -> None:
    made_sentences = list(generate_sentences(2000, 5))
    assert made_sentences == list(generate_sentences(2000, 5))
    units = segment([" ".join(made_sentences)], Splitting("sentence", "en"))
    assert units.texts.to_pylist() == made_sentences
