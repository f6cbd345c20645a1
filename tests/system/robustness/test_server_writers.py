"""Two commands that write to one store on a server: the second is told who writes, and a dead one is not waited for."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

import esdedup
from esdedup.errors import StoreError, StoreLockedError
from esdedup.store.elasticsearch import holds
from esdedup.store.elasticsearch.corpus import ServerCorpus
from tests.support.commands import said
from tests.support.elastic_proxy import Exchange, Proxy
from tests.support.full import few
from tests.system.robustness.helpers import one_line
from tests.system.robustness.on_a_server import HOW, REMOVED_TOO, Job, is_bulk, results

pytestmark = pytest.mark.usefixtures("small")


def first(do: Callable[[], Any]) -> Callable[[Exchange], None]:
    """Somebody does something before a request is passed on."""

    def first(exchange: Exchange) -> None:
        do()
        exchange.send(exchange.forward())

    return first


class Together:
    """A command that begins when another one has come to a certain request, and ends before that goes on."""

    def __init__(self, command: Callable[[], Any]) -> None:
        self._command = command
        self.error: BaseException | None = None

    def __call__(self) -> None:
        def run() -> None:
            try:
                self._command()
            except StoreError as error:
                self.error = error

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()


def refused(error: BaseException | None) -> bool:
    """Whether a writer was told who writes."""
    told = rf"process {os.getpid()} on {re.escape(socket.gethostname())} has been writing to this store since 2\d\d\d-"
    return isinstance(error, StoreLockedError) and re.search(told, str(error)) is not None


@pytest.mark.parametrize("after", few([12, 22], 0))
def test_the_second_writer_is_told_who_writes(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, after: int
) -> None:
    with Proxy(elastic_url) as proxy:
        store, direct = f"{proxy.url}/{elastic_prefix}", f"{elastic_url}/{elastic_prefix}"
        job.commands(direct)["index"]()
        other = Together(job.commands(direct)["scan"])
        begun = proxy.when(lambda request: not is_bulk(request), first(other), after=after)
        job.commands(store)["scan"]()
        assert begun.seen > after
        assert refused(other.error)
        assert "--fresh" not in str(other.error)
        job.check("scan", store, tmp_path)


@pytest.mark.parametrize("first_verb", few(["a plain writer", "a fresh one"], 0))
@pytest.mark.parametrize("second_verb", ["a fresh one", "drop"])
def test_nobody_replaces_or_drops_what_another_writes(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, first_verb: str, second_verb: str
) -> None:
    with Proxy(elastic_url) as proxy:
        store, direct = f"{proxy.url}/{elastic_prefix}", f"{elastic_url}/{elastic_prefix}"
        seconds = {
            "a fresh one": lambda: esdedup.index(job.b, store=direct, fresh=True, **HOW),
            "drop": lambda: esdedup.drop(store=direct),
        }
        other = Together(seconds[second_verb])
        proxy.when(is_bulk, first(other), after=1)
        esdedup.index(job.a, store=store, fresh=first_verb == "a fresh one", **HOW)
        assert refused(other.error), other.error
        job.commands(store)["scan"]()
        job.check("scan", store, tmp_path)
        esdedup.drop(store=store)


def test_a_plain_writer_leaves_a_store_to_a_fresh_one(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    with Proxy(elastic_url) as proxy:
        store, direct = f"{proxy.url}/{elastic_prefix}", f"{elastic_url}/{elastic_prefix}"
        esdedup.index(job.b, store=direct, **HOW)
        other = Together(job.commands(direct)["index"])
        proxy.when(is_bulk, first(other), after=1)
        esdedup.index(job.a, store=store, fresh=True, **HOW)
        assert refused(other.error), other.error
        job.commands(store)["scan"]()
        job.check("scan", store, tmp_path)


@pytest.mark.parametrize("share", few([0.3, 0.8], 0))
def test_two_changes_at_once(elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, share: float) -> None:
    """One of them is refused, and given again; then the store is as if they had come one after the other."""
    with Proxy(elastic_url) as proxy:
        store, direct = f"{proxy.url}/{elastic_prefix}", f"{elastic_url}/{elastic_prefix}"
        for verb in ("index", "scan"):
            job.commands(direct)[verb]()
        other = Together(lambda: esdedup.remove(*REMOVED_TOO, store=direct))
        proxy.when(lambda request: request.method != "GET", first(other), after=int(share * 120))
        esdedup.add(job.b, store=store, **HOW)
        assert refused(other.error)
        esdedup.remove(*REMOVED_TOO, store=store)
        job.commands(store)["remove"]()
        assert results(store, tmp_path / "out") == job.expected["remove too"]


@pytest.fixture
def asleep(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Writers look as if their machine had gone to sleep: nobody knows their processes, and nothing is renewed."""
    monkeypatch.setattr(holds, "BEAT", 1000.0)
    monkeypatch.setattr(holds, "EXPIRY", 0.2)
    monkeypatch.setattr(holds, "_is_alive", lambda _: False)
    monkeypatch.setattr(holds, "is_dead", lambda _: False)
    yield


