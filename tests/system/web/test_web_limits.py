"""A cluster that is too large for a page, and lists that are cut: nothing is left out in silence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.web.answers import browse, check, meanings
from tests.support.records import table
from tests.system.web.inside import running
from tests.system.web.served import Site

MOST = 3


@pytest.fixture
def small(collections: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server for which a cluster of more than three sentences is too large."""
    for module in (browse, meanings):
        monkeypatch.setattr(module, "MOST_MEMBERS", MOST)
    with running(collections(kind).store) as (site, _):
        yield site


def clusters(site: Site, **query: Any) -> list[dict[str, Any]]:
    return list(esdedup.clusters(store=site.store, limit=None, **query))


def some_of_each_kind(site: Site) -> list[dict[str, Any]]:
    """Of each kind two clusters that fit and two that do not."""
    found: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    for cluster in clusters(site):
        found.setdefault((cluster["kind"], cluster["size"] <= MOST), []).append(cluster)
    return [cluster for alike in found.values() for cluster in alike[:2]]


def test_a_large_cluster_is_shown_by_what_stands_for_it(small: Site) -> None:
    seen = set()
    for cluster in some_of_each_kind(small):
        told = small.api(f"/clusters/{cluster['id']}")
        page = small.ask(f"/clusters/{cluster['id']}").text
        assert told["whole"] == (cluster["size"] <= MOST)
        assert ("too many sentences for a page" in page) != told["whole"]
        assert told["size"] == cluster["size"]
        assert told["min_jaccard"] == cluster["min_jaccard"]
        if told["whole"]:
            continue
        seen.add(cluster["kind"])
        of = {member["id"]: member["text"] for member in cluster["members"]}
        [first, *others] = [row["members"][0]["id"] for row in told["aligned"]["rows"]]
        assert of[first] == of[cluster["representative"]]
        assert {of[one] for one in (first, *others)} == {
            of[one] for one in (cluster["representative"], *cluster["weakest"])
        }
        if cluster["distinct"] > 1:
            assert {told["weakest"]["a"]["id"], told["weakest"]["b"]["id"]} == set(cluster["weakest"])
        assert told["lineage"] == told["contradictions"] == []
        assert sum(row["copies"] for row in told["aligned"]["rows"]) == len(told["aligned"]["rows"])
    assert len(seen) > 2


