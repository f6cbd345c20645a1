"""A user is told that requests are being repeated, before long."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from esdedup.store.elasticsearch import connection
from tests.support.commands import said
from tests.support.elastic_proxy import Exchange, Proxy, answer, fail_items, silence
from tests.system.robustness.on_a_server import Job, is_bulk


def lines_of(err: str) -> list[str]:
    return [line for line in err.splitlines() if "waiting for the server" in line]


def test_a_gateway_without_a_server_is_said(elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        job.commands(store)["index"]()
        proxy.when(lambda request: request.path.endswith("/_search"), answer(502), times=6)
        done = said("scan", "--store", store)
        assert done.code == 0, done.err
        [line] = lines_of(done.err)
        match = re.search(r"waiting for the server: 502, ([0-9]+) s, up to 120 s", line)
        assert match is not None, line
        assert int(match[1]) < 5
        job.check("scan", store, tmp_path)


def test_rejected_documents_are_said(elastic_url: str, elastic_prefix: str, job: Job) -> None:
    begun: list[float] = []

    def busy(exchange: Exchange) -> None:
        begun.append(time.monotonic())
        fail_items(429, "es_rejected_execution_exception", every=1)(exchange)

    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        proxy.when(is_bulk, busy, times=6)
        done = said(*[one for one in job.arguments("index", store) if one != "--quiet"])
        assert done.code == 0, done.err
        assert any("waiting for the server: 429" in line for line in lines_of(done.err))


def test_short_pauses_are_not_said(elastic_url: str, elastic_prefix: str, job: Job) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        proxy.when(is_bulk, answer(503), times=2)
        done = said(*[one for one in job.arguments("index", store) if one != "--quiet"])
        assert done.code == 0, done.err
        assert not lines_of(done.err)


def test_a_server_that_does_not_answer_is_said(
    elastic_url: str, elastic_prefix: str, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SILENT_AFTER", 0.2)

    def late(exchange: Exchange) -> None:
        time.sleep(1)
        exchange.send(exchange.forward())

    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        proxy.when(is_bulk, late)
        done = said(*[one for one in job.arguments("index", store) if one != "--quiet"])
        assert done.code == 0, done.err
        assert any("waiting for the server: no answer yet" in line for line in lines_of(done.err))


def test_an_interrupt_does_not_wait_for_a_server_that_is_silent(
    elastic_url: str, elastic_prefix: str, job: Job
) -> None:
    asked = threading.Event()

    def never(exchange: Exchange) -> None:
        asked.set()
        silence(60)(exchange)

    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        proxy.when(is_bulk, never, times=None)
        command = [sys.executable, "-m", "esdedup", *job.arguments("index", store)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert asked.wait(60)
            process.send_signal(signal.SIGINT)
            begun = time.monotonic()
            _, err = process.communicate()
        assert (process.returncode, err) == (130, "esdedup: interrupted; run the same command again to finish\n")
        assert time.monotonic() - begun < 30