@pytest.mark.usefixtures("asleep")
def test_who_was_overtaken_while_he_read_writes_nothing_more(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"{elastic_url}/{elastic_prefix}"
    other, append, appended = Together(job.commands(store)["index"]), ServerCorpus.append, 0

    def slow(self: ServerCorpus, *rows: Any) -> None:
        nonlocal appended
        appended += 1
        if appended == 1:
            other()
        append(self, *rows)

    monkeypatch.setattr(ServerCorpus, "append", slow)
    with pytest.raises(StoreLockedError, match="another command has just changed this store"):
        job.commands(store)["index"]()
    assert other.error is None
    job.check("index", store, tmp_path)
    job.commands(store)["scan"]()
    job.check("scan", store, tmp_path)


def test_a_writer_elsewhere_is_alive_as_long_as_it_renews(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"{elastic_url}/{elastic_prefix}"
    job.commands(store)["index"]()
    monkeypatch.setattr(holds, "BEAT", 0.2)
    with esdedup.open_store(store), monkeypatch.context() as patch:
        patch.setattr(holds, "_machine", lambda: "another")
        line = one_line(said(*job.arguments("scan", store)))
        assert f"process {os.getpid()} on {socket.gethostname()} has been writing to this store since " in line
    job.commands(store)["scan"]()
    job.check("scan", store, tmp_path)


@pytest.mark.full
def test_a_dead_writer_elsewhere_is_waited_for_and_then_not(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"{elastic_url}/{elastic_prefix}"
    job.commands(store)["index"]()
    monkeypatch.setattr(holds, "EXPIRY", 4.0)
    monkeypatch.setattr(holds, "BEAT", 1000.0)
    with esdedup.open_store(store), monkeypatch.context() as patch:
        patch.setattr(holds, "_machine", lambda: "another")
        done = said("scan", "--store", store)
        assert done.code == 0, done.err
        assert f"waiting up to 4 s: process {os.getpid()} on {socket.gethostname()} may still write" in done.err
    job.check("scan", store, tmp_path)


def test_a_killed_writer_here_is_not_waited_for(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    store = f"{elastic_url}/{elastic_prefix}"
    job.commands(store)["index"]()
    code = f"import esdedup, time; held = esdedup.open_store({store!r}); print('held', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"held\n"
        line = one_line(said(*job.arguments("scan", store)))
        assert f"process {writer.pid} on " in line
        writer.kill()
        writer.wait()
        begun = time.monotonic()
        job.commands(store)["scan"]()
        assert time.monotonic() - begun < holds.EXPIRY
    job.check("scan", store, tmp_path)


def test_parts_of_one_run_write_together_and_nobody_else(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    store = f"{elastic_url}/{elastic_prefix}"
    esdedup.index(job.a, store=store, part="1/2", **HOW)
    with esdedup.store.registry.open_store(store, part="2/2"):
        for verb in ("scan", "index"):
            assert "has been writing to this store since" in one_line(said(*job.arguments(verb, store)))
        with pytest.raises(StoreLockedError):
            esdedup.index(job.a, store=store, part="2/2", **HOW)
        with esdedup.store.registry.open_store(store, part="1/2"):
            pass
    esdedup.index(job.a, store=store, part="2/2", **HOW)
    job.commands(store)["scan"]()
    with Elasticsearch(elastic_url) as client:
        held = client.get(index=f"{elastic_prefix}-state", id="hold")["_source"]["value"]["holders"]
    assert held == {}
    job.check("scan", store, tmp_path)