def test_contradictions_of_a_large_cluster_are_pointed_at(small: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    most = min(len(row["values"]) for row in esdedup.drift(store=small.store))
    for module in (browse, meanings):
        monkeypatch.setattr(module, "MOST_MEMBERS", most - 1)
    expected = esdedup.drift(store=small.store).to_dicts()
    sizes = {cluster["id"]: cluster["size"] for cluster in clusters(small)}
    told: list[dict[str, Any]] = []
    cut: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = small.api("/contradictions", **after)
        shown = small.ask("/contradictions", **after).text
        told += page["contradictions"]
        cut += page["cut"]
        assert ("Clusters with more contradictions" in shown) == bool(page["cut"])
        if page["after"] is None:
            break
        after = {"after": page["after"]}
    large = {row["cluster"] for row in expected if sizes[row["cluster"]] > most - 1}
    assert large
    assert {head["id"] for head in cut} == large
    assert {row["cluster"] for row in told} == {row["cluster"] for row in expected} - large
    one = min(large)
    count = sum(row["cluster"] == one for row in expected)
    assert small.api(f"/clusters/{one}")["more_contradictions"] == count
    assert "esdedup drift" in small.ask(f"/clusters/{one}").text


def test_only_the_surest_contradictions_of_a_cluster_are_shown(
    collections: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (browse, meanings):
        monkeypatch.setattr(module, "MOST_CONTRADICTIONS", 0)
    monkeypatch.setattr(browse, "MOST_ANCESTRY", 1)
    with running(collections(kind).store) as (site, _):
        [first, *_] = esdedup.drift(store=site.store)
        told = site.api(f"/clusters/{first['cluster']}")
        assert (told["contradictions"], told["more_contradictions"] > 0) == ([], True)
        listed = site.api("/contradictions")
        assert listed["contradictions"] == []
        assert first["cluster"] in {head["id"] for head in listed["cut"]}
        tree = next(one for one in clusters(site, sort="copies"))
        told = site.api(f"/clusters/{tree['id']}")
        [whole] = [one for one in esdedup.lineage(store=site.store)["trees"] if one["cluster"] == tree["id"]]
        assert (len(told["lineage"]), told["more_lineage"]) == (1, len(whole["members"]) - 1)
        assert "esdedup lineage" in site.ask(f"/clusters/{tree['id']}").text


def test_the_table_of_a_large_template_is_not_shown(small: Site) -> None:
    [table, *_] = esdedup.templates(store=small.store)
    assert len(table.sentences) > MOST
    told = small.api(f"/templates/{table.cluster}")
    assert told["rows"] == told["columns"] == []
    assert told["more_rows"] == len(table.sentences)
    assert told["frame"]
    assert "too many for a page" in small.ask(f"/templates/{table.cluster}").text
    other = next(one["id"] for one in clusters(small) if one["kind"] != "template" and one["size"] > MOST)
    assert small.ask(f"/api/templates/{other}").status == 404


def test_files_have_an_end_too(small: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browse, "MOST_EXPORTED", MOST)
    for cluster in some_of_each_kind(small):
        fits, page = cluster["size"] <= MOST, f"/clusters/{cluster['id']}"
        for form in ("json", "csv"):
            told = small.ask(f"/api{page}/export", form=form)
            assert told.status == (200 if fits else 400)
            assert fits or "clusters.jsonl" in told.json["error"]
        assert (f"/api{page}/export" in small.ask(page).text) == fits
        if cluster["kind"] == "template":
            told = small.ask(f"/api/templates/{cluster['id']}/export")
            assert told.status == (200 if fits else 400)
            assert fits or "esdedup templates" in told.json["error"]


def test_a_page_of_contradictions_has_a_bound_of_all_its_clusters(
    collections: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(collections(kind).store) as (site, _):
        expected = {row["cluster"] for row in esdedup.drift(store=site.store)}
        bound = max(one["size"] for one in clusters(site) if one["id"] in expected)
        monkeypatch.setattr(meanings, "MOST_TOGETHER", bound)
        told, cut, after = set(), set(), None
        while True:
            page = site.api("/contradictions", **({"after": after} if after else {}))
            listed = {row["cluster"] for row in page["contradictions"]}
            told |= listed
            cut |= {head["id"] for head in page["cut"]}
            sizes = {one["id"]: one["size"] for one in clusters(site)}
            assert sum(sizes[one] for one in listed) <= bound
            after = page["after"]
            if after is None:
                break
        assert told
        assert told | cut == expected


FRAME = (
    "The parish has a school for the children of the village, a market on the first Tuesday of each month, a bridge "
    "across the river, and {} houses."
)


@pytest.mark.both_stores
def test_texts_that_share_much_with_very_many(
    kind: str, request: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [(f"p{at}", FRAME.format(100 + at)) for at in range(120)]
    rows += [("one", "Nobody else has ever said what this sentence says of the tall lighthouse in the northern bay.")]
    rows += [
        (f"q{at}", f"The keeper of the old lighthouse lives in one of the tall houses, and that is house {at}.")
        for at in range(10, 90)
    ]
    store = str(tmp_path / "s.duckdb")
    if kind == "server":
        url = request.getfixturevalue("elastic_url")
        store = f"{url}/{request.getfixturevalue('elastic_prefix')}"
    esdedup.run(table(tmp_path / "a.tsv", rows), out=tmp_path / "out", store=store, unit="sentence", workers=1)
    with esdedup.open_store(store, read_only=True) as opened:
        whole = check.check(opened, rows[7][1])
        assert (whole["matching"], whole["left_out"], whole["similar"][0]["text"]) == (120, 0, rows[7][1])
        text = " ".join(text for _, text in rows)
        every = check.check_text(opened, text)
        monkeypatch.setattr(check, "MOST_COMPARED", 20)
        monkeypatch.setattr(check, "_COMPARED", 10)
        some = check.check(opened, rows[7][1])
        assert (some["matching"], some["left_out"], some["similar"][0]["text"]) == (20, 100, rows[7][1])
        assert some["more_documents"]
        typing = check.check(opened, rows[7][1].rstrip("."))
        assert (typing["matching"], typing["similar"][0]["text"]) == (20, rows[7][1])
        assert 1 <= typing["left_out"] <= 100
        assert typing["completions"][0]["text"] == rows[7][1]
        told = check.check_text(opened, text)
        assert [one["best"] and one["best"]["text"] for one in told["sentences"]] == [
            one["best"] and one["best"]["text"] for one in every["sentences"]
        ]
        assert told["copied"] == every["copied"] == told["looked_up"] > 1
        ends = check.check(opened, rows[-40][1].rstrip("."))  # what differs is a short last word
        assert (ends["similar"][0]["text"], ends["similar"][0]["similarity"] > 0.99) == (rows[-40][1], True)
        monkeypatch.setattr(check, "SECONDS", -1.0)
        late = check.check_text(opened, text)
        assert (late["sentences"], late["left_out"]) == ([], len(every["sentences"]))
