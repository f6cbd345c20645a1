"""A node's life: started, found, stopped, killed, started again."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import ApiError, Elasticsearch

from esdedup.errors import NodeError
from esdedup.node import control
from esdedup.node.jars import VERSION
from tests.system.node.helpers import beginning, has_ended, line, node, refusal, started, wait_until

pytestmark = pytest.mark.usefixtures("short_lived")


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    control.stop(tmp_path / "data")


def test_a_node_lives_on_its_own_and_keeps_its_data(data: Path) -> None:
    address = started(data)
    with Elasticsearch(address) as client:
        client.index(index="kept", id="1", document={"said": "twice"}, refresh=True)

    again = line(node("start", "--data", data, "--port", 1))
    assert again.startswith(f"{address} already running: Elasticsearch 9.2.0, process ")
    assert again.endswith(f"next: esdedup index SOURCE --store {address}/NAME\n")
    assert line(node("status", ESDEDUP_NODE_DATA=str(data))).startswith(f"{address} yellow: ")
    state = json.loads(line(node("status", "--data", data, "--json")))
    assert (state["running"], state["address"], state["health"], state["nodes"]) == (True, address, "yellow", 1)
    assert state["data_bytes"] > 1000
    with pytest.raises(NodeError, match="already"), control.running_node(data):
        pass
    other = refusal(node("start", "--data", data.with_name("other"), "--port", address.rpartition(":")[2]))
    assert f"is in use by process {state['pid']} (python" in other

    assert line(node("stop", "--data", data)) == f"process {state['pid']} stopped; its data stays in {data}\n"
    assert has_ended(state["pid"])
    assert line(node("stop", "--data", data)) == f"not running: {data}\n"
    assert line(node("status", "--data", data)).startswith("not running; ")

    with control.running_node(data) as address, Elasticsearch(address) as client:
        assert client.get(index="kept", id="1")["_source"] == {"said": "twice"}
    assert control.status(data)["running"] is False


def refused(client: Elasticsearch, method: str, path: str, body: Any = None) -> bool:
    try:
        client.perform_request(method, path, headers={"Content-Type": "application/json"}, body=body)
    except ApiError as error:
        return error.status_code in (400, 405)
    return False


def analysis(**filters: Any) -> dict[str, Any]:
    return {"settings": {"analysis": {"filter": filters}}}


def field(kind: str) -> dict[str, Any]:
    return {"mappings": {"properties": {"field": {"type": kind}}}}


LACKING = [
    ("GET", "/_security/user", None),
    ("POST", "/_reindex", {"source": {"index": "a"}, "dest": {"index": "b"}}),
    ("POST", "/there/_update_by_query", {}),
    ("POST", "/there/_delete_by_query", {"query": {"match_all": {}}}),
    ("POST", "/there/_update/1", {"script": "ctx._source.said = 1"}),
    ("PUT", "/_ingest/pipeline/p", {"processors": [{"set": {"field": "a", "value": 1}}]}),
    ("PUT", "/a1", analysis(made={"type": "min_hash"})),
    ("PUT", "/a2", analysis(made={"type": "ngram"})),
    ("PUT", "/m1", field("search_as_you_type")),
    ("PUT", "/m2", field("join")),
    ("POST", "/there/_search", {"aggs": {"a": {"adjacency_matrix": {"filters": {"f": {"match_all": {}}}}}}}),
    ("POST", "/_sql", {"query": "SELECT 1"}),
    ("POST", "/_query", {"query": "ROW a = 1"}),
    ("POST", "/there/_async_search", {}),
]


def test_it_says_who_it_is_and_what_it_lacks(data: Path) -> None:
    address = started(data)
    with Elasticsearch(address) as client:
        about = client.info()
        assert client.ping()
        assert (about["name"], about["version"]["number"]) == ("node-1", VERSION)
        assert about["cluster_uuid"] == client.cluster.state(metric="metadata")["metadata"]["cluster_uuid"]
        [one] = client.nodes.info()["nodes"].values()
        assert (about["version"]["build_hash"], about["cluster_name"]) == (one["build_hash"], "esdedup")
        client.index(index="there", id="1", document={"said": "twice"})
        assert [path for method, path, body in LACKING if not refused(client, method, path, body)] == []
    status = line(node("status", "--data", data))
    assert f"; the node lacks {'; '.join(control.LACKS)}\n" in status
    assert json.loads(line(node("status", "--data", data, "--json")))["lacks"] == list(control.LACKS)


def test_a_pid_of_somebody_else_means_nothing(data: Path) -> None:
    data.mkdir()
    (data / "pid").write_text(f"{os.getpid()}\n")
    (data / "lock").touch()
    assert control.status(data)["running"] is False
    assert control.stop(data)["stopped"] is False


def test_after_a_kill_two_commands_start_one_node(data: Path) -> None:
    started(data)
    pid = control.status(data)["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: has_ended(pid))
    assert (data / "pid").read_text() == f"{pid}\n"
    assert control.status(data)["running"] is False

    both = [beginning("start", "--data", data, "--port", 0, "--heap", "384MiB", "--json") for _ in range(2)]
    said = [process.communicate(timeout=180) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    answers = [json.loads(out) for out, _ in said]
    assert sorted(answer["started"] for answer in answers) == [False, True]
    assert answers[0]["pid"] == answers[1]["pid"] != pid


def test_one_that_does_not_close_is_killed(data: Path) -> None:
    assert "is not ready after 0 seconds" in refusal(node("start", "--data", data, "--port", 0, "--wait", 0))
    wait_until(lambda: control.status(data)["running"])
    os.kill(control.status(data)["pid"], signal.SIGSTOP)
    done = control.stop(data, wait=0.2)
    assert (done["stopped"], done["killed"]) == (True, True)
