"""The saved objects on a node: about fields that a real store has, and with the numbers that it tells itself."""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from elasticsearch import Elasticsearch

import esdedup
from scripts.wiki.writing import generate_files
from tests.support.elastic import clear
from tests.support.records import table
from tests.system.kibana.objects import (
    CHARTS,
    CONTROL_PANELS,
    CONTROLS,
    DASHBOARD,
    OBJECTS,
    PANELS,
    SEARCHES,
    VIEWS,
    Json,
    chart,
    parsed,
    referred,
    source_of,
    view_of,
)
from tests.system.kibana.requests import aggregations, clauses, dsl, rows, sorting


class Known(NamedTuple):
    """A store on a node, of which one cluster is ignored, with an older generation of it beside."""

    client: Elasticsearch
    prefix: str
    clusters: list[Json]
    ignored: Json

    def ask(self, view: str, body: Json) -> Json:
        """What a search in a data view answers."""
        body = {"track_total_hits": True, **body}
        answer = self.client.search(index=self.pattern(view), body=body).body
        assert not answer["timed_out"]
        assert answer["_shards"]["failed"] == 0
        return dict(answer)

    def pattern(self, view: str) -> str:
        """The pattern of a data view in this store's own file."""
        own = OBJECTS["index-pattern", view]["id"].replace("wiki", self.prefix)
        return str(parsed(self.prefix)["index-pattern", own]["attributes"]["title"])

    def fields(self, view: str) -> dict[str, Json]:
        """The capabilities of each field that a data view has: its type, and what can be done with it."""
        told = self.client.field_caps(index=self.pattern(view), fields="*").body["fields"]
        assert all(len(types) == 1 for types in told.values()), "a field of two types"
        return {name: next(iter(types.values())) for name, types in told.items()}


