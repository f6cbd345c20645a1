"""Cluster verified pairs, on flat arrays.

Only texts that are in a pair, or occur more than once, take part. Their indices follow the order of their content
hashes. Sums of Jaccard are kept as whole billionths, so they do not depend on the order of addition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.clustering.stars import in_order
from esdedup.columns.cuts import Parents, roots, unite
from esdedup.columns.kernels import compiled

if TYPE_CHECKING:
    from esdedup.clustering.linkages import Linkage
    from esdedup.columns.arrays import Numbers
    from esdedup.columns.database import Database
    from esdedup.columns.hashing import Hashes

CLUSTERS: pa.Schema = pa.schema(
    [
        ("id", pa.uint64()),  # smallest content hash among its texts
        ("size", pa.int64()),  # sentences
        ("distinct_texts", pa.int64()),
        ("min_jaccard", pa.float64()),  # weakest verified edge; 1 without edges, null where nothing was verified
        ("weakest_a", pa.uint64()),  # the texts of that edge, null without one
        ("weakest_b", pa.uint64()),
        ("representative", pa.uint64()),  # the text with the highest sum of Jaccard over its edges
        ("farthest", pa.float64()),  # lowest similarity to the representative, if the diameter check reported it
        ("ignored", pa.bool_()),  # contains a text of the --ignore list
    ]
)
CLUSTER_TEXTS: pa.Schema = pa.schema([("hash", pa.uint64()), ("cluster", pa.uint64())])

Similarities = npt.NDArray[np.float64]

_NO_TEXTS: Hashes = np.empty(0, np.uint64)
_UNIT = 1_000_000_000  # a Jaccard similarity of 1 as a whole number


class Clusters(NamedTuple):
    """Tables of schemas `CLUSTERS` and `CLUSTER_TEXTS`."""

    clusters: pa.Table
    texts: pa.Table


def find_clusters(
    scratch: Database,
    linkage: Linkage,
    verified: bool,
    ignored: Hashes = _NO_TEXTS,
    centre_order: Callable[[Hashes, Numbers], Numbers] | None = None,
) -> Clusters:
    """Cluster the tables `texts` (number, hash, copies, group_id) and `pairs` (a, b, jaccard) of `scratch`.

    `single` linkage returns connected components, `star` returns centres with their neighbours. `centre_order` may set
    the order in which texts become centres: it gets the hashes and their connected components, and returns indices into
    them. Without `verified`, the result has no similarities. Under `--across`, copies of one text within one group
    (`group_id` >= 0) are not a cluster by themselves. A cluster with a text whose hash is in `ignored` is marked as
    ignored.
    """
    taking_part = scratch.arrays(
        "SELECT number, hash, copies, group_id FROM texts WHERE (copies > 1 AND group_id < 0) "
        "OR number IN (SELECT a FROM pairs UNION ALL SELECT b FROM pairs) ORDER BY number"
    )
    numbers, copies = taking_part["number"].astype(np.int64), taking_part["copies"].astype(np.int64)
    indices = np.arange(len(numbers))
    parent = indices.astype(np.int32)
    sums = np.zeros(len(numbers), np.int64)
    for edges in _edges(scratch, numbers):
        _take_in(parent, sums, *edges)
    connected = roots(parent, indices)
    root = linkage.roots(
        connected,
        lambda order: _edges_in_order(scratch, numbers, order),
        lambda: _by_similarity(sums) if centre_order is None else centre_order(taking_part["hash"], connected),
    )
    least = np.full(len(numbers), 2.0)
    weak_a, weak_b = np.full(len(numbers), -1), np.full(len(numbers), -1)
    for a, b, jaccard in _edges(scratch, numbers):
        _weakest(root, a, b, jaccard, least, weak_a, weak_b)
    distinct = np.bincount(root, minlength=len(numbers))
    size = np.zeros(len(numbers), np.int64)
    np.add.at(size, root, copies)
    best = np.lexsort((indices, -sums, root))
    firsts = best[np.flatnonzero(np.diff(root[best], prepend=-1))]
    representative = np.empty(len(numbers), np.int64)
    representative[root[firsts]] = firsts
    alone = (copies > 1) & (taking_part["group_id"] < 0)
    kept = np.flatnonzero((distinct > 1) | ((root == indices) & alone))
    hashes = taking_part["hash"]
    joined = weak_a[kept] >= 0
    clusters = pa.table(
        {
            "id": hashes[kept],
            "size": size[kept],
            "distinct_texts": distinct[kept],
            "min_jaccard": pa.array(np.where(joined, least[kept], 1.0), mask=joined & (not verified)),
            "weakest_a": pa.array(hashes[weak_a[kept]], mask=~joined | (not verified)),
            "weakest_b": pa.array(hashes[weak_b[kept]], mask=~joined | (not verified)),
            "representative": hashes[representative[kept]],
            "farthest": pa.nulls(len(kept), pa.float64()),
            "ignored": np.isin(root[kept], root[np.isin(hashes, ignored)]),
        },
        CLUSTERS,
    )
    clustered = np.isin(root, kept)
    texts = pa.table({"hash": hashes[clustered], "cluster": hashes[root[clustered]]}, CLUSTER_TEXTS)
    return Clusters(clusters, texts)


def find_roots(texts: int, a: Numbers, b: Numbers, jaccard: Similarities, linkage: Linkage) -> Numbers:
    """Return the smallest index in the cluster of each of `texts` texts, from edges in memory; shape (texts,)."""
    parent = np.arange(texts, dtype=np.int32)
    sums = np.zeros(texts, np.int64)
    _take_in(parent, sums, a, b, np.nan_to_num(jaccard))
    return linkage.roots(
        roots(parent, np.arange(texts)), lambda order: [in_order(a, b, order)], lambda: _by_similarity(sums)
    )


def _by_similarity(sums: Numbers) -> Numbers:
    """Indices by their sums, highest first."""
    return np.argsort(-sums, kind="stable")


def _take_in(parent: Parents, sums: Numbers, a: Numbers, b: Numbers, jaccard: Similarities) -> None:
    """Unite the ends of edges, and add the edges' weights to both."""
    unite(parent, a, b)
    weight = np.rint(jaccard * _UNIT).astype(np.int64)
    np.add.at(sums, a, weight)
    np.add.at(sums, b, weight)


