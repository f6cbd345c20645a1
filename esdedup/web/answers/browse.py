"""Clusters as lists, and one cluster in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from esdedup.analysis.drift import contradictions
from esdedup.analysis.lineage import descended
from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import content_hashes
from esdedup.errors import UsageError
from esdedup.matching.verify.compare import diff_words
from esdedup.output.aligned import laid_out
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.store import Store
from esdedup.web.answers.shapes import (
    Ancestry,
    ClusterHead,
    ClusterList,
    ClusterPage,
    ClusterSummary,
    Edge,
    Member,
    Place,
    Weakest,
)

PAGE = 20
"""Clusters of a page."""

MOST_ROWS = 200
"""Texts of a cluster that are shown under each other."""

MOST_NODES = 60
"""Texts of a cluster whose pairs are drawn."""

MOST_MEMBERS = 10_000
"""Sentences of a cluster that is laid out; of a larger one only those that stand for it are shown."""

MOST_EXPORTED = 100_000
"""Sentences of a cluster that is sent as a file."""

MOST_CONTRADICTIONS = 50
MOST_ANCESTRY = 200
"""Contradictions of a cluster, and sentences of its tree of copies, that are shown."""

_ALL_CLUSTERS = "clusters.jsonl, which esdedup scan writes,"

_MOST_SENTENCES = 8
"""Sentences of a text that are named."""


class UnknownError(LookupError):
    """Nothing has this id."""


def cluster_list(store: Store, wanted: ClusterQuery) -> ClusterList:
    """A page of the clusters that are wanted, whose `limit` is that of the page."""
    heads, after = page_of(store, wanted)
    return {"clusters": heads, "after": after, "kinds": store.results.kinds()}


def page_of(store: Store, wanted: ClusterQuery) -> tuple[list[ClusterHead], str | None]:
    """The clusters of one page, and what the next one comes after."""
    limit = PAGE if wanted.limit is None else wanted.limit
    rows = list(store.results.cluster_rows(replace(wanted, limit=limit + 1, brief=True)))
    more = len(rows) > limit
    heads = [_head(row) for row in rows[:limit]]
    return heads, heads[-1]["id"] if more and heads else None


def brief_cluster(store: Store, identity: str) -> dict[str, Any]:
    """The cluster with this id, of its members only those that it names; `UnknownError` without one."""
    for cluster in store.results.cluster_rows(ClusterQuery(ids=(identity,), brief=True)):
        return cluster
    raise UnknownError(f"no cluster {identity}")


def whole_cluster(store: Store, identity: str, file: str = _ALL_CLUSTERS) -> dict[str, Any]:
    """The cluster with this id, as the contract writes it.

    `UnknownError` without one, `UsageError` where it has more than `MOST_EXPORTED` sentences, which names the `file`
    that has it.
    """
    head = brief_cluster(store, identity)
    if head["size"] > MOST_EXPORTED:
        raise UsageError(
            f"the cluster {identity} has {head['size']:,} sentences, more than the {MOST_EXPORTED:,} that are sent at "
            f"once; {file} has all"
        )
    return with_members(store, identity)


def with_members(store: Store, identity: str) -> dict[str, Any]:
    """The cluster with this id, however large; `UnknownError` without one."""
    for cluster in store.results.cluster_rows(ClusterQuery(ids=(identity,))):
        return cluster
    raise UnknownError(f"no cluster {identity}")  # any more


def cluster_page(store: Store, identity: str) -> ClusterPage:
    """One cluster with all that is known of it; `UnknownError` without one.

    Of more than `MOST_MEMBERS` sentences only those are shown that stand for it.
    """
    head = brief_cluster(store, identity)
    whole = head["size"] <= MOST_MEMBERS
    cluster = with_members(store, identity) if whole else head | {"members": _of_each_text(head)}
    laid = laid_out(cluster, rows=MOST_ROWS, sentences=_MOST_SENTENCES)
    texts = {member["id"]: member["text"] for member in cluster["members"]}
    drawn = [texts[row["members"][0]["id"]] for row in laid["rows"][:MOST_NODES]]
    surest_ones = surest(cluster)[:MOST_CONTRADICTIONS] if whole and head["contradictions"] else []
    tree = _lineage(store, identity) if whole and head["copies"] else []
    return {
        **{name: head[name] for name in ClusterSummary.__annotations__},  # type: ignore[typeddict-item]
        "representative": cluster["representative"],
        "whole": whole,
        "exportable": head["size"] <= MOST_EXPORTED,
        "aligned": laid,
        "edges": _edges(store, drawn),
        "weakest": _weakest(cluster),
        "lineage": tree[:MOST_ANCESTRY],
        "more_lineage": max(0, len(tree) - MOST_ANCESTRY),
        "contradictions": surest_ones,
        "more_contradictions": (head["contradictions"] or 0) - len(surest_ones),
    }


def surest(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    """The contradictions in a cluster, the surest first."""
    return sorted(contradictions(cluster), key=lambda row: -row["confidence"])


def _of_each_text(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    """Of each text that a brief cluster has, one sentence: those that it names, as far as there are any."""
    named = {cluster["representative"], *(cluster["weakest"] or ())}
    first: dict[str, dict[str, Any]] = {}
    for member in sorted(cluster["members"], key=lambda member: member["id"] not in named):
        first.setdefault(member["text"], member)
    return list(first.values())


def _head(row: dict[str, Any]) -> ClusterHead:
    face = next(member for member in row["members"] if member["id"] == row["representative"])
    head = {name: row[name] for name in ClusterHead.__annotations__ if name in row}
    return {**head, "text": face["text"], "place": place(face)}  # type: ignore[typeddict-item]


def place(member: dict[str, Any]) -> Place:
    """Where a sentence stands."""
    return {name: member[name] for name in Place.__annotations__}  # type: ignore[return-value]


def _member(member: dict[str, Any]) -> Member:
    return {**place(member), "text": member["text"]}


def _weakest(cluster: dict[str, Any]) -> Weakest | None:
    if cluster["weakest"] is None or cluster["distinct"] < 2:
        return None
    one, two = (
        next(member for member in cluster["members"] if member["id"] == identity) for identity in cluster["weakest"]
    )
    return {"a": _member(one), "b": _member(two), "diff": diff_words(one["text"], two["text"])}


def _edges(store: Store, texts: Sequence[str]) -> list[Edge]:
    """The pairs among these texts of a cluster."""
    hashes = content_hashes(*text_buffers(pa.array(texts, pa.large_string())))
    at = {int(value): place for place, value in enumerate(hashes)}
    found: list[Edge] = [
        {"a": at[row["a"]], "b": at[row["b"]], "jaccard": row["jaccard"]}
        for batch in store.results.pair_hashes(pa.table({"hash": hashes}))
        for row in batch.to_pylist()
    ]
    found.sort(key=lambda edge: (edge["a"], edge["b"]))
    return found


def _lineage(store: Store, identity: str) -> list[Ancestry]:
    """The members of the cluster's tree of copies, where there is one, in the order of time."""
    for tree in store.results.trees(ClusterQuery(ids=(identity,))):
        return [
            {name: member[name] for name in Ancestry.__annotations__}  # type: ignore[misc]
            for member in descended(tree)["members"]
        ]
    return []
