"""What networks, gateways and busy servers do to requests: every job ends as if nothing had happened."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import said
from tests.support.elastic_proxy import (
    Action,
    Exchange,
    Proxy,
    Request,
    answer,
    change,
    cut,
    drop_page,
    fail_items,
    huge,
    reset_after,
    reset_before,
    silence,
)
from tests.support.full import FULL
from tests.system.robustness.helpers import child, one_line
from tests.system.robustness.on_a_server import Job, is_bulk, kind

pytestmark = pytest.mark.usefixtures("small")

HTML = "<html><body>Please wait while we are mending things.</body></html>"
WAYS: list[Action] = [
    reset_after,
    answer(503),
    cut(),
    answer(429),
    answer(200, HTML, "text/html", product=False),
    answer(502, HTML, "text/html", product=False),
    answer(200, b'{"took":'),
    answer(404, {"message": "no route to this"}, product=False),
    answer(500),
    reset_before,
]
if not FULL:
    WAYS = WAYS[:6]


def is_page(request: Request) -> bool:
    """Whether this asks for sentences in the order of their numbers."""
    return request.path.endswith("/_search") and (request.json or {}).get("sort") == ["number"]


def is_search(request: Request) -> bool:
    return request.path.endswith("/_search")


def is_search_for_many(request: Request) -> bool:
    return is_search(request) and request.json.get("size", 0) > 1


def in_turn(actions: list[Action], fits: Callable[[Request], bool] = lambda _: True) -> tuple[Any, Action]:
    """Every kind of request fails in each of these ways, one after the other, and is passed on from then on."""
    seen: Counter[str] = Counter()

    def matches(request: Request) -> bool:
        return fits(request) and seen[kind(request)] < len(actions)

    def next_way(exchange: Exchange) -> None:
        name = kind(exchange.request)
        seen[name] += 1
        actions[seen[name] - 1](exchange)

    return matches, next_way


def test_every_kind_of_request_may_fail_in_every_way(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        for verb, command in job.commands(store).items():
            failed = proxy.when(*in_turn(WAYS), times=None)
            command()
            proxy.clear()
            assert failed.seen > 10 * len(WAYS)
            job.check(verb, store, tmp_path / verb)
        proxy.when(*in_turn(WAYS), times=None)
        assert job.questions(store) == job.expected["questions"]


@pytest.mark.full
def test_silence(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esdedup.store.elasticsearch.connection.TIMEOUT", 0.7)
    kinds = ("PUT state-own/_doc/state", "POST _aliases", "_search", "_bulk")
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        for verb in ("index", "scan"):
            # the server has done what it was asked, and then it is asked again; or it hears of it too late
            proxy.when(*in_turn([silence(20)], lambda request: kind(request).endswith(kinds)), times=None)
            proxy.when(is_search, silence(20, before=True), after=2)
            job.commands(store)[verb]()
            proxy.clear()
            job.check(verb, store, tmp_path / verb)
        assert proxy.done["silence"] + proxy.done["next_way"] >= 8


@pytest.mark.full
def test_items_are_turned_away(elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        for verb, command in job.commands(store).items():
            before = proxy.done["failed_items"]
            busy = fail_items(429, "es_rejected_execution_exception", every=2)
            proxy.when(lambda request: is_bulk(request) and request.ordinal % 2 == 0, busy, times=3)
            proxy.when(is_bulk, fail_items(503, "unavailable_shards_exception", every=1), times=2, after=1)
            command()
            proxy.clear()
            job.check(verb, store, tmp_path / verb)
            assert proxy.done["failed_items"] > before


def test_items_that_are_turned_away_for_ever(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        with monkeypatch.context() as patch:
            patch.setattr("esdedup.store.elasticsearch.connection.PATIENCE", 0.3)
            busy = fail_items(429, "es_rejected_execution_exception", every=1)
            proxy.when(is_bulk, busy, times=None, after=3)
            line = one_line(said(*job.arguments("index", store)))
            assert f"{store}: the server still rejects documents (turned away by the proxy)" in line
            assert line.endswith("; run the same command again to continue\n")
        proxy.clear()
        for verb in ("index", "scan"):
            job.commands(store)[verb]()
            job.check(verb, store, tmp_path / verb)


def test_bodies_that_a_gateway_finds_too_long(elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        too_long = answer(413, HTML, "text/html", product=False)
        proxy.when(lambda request: is_bulk(request) and len(request.raw) > 5_000, too_long, times=None)
        for verb in ("index", "scan"):
            job.commands(store)[verb]()
            job.check(verb, store, tmp_path / verb)
        assert proxy.done["answer"] > 10


def lacking(told: Any) -> Any:
    hits = told["hits"]["hits"]
    return {**told, "hits": {**told["hits"], "hits": hits[: len(hits) // 2]}}


LOSSES: list[Action] = [
    drop_page,
    change(lacking),
    change(lambda told: {**told, "hits": {**told["hits"], "hits": []}}),
    change(lambda told: {**told, "_shards": {**told["_shards"], "failed": 1}}),
    change(lambda told: {**told, "timed_out": True}),
]


def test_what_is_lost_of_a_scan_is_read_again(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        job.commands(store)["index"]()
        with monkeypatch.context() as patch:
            patch.setattr("esdedup.store.elasticsearch.connection.PATIENCE", 0.2)
            proxy.when(is_page, change(lacking), times=None)
            line = one_line(said(*job.arguments("scan", store)))
            assert re.search(
                rf"{store}: incomplete answers after several attempts \(\d+ of \d+ documents arrived\)", line
            )
            proxy.clear()
        lost = proxy.when(*in_turn(LOSSES, is_page), times=None)
        job.commands(store)["scan"]()
        assert lost.seen == 2 * len(LOSSES)  # of the sentences, and of the documents of clusters
        job.check("scan", store, tmp_path)


@pytest.mark.full
def test_lost_shards_are_no_small_counts(elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        missing = change(lambda told: {**told, "count": 0, "_shards": {**told["_shards"], "failed": 1}})
        for verb, command in job.commands(store).items():
            counted = proxy.when(lambda request: request.path.endswith("/_count"), missing, times=5)
            command()
            assert counted.seen > 5
            proxy.clear()
            job.check(verb, store, tmp_path / verb)


@pytest.mark.full
def test_long_answers_come_in_smaller_pages(
    elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esdedup.store.elasticsearch.answers.ANSWER_BYTES", 14_000)
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        for verb, command in job.commands(store).items():
            command()
            job.check(verb, store, tmp_path / verb)
        # enough for the numbers of the texts that are like a question, but not for these texts
        monkeypatch.setattr("esdedup.store.elasticsearch.answers.ANSWER_BYTES", 60_000)
        assert job.questions(store) == job.expected["questions"]


SCAN = (
    "import pytest, sys\n"
    "from tests.support.memory import peak_mib\n"
    "from tests.system.robustness.on_a_server import make_small\n"
    "from esdedup.cli import main\n"
    "make_small(pytest.MonkeyPatch())\n"
    "try: main(sys.argv[1:])\n"
    "finally: print('peak', peak_mib())\n"
)


@pytest.mark.full
def test_an_answer_of_a_gigabyte(elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        job.commands(store)["index"]()
        # where less can be asked for, that is done
        proxy.when(is_search_for_many, huge(2**30), times=2)
        done = child(*job.arguments("scan", store), cwd=tmp_path, code=SCAN)
        assert (done.code, done.err, proxy.done["huge"]) == (0, "", 2)
        assert int(done.out.split()[-1]) < 900  # MiB, of which the interpreter has a third
        job.check("scan", store, tmp_path / "out")
        proxy.when(lambda request: request.path.endswith("/_doc/state"), huge(2**30))
        line = one_line(said("status", "--store", store))
        assert "/_doc/state is longer than 128 MiB; run the same command again\n" in line
        job.check("scan", store, tmp_path / "out")
