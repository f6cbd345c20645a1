"""A cluster that is too large for a page, and lists that are cut: nothing is left out in silence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import esdedup
from esdedup.web import exports
from esdedup.web.answers import browse, meanings
from tests.web.inside import running
from tests.web.served import Site

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


def test_a_large_cluster_is_shown_by_what_stands_for_it(small: Site) -> None:
    seen = set()
    for cluster in clusters(small):
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


def test_contradictions_of_a_large_cluster_are_pointed_at(small: Site) -> None:
    expected = esdedup.drift(store=small.store)
    sizes = {cluster["id"]: cluster["size"] for cluster in clusters(small)}
    told: list[dict[str, Any]] = []
    cut: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = small.api("/contradictions", **after)
        shown = small.ask("/contradictions", **after).text
        told += page["contradictions"]
        cut += page["cut"]
        assert ("More than are listed here" in shown) == bool(page["cut"])
        if page["after"] is None:
            break
        after = {"after": page["after"]}
    large = {row["cluster"] for row in expected if sizes[row["cluster"]] > MOST}
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


def test_files_have_an_end_too(collections: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = lambda store, identity: browse.whole_cluster(store, identity, MOST)  # noqa: E731
    monkeypatch.setattr(exports, "whole_cluster", whole)
    with running(collections("embedded").store) as (site, _):
        for cluster in clusters(site):
            told = site.ask(f"/api/clusters/{cluster['id']}/export")
            assert told.status == (200 if cluster["size"] <= MOST else 400)
            if cluster["size"] > MOST:
                assert "clusters.jsonl" in told.json["error"]
