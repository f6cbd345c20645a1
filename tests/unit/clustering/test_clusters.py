"""Clusters from pairs: components, stars, representatives, weakest edges."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from esdedup.clustering.clusters import find_clusters
from esdedup.clustering.linkages import LINKAGES
from esdedup.columns.database import Database

Edges = dict[tuple[int, int], float]


def clusters(texts: int, edges: Edges, linkage: str = "single", copies: list[int] | None = None,
             group_ids: list[int] | None = None, verified: bool = True) -> list[dict[str, Any]]:  # fmt: skip
    """Clusters as dictionaries with `texts`; text number n has the hash 10 n + 3."""
    numbers = list(range(texts))
    with Database(memory=2**27, threads=1) as scratch:
        rows = {
            "number": pa.array(numbers, pa.int32()),
            "hash": pa.array([10 * number + 3 for number in numbers], pa.uint64()),
            "copies": pa.array(copies or [1] * texts, pa.int64()),
            "group_id": pa.array(group_ids or [-1] * texts, pa.int64()),
        }
        scratch.create("texts", pa.table(rows))
        columns = {
            "a": pa.array([a for a, _ in edges], pa.int32()),
            "b": pa.array([b for _, b in edges], pa.int32()),
            "jaccard": pa.array([value if verified else None for value in edges.values()], pa.float64()),
        }
        scratch.create("pairs", pa.table(columns))
        found = find_clusters(scratch, LINKAGES.make(linkage, {}), verified)
    members: dict[int, list[int]] = {}
    for row in found.texts.to_pylist():
        members.setdefault(row["cluster"], []).append((row["hash"] - 3) // 10)
    listed = [{**row, "texts": sorted(members[row["id"]])} for row in found.clusters.to_pylist()]
    return sorted(listed, key=lambda row: row["id"])


def test_a_chain_is_one_cluster_under_single_linkage() -> None:
    [cluster] = clusters(6, {(1, 2): 0.9, (2, 4): 0.8, (4, 5): 0.85})
    assert cluster["texts"] == [1, 2, 4, 5]
    assert cluster["id"] == 13
    assert (cluster["min_jaccard"], cluster["weakest_a"], cluster["weakest_b"]) == (0.8, 23, 43)
    assert cluster["representative"] == 23  # 1.7 over its edges; text 4 has 1.65
    assert (cluster["size"], cluster["distinct_texts"]) == (4, 4)


def test_a_star_holds_only_neighbours_of_its_centre() -> None:
    first, second = clusters(6, {(0, 1): 0.9, (1, 2): 0.9, (2, 3): 0.85, (3, 4): 0.9}, "star")
    assert (first["texts"], first["representative"], first["min_jaccard"]) == ([0, 1, 2], 13, 0.9)
    assert (second["texts"], second["representative"]) == ([3, 4], 33)


def test_copies_count_and_stand_alone() -> None:
    first, second = clusters(4, {(0, 1): 0.9}, copies=[2, 1, 3, 1])
    assert (first["texts"], first["size"], first["distinct_texts"]) == ([0, 1], 3, 2)
    assert (second["texts"], second["size"], second["min_jaccard"], second["weakest_a"]) == ([2], 3, 1.0, None)


def test_copies_within_one_home_are_no_cluster() -> None:
    [cluster] = clusters(3, {}, copies=[2, 2, 1], group_ids=[7, -1, 7])
    assert cluster["texts"] == [1]


def test_without_verification_nothing_is_measured() -> None:
    [cluster] = clusters(3, {(0, 1): 0.0, (1, 2): 0.0}, verified=False)
    assert cluster["texts"] == [0, 1, 2]
    assert (cluster["min_jaccard"], cluster["weakest_a"]) == (None, None)
    assert cluster["representative"] == 3


def test_no_pairs_no_clusters() -> None:
    assert clusters(3, {}) == []
    assert clusters(0, {}) == []


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("linkage", ["single", "star"])
def test_random_graphs(seed: int, linkage: str) -> None:
    source = random.Random(seed)
    texts = 60
    edges: Edges = {}
    for _ in range(source.randint(10, 90)):
        a, b = sorted(source.sample(range(texts), 2))
        edges[a, b] = round(source.uniform(0.8, 1), 6)
    found = clusters(texts, edges, linkage)
    assert found == clusters(texts, dict(source.sample(list(edges.items()), len(edges))), linkage)
    owner = {text: row["id"] for row in found for text in row["texts"]}
    assert len(owner) == sum(len(row["texts"]) for row in found)
    neighbours: dict[int, dict[int, float]] = {text: {} for text in range(texts)}
    for (a, b), similarity in edges.items():
        neighbours[a][b] = neighbours[b][a] = similarity
    for row in found:
        inner = {edge: value for edge, value in edges.items() if set(edge) <= set(row["texts"])}
        assert row["id"] == 10 * row["texts"][0] + 3
        assert row["min_jaccard"] == min(inner.values())
        if linkage == "star":
            centre = (row["representative"] - 3) // 10
            assert set(row["texts"]) <= {centre, *neighbours[centre]}
        else:
            reached = {row["texts"][0]}
            while more := {two for one in reached for two in neighbours[one]} - reached:
                reached |= more
            assert reached == set(row["texts"])
            best = max(row["texts"], key=lambda text: (round(sum(neighbours[text].values()), 6), -text))
            assert row["representative"] == 10 * best + 3
    if linkage == "single":
        assert set(owner) == {text for edge in edges for text in edge}
