"""Sentences that somebody changes or deletes on the server count as changed documents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

import esdedup
from tests.support.commands import said
from tests.support.full import few
from tests.support.records import table
from tests.system.robustness.on_a_server import HOW, Job, results

pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def client(elastic_url: str) -> Any:
    with Elasticsearch(elastic_url) as client:
        yield client


@pytest.fixture
def store(elastic_url: str, elastic_prefix: str, job: Job) -> str:
    """A store that was indexed and scanned."""
    address = f"{elastic_url}/{elastic_prefix}"
    for verb in ("index", "scan"):
        job.commands(address)[verb]()
    return address


def sentence_of(client: Elasticsearch, prefix: str, document: str) -> dict[str, Any]:
    found = client.search(index=f"{prefix}-sentences", query={"term": {"document": document}})
    [hit] = found["hits"]["hits"]
    return dict(hit)


def rows_of(source: Path) -> list[tuple[str, str]]:
    return [(key, text) for key, _, text in (line.partition("\t") for line in source.read_text("utf-8").splitlines())]


@pytest.mark.parametrize("whole", few([False, True], 0), ids=["update", "index"])
def test_another_text_is_compared_and_reading_again_brings_the_old_one_back(
    client: Elasticsearch, store: str, elastic_prefix: str, job: Job, tmp_path: Path, whole: bool
) -> None:
    new = job.texts[20] + " Or nearly so."
    hit = sentence_of(client, elastic_prefix, "news/r40")
    if whole:
        client.index(index=hit["_index"], id=hit["_id"], document={**hit["_source"], "text": new}, refresh=True)
    else:
        client.update(index=hit["_index"], id=hit["_id"], doc={"text": f"  {new}\n"}, refresh=True)
    done = said("scan", "--store", store)
    assert done.code == 0, done.err
    assert "re-signed 1 sentences changed outside esdedup" in done.err
    assert "1 of them have another text; index their source again to bring back its text" in done.err
    # as if the source had had that text
    rows = [(key, new if key == "r40" else text) for key, text in rows_of(job.a)]
    source = table(tmp_path / "a.tsv", rows)
    other = str(tmp_path / "other.duckdb")
    esdedup.index(source, store=other, **HOW)
    esdedup.scan(store=other)
    assert results(store, tmp_path / "out") == results(other, tmp_path / "expected")
    assert results(store, tmp_path / "out") != job.expected["scan"]
    assert "re-signed" not in said("scan", "--store", store).err
    again = esdedup.index(job.a, store=store, **HOW)
    assert again["counts"]["replaced"] == 1
    job.commands(store)["scan"]()
    job.check("scan", store, tmp_path / "out")


@pytest.mark.full
def test_a_text_that_is_not_compared_goes(
    client: Elasticsearch, store: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    hit = sentence_of(client, elastic_prefix, "news/r40")
    client.update(index=hit["_index"], id=hit["_id"], doc={"text": " "}, refresh=True)
    done = said("scan", "--store", store)
    assert done.code == 0, done.err
    assert "removed 1 sentences whose text was changed outside esdedup" in done.err
    assert esdedup.index(job.a, store=store, **HOW)["counts"]["replaced"] == 1
    job.commands(store)["scan"]()
    job.check("scan", store, tmp_path / "out")


def test_deleted_sentences_are_counted_and_come_back(
    client: Elasticsearch, store: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    for document in ("news/r40", "news/r41"):
        hit = sentence_of(client, elastic_prefix, document)
        client.delete(index=hit["_index"], id=hit["_id"], refresh=True)
    done = said("scan", "--store", store)
    assert done.code == 0, done.err
    told = "2 sentences were deleted outside esdedup; index their source again to bring them back"
    assert told in done.err
    assert told not in said("scan", "--store", store).err
    # as if the source had not had them
    rows = [(key, text) for key, text in rows_of(job.a) if key not in ("r40", "r41")]
    other = str(tmp_path / "other.duckdb")
    esdedup.index(table(tmp_path / "a.tsv", rows), store=other, **HOW)
    esdedup.scan(store=other)
    assert results(store, tmp_path / "out") == results(other, tmp_path / "expected")
    assert esdedup.index(job.a, store=store, **HOW)["counts"]["replaced"] == 2
    job.commands(store)["scan"]()
    job.check("scan", store, tmp_path / "out")


@pytest.mark.full
def test_only_what_was_written_since_is_read(
    client: Elasticsearch, store: str, elastic_prefix: str, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan after an update reads the one sentence again, and none after that."""
    from esdedup.store.elasticsearch.mending import Mender

    read: list[int] = []
    sign = Mender._sign_page
    monkeypatch.setattr(Mender, "_sign_page", lambda self, hits: read.append(len(hits)) or sign(self, hits))
    job.commands(store)["scan"]()
    assert read == []
    hit = sentence_of(client, elastic_prefix, "news/r40")
    client.update(index=hit["_index"], id=hit["_id"], doc={"text": job.texts[3]}, refresh=True)
    job.commands(store)["scan"]()
    assert sum(read) <= 2  # by its missing tokens, and by its number in the sequence
    read.clear()
    job.commands(store)["scan"]()
    assert read == []


