"""What others do to a store on a server: full disks, changed mappings, dropped indices, and two commands at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

import esdedup
from tests.support.commands import said
from tests.support.corpus import corpus
from tests.support.elastic_proxy import Exchange, Proxy
from tests.support.full import few
from tests.system.robustness.helpers import one_line
from tests.system.robustness.on_a_server import Job, is_bulk

pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def client(elastic_url: str) -> Any:
    with Elasticsearch(elastic_url) as client:
        yield client


def first(do: Callable[[], Any]) -> Callable[[Exchange], None]:
    """Somebody does something before a request is passed on."""

    def first(exchange: Exchange) -> None:
        do()
        exchange.send(exchange.forward())

    return first


def index_of(client: Elasticsearch, prefix: str, kind: str) -> str:
    [index] = client.indices.get_alias(name=f"{prefix}-{kind}")
    return index


@pytest.mark.parametrize(("kind", "block"), few([("sentences", "read_only_allow_delete"), ("state", "write")], 0))
def test_a_full_disk_is_said_at_once(
    client: Elasticsearch, elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, kind: str, block: str
) -> None:
    def lay(value: bool | None) -> None:
        index = index_of(client, elastic_prefix, kind)
        client.indices.put_settings(index=index, settings={f"index.blocks.{block}": value})

    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        proxy.when(is_bulk, first(lambda: lay(True)), after=2)
        clock = time.monotonic()
        line = one_line(said(*job.arguments("index", store)))
        assert time.monotonic() - clock < 30  # waiting would not help, and is a minute or two long
        assert f"{store}: the server does not accept writes (index [{elastic_prefix}-{kind}-" in line
        hint = "its disk is nearly full, or an index is read-only; fix this and run the same command again\n"
        assert line.endswith(hint)
        lay(None)
        for verb in ("index", "scan"):
            job.commands(store)[verb]()
            job.check(verb, store, tmp_path / verb)


def titled(path: Path, texts: list[str], long: set[int]) -> Path:
    """Documents, some of which have titles that are far too long."""
    rows = [
        {"id": f"r{number}", "title": "x" * 40_000 if number in long else f"T {number}", "text": text}
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_documents_that_the_server_refuses_are_kept_and_told_of(
    client: Elasticsearch, elastic_url: str, elastic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, long = corpus(71, 200), {3, 50, 180}
    how = ["--unit", "record", "--min-chars", "0", "--quiet"]
    source = titled(tmp_path / "a.jsonl", texts, long)
    letters = tmp_path / "letters" / "refused.jsonl"
    monkeypatch.setenv("ESDEDUP_DEAD_LETTERS", str(letters))

    def take_titles_of(size: int) -> None:
        for kind in ("sentences", "documents"):
            title = {"type": "keyword", "ignore_above": size, "fields": {"text": {"type": "text"}}}
            client.indices.put_mapping(index=index_of(client, elastic_prefix, kind), properties={"title": title})

    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        command = ["index", source, "--store", store, *how]
        # a long title is not indexed; where somebody has asked for that, the server cannot take it
        proxy.when(is_bulk, first(lambda: take_titles_of(2**31 - 1)))
        line = one_line(said(*command))
        assert line.startswith(f"esdedup: {letters}: No such file or directory; cannot save ")
        assert line.endswith("set ESDEDUP_DEAD_LETTERS to another file and run the same command again\n")
        letters.parent.mkdir()
        take_titles_of(8000)
        proxy.when(is_bulk, first(lambda: take_titles_of(2**31 - 1)))
        answer = said(*command)
        assert answer.code == 1
        assert answer.err.startswith(f"esdedup: {source}: refused by the server, saved in {letters}: ")
        assert "failed to parse field [title]" in answer.err
        assert answer.err.endswith("; the rest is done\n")
        assert answer.err.count("\n") == 1
        # sentences and documents, each with the reason
        told = [json.loads(row) for row in letters.read_text("utf-8").splitlines()]
        assert sorted(one["document"]["number"] >> 32 or one["document"]["number"] for one in told) == sorted(
            [*long] * 2
        )
        assert {one["document"]["text"] for one in told if "text" in one["document"]} == {texts[at] for at in long}
        assert all("failed to parse field [title]" in one["reason"] for one in told)
        take_titles_of(8000)
        status = esdedup.status(store=store)
        assert (status["skipped"], status["unfinished"]) == ({"refused": 6}, None)
        assert status["counts"]["documents"] == len(texts) - len(long)
        # it is done, but for these
        again = one_line(said(*command))
        assert f"refused by the server, saved in {letters}" in again
        assert said("scan", "--store", store, "--quiet").code == 0
        found = {member["id"] for one in esdedup.clusters(store=store) for member in one["members"]}
        left = titled(tmp_path / "b.jsonl", texts, set()).read_text("utf-8").splitlines(keepends=True)
        (tmp_path / "b.jsonl").write_text("".join(row for at, row in enumerate(left) if at not in long), "utf-8")
        esdedup.run(tmp_path / "b.jsonl", out=tmp_path / "out", unit="record", min_chars=0)
        assert found == set((tmp_path / "out" / "clusters.txt").read_text("utf-8").split())


@pytest.mark.full
def test_what_was_dropped_meanwhile_does_not_come_back(
    client: Elasticsearch, elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    def drop() -> None:
        for index in client.indices.get(index=f"{elastic_prefix}-*"):
            client.indices.delete(index=index)

    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        for verb, matches in (
            ("index", is_bulk),
            ("scan", lambda request: "-members-" in request.path and is_bulk(request)),
            ("add", lambda request: request.method == "PUT" and request.path.endswith("/_doc/state")),
        ):
            if verb != "index":
                job.commands(store)["index"]()
            if verb == "add":
                job.commands(store)["scan"]()
            proxy.when(matches, first(drop), after=1)
            line = one_line(said(*job.arguments(verb, store)))
            assert f"{store}: an index of this store is gone (no such index [{elastic_prefix}-" in line
            assert "another command has replaced or dropped the store; run this command again after it ends" in line
            proxy.clear()
            assert not client.indices.get(index=f"{elastic_prefix}-*")
        for verb in ("index", "scan"):
            job.commands(store)[verb]()
        job.check("scan", store, tmp_path)
