"""Three nodes find each other, share the work and survive the loss of one."""

from __future__ import annotations

from elasticsearch import Elasticsearch

from tests.support.elastic import Member, clear, wait_for_cluster
from tests.system.node.helpers import line, node


def test_a_cluster_survives_a_kill(three_nodes: list[Member]) -> None:
    first, second, third = three_nodes
    with Elasticsearch(second.address) as client:
        client.indices.create(index="shared", settings={"number_of_shards": 3, "number_of_replicas": 1})
        for number in range(30):
            client.index(index="shared", id=str(number), document={"number": number})
        client.indices.refresh(index="shared")
        wait_for_cluster(second.address, nodes=3)
        assert {shard["node"] for shard in client.cat.shards(index="shared", format="json")} == {
            first.name, second.name, third.name,
        }  # fmt: skip
        assert f", process {third.pid}, 3 nodes; " in line(node("status", "--data", third.folder))

        first.kill()
        wait_for_cluster(second.address, nodes=2, status="yellow")
        assert client.count(index="shared")["count"] == 30
    assert line(node("status", "--data", first.folder)).startswith("not running; ")


def test_stores_of_tests_are_cleared_away(elastic_url: str, elastic_prefix: str) -> None:
    with Elasticsearch(elastic_url) as client:
        for name in ("a-texts", "a-tokens", "b-texts"):
            client.indices.create(index=f"{elastic_prefix}-{name}")
        clear(elastic_url, f"{elastic_prefix}-a")
        assert list(client.indices.get(index=f"{elastic_prefix}-*")) == [f"{elastic_prefix}-b-texts"]
