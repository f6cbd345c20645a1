"""Corrections that did not arrive, and passages without their source, the same for each kind of store."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

import esdedup
from esdedup.output import meaning_files
from tests.support.dumps import Revision, dump
from tests.support.stores import RunJob, Stores

EARLY, BETWEEN, LATE = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z", "2022-01-01T00:00:00Z"
LOOSE = {"jaccard": 0.6, "report": False}


def tall(metres: int, place: str = "Port Elmar") -> str:
    return f"The lighthouse of {place} on the northern coast is {metres} metres high and was built of grey granite."


def own(title: str) -> str:
    """A sentence that no other page has."""
    letters = " ".join(sorted(title.lower()) * 2)
    return f"{title} has a page of its own, on which {letters} stand in this order."


WIKI: dict[str, list[Revision]] = {
    "Port Elmar": [(EARLY, [own("Port Elmar"), tall(41)]), (BETWEEN, [own("Port Elmar"), tall(47)])],
    "Lights": [(EARLY, [own("Lights"), tall(41)])],
    "Granite": [(EARLY, [own("Granite"), tall(41)]), (LATE, [own("Granite"), tall(47)])],
    "Old news": [(EARLY, [own("Old news"), tall(41)]), (LATE, [own("Old news")])],
}
"""`Lights` still has the old height; `Granite` has followed, and `Old news` has dropped the sentence."""


@pytest.mark.both_stores
def test_who_still_says_what_was_corrected(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    run(dump(tmp_path / "wiki.xml", WIKI), out=tmp_path / "out", revisions="all", **LOOSE)
    [row] = esdedup.drift(store=stores.at(tmp_path / "out"), stale=True)
    stale = row.stale
    assert (stale.page, stale.old, stale.new, stale.timestamp) == ("Port Elmar", "41 metres", "47 metres", BETWEEN)
    assert [place.title for place in stale.standing] == ["Lights"]
    assert (stale.before, stale.after) == (tall(41), tall(47))


@pytest.mark.both_stores
def test_two_months_of_a_wiki(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    months = [
        dump(tmp_path / f"{name}.xml", {title: [revisions[at]] for title, revisions in WIKI.items()})
        for name, at in (("may", 0), ("june", -1))
    ]
    run(*months, out=tmp_path / "out", **LOOSE)
    [row] = esdedup.drift(store=stores.at(tmp_path / "out"), stale=True)
    assert row.stale.new == "47 metres"
    assert [(place.source, place.title) for place in row.stale.standing] == [("june", "Lights")]


def test_another_edition_is_another_page(tmp_path: Path) -> None:
    """Pages of one title in two wikis, and a value that was changed twice."""
    heights = [(EARLY, [tall(41)]), (BETWEEN, [tall(47)]), (LATE, [tall(49)])]
    editions = [
        dump(tmp_path / "plain.xml", {"Port Elmar": heights}, wiki="plainwiki"),
        dump(tmp_path / "short.xml", {"Port Elmar": heights[:1], "Lights": heights[1:2]}, wiki="shortwiki"),
    ]
    esdedup.run(*editions, out=tmp_path / "out", revisions="all", **LOOSE)
    found = esdedup.drift(store=tmp_path / "out" / "store.duckdb", stale=True)
    told = [
        (
            row.stale.old,
            row.stale.new,
            row.stale.timestamp,
            [(place.source, place.title) for place in row.stale.standing],
        )
        for row in found
    ]
    assert told == [
        ("41 metres", "49 metres", LATE, [("shortwiki", "Port Elmar")]),
        ("47 metres", "49 metres", LATE, [("shortwiki", "Lights")]),
    ]


def test_what_is_no_correction(tmp_path: Path) -> None:
    """A page that was vandalized for a while, one month, and equal values of different things."""
    back = [(EARLY, [tall(41)]), (BETWEEN, [tall(410)]), (LATE, [tall(41)])]
    pages = {"Port Elmar": back, "Lights": [(EARLY, [own("Lights"), tall(410)])]}
    esdedup.run(dump(tmp_path / "a.xml", pages), out=tmp_path / "a", revisions="all", **LOOSE)
    assert list(esdedup.drift(store=tmp_path / "a" / "store.duckdb", stale=True)) == []
    esdedup.run(dump(tmp_path / "b.xml", WIKI), out=tmp_path / "b", **LOOSE)
    assert list(esdedup.drift(store=tmp_path / "b" / "store.duckdb", stale=True)) == []


def test_lists_and_feeds(tmp_path: Path) -> None:
    pages = WIKI | {"Port <Elmar> & [[co]]": WIKI["Port Elmar"]}
    esdedup.run(dump(tmp_path / "wiki.xml", pages), out=tmp_path / "out", revisions="all", **LOOSE)
    rows = esdedup.drift(store=tmp_path / "out" / "store.duckdb", stale=True).to_dicts()
    for written in (meaning_files.wikitext(rows), meaning_files.markdown(rows)):
        assert "Corrections that did not arrive" in written
        assert "41 metres" in written
        assert "Lights" in written
    [entry] = etree.fromstring(meaning_files.atom_feed(rows, "http://127.0.0.1:8765/")).findall("{*}entry")
    assert entry.findtext("{*}updated") == BETWEEN
    assert entry.findtext("{*}title").endswith(": 41 metres → 47 metres")
    odd = [row | {"stale": row["stale"] | {"timestamp": "yesterday"}} for row in rows]
    assert b"yesterday" not in meaning_files.atom_feed(odd, "http://127.0.0.1:8765/")
    empty = etree.fromstring(meaning_files.atom_feed([], "http://127.0.0.1:8765/"))
    assert empty.findtext("{*}updated") == "1970-01-01T00:00:00Z"


PASSAGE = [
    "The monks of the abbey brewed a dark beer that was sold in every market of the whole valley.",
    "Their cellar was dug into the rock below the cloister and kept its coolness in the summers.",
    "A guild of coopers settled beside the gate and made barrels of the oaks of the upper forest.",
]
COPIES: dict[str, list[Revision]] = {
    "Abbey": [(EARLY, [own("Abbey"), *PASSAGE])],
    "Beer": [(BETWEEN, [own("Beer"), *PASSAGE])],
    "Guilds": [(BETWEEN, [f"{own('Guilds')} See [[abbey]].", *PASSAGE])],
    "Cellars": [(LATE, [own("Cellars"), *PASSAGE[:2]])],
    "Monks": [(LATE, [f"{own('Monks')} See [[Beer]].", *PASSAGE])],
    "Malt": [(BETWEEN, [own("Malt"), *PASSAGE]), (LATE, [own("Malt")])],
    "All": [(LATE, [f"{own('All')} {' '.join(f'[[Page {at}]]' for at in range(9_000))}", *PASSAGE])],
}
"""`Malt` has it no more, and of `All`, with so many links, it cannot be known."""


@pytest.mark.both_stores
def test_passages_without_their_source(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    """A link to the older page is enough; two sentences are no passage."""
    run(dump(tmp_path / "wiki.xml", COPIES), out=tmp_path / "out", revisions="all", report=False)
    found = esdedup.lineage(store=stores.at(tmp_path / "out"), unattributed=True)
    assert found.ordered
    assert [(one.title, one.source_title) for one in found.unattributed] == [("Beer", "Abbey"), ("Monks", "Abbey")]
    assert [list(one.texts) for one in found.unattributed] == [PASSAGE, PASSAGE]
    assert found.uncertain == 1
    assert "unattributed" not in esdedup.lineage(store=stores.at(tmp_path / "out"))


@pytest.mark.both_stores
def test_a_plain_dump_shows_no_order(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    run(dump(tmp_path / "wiki.xml", COPIES), out=tmp_path / "out", report=False)
    found = esdedup.lineage(store=stores.at(tmp_path / "out"))
    assert (found.ordered, found.shared, found.trees) == (False, 3, [])
    assert "unattributed" not in esdedup.lineage(store=stores.at(tmp_path / "out"), unattributed=True)
