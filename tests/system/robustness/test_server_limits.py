"""A server's answers are bounded however its documents lie: few and large ones, many copies, long records."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

import esdedup
from esdedup.columns.arrays import text_column
from esdedup.errors import StoreLockedError, UsageError
from esdedup.lookup.text_blocks import keys_of
from esdedup.store.elasticsearch.bulk import Bulk
from esdedup.store.elasticsearch.connection import Connection, Pauses
from esdedup.store.elasticsearch.reading import Reader
from tests.support.corpus import corpus
from tests.support.elastic_proxy import Proxy, reset_before
from tests.support.records import records, table
from tests.system.robustness.helpers import ROOT
from tests.system.robustness.on_a_server import HOW, Job

RECORDS: dict[str, Any] = {"unit": "record", "min_chars": 0}


@pytest.fixture
def store(elastic_url: str, elastic_prefix: str) -> str:
    return f"{elastic_url}/{elastic_prefix}"


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many documents each lookup and each slice brought at once."""
    sizes: list[int] = []
    read, matching = Reader._read, Reader.matching

    def noted(*arguments: Any) -> Any:
        hits = read(*arguments)
        sizes.append(len(hits))
        return hits

    def noted_too(*arguments: Any) -> Any:
        for hits in matching(*arguments):
            sizes.append(len(hits))
            yield hits

    monkeypatch.setattr(Reader, "_read", noted)
    monkeypatch.setattr(Reader, "matching", noted_too)
    return sizes