@pytest.fixture(scope="module")
def known(elastic_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    folder = tmp_path_factory.mktemp("kibana")
    prefix = f"t-{uuid.uuid4().hex[:8]}"
    store = f"{elastic_url}/{prefix}"
    try:
        generate_files(120, 1, folder / "old.xml")
        generate_files(150, 3, folder / "demo.xml")
        esdedup.index(folder / "old.xml", store=store, source_name="old")
        esdedup.scan(store=store)
        esdedup.index(folder / "demo.xml", store=store, fresh=True, keep_generations=1, source_name="demo")
        esdedup.scan(store=store)
        ignored = next(iter(esdedup.clusters(store=store, kind="drift")))
        (folder / "ignored.txt").write_text(ignored["id"] + "\n")
        esdedup.scan(store=store, ignore=str(folder / "ignored.txt"))
        clusters = list(esdedup.clusters(store=store))
        assert ignored["id"] not in {cluster["id"] for cluster in clusters}
        with Elasticsearch(elastic_url) as client:
            yield Known(client, prefix, clusters, ignored)
    finally:
        clear(elastic_url, prefix)


def test_a_data_view_is_one_index_and_no_older_one(known: Known) -> None:
    for view in VIEWS:
        pattern = known.pattern(view)
        assert known.client.indices.exists_alias(name=pattern)
        assert len(known.client.indices.get_alias(name=pattern)) == 1
        assert len(known.client.indices.get(index=f"{pattern}-2*")) == 2  # the older generation is there, and not seen


def test_fields_that_data_views_speak_of_are_there(known: Known) -> None:
    for identifier, view in VIEWS.items():
        fields = known.fields(identifier)
        formats = json.loads(view["attributes"]["fieldFormatMap"])
        assert formats.keys() <= fields.keys()
        for name, form in formats.items():
            assert (form["id"], fields[name]["type"]) in {("number", "double"), ("url", "keyword")}
        assert {one["value"] for one in json.loads(view["attributes"]["sourceFilters"])} <= fields.keys()


def test_numbers_that_a_browser_would_round_are_left_out(known: Known) -> None:
    asked = 0
    for identifier, view in VIEWS.items():
        hidden = {one["value"] for one in json.loads(view["attributes"]["sourceFilters"])}
        fields = known.fields(identifier)
        shown = [
            name for name, told in fields.items() if told["type"] == "long" and name not in hidden and name[0] != "_"
        ]
        ends = {f"{end} {name}": {end: {"field": name}} for name in shown for end in ("min", "max")}
        asked += len(ends)
        if ends:
            answer = known.ask(identifier, {"size": 0, "aggs": ends})
            assert all(abs(one["value"] or 0) < 2**53 for one in answer["aggregations"].values())
    assert asked


@pytest.mark.parametrize("name", CHARTS)
def test_what_a_chart_counts_can_be_counted(name: str, known: Known) -> None:
    one = chart(name)
    fields = known.fields(one.view)
    for column in one.layer["columns"].values():
        if column["sourceField"] != "___records___":
            assert fields[column["sourceField"]]["aggregatable"], column
    for field, _, _ in clauses(one.state["query"]):
        assert fields[field]["searchable"]


@pytest.mark.parametrize("search", SEARCHES.values(), ids=list(SEARCHES))
def test_what_a_search_shows_and_sorts_by_is_there(search: Json, known: Known) -> None:
    fields = known.fields(view_of(search))
    assert set(search["attributes"]["columns"]) <= fields.keys()
    for field, direction in search["attributes"]["sort"]:
        assert fields[field]["aggregatable"], field
        assert direction in ("asc", "desc")
    for field, _, _ in clauses(source_of(search)["query"]):
        assert fields[field]["searchable"]
    hidden = {one["value"] for one in json.loads(VIEWS[view_of(search)]["attributes"]["sourceFilters"])}
    assert not hidden & set(search["attributes"]["columns"])


def answered(name: str, known: Known) -> list[Json]:
    """The rows of a chart."""
    one = chart(name)
    body = {"size": 0, "query": dsl(one.state["query"]), "aggs": aggregations(one.layer)}
    return rows(one.layer, known.ask(one.view, body)["aggregations"])


def interval(size: int) -> str:
    """The interval that a cluster's size lies in, as charts name it."""
    for one in chart("sizes").layer["columns"]["size"]["params"]["ranges"]:
        if one["from"] <= size and (one["to"] is None or size < one["to"]):
            return str(one["label"])
    raise AssertionError(size)


def test_cluster_sizes_are_the_stores(known: Known) -> None:
    counted = {row["size"]: row["clusters"] for row in answered("sizes", known) if row["clusters"]}
    assert counted == Counter(interval(cluster["size"]) for cluster in known.clusters)
    assert len(counted) > 2


def test_kinds_are_the_stores(known: Known) -> None:
    counted = answered("kinds", known)
    assert {row["kind"]: row["clusters"] for row in counted} == Counter(cluster["kind"] for cluster in known.clusters)
    assert [row["clusters"] for row in counted] == sorted((row["clusters"] for row in counted), reverse=True)
    assert len(counted) > 3


def test_kinds_over_size_are_the_stores(known: Known) -> None:
    counted = {
        (row["kind"], row["size"]): row["clusters"] for row in answered("kinds-over-size", known) if row["clusters"]
    }
    assert counted == Counter((cluster["kind"], interval(cluster["size"])) for cluster in known.clusters)


def test_articles_that_share_most_are_the_stores(known: Known) -> None:
    sentences: Counter[str] = Counter()
    clusters: dict[str, set[str]] = defaultdict(set)
    for cluster in known.clusters:
        for member in cluster["members"]:
            sentences[member["title"]] += 1
            clusters[member["title"]].add(cluster["id"])
    shown = answered("articles", known)
    assert len(shown) == min(50, len(clusters))
    for row in shown:
        assert (row["clusters"], row["sentences"]) == (len(clusters[row["title"]]), sentences[row["title"]])
    most = sorted(map(len, clusters.values()), reverse=True)
    assert [row["clusters"] for row in shown] == most[: len(shown)]
    assert len(set(most)) > 1


def test_articles_that_share_most_with_one_are_the_stores(known: Known) -> None:
    titles = {cluster["id"]: {member["title"] for member in cluster["members"]} for cluster in known.clusters}
    article = Counter(title for held in titles.values() for title in held).most_common(1)[0][0]
    one = chart("together")
    for chosen in (None, article):
        query = dsl(one.state["query"])
        query = query if chosen is None else {"bool": {"filter": [query, {"term": {"titles": chosen}}]}}
        answer = known.ask(one.view, {"size": 0, "query": query, "aggs": aggregations(one.layer)})
        shown = {row["title"]: row["clusters"] for row in rows(one.layer, answer["aggregations"])}
        counted = Counter(title for held in titles.values() if chosen in {None, *held} for title in held)
        assert list(shown.values()) == [count for _, count in counted.most_common(50)]
        assert all(counted[title] == count for title, count in shown.items())
    assert len(shown) > 1


def test_clusters_list_their_articles(known: Known) -> None:
    answer = known.ask(chart("together").view, {"size": 10_000})
    listed = {hit["_source"]["id"]: hit["_source"] for hit in answer["hits"]["hits"]}
    for cluster in known.clusters:
        titles = sorted({member["title"] for member in cluster["members"]})
        documents = sorted({member["document"] for member in cluster["members"]})
        told = listed[cluster["id"]]
        assert (told["titles"], told["title_count"]) == (titles, len(titles))
        assert (told["documents"], told["document_count"]) == (documents, len(documents))


def test_clusters_of_documents_without_titles_list_none(elastic_url: str, elastic_prefix: str, tmp_path: Path) -> None:
    source = table(tmp_path / "untitled.tsv", [(key, "the ferry crosses the lake at noon") for key in "ab"])
    esdedup.index(source, store=f"{elastic_url}/{elastic_prefix}", unit="record", quiet=True)
    esdedup.scan(store=f"{elastic_url}/{elastic_prefix}", quiet=True)
    with Elasticsearch(elastic_url) as client:
        [hit] = client.search(index=f"{elastic_prefix}-clusters")["hits"]["hits"]
    assert not hit["_source"].get("titles")


def test_one_cluster_that_is_ignored_would_change_the_numbers(known: Known) -> None:
    one = chart("kinds")
    answer = known.ask(one.view, {"size": 0, "aggs": aggregations(one.layer)})
    everything = {row["kind"]: row["clusters"] for row in rows(one.layer, answer["aggregations"])}
    assert everything != Counter(cluster["kind"] for cluster in known.clusters)


def found(search: str, known: Known, query: Json | None = None) -> list[Json]:
    """The documents of a saved search, with its own query or another."""
    one = SEARCHES[search]
    body = {
        "size": 10_000,
        "query": query or dsl(source_of(one)["query"]),
        "sort": sorting(one["attributes"]["sort"]),
    }
    return [hit["_source"] for hit in known.ask(view_of(one), body)["hits"]["hits"]]


def test_contradictions_are_the_stores(known: Known) -> None:
    shown = found("esdedup-wiki-contradictions", known)
    listed = [place["cluster"] for place in esdedup.drift(store=f"{address(known)}/{known.prefix}")]
    assert {one["id"]: one["contradictions"] for one in shown} == Counter(listed)
    assert shown[0]["contradiction"] == max(one["contradiction"] for one in shown)
    assert [one["contradiction"] for one in shown] == sorted((one["contradiction"] for one in shown), reverse=True)
    assert known.ignored["id"] not in listed


def address(known: Known) -> str:
    [node] = known.client.transport.node_pool.all()
    return node.base_url


def test_sentences_of_clusters_are_the_stores(known: Known) -> None:
    shown = found("esdedup-wiki-clustered", known)
    assert len(shown) == sum(cluster["size"] for cluster in known.clusters)
    assert shown[0]["size"] == max(cluster["size"] for cluster in known.clusters)
    blocks: dict[str, list[Json]] = {}
    for at, one in enumerate(shown):
        blocks.setdefault(one["cluster"], []).append(one)
        assert len(blocks[one["cluster"]]) == 1 or shown[at - 1]["cluster"] == one["cluster"]  # all together
    assert all(block[0]["representative"] for block in blocks.values())
    for cluster in known.clusters:
        assert {one["id"] for one in blocks[cluster["id"]]} == {member["id"] for member in cluster["members"]}


# ---- from a cluster's id to its sentences


def test_a_clusters_id_leads_to_its_sentences(known: Known) -> None:
    links = {
        (identifier, field): form["params"]
        for identifier, view in VIEWS.items()
        for field, form in json.loads(view["attributes"]["fieldFormatMap"]).items()
        if form["id"] == "url"
    }
    assert {(view.rpartition("-")[2], field) for view, field in links} == {
        ("members", "cluster"), ("clusters", "id"), ("pairs", "cluster"),
    }  # fmt: skip
    for (view, field), params in links.items():
        [hit] = known.ask(view, {"size": 1})["hits"]["hits"]
        cluster = hit["_source"][field]
        assert params["labelTemplate"] == "{{value}}"
        link = params["urlTemplate"].replace("{{value}}", cluster)
        match = re.fullmatch(r"\.\./app/discover#/view/([^?]+)\?_a=\(query:\(language:(\w+),query:'([^'!]+)'\)\)", link)
        assert match, link
        search, language, query = match.groups()
        members = found(search, known, dsl({"language": language, "query": query}))
        assert {one["cluster"] for one in members} == {cluster}
        assert len(members) == members[0]["size"]


# ---- controls


@pytest.mark.parametrize("name", CONTROL_PANELS)
def test_a_control_offers_what_the_store_has(name: str, known: Known) -> None:
    panel = CONTROL_PANELS[name]
    view = referred(DASHBOARD)[f"controlGroup_{name}:{CONTROLS[panel['type']]}"]
    field = panel["explicitInput"]["fieldName"]
    told = known.fields(view)[field]
    assert told["aggregatable"]
    if panel["type"] == "optionsListControl":
        assert told["type"] == "keyword"
        asked = {"size": 0, "aggs": {"offered": {"terms": {"field": field, "size": 1000}}}}
        buckets = known.ask(view, asked)["aggregations"]["offered"]["buckets"]
        every = [*known.clusters, known.ignored]
        offered = {
            "title": {member["title"] for cluster in every for member in cluster["members"]},
            "kind": {one["kind"] for one in every},
            "language": {"en"},
        }
        assert {one["key"] for one in buckets} == offered[field]
        value = buckets[0]["key"]
        chosen: Json = {"terms": {field: [value]}}
    else:
        assert told["type"] == "long"
        asked = {"size": 0, "aggs": {"least": {"min": {"field": field}}, "most": {"max": {"field": field}}}}
        ends = known.ask(view, asked)["aggregations"]
        sizes = [cluster["size"] for cluster in known.clusters]
        assert (ends["least"]["value"], ends["most"]["value"]) == (min(sizes), max(sizes))
        chosen = {"range": {field: {"gte": 3, "lte": 5}}}
    # what is chosen restricts every chart, but for the one about clusters, as all of them are about the same view
    assert {chart(one).view for one in CHARTS if one != "together"} == {view}
    assert known.ask(view, {"size": 0, "query": chosen})["hits"]["total"]["value"] > 0


def test_words_are_for_the_search_bar(known: Known) -> None:
    """Texts cannot be offered as a list, but be searched for in every view that the dashboard shows."""
    for view in {one["id"] for one in DASHBOARD["references"] if one["type"] == "index-pattern"} | {
        view_of(search) for search in SEARCHES.values()
    }:
        assert known.fields(view)["text"] | {"searchable": True, "aggregatable": False} == known.fields(view)["text"]
    member = known.clusters[0]["members"][0]
    word = max(re.findall(r"[a-z]+", member["text"]), key=len)
    members = found("esdedup-wiki-clustered", known, dsl({"language": "kuery", "query": f"text : {word}"}))
    assert member["id"] in {one["id"] for one in members}
    assert "text : " in PANELS["hint"]["embeddableConfig"]["savedVis"]["params"]["markdown"]
