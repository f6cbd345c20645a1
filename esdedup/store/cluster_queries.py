"""Queries for clusters, and the form of the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

Order = Literal["size", "jaccard", "confidence", "contradiction", "copies"]

MOST = 2**31 - 1
"""The size of the largest cluster that can be stored."""


@dataclass(frozen=True, slots=True)
class ClusterQuery:
    """A query for clusters."""

    min_size: int = 2
    kind: str | None = None
    document: str | None = None  # with a sentence of the document with this id
    text: str | None = None  # with all these words in their texts
    language: str | None = None  # with a sentence in this language
    having: str | None = None  # `contradictions` or `copies`: with at least one
    sort: Order = "size"
    limit: int | None = None
    after: str | None = None  # continue after the cluster with this id
    article: str | None = None  # with a sentence of a document with this id or title
    ids: tuple[str, ...] | None = None  # those with these ids
    max_size: int = MOST
    shared: bool = False  # in addition what `esdedup.analysis.drift` needs
    brief: bool = False  # only the first two members of the representative's text and of the weakest edge's texts
    # in addition: frame, contradictions, contradiction, copies


ALL_CLUSTERS = ClusterQuery()

ORDERS: dict[Order, tuple[str, str]] = {
    "size": ("size", "desc"),
    "jaccard": ("min_jaccard", "asc"),
    "confidence": ("kind_confidence", "desc"),
    "contradiction": ("contradiction", "desc"),
    "copies": ("copies", "desc"),
}
"""The field and the direction of each order; ties are sorted by id. So: largest first, weakest edge first, highest
confidence of the kind first, highest confidence of a contradiction first, most copies first.
"""


def is_cluster_id(identity: str) -> bool:
    """Whether a text has the form of a cluster id: 16 hexadecimal digits."""
    return re.fullmatch(r"[0-9a-f]{16}", identity) is not None


_BRIEFLY = ("frame", "contradictions", "contradiction", "copies")
_SHARED = ("shared", "frames")
_TOLD = ("contributor", "newest", "source_number")  # the newest revision of the document
"""Properties of clusters and members that the contract does not contain."""


def cluster_of(rows: list[dict[str, Any]], query: ClusterQuery = ALL_CLUSTERS) -> dict[str, Any]:
    """Make a cluster from the rows of its members. Each row repeats the columns of the cluster."""
    cluster = rows[0]
    told = _TOLD if query.shared else ()
    _require(rows)
    firsts = {row["hash"]: row["sentence"] for row in rows if row["turn"] == 1}
    weakest = [firsts.get(cluster["weakest_a"]), firsts.get(cluster["weakest_b"])]
    if cluster["distinct_texts"] == 1:
        weakest = [row["sentence"] for row in rows if row["turn"] <= 2]
    least = cluster["min_jaccard"]
    return {
        "id": f"{cluster['id']:016x}",
        "size": cluster["size"],
        "distinct": cluster["distinct_texts"],
        **{name: cluster[name] for name in ("kind", "kind_confidence", "kind_reason")},
        "min_jaccard": None if least is None else round(least, 6),
        "weakest": sorted(weakest, key=str.encode) if all(weakest) else None,
        "representative": firsts[cluster["representative"]],
        "members": [
            {
                "id": row["sentence"],
                **{name: row[name] for name in ("source", "document", "title", "position", "text")},
                **{name: row[name] for name in ("revision", "timestamp", "last_revision", *told)},
            }
            for row in rows
        ],
        **{name: cluster[name] for name in _BRIEFLY if query.brief},
        **{name: cluster[name] for name in _SHARED if query.shared},
    }


def _require(rows: list[dict[str, Any]]) -> None:
    """Raise `ValueError` for rows that lack what every sentence has, which only a damaged store can contain."""
    if any(row["sentence"] is None or row["text"] is None or row["document"] is None for row in rows):
        raise ValueError("a sentence has no id or no text")
    if rows[0]["kind"] is not None and (rows[0]["kind_confidence"] is None or rows[0]["kind_reason"] is None):
        raise ValueError("a cluster has a kind without a confidence or a reason")


def tree_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Make a tree of copies between pages, with the members in chronological order."""
    names = ("title", "text", "timestamp", "contributor", "parent", "jaccard", "edits", "copied")
    _require(rows)
    dated = [row for row in rows if row["timestamp"] is not None]
    dated.sort(
        key=lambda row: (row["timestamp"], row["revision"] or 0, row["parent"] is not None, row["sentence"].encode())
    )
    return {
        "cluster": f"{rows[0]['id']:016x}",
        "copies": rows[0]["copies"],
        "members": [{"id": row["sentence"], **{name: row[name] for name in names}} for row in dated],
    }