def test_few_large_documents_are_many_slices(
    tmp_path: Path, store: str, held: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esdedup.store.elasticsearch.reading.SLICE", 100)
    for name, seed in (("a", 81), ("b", 82)):
        (tmp_path / f"{name}.txt").write_text("\n\n".join(corpus(seed, 400)), "utf-8")
    sources = [tmp_path / "a.txt", tmp_path / "b.txt"]
    whole = esdedup.run(*sources, out=tmp_path / "whole", min_chars=0)
    assert esdedup.run(*sources, out=tmp_path / "out", store=store, min_chars=0)["counts"] == whole["counts"]
    assert max(held) <= 110  # counts in large numbers are off by a few
    assert (tmp_path / "out" / "clusters.jsonl").read_bytes() == (tmp_path / "whole" / "clusters.jsonl").read_bytes()


@pytest.mark.full
def test_many_copies_come_in_pages(
    tmp_path: Path, store: str, held: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esdedup.store.elasticsearch.reading.PAGE", 60)
    monkeypatch.setattr("esdedup.store.elasticsearch.reading.SLICE", 300)
    rows = [("x", corpus(83, 1)[0])] * 500 + records(84, 3000)
    source = table(tmp_path / "a.tsv", rows)
    esdedup.run(source, out=tmp_path / "whole", **RECORDS)
    esdedup.run(source, out=tmp_path / "out", store=store, **RECORDS)
    assert max(held) <= 330
    assert (tmp_path / "out" / "clusters.jsonl").read_bytes() == (tmp_path / "whole" / "clusters.jsonl").read_bytes()


def test_similar_to_long_records(tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esdedup.store.elasticsearch.answers.ANSWER_BYTES", 200_000)
    text = " ".join(corpus(85, 60))
    source = table(tmp_path / "a.tsv", [(f"r{number}", f"{text} {number}") for number in range(80)])
    for place in (store, str(tmp_path / "s.duckdb")):
        esdedup.index(source, store=place, max_chars=100_000, **RECORDS)
    there, here = (esdedup.similar(text, store=place, limit=100) for place in (store, tmp_path / "s.duckdb"))
    assert len(there) == 80
    assert there == here


def test_suggest_does_not_ask_for_every_page(
    tmp_path: Path, store: str, elastic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = corpus(86, 3)[0][:64].ljust(64, "x")
    rows = [(f"r{number}", f"{opening} {text}") for number, (_, text) in enumerate(records(87, 3000))]
    esdedup.index(table(tmp_path / "a.tsv", rows), store=store, **RECORDS)
    asked, ask = [], Connection.ask

    def noted(connection: Connection, method: str, path: str, *arguments: Any, **options: Any) -> Any:
        asked.append(path)
        return ask(connection, method, path, *arguments, **options)

    monkeypatch.setattr(Connection, "ask", noted)
    [first] = esdedup.suggest(opening, store=store, limit=1)
    texts = [text for _, text in rows]
    assert first["text"] == min(zip(keys_of(text_column(texts)), texts, strict=True))[1]
    assert sum(path.endswith("/_search") for path in asked) < 12  # 64 by 64 it would be 47


def test_patience_is_counted_from_the_first_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esdedup.store.elasticsearch.connection.PATIENCE", 0.3)
    pauses = Pauses()
    time.sleep(0.4)
    assert pauses.wait()
    while pauses.wait():
        pass


def test_an_interrupt_ends_waiting_for_a_server(job: Job, elastic_url: str, elastic_prefix: str) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        refused = proxy.when(lambda request: request.path.endswith("/_bulk"), reset_before, times=None)
        child = subprocess.Popen(
            [sys.executable, "-m", "esdedup", *job.arguments("index", store)],
            env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while refused.seen < 3:
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, errors = child.communicate(timeout=60)
        assert child.returncode == 130, errors
        assert time.monotonic() - began < 20  # patience would be two minutes


def test_who_opens_a_store_leaves_a_scan_alone(
    job: Job, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job.commands(store)["index"]()
    finish = Bulk.finish

    def met(bulk: Bulk) -> None:
        finish(bulk)
        if "-members-" in bulk._index:
            with pytest.raises(StoreLockedError):
                esdedup.open_store(store, {})

    with monkeypatch.context() as patch:
        patch.setattr(Bulk, "finish", met)
        job.commands(store)["scan"]()
    job.check("scan", store, tmp_path)


@pytest.mark.parametrize(("at_first", "later", "copies"), [("2", None, "2"), (None, "2", "2"), ("2", "0", "0")])
def test_copies_are_as_they_were_asked_for_last(
    tmp_path: Path,
    store: str,
    elastic_url: str,
    elastic_prefix: str,
    monkeypatch: pytest.MonkeyPatch,
    at_first: str | None,
    later: str | None,
    copies: str,
) -> None:
    for told, seed in ((at_first, 88), (later, 89)):
        monkeypatch.delenv("ES_REPLICAS", raising=False)
        if told is not None:
            monkeypatch.setenv("ES_REPLICAS", told)
        esdedup.index(table(tmp_path / f"{seed}.tsv", records(seed, 20)), store=store, **HOW)
    with Elasticsearch(elastic_url) as client:
        [told] = client.indices.get_settings(index=f"{elastic_prefix}-sentences").values()
    assert told["settings"]["index"]["number_of_replicas"] == copies
    assert told["settings"]["index"].get("auto_expand_replicas") in (None, "false")


def test_documents_are_written_with_the_codec_that_was_asked_for(
    tmp_path: Path, store: str, elastic_url: str, elastic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = table(tmp_path / "first.tsv", records(90, 20))
    monkeypatch.setenv("ES_CODEC", "zip")
    with pytest.raises(UsageError, match=r"^ES_CODEC is 'zip'; allowed: default, best_compression, legacy_best"):
        esdedup.index(source, store=store, **HOW)
    monkeypatch.setenv("ES_CODEC", "legacy_best_compression")
    job = esdedup.index(source, store=store, **HOW)
    assert job["counts"]["sentences_kept"] == 20
    with Elasticsearch(elastic_url) as client:
        [told] = client.indices.get_settings(index=f"{elastic_prefix}-sentences").values()
    assert told["settings"]["index"]["codec"] == "legacy_best_compression"