def test_a_killed_repair_goes_on(
    client: Elasticsearch,
    store: str,
    elastic_prefix: str,
    job: Job,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from esdedup.store.elasticsearch.mending import Mender

    hits = client.search(index=f"{elastic_prefix}-sentences", size=200, sort=["_doc"])["hits"]["hits"]
    for hit in hits:
        document = {name: value for name, value in hit["_source"].items() if name != "tokens"}
        client.index(index=hit["_index"], id=hit["_id"], document=document)
    client.indices.refresh(index=f"{elastic_prefix}-sentences")
    sign, pages = Mender._sign_page, 0

    def once(self: Mender, hits: Any) -> Any:
        nonlocal pages
        pages += 1
        if pages == 2:
            raise KeyboardInterrupt
        return sign(self, hits)

    with monkeypatch.context() as patch:
        patch.setattr(Mender, "_sign_page", once)
        assert said("scan", "--store", store).code == 130
    done = said("scan", "--store", store)
    assert done.code == 0, done.err
    assert re.search("re-signed [0-9]+ sentences", done.err)
    job.check("scan", store, tmp_path / "out")


@pytest.mark.parametrize("verb", ["scan", "index"])
@pytest.mark.full
def test_a_deleted_document_is_made_again(
    verb: str, client: Elasticsearch, store: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    index = f"{elastic_prefix}-documents"
    hits = client.search(index=index, query={"terms": {"key": ["r40", "r41"]}})["hits"]["hits"]
    for hit in hits:
        client.delete(index=hit["_index"], id=hit["_id"], refresh=True)
    told = "2 documents were deleted outside esdedup and made again from their sentences"
    done = said(*(one for one in job.arguments(verb, store) if one != "--quiet"))
    assert (done.code, told in done.err) == (0, True), done.err
    again = said("scan", "--store", store)
    assert (again.code, told in again.err) == (0, False)
    job.check("scan", store, tmp_path / "out")
    held = client.count(index=f"{elastic_prefix}-sentences")["count"]
    job.commands(store)["index"]()
    assert client.count(index=f"{elastic_prefix}-sentences")["count"] == held
    assert said("doctor", "--store", store).code == 0


@pytest.mark.parametrize("kind", ["documents", "sentences"])
@pytest.mark.full
def test_one_index_of_an_older_copy(
    kind: str, client: Elasticsearch, elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    """Documents and sentences no longer fit, though their numbers may."""
    store = f"{elastic_url}/{elastic_prefix}"
    job.commands(store)["index"]()
    [name] = client.indices.get(index=f"{elastic_prefix}-{kind}")
    older = client.search(index=name, size=10_000)["hits"]["hits"]
    esdedup.add(job.b, store=store, **HOW)
    job.commands(store)["remove"]()
    newer = client.search(index=name, size=10_000, source=False)["hits"]["hits"]
    actions: list[Any] = [{"delete": {"_id": hit["_id"]}} for hit in newer]
    for hit in older:
        actions += [{"index": {"_id": hit["_id"]}}, hit["_source"]]
    client.bulk(index=name, operations=actions, refresh=True)
    for verb in ("index", "scan", "add", "remove"):
        job.commands(store)[verb]()
    job.check("remove", store, tmp_path / "out")
    assert said("doctor", "--store", store).code == 0


def test_questions_are_answered_before_a_scan_has_seen_the_change(
    client: Elasticsearch, store: str, elastic_prefix: str, job: Job
) -> None:
    hit = sentence_of(client, elastic_prefix, "news/r40")
    client.update(index=hit["_index"], id=hit["_id"], doc={"text": "The zebra sleeps beside the quay."}, refresh=True)
    assert esdedup.suggest("the zebra sl", store=store)
    assert esdedup.similar(job.texts[70], store=store)
    answer = said("scan", "--store", store)
    assert "re-signed 1 sentences changed outside esdedup" in answer.err


def test_a_store_gets_a_lookup_later_and_keeps_its_results(
    client: Elasticsearch, elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    store, sentences = f"{elastic_url}/{elastic_prefix}", f"{elastic_prefix}-sentences"
    esdedup.index(job.a, store=store, lookup=False, **HOW)
    esdedup.scan(store=store)
    [described] = client.indices.get(index=sentences).values()
    assert "start" not in described["mappings"]["properties"]
    assert esdedup.suggest(job.texts[20][:30], store=store)
    [described] = client.indices.get(index=sentences).values()
    assert "start" in described["mappings"]["properties"]
    assert results(store, tmp_path / "out") == job.expected["scan"]
    done = said("scan", "--store", store)  # nothing is read again
    assert done.code == 0
    assert "sentences" not in done.err
    assert said("doctor", "--store", store).code == 0
    for verb in ("add", "remove"):
        job.commands(store)[verb]()
    job.check("remove", store, tmp_path / "later")
