"""Kinds, contradictions and templates out of a store, the same for each kind of store."""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.analysis.drift import contradictions
from esdedup.analysis.templates import write
from esdedup.errors import SourceError, StoreError, UsageError
from esdedup.output import meaning_files as reviews
from esdedup.output.meaning_files import write_tables
from esdedup.store.cluster_queries import ClusterQuery
from tests.support.dumps import dump
from tests.support.records import table
from tests.support.stores import RunJob, Stores
from tests.support.towns import FRAME, LOOSE, TOWNS, pages
from tests.support.written import lines


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    return dump(tmp_path / "wiki.xml", pages())


@pytest.mark.both_stores
def test_kinds_are_counted_filtered_and_sorted(tmp_path: Path, wiki: Path, run: RunJob, stores: Stores) -> None:
    summary = run(wiki, out=tmp_path / "out", **LOOSE)
    assert summary["kinds"]["template"] == 1
    assert summary["kinds"]["drift"] == 1
    assert {line["kind"] for line in lines(tmp_path / "out" / "clusters.jsonl")} == set(summary["kinds"])
    store = stores.at(tmp_path / "out")
    [template] = esdedup.clusters(store=store, kind="template")
    assert template["size"] == len(TOWNS)
    assert [row["kind"] for row in esdedup.clusters(store=store, kind="template", limit=1)] == ["template"]
    assert list(esdedup.clusters(store=store, kind="references")) == []
    sure = [row["kind_confidence"] for row in esdedup.clusters(store=store, sort="confidence")]
    assert sure == sorted(sure, reverse=True)
    first, *rest = esdedup.clusters(store=store, sort="confidence")
    assert list(esdedup.clusters(store=store, sort="confidence", after=first["id"], limit=50)) == rest
    with pytest.raises(UsageError, match="kind is 'nonsense'"):
        esdedup.clusters(store=store, kind="nonsense")


def test_without_kinds(tmp_path: Path, wiki: Path, run: RunJob, stores: Stores) -> None:
    summary = run(wiki, out=tmp_path / "out", kinds=False, **LOOSE)
    assert summary["kinds"] == {}
    store = stores.at(tmp_path / "out")
    assert {row["kind"] for row in esdedup.clusters(store=store)} == {None}
    with pytest.raises(StoreError, match="--kinds"):
        list(esdedup.clusters(store=store, kind="drift"))
    esdedup.scan(store=store, jaccard=0.5)
    assert list(esdedup.clusters(store=store, kind="drift"))


def test_contradictions(tmp_path: Path, wiki: Path, run: RunJob, stores: Stores) -> None:
    run(wiki, out=tmp_path / "out", **LOOSE)
    store = stores.at(tmp_path / "out")
    [row] = esdedup.drift(store=store)
    assert (row["type"], abs(row["difference"])) == ("number", 18)
    told = {value["value"]: [one["title"] for one in value["sentences"]] for value in row["values"]}
    assert told == {"35": ["Oram"], "53": ["Silver"]}
    assert row["values"][row["newest"]]["value"] == "53"
    assert esdedup.drift(store=store, since="2021-01-01") == [row]
    assert esdedup.drift(store=store, since="2022-01-01") == []
    assert esdedup.drift(store=store, limit=0) == []
    with pytest.raises(UsageError, match="2024-05-31"):
        esdedup.drift(store=store, since="yesterday")
    assert "[[:Oram]]" in reviews.wikitext([row])
    assert "**53**" in reviews.markdown([row])


def test_nothing_in_a_review_is_markup() -> None:
    value = {"value": "{{x}}<b>", "count": 1, "sentences": [
        {"title": "a]]b|c", "document": "1", "source": "s", "revision": None, "timestamp": None}]}  # fmt: skip
    row = {
        "frame": "''[[x]]'' </nowiki> *a*",
        "slot": "n",
        "fact": "number",
        "confidence": 0.5,
        "majority": None,
        "newest": None,
    }
    text = reviews.wikitext([row | {"values": [value]}])
    assert text.count("</nowiki>") == text.count("<nowiki>") == 4  # frame, value, title, source
    assert "&lt;/nowiki&gt;" in text
    assert "<nowiki>a]]b|c</nowiki>" in text
    named = {**value, "sentences": [{**value["sentences"][0], "title": "Ab", "source": "{{s}}", "timestamp": "~~~~"}]}
    assert "[[:Ab]] (<nowiki>{{s}}</nowiki>, <nowiki>~~~~</nowiki>)" in reviews.wikitext([row | {"values": [named]}])
    assert r"\*a\*" in reviews.markdown([row | {"values": [value]}])


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_templates_are_tables_and_tables_are_sentences(
    tmp_path: Path, wiki: Path, run: RunJob, stores: Stores, form: str
) -> None:
    run(wiki, out=tmp_path / "out", **LOOSE)
    store = stores.at(tmp_path / "out")
    [template] = esdedup.templates(store=store)
    assert template.frame == FRAME
    assert [(slot.name, slot.type) for slot in template.columns] == [("subject", "name"), ("number", "number")]
    assert dict(zip(template.columns[0].cells, template.columns[1].cells, strict=True)) == TOWNS
    assert template.columns[1].values == tuple(
        int(TOWNS[name or ""].replace(",", "")) for name in template.columns[0].cells
    )
    assert all(template.fits)
    [listing, path] = write_tables([template], tmp_path / "tables", form)
    assert json.loads(listing.read_text("utf-8"))["fit"] == len(TOWNS)
    if form == "csv":
        texts = {
            member["text"]
            for cluster in esdedup.clusters(store=store, kind="template")
            for member in cluster["members"]
        }
        assert set(esdedup.fill(FRAME, path)) == texts
        with path.open(encoding="utf-8", newline="") as lines:
            assert {row["number_value"] for row in csv.DictReader(lines)} == {
                n.replace(",", "") for n in TOWNS.values()
            }
    assert list(esdedup.templates(store=store, min_subjects=6)) == []


