"""Commands that break off at any request: given again they finish, and nothing is left over of the first attempt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

import esdedup
from esdedup.errors import StoreError
from esdedup.store.elasticsearch.address import ServerAddress
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.indices import CORPUS, RESULTS, Indices
from tests.support.elastic import clear
from tests.support.elastic_proxy import Action, Proxy, Request, Rule, answer, forward, reset_after
from tests.support.full import few
from tests.system.robustness.on_a_server import HOW, Job

pytestmark = pytest.mark.usefixtures("small")

REQUESTS = {"index": 80, "scan": 48, "add": 170, "remove": 62}
"""About how many each command makes."""


@pytest.fixture
def client(elastic_url: str) -> Iterator[Elasticsearch]:
    with Elasticsearch(elastic_url) as client:
        yield client


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esdedup.store.elasticsearch.connection.PATIENCE", 0.0)


def break_off(proxy: Proxy, last: Action, matches: Callable[[Request], bool], after: int = 0) -> None:
    """From a certain request on the server is away; with that one, `last` is done."""
    ended, rule = False, Rule(matches, forward, 1, after)

    def is_last(request: Request) -> bool:
        nonlocal ended
        if ended or not rule.due(request):
            return False
        ended = True
        return True

    proxy.when(is_last, last, times=None)
    proxy.when(lambda _: ended, answer(503), times=None)


def fails(command: Callable[[], object]) -> bool:
    try:
        command()
    except StoreError as error:
        assert "run the same command again" in str(error) or "run this command again" in str(error)
        return True
    return False


def check_tidy(client: Elasticsearch, prefix: str, kinds: tuple[str, ...]) -> None:
    """Every kind of index is there once, under its alias, and as it is to be when nobody loads."""
    there = client.indices.get(index=f"{prefix}-*", expand_wildcards="all")
    named = {alias: index for index, told in there.items() for alias in told["aliases"] if not alias.endswith("-own")}
    assert sorted(named) == sorted(f"{prefix}-{kind}" for kind in kinds)
    assert sorted(named.values()) == sorted(there)
    for told in there.values():
        assert "refresh_interval" not in told["settings"]["index"]
        assert told["settings"]["index"]["auto_expand_replicas"] == "0-1"


@pytest.mark.parametrize(("share", "last"), few([(0.15, reset_after), (0.5, answer(503)), (0.85, reset_after)], 1))
def test_broken_off_anywhere(
    client: Elasticsearch, elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, share: float, last: Action
) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        broken = 0
        for verb, command in job.commands(store).items():
            break_off(proxy, last, lambda _: True, after=int(share * REQUESTS[verb]))
            broken += fails(command)
            proxy.clear()
            command()
            job.check(verb, store, tmp_path / verb)
            check_tidy(client, elastic_prefix, CORPUS if verb == "index" else CORPUS + RESULTS)
        assert broken >= 3


def test_an_index_is_not_left_as_it_is_while_it_is_filled(
    client: Elasticsearch, elastic_url: str, elastic_prefix: str, job: Job
) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        command = job.commands(store)["index"]
        break_off(proxy, answer(503), lambda request: request.path.endswith("/_settings"), after=1)
        assert fails(command)
        proxy.clear()
        command()
        check_tidy(client, elastic_prefix, CORPUS)


MOMENTS: dict[str, Callable[[Request], bool]] = {
    "an index is made": lambda request: request.method == "PUT" and request.path.count("/") == 1,
    "it is filled": lambda request: request.path.endswith("/_bulk"),
    "it becomes the live one": lambda request: request.path == "/_aliases",
    "the old one is deleted": lambda request: request.method == "DELETE" and request.path.count("/") == 1,
    "the job is over": lambda request: request.path.endswith("/_mapping"),
}


@pytest.mark.parametrize(
    ("moment", "last"),
    few(
        [
            ("an index is made", answer(503)),
            ("it is filled", reset_after),
            ("it becomes the live one", reset_after),
            ("the old one is deleted", reset_after),
            ("the job is over", answer(503)),
        ],
        3,
    ),
)
def test_a_new_generation_broken_off(
    client: Elasticsearch, elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, moment: str, last: Action
) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        for verb in ("index", "scan"):
            job.commands(store)[verb]()
        for turn, (source, keep) in enumerate([(job.b, 1), (job.a, 0)]):
            fresh = partial(esdedup.index, source, store=store, fresh=True, keep_generations=keep, **HOW)
            later = moment in ("an index is made", "it is filled")
            break_off(proxy, last, MOMENTS[moment], after=turn if later else 0)
            broken = fails(fresh)
            assert broken or (turn == 0 and moment == "the old one is deleted")  # which is kept
            proxy.clear()
            if broken:
                fresh()
            assert esdedup.status(store=store)["unfinished"] is None
            if turn == 0:
                # the newest of the older ones stays, with its results
                kinds = [index.split("-")[2] for index in client.indices.get(index=f"{elastic_prefix}-*")]
                assert sorted(kinds) == sorted(2 * CORPUS + RESULTS)
        check_tidy(client, elastic_prefix, CORPUS)
        job.check("index", store, tmp_path)


@pytest.mark.full
def test_another_job_leaves_nothing_of_a_generation_that_was_broken_off(
    client: Elasticsearch, elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path
) -> None:
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        break_off(proxy, reset_after, lambda request: request.path == "/_aliases")
        assert fails(lambda: esdedup.index(job.b, store=store, fresh=True, **HOW))
        proxy.clear()
        esdedup.index(job.a, store=store, fresh=True, seed=3, **HOW)
        check_tidy(client, elastic_prefix, CORPUS)
        break_off(proxy, reset_after, lambda request: "-clusters-" in request.path and request.path.endswith("/_bulk"))
        assert fails(lambda: esdedup.run(job.b, store=store, out=tmp_path, fresh=True, **HOW))
        proxy.clear()
        esdedup.run(job.a, store=store, out=tmp_path, fresh=True, **HOW)
        check_tidy(client, elastic_prefix, CORPUS + RESULTS)
        job.check("scan", store, tmp_path / "scan")


def test_many_generations_with_long_names(elastic_url: str, elastic_prefix: str) -> None:
    """The first line of a request has room for thirty names of this length."""
    prefix = elastic_prefix + "x" * (100 - len(elastic_prefix))
    connection = Connection(ServerAddress.parse(f"{elastic_url}/{prefix}"))
    try:
        indices = Indices(connection)
        for _ in range(11):
            indices.make(CORPUS, {})
        assert indices.bytes_on_disk() > 0
        indices.delete(CORPUS)
        assert indices.generations("state") == []
    finally:
        connection.close()
        clear(elastic_url, prefix)
