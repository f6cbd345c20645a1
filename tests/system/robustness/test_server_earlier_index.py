"""Indices that an earlier version has made take more disk: they are read, and made anew before they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

import esdedup
from esdedup.columns.arrays import text_column
from esdedup.errors import StoreVersionError
from esdedup.matching.groups import NO_TOKEN
from esdedup.store.elasticsearch.search_words import folded
from esdedup.store.elasticsearch.token_words import tokens_of_texts
from esdedup.text.search_form import search_form
from tests.support.commands import said
from tests.system.robustness.helpers import one_line
from tests.system.robustness.on_a_server import Job, results

pytestmark = pytest.mark.usefixtures("small")

EARLIER: dict[str, Any] = {
    "position": {"type": "integer"},
    "text": {"type": "text"},
    "title": {"type": "keyword", "ignore_above": 8000, "fields": {"text": {"type": "text"}}},
    "revision": {"type": "long"},
    "last_revision": {"type": "long"},
    "start": {"type": "keyword", "ignore_above": 8000, "doc_values": False},
    "head": {"type": "keyword", "index": False},
    "folded": {
        "type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": False,
        "index_prefixes": {"min_chars": 2, "max_chars": 5},
    },
    "tokens": {"type": "long"},
    "bytes": {"type": "integer", "index": False},
    "place": {"type": "long", "index": False},
}  # fmt: skip


def as_before(client: Elasticsearch, prefix: str, store: str) -> None:
    """Make the index of sentences as an earlier version would have left it."""
    [(name, made)] = client.indices.get(index=f"{prefix}-sentences").items()
    hits = client.search(index=name, size=10_000)["hits"]["hits"]
    client.indices.delete(index=name)
    mapping = made["mappings"]
    mapping["properties"] = {field: how for field, how in mapping["properties"].items() if field != "forms"} | EARLIER
    mapping["_source"] = {"excludes": ["head", "start", "folded", "tokens", "bytes"]}
    client.indices.create(index=name, mappings=mapping, aliases=made["aliases"])
    actions: list[Any] = []
    with esdedup.open_store(store, read_only=True) as opened:
        for hit in hits:
            row = {field: value for field, value in hit["_source"].items() if field != "forms"}
            [form] = search_form(text_column([row["text"]])).to_pylist()
            begin = form.replace(" ", "")[:32]
            tokens, _ = tokens_of_texts([row["tokens"]], opened.signing.tokens)
            held = {"tokens": tokens[tokens != NO_TOKEN].tolist(), "start": begin, "head": begin}
            actions += [{"index": {"_id": hit["_id"]}}, row | held | {"folded": folded(form) or "-"}]
        assert not client.bulk(index=name, operations=actions, refresh=True)["errors"]
    with esdedup.open_store(store, read_only=True) as opened:
        opened.corpus._mender.remember()  # type: ignore[attr-defined]


def test_it_is_read_and_made_anew(elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path) -> None:
    store = f"{elastic_url}/{elastic_prefix}"
    commands = job.commands(store)
    commands["index"]()
    with Elasticsearch(elastic_url) as client:
        as_before(client, elastic_prefix, store)
    commands["scan"]()
    job.check("scan", store, tmp_path / "scan")
    asked = job.texts[::40]
    found = [esdedup.suggest(text[:40], store=store, limit=3) for text in asked]

    for verb in ("add", "remove"):
        with pytest.raises(StoreVersionError, match="doctor --repair"):
            commands[verb]()
    line = one_line(said(*job.arguments("add", store)))
    assert f"{store}: an earlier version has indexed its sentences, which can be read but not added to" in line
    job.check("scan", store, tmp_path / "again")
    [check] = [one for one in json.loads(said("doctor", "--store", store, "--json").out)["checks"] if one["problem"]]
    assert check["problem"].endswith("was made by an earlier version, and takes more disk")

    assert said("doctor", "--repair", "--store", store).code == 0
    assert [esdedup.suggest(text[:40], store=store, limit=3) for text in asked] == found
    for verb in ("scan", "add", "remove"):
        commands[verb]()
        job.check(verb, store, tmp_path / f"{verb} anew")
    assert results(store, tmp_path / "all") == job.expected["remove"]