def test_rows_that_deviate_are_told(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    texts = [write(FRAME, {"subject": name, "number": count}) for name, count in TOWNS.items()]
    texts[2] = texts[2].replace("The town", "the Town")
    run(table(tmp_path / "a.tsv", list(zip(TOWNS, texts, strict=True))), out=tmp_path / "out", **LOOSE)
    [template] = esdedup.templates(store=stores.at(tmp_path / "out"))
    assert sorted(template.fits) == [False, True, True, True, True]


def test_tables_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        list(esdedup.fill(FRAME, tmp_path / "nowhere.csv"))
    (tmp_path / "bad.csv").write_bytes(b"subject\n\xff\n")
    with pytest.raises(SourceError, match="UTF-8"):
        list(esdedup.fill(FRAME, tmp_path / "bad.csv"))
    (tmp_path / "few.csv").write_text("subject\nAram\n")
    with pytest.raises(UsageError, match="no such column"):
        list(esdedup.fill(FRAME, tmp_path / "few.csv"))


def test_dedupe_keeps_what_is_of_other_kinds(tmp_path: Path, wiki: Path) -> None:
    whole = esdedup.dedupe(wiki, out=tmp_path / "all", **LOOSE)
    kept = esdedup.dedupe(wiki, out=tmp_path / "some", kinds=["drift", "copyediting"], **LOOSE)
    assert 0 < kept["sentences_dropped"] < whole["sentences_dropped"]
    assert whole["sentences_dropped"] - kept["sentences_dropped"] == len(TOWNS) - 1
    with pytest.raises(UsageError, match="kinds is 'none'"):
        esdedup.dedupe(wiki, out=tmp_path / "x", kinds=["none"])


@pytest.mark.both_stores
def test_an_add_judges_what_it_touches(tmp_path: Path, wiki: Path, run: RunJob, stores: Stores) -> None:
    run(wiki, out=tmp_path / "out", **LOOSE)
    store = stores.at(tmp_path / "out")
    more = {"Farrow": [("2020-01-01T00:00:00Z", [write(FRAME, {"subject": "Farrow", "number": "31"})])]}
    esdedup.add(dump(tmp_path / "more.xml", more), store=store)
    [template] = esdedup.templates(store=store)
    assert set(template.columns[0].cells) == TOWNS.keys() - {"Arlen"} | {"Farrow"}  # page 1 is another one now


def test_sentences_of_a_template_may_contradict_each_other(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    other = {"List of towns": [("2020-01-01T00:00:00Z", [write(FRAME, {"subject": "Elst", "number": "19"})])]}
    run(dump(tmp_path / "wiki.xml", pages() | other), out=tmp_path / "out", **LOOSE)
    rows = [row for row in esdedup.drift(store=stores.at(tmp_path / "out")) if "{subject}" in row["frame"]]
    assert [sorted(value["value"] for value in row["values"]) for row in rows] == [["1,234,567", "19"]]


def test_titles_that_are_empty_are_none(tmp_path: Path, run: RunJob) -> None:
    texts = {name: write(FRAME, {"subject": name, "number": count}) for name, count in TOWNS.items()}
    rows = [json.dumps({"id": name, "title": "", "text": text}) for name, text in texts.items()]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    assert run(tmp_path / "a.jsonl", out=tmp_path / "out", **LOOSE)["kinds"] == {"template": 1}


def test_ids_that_end_in_a_number_hide_no_contradiction(tmp_path: Path) -> None:
    """They are titles where columns decide, and none where texts are looked at one by one."""
    said = "At the beginning of the year the old municipality of {} had a population of {} people in its {} districts"
    cities = (("Paris", "three", "2,100,000", "2,400,000"), ("London", "four", "8,100,000", "8,700,000"),
              ("Madrid", "five", "3,100,000", "3,600,000"))  # fmt: skip
    rows = [(city, count, number) for city, number, *counts in cities for count in counts]
    (tmp_path / "a.jsonl").write_text("".join(
        json.dumps({"id": f"https://x.org/{row[0].lower()}/{at}", "text": said.format(*row)}) + "\n"
        for at, row in enumerate(rows, 1)
    ))  # fmt: skip
    esdedup.run(tmp_path / "a.jsonl", out=tmp_path / "out", jaccard=0.5, report=False)
    found = list(esdedup.drift(store=tmp_path / "out" / "store.duckdb"))
    assert len(found) == 3
    with esdedup.open_store(tmp_path / "out" / "store.duckdb") as store:
        assert store.results.contradictions() == 3


def test_what_is_found_in_many_clusters_is_what_each_has_alone(tmp_path: Path) -> None:
    """Most are ruled out by columns, the others are aligned together."""
    wiki = files("esdedup.demo") / "data" / "wiki.xml.bz2"
    esdedup.run(str(wiki), out=tmp_path, revisions="all", jaccard=0.6, report=False)
    with esdedup.open_store(tmp_path / "store.duckdb") as store:
        counts = dict(store.results.db.rows("SELECT id, contradictions FROM clusters WHERE contradictions IS NOT NULL"))
        clusters = [
            row for row in store.results.cluster_rows(ClusterQuery(shared=True)) if int(row["id"], 16) in counts
        ]
    assert len(clusters) == len(counts) > 40
    assert 0 < sum(count > 0 for count in counts.values()) < len(counts)
    for cluster in clusters:
        assert len(contradictions(cluster)) == counts[int(cluster["id"], 16)], cluster["id"]


def _held(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return *row[:-1], row[-1] or []


PEOPLE = "the village has {} inhabitants and a weekly market, as was counted by {}"
COUNTED = ("Abraham Zebulon Fitzwilliam Montgomery", "Ximena Yolanda Quartz Birkenhead Oyelaran")
AREA = "The municipality covers {} hectares of fields and of woods around the old church"
CHAIN = (
    "Some old bridge over the river was built by the monks of the abbey in the shade of tall old oaks",
    "The first bridge over the river was built by the monks of the abbey in the shade of tall old oaks",
    "The first bridge over the river was built by the monks of the abbey in the shade of few young elms",
)
FACT = "The great tower of Castle Oram over the valley was finished by Duke Albert in the year {}."


@pytest.mark.both_stores
def test_an_add_judges_again_what_depends_on_it(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    """What two documents share and how common a frame is count, also for clusters that are not touched."""

    def pages_of(begin: int, end: int) -> dict[str, list[str]]:
        return {
            f"Page{at}": [PEOPLE.format(7 * at + 100, COUNTED[at % 2]), AREA.format(31 * at)]
            for at in range(begin, end)
        }

    # only if little changes, not all is scanned again
    many = {f"Other {at}": [f"{at} " + " ".join(f"w{at * word:x}" for word in range(1, 20))] for at in range(1, 300)}
    first = many | pages_of(0, 6) | {"Oram": [FACT.format(1312), CHAIN[0]], "Albert": [FACT.format(1412), CHAIN[2]]}
    second = pages_of(6, 12) | {"Bridges": [CHAIN[1]]}

    def records(name: str, said: dict[str, list[str]]) -> Path:
        texts = [json.dumps({"id": title, "title": title, "text": "\n\n".join(some)}) for title, some in said.items()]
        (tmp_path / name).write_text("\n".join(texts))
        return tmp_path / name

    options = {"jaccard": 0.7, "unit": "sentence", "id_column": "id", "title_column": "title", "text_column": "text"}
    one, two = records("a.jsonl", first), records("b.jsonl", second)
    run(one, out=tmp_path / "grown", **options)
    esdedup.add(two, store=stores.at(tmp_path / "grown"), id_column="id", title_column="title", text_column="text")
    run(one, two, out=tmp_path / "whole", **options)
    grown, whole = (stores.at(tmp_path / name) for name in ("grown", "whole"))
    kept = "id, kind, kind_confidence, kind_reason, contradiction, frame_number, frames, shared"
    found = []
    for store in (grown, whole):
        with esdedup.open_store(store) as opened:
            rows_of = opened.results.db.rows(f"SELECT {kept} FROM clusters ORDER BY id")
        # documents have other ids, so another order
        found.append([(*row, sorted(zip(some[2::5], some[3::5], strict=True))) for *row, some in map(_held, rows_of)])
    assert found[0] == found[1]
    assert any((row[6] or 1) > 1 for row in found[0])
    assert any(row[4] for row in found[0])
    assert any(row[7] for row in found[0])
    sure = [[(row["cluster"], row["confidence"]) for row in esdedup.drift(store=store)] for store in (grown, whole)]
    assert sure[0] == sure[1] != []
