"""The language of documents and sentences: where it comes from, and what it is for. On both stores."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import esdedup
from esdedup.errors import StoreSettingsError, UsageError
from tests.support.dumps import dump
from tests.support.languages import TEXTS
from tests.support.stores import RunJob, Stores

_TIME = "2020-01-01T00:00:00Z"


def _texts(language: str, number: int) -> list[str]:
    """Texts that are long enough to tell their language. Those of one language are near-duplicates."""
    return [f"{TEXTS[language].strip()} {TEXTS[language].strip()} ({number})"]


def test_a_page_is_in_the_language_of_its_dump_or_in_its_own(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    pages = {f"{code} {number}": [(_TIME, _texts(code, number))] for code in ("de", "et", "el") for number in (1, 2)}
    source = dump(tmp_path / "wiki.xml", {**pages, "List": [(_TIME, ["42; 43; 44."])]}, lang="de-AT")
    run(source, out=tmp_path, min_chars=0)
    store = stores.at(tmp_path)
    languages = esdedup.status(store=store)["languages"]
    assert languages["de"] == sum(languages.values()) - languages["et"] - languages["el"]
    assert set(languages) == {"de", "et", "el"}
    with esdedup.open_store(store, read_only=True) as opened:
        assert opened.corpus.sentence("7:0")["language"] == "de"  # type: ignore[index]
        assert opened.corpus.sentence("3:0")["language"] == "et"  # type: ignore[index]


@pytest.mark.both_stores
def test_questions_about_one_language(
    tmp_path: Path, run: RunJob, stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [
        {"id": f"{code}{number}", "text": _texts(code, number)[0]} for code in ("en", "de", "uk") for number in (1, 2)
    ]
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    run(source, out=tmp_path, jaccard=0.5)
    store = stores.at(tmp_path)
    assert len(list(esdedup.clusters(store=store))) == 3
    for code in ("en", "de", "uk"):
        [cluster] = esdedup.clusters(store=store, lang=code)
        assert [member["id"] for member in cluster["members"]] == [f"{code}1", f"{code}2"]
        text = _texts(code, 1)[0]
        for hits in (
            esdedup.similar(text, store=store, lang=code),
            esdedup.suggest(text[:20], store=store, lang=code),
        ):
            assert [hit.id for hit in hits] == [f"{code}1", f"{code}2"]
            assert {hit.language for hit in hits} == {code}
        other = "de" if code == "en" else "en"
        assert not esdedup.similar(text, store=store, lang=other)
        assert not esdedup.suggest(text[:20], store=store, lang=other)
    assert "no sentence is in" not in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, "esdedup"):
        assert not esdedup.similar(rows[0]["text"], store=store, lang="fr")
        assert not esdedup.suggest("The", store=store, lang="fr")
        assert not list(esdedup.clusters(store=store, lang="fr"))
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "no sentence is in fr; there are de, en, uk"
    ] * 3
    for wrong in ("German", "", "auto", 7):
        with pytest.raises(UsageError, match="give a language code such as en, de or zh"):
            esdedup.suggest("The", store=store, lang=wrong)  # type: ignore[arg-type]


def test_a_typed_language_is_that_of_all_and_is_frozen(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    source = dump(tmp_path / "wiki.xml", {"One": [(_TIME, _texts("de", 1))]}, lang="de")
    run(source, out=tmp_path, lang="fr")
    store = stores.at(tmp_path)
    assert list(esdedup.status(store=store)["languages"]) == ["fr"]
    with pytest.raises(StoreSettingsError, match="the store has lang fr, you requested auto"):
        esdedup.index(source, store=store, lang="auto")


def test_stems_are_english_unless_a_language_is_named(
    tmp_path: Path, run: RunJob, stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    source = dump(tmp_path / "wiki.xml", {"One": [(_TIME, _texts("de", 1))]}, lang="de")
    run(source, out=tmp_path, normalize="stem")
    [warning] = [record.getMessage() for record in caplog.records]
    assert "most texts are in de, but their words are stemmed as English" in warning
    caplog.clear()
    run(source, out=tmp_path, normalize="stem", lang="de", fresh=True)
    assert not caplog.records


def test_pages_of_a_history_are_in_the_language_of_the_dump(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    revisions = [(_TIME, _texts("de", 1)), ("2021-01-01T00:00:00Z", [*_texts("de", 1), *_texts("en", 2)])]
    run(dump(tmp_path / "wiki.xml", {"One": revisions}, lang="de"), out=tmp_path, revisions="all")
    assert list(esdedup.status(store=stores.at(tmp_path))["languages"]) == ["de"]


def test_sentences_are_dropped_where_they_were_found(tmp_path: Path) -> None:
    """A page is split again when it is written: in the language in which it was split before."""
    page = "Die Burg wurde im 19. Jahrhundert von den Bürgern der Stadt am Fluss wieder aufgebaut und bewohnt."
    other = "Am Fluss stand am 3. Oktober eine Mühle, und niemand weiß heute, wer sie gebaut und betrieben hat."
    pages = {title: [(_TIME, [f"{one} {two}"])] for title, one, two in [("A", page, other), ("B", other, page)]}
    source = dump(tmp_path / "wiki.xml", pages, lang="de")
    done = esdedup.dedupe(source, out=tmp_path / "out")
    assert done["records"]["dropped"]["identical"] == 2
    [row] = [json.loads(line) for line in (tmp_path / "out" / "wiki.jsonl").read_text("utf-8").splitlines()]
    assert row["text"] == f"{page} {other}"
