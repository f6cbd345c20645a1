"""Lists of clusters, and one cluster in full."""

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
from esdedup.output.aligned import align_cluster
from esdedup.output.contents.meaning_answers import Tree, TreeMember
from esdedup.output.records_beside import WeakestPairs
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.store import Store
from esdedup.web.answers.shapes import (
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
"""Clusters on a page."""

MOST_ROWS = 200
"""Texts of a cluster that a page shows."""

MOST_NODES = 60
"""Texts of a cluster in the graph of its pairs."""

MOST_MEMBERS = 10_000
"""Sentences of a cluster that a page aligns. Of a larger cluster, only representative sentences are shown."""

MOST_EXPORTED = 100_000
"""Sentences of a cluster that can be downloaded as a file."""

MOST_CONTRADICTIONS = 50
MOST_ANCESTRY = 200
"""Number of shown contradictions of a cluster, and of shown sentences in its tree of copies."""

_ALL_CLUSTERS = "clusters.jsonl, which esdedup scan writes,"

_MOST_SENTENCES = 8
"""Number of sentences that are named with a text."""


class UnknownError(LookupError):
    """Nothing has this id."""


def cluster_list(store: Store, query: ClusterQuery) -> ClusterList:
    """Return one page of the clusters that match the query. Its `limit` is the length of the page."""
    heads, after = page_of(store, query)
    return {"clusters": heads, "after": after, "total": _total(store, query), "kinds": store.results.kinds()}


def _total(store: Store, query: ClusterQuery) -> int | None:
    """Return the number of clusters on all pages, if it is known without looking at their sentences."""
    if query.document or query.article or query.text:
        return None
    sizes = store.results.sizes(query.kind).items()
    return sum(count for size, count in sizes if query.min_size <= size <= query.max_size)


def page_of(store: Store, query: ClusterQuery) -> tuple[list[ClusterHead], str | None]:
    """Return the clusters of one page, and the id that the next page starts after."""
    limit = PAGE if query.limit is None else query.limit
    rows = list(store.results.cluster_rows(replace(query, limit=limit + 1, brief=True)))
    more = len(rows) > limit
    heads = [_head(row) for row in rows[:limit]]
    return heads, heads[-1]["id"] if more and heads else None


def find_cluster(store: Store, identity: str) -> dict[str, Any]:
    """Return the cluster with this id, with only the members that it names. Raises `UnknownError` if there is none."""
    for cluster in store.results.cluster_rows(ClusterQuery(ids=(identity,), brief=True)):
        return cluster
    raise UnknownError(f"no cluster {identity}")


def whole_cluster(store: Store, identity: str, file: str = _ALL_CLUSTERS) -> dict[str, Any]:
    """Return the cluster with this id, in the format of clusters.jsonl.

    Raises `UnknownError` if there is none, and `UsageError` if it has more than `MOST_EXPORTED` sentences; the message
    refers to `file`.
    """
    head = find_cluster(store, identity)
    if head["size"] > MOST_EXPORTED:
        raise UsageError(
            f"cluster {identity} has {head['size']:,} sentences, more than the {MOST_EXPORTED:,} of a download; "
            f"{file} has all"
        )
    return with_members(store, identity)


def with_members(store: Store, identity: str, *, shared: bool = False) -> dict[str, Any]:
    """Return the cluster with this id, however large. Raises `UnknownError` if there is none.

    With `shared`, also what its documents share.
    """
    for cluster in store.results.cluster_rows(ClusterQuery(ids=(identity,), shared=shared)):
        return cluster
    raise UnknownError(f"no cluster {identity}")  # a scan may have removed it meanwhile


def cluster_page(store: Store, identity: str) -> ClusterPage:
    """Return one cluster with everything that is known about it. Raises `UnknownError` if there is none.

    If it has more than `MOST_MEMBERS` sentences, only representative ones are included.
    """
    head = find_cluster(store, identity)
    whole = head["size"] <= MOST_MEMBERS
    cluster = with_members(store, identity, shared=True) if whole else head | {"members": _of_each_text(head)}
    aligned = align_cluster(cluster, rows=MOST_ROWS, sentences=_MOST_SENTENCES)
    texts = {member["id"]: member["text"] for member in cluster["members"]}
    drawn = [texts[row["members"][0]["id"]] for row in aligned["rows"][:MOST_NODES]]
    surest_ones = surest(cluster)[:MOST_CONTRADICTIONS] if whole and head["contradictions"] else []
    tree = _lineage(store, identity) if whole and head["copies"] else []
    return {
        **{name: head[name] for name in ClusterSummary.__annotations__},  # type: ignore[typeddict-item]
        "representative": cluster["representative"],
        "whole": whole,
        "exportable": head["size"] <= MOST_EXPORTED,
        "aligned": aligned,
        "edges": _edges(store, drawn),
        "weakest": _weakest(cluster),
        "weighed": WeakestPairs(store).of(cluster) if whole else [],
        "lineage": tree[:MOST_ANCESTRY],
        "more_lineage": max(0, len(tree) - MOST_ANCESTRY),
        "contradictions": surest_ones,
        "more_contradictions": (head["contradictions"] or 0) - len(surest_ones),
    }


def surest(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the contradictions in a cluster, most confident first."""
    return sorted(contradictions(cluster), key=lambda row: -row["confidence"])


def _of_each_text(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one sentence of each text of a cluster. Prefer the sentences that the cluster names."""
    named = {cluster["representative"], *(cluster["weakest"] or ())}
    first: dict[str, dict[str, Any]] = {}
    for member in sorted(cluster["members"], key=lambda member: member["id"] not in named):
        first.setdefault(member["text"], member)
    return list(first.values())


def _head(row: dict[str, Any]) -> ClusterHead:
    representative = next(member for member in row["members"] if member["id"] == row["representative"])
    head = {name: row[name] for name in ClusterHead.__annotations__ if name in row}
    return {**head, "text": representative["text"], "place": place(representative)}  # type: ignore[typeddict-item]


def place(member: dict[str, Any]) -> Place:
    """Return where a sentence is."""
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
    """Return the pairs among these texts of a cluster."""
    hashes = content_hashes(*text_buffers(pa.array(texts, pa.large_string())))
    at = {int(value): place for place, value in enumerate(hashes)}
    found: list[Edge] = [
        {"a": at[row["a"]], "b": at[row["b"]], "jaccard": row["jaccard"]}
        for batch in store.results.pair_hashes(pa.table({"hash": hashes}))
        for row in batch.to_pylist()
    ]
    found.sort(key=lambda edge: (edge["a"], edge["b"]))
    return found


def _lineage(store: Store, identity: str) -> list[TreeMember]:
    """Return the members of the cluster's tree of copies in order of time; empty if there is no tree."""
    for tree in store.results.trees(ClusterQuery(ids=(identity,))):
        return Tree.of(descended(tree)).members
    return []
