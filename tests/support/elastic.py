"""Real Elasticsearch for tests: one node a test process, and a cluster of three where that is what is tested."""

from __future__ import annotations

import os
import signal
import tempfile
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from esdedup.node import control
from esdedup.node.jars import HOST, free_ports
from esdedup.store.elasticsearch.opensearch import EitherNode
from tests.support.orphans import Guard

# half the processor time of a start: these nodes do not live long enough for Java's better compiler to pay
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="session")
def short_lived() -> Iterator[None]:
    """Nodes that are started while this is in force are quick to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", SHORT_LIVED)
        yield


@pytest.fixture(scope="session")
def elastic_url(tmp_path_factory: pytest.TempPathFactory, short_lived: None, guard: Guard) -> Iterator[str]:
    """The address of a node: the one that ESDEDUP_TEST_ES_URL names, or one of this process's own."""
    given = os.environ.get("ESDEDUP_TEST_ES_URL")
    if given:
        with Elasticsearch(given) as client:
            client.cluster.health()  # a server that was named and does not answer is a failure
        yield given
        return
    with guard.folder(node_folder(tmp_path_factory)) as folder, control.running_node(folder, heap=2**30) as address:
        yield address


def node_folder(factory: pytest.TempPathFactory) -> Path:
    """A folder for the data of a node. Nodes flush every change of their state: in memory that takes no time."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="esdedup-node-", dir=memory if memory.is_dir() else factory.mktemp("node")))


@pytest.fixture
def elastic_prefix(elastic_url: str) -> Iterator[str]:
    with new_prefix(elastic_url) as prefix:
        yield prefix


@contextmanager
def new_prefix(url: str) -> Iterator[str]:
    """A prefix for a store's indices that no other test uses; what begins with it is deleted afterwards."""
    prefix = f"t-{uuid.uuid4().hex[:8]}"
    yield prefix
    clear(url, prefix)


def clear(url: str, prefix: str) -> None:
    """Delete the indices of a store, each by its own name, as servers may refuse patterns."""
    with Elasticsearch(url, node_class=EitherNode) as client:
        for index in client.indices.get(index=f"{prefix}-*", expand_wildcards="all"):
            client.indices.delete(index=index)


@dataclass(frozen=True, slots=True)
class Member:
    """A node of a cluster."""

    name: str
    folder: Path
    address: str
    pid: int

    def stop(self) -> None:
        control.stop(self.folder)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def start_member(folder: Path, name: str, port: int, transport_port: int, seeds: list[str], names: list[str]) -> Member:
    node = control.start(
        folder, port=port, heap=384 * 2**20, name=name, transport_port=transport_port, join=seeds, masters=names
    )
    return Member(name, folder, node.address, node.pid)


@pytest.fixture(scope="module")
def three_nodes(tmp_path_factory: pytest.TempPathFactory, short_lived: None) -> Iterator[list[Member]]:
    """A green cluster of three nodes; a test may stop or kill some."""
    folder = tmp_path_factory.mktemp("cluster")
    names = [f"node-{number}" for number in (1, 2, 3)]
    ports = free_ports(6)
    seeds = [f"{HOST}:{port}" for port in ports[3:]]
    with ExitStack() as ends, ThreadPoolExecutor(3) as pool:
        for name in names:
            ends.callback(control.stop, folder / name)
        starts = [
            pool.submit(start_member, folder / name, name, ports[at], ports[3 + at], seeds, names)
            for at, name in enumerate(names)
        ]
        members = [start.result() for start in starts]
        wait_for_cluster(members[0].address, nodes=3)
        yield members


def wait_for_cluster(address: str, *, nodes: int, status: str = "green", seconds: float = 60) -> None:
    """Until this many nodes have found each other and the cluster has this status."""
    until = time.monotonic() + seconds
    with Elasticsearch(address, request_timeout=10) as client:
        while True:
            health = client.options(ignore_status=[408, 503]).cluster.health(master_timeout="2s")
            if (health.get("number_of_nodes"), health.get("status")) == (nodes, status):
                return
            assert time.monotonic() < until, health
            time.sleep(0.2)