def _edges(scratch: Database, numbers: Numbers) -> Iterator[tuple[Numbers, Numbers, Similarities]]:
    """Yield pairs in batches: the indices of a and b in `numbers`, and Jaccard (0 for null)."""
    for batch in scratch.batches("SELECT a, b, coalesce(jaccard, 0) AS jaccard FROM pairs"):
        a, b = (np.searchsorted(numbers, batch[name].to_numpy()) for name in ("a", "b"))
        yield a, b, batch["jaccard"].to_numpy()


def _edges_in_order(scratch: Database, numbers: Numbers, order: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield the indices of the ends of pairs in batches, as `star_roots` wants them."""
    scratch.create("visited", pa.table({"number": numbers[order], "turn": np.arange(len(order))}))
    ends = (
        "SELECT least(one.turn, two.turn) AS first, greatest(one.turn, two.turn) AS second FROM pairs p "
        "JOIN visited one ON one.number = p.a JOIN visited two ON two.number = p.b ORDER BY first"
    )
    for batch in scratch.batches(ends):
        yield order[batch["first"].to_numpy()], order[batch["second"].to_numpy()]
    scratch.execute("DROP TABLE visited")


@compiled
def _weakest(
    root: Numbers,
    a: Numbers,
    b: Numbers,
    jaccard: Similarities,
    least: Similarities,
    weak_a: Numbers,
    weak_b: Numbers,
) -> None:
    """Lower `least` of each cluster to its weakest edge; among equal edges, take the first by (a, b)."""
    for edge in range(len(a)):
        cluster = root[a[edge]]
        if root[b[edge]] != cluster or jaccard[edge] > least[cluster]:
            continue
        if jaccard[edge] == least[cluster] and (
            a[edge] > weak_a[cluster] or (a[edge] == weak_a[cluster] and b[edge] > weak_b[cluster])
        ):
            continue
        least[cluster] = jaccard[edge]
        weak_a[cluster] = a[edge]
        weak_b[cluster] = b[edge]
