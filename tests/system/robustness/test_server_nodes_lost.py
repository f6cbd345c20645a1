"""Nodes that are restarted, or die: as long as a copy of the data is left, jobs end as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
from pathlib import Path

import pytest

from esdedup.node import control
from tests.support.elastic import Member, start_member, wait_for_cluster
from tests.support.elastic_proxy import Action, Exchange, Proxy, Request, forward
from tests.support.orphans import Guard
from tests.system.robustness.on_a_server import Job, is_bulk

pytestmark = pytest.mark.usefixtures("small")


def is_page(request: Request) -> bool:
    return request.method == "POST" and request.path.endswith("/_search")


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node takes its time to start; a request that came too early need not be waited for."""
    monkeypatch.setattr("esdedup.store.elasticsearch.connection.LONGEST_PAUSE", 0.3)
    monkeypatch.setattr("esdedup.store.elasticsearch.connection.TIMEOUT", 5.0)


@pytest.mark.usefixtures("patient", "short_lived")
@pytest.mark.full
def test_a_node_is_restarted_while_loading_and_while_scanning(job: Job, tmp_path: Path, guard: Guard) -> None:
    memory = Path("/dev/shm")
    with guard.folder(Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else tmp_path))) as folder:
        node = control.start(folder, port=0, heap=384 * 2**20)
        port = int(node.address.rpartition(":")[2])
        ends: list[threading.Thread] = []
        pids = [node.pid]

        def restart() -> None:
            if ends[1:]:  # once it is asked to end, once it is not
                os.kill(pids.pop(), signal.SIGKILL)
            control.stop(folder)
            pids.append(control.start(folder, port=port, heap=384 * 2**20).pid)

        def restart_beside(exchange: Exchange) -> None:
            """The request is on its way while the node is told to stop."""
            ends.append(threading.Thread(target=restart))
            ends[-1].start()
            forward(exchange)

        try:
            with Proxy(node.address) as proxy:
                store = f"{proxy.url}/wiki"
                for verb, matches in (("index", is_bulk), ("scan", is_page)):
                    proxy.when(matches, restart_beside, after=3)
                    job.commands(store)[verb]()
                    ends[-1].join()
                    assert proxy.done["node_gone"] > 0
                    proxy.clear()
                    proxy.done.clear()
                    job.check(verb, store, tmp_path / verb)
                assert len(ends) == 2
        finally:
            for end in ends:
                end.join()
            control.stop(folder)


@pytest.mark.usefixtures("patient")
@pytest.mark.full
def test_one_of_three_nodes_dies_while_loading_and_one_while_scanning(
    three_nodes: list[Member], job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ES_SHARDS", "3")
    monkeypatch.setenv("ES_REPLICAS", "1")
    asked, *others = three_nodes
    with Proxy(asked.address) as proxy:
        store = f"{proxy.url}/wiki"
        for verb, matches, dying in zip(("index", "scan"), (is_bulk, is_page), others, strict=True):
            wait_for_cluster(asked.address, nodes=3)
            death = proxy.when(matches, dies(dying), after=3)
            job.commands(store)[verb]()
            assert death.seen > 3
            proxy.clear()
            job.check(verb, store, tmp_path / verb)
            if verb == "index":
                start_again(dying, three_nodes)


def dies(member: Member) -> Action:
    """A node dies just before a request."""

    def dies(exchange: Exchange) -> None:
        member.kill()
        forward(exchange)

    return dies


def start_again(dead: Member, members: list[Member]) -> None:
    told = [json.loads((member.folder / "node.json").read_text("utf-8")) for member in members]
    seeds, names = [one["transport"] for one in told], [member.name for member in members]
    [port] = [int(one["transport"].rpartition(":")[2]) for one in told if one["name"] == dead.name]
    start_member(dead.folder, dead.name, int(dead.address.rpartition(":")[2]), port, seeds, names)
