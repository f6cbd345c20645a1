"""Indices that an earlier version has made take more disk: they are read, and made anew before they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.errors import StoreVersionError
from esdedup.store.elasticsearch import resigning, rows, sentence_queries
from esdedup.store.elasticsearch.generations import OpenGeneration
from esdedup.store.elasticsearch.indices import Indices
from tests.support.commands import said
from tests.system.robustness.helpers import one_line
from tests.system.robustness.on_a_server import Job, results

pytestmark = pytest.mark.usefixtures("small")

EARLIER = {
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
}  # fmt: skip


def index_as_before(job: Job, store: str) -> None:
    """Run the first command of a job as a version would that had these fields."""
    mapping, computed = Indices.mapping, rows.computed_fields

    def earlier(self: Indices, kind: str) -> dict[str, Any]:
        now = mapping(self, kind)
        if kind == "sentences":
            now["properties"] |= EARLIER
            now["_source"]["excludes"].append("head")
        return now

    def with_heads(*given: Any, **options: Any) -> list[dict[str, Any]]:
        return [fields | {"head": fields["start"]} for fields in computed(*given, **options)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Indices, "mapping", earlier)
        patch.setattr(OpenGeneration, "require_current", lambda _: None)
        for module in (rows, resigning):
            patch.setattr(module, "computed_fields", with_heads)
        patch.setattr(rows, "START_CHARS", sentence_queries._EARLIER_START[1])
        job.commands(store)["index"]()


def test_it_is_read_and_made_anew(elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path) -> None:
    store = f"{elastic_url}/{elastic_prefix}"
    index_as_before(job, store)
    commands = job.commands(store)
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
