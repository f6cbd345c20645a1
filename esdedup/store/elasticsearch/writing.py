"""The results of a scan into indices of their own, which take the place of the old ones; and later changes to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.clustering.clusters import Clusters
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.store.classifying import Judge
from esdedup.store.elasticsearch import results
from esdedup.store.elasticsearch.bulk import Bulk
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.indices import RESULTS, Indices
from esdedup.store.elasticsearch.journal import Journal
from esdedup.store.elasticsearch.mirror import Mirror
from esdedup.store.elasticsearch.reading import Reader, Wanted, hashes, integers, signed
from esdedup.store.protocol import SourceMark

_DOCUMENTS = {
    "pairs": results.pair_documents,
    "clusters": results.cluster_documents,
    "members": results.member_documents,
}


def write_results(
    connection: Connection,
    indices: Indices,
    corpus: str,
    mirror: Mirror,
    pairs: Iterable[pa.RecordBatch],
    clusters: Clusters,
    judge: Judge | None,
) -> str:
    """Write pairs and clusters of a generation of the corpus into new indices, which no alias names yet: theirs."""
    for batch in pairs:
        mirror.db.insert("pairs", pa.Table.from_batches([batch]))
    mirror.insert_clusters(clusters, judge)
    results.rank(mirror.db, mirror.unit)
    generation = indices.make(RESULTS, {"corpus": corpus})
    for kind, documents in _DOCUMENTS.items():
        with Bulk(connection, indices.name(kind, generation)) as bulk:
            bulk.add(results.actions(documents(mirror.db)))
    indices.refresh(*(indices.name(kind, generation) for kind in RESULTS))
    return generation


class Merger:
    """Works out which result documents change when some clusters are made again."""

    def __init__(self, reader: Reader, names: dict[str, str], journal: Journal, db: Database) -> None:
        self._reader = reader
        self._names = names
        self._journal = journal
        self._db = db

    def merge(
        self,
        marks: Sequence[SourceMark],
        unit: str,
        outdated: Hashes,
        pairs: pa.Table,
        affected: Hashes,
        clusters: Clusters,
        judge: Judge | None,
    ) -> None:
        """Write down what `esdedup.store.protocol.Store.merge_results` does.

        Documents carry names of sentences, so those of texts that only have other names now are written again too.
        """
        renamed = self._renamed()
        mirror = Mirror(self._db, self._reader, self._names, marks, unit)
        # clusters as they are now, whose names must be looked up again
        others = np.setdiff1d(self._clusters_of(renamed), self._clusters_of(affected))
        mirror.load_clusters(others)
        theirs = np.unique(np.concatenate([affected, renamed, outdated]))
        mirror.load_pairs_of(theirs)
        before = self._pairs()
        self._db.create("outdated_texts", pa.table({"hash": outdated}))
        self._db.execute(
            "DELETE FROM pairs WHERE a IN (SELECT hash FROM outdated_texts) OR b IN (SELECT hash FROM outdated_texts)"
        )
        self._db.insert("pairs", pairs)
        mirror.insert_clusters(clusters, judge)
        results.rank(self._db, unit)
        gone = before - self._pairs()
        self._journal.delete("pairs", (results.pair_identity(*pair) for pair in sorted(gone)))
        self._delete_clusters(np.union1d(self._clusters_of(affected), others))
        for kind, documents in _DOCUMENTS.items():
            self._journal.put(kind, documents(self._db))

    def _renamed(self) -> Hashes:
        pages = self._reader.read_all(self._names["touched"], Wanted(fields=("hash",)), {"term": {"renamed": True}})
        return _unique(hashes(integers(hits, "hash")) for hits in pages)

    def _clusters_of(self, texts: Hashes) -> Hashes:
        pages = self._reader.first_of_each(
            self._names["members"], "hash", signed(texts), Wanted(fields=("cluster_hash",))
        )
        return _unique(hashes(integers(hits, "cluster_hash")) for hits in pages)

    def _pairs(self) -> set[tuple[int, int]]:
        return set(self._db.rows("SELECT a, b FROM pairs"))

    def _delete_clusters(self, clusters: Hashes) -> None:
        self._journal.delete("clusters", (f"{cluster:016x}" for cluster in clusters.tolist()))
        wanted = Wanted(fields=("number",))
        for hits in self._reader.look_up(self._names["members"], "cluster_hash", signed(clusters), wanted):
            self._journal.delete("members", (str(number) for number in integers(hits, "number").tolist()))


def _unique(parts: Iterator[Hashes]) -> Hashes:
    return np.unique(np.concatenate([np.empty(0, np.uint64), *parts]))


def result_counts(reader: Reader, names: dict[str, str]) -> dict[str, Any]:
    """Counts of pairs, clusters and clustered sentences without what is ignored, and of clusters that reach far."""
    heeded = {"term": {"ignored": False}}
    body = {
        "size": 0,
        "track_total_hits": True,
        "query": heeded,
        "aggs": {"sentences": {"sum": {"field": "size"}}, "far": {"value_count": {"field": "farthest"}}},
    }
    clusters = reader.search(names["clusters"], body)
    return {
        "pairs": reader.count(names["pairs"], heeded),
        "clusters": clusters["hits"]["total"]["value"],
        "clustered_sentences": int(clusters["aggregations"]["sentences"]["value"]),
        "far": clusters["aggregations"]["far"]["value"],
        "ignored": reader.count(names["clusters"], {"term": {"ignored": True}}),
    }


def clusters_by(reader: Reader, index: str, field: str, kind: str | None = None) -> list[tuple[Any, int]]:
    """How many clusters there are with each value of a field, in its order, or of one kind, without what is ignored."""
    heeded = [{"term": {"ignored": False}}, *([{"term": {"kind": kind}}] if kind is not None else [])]
    body = {
        "size": 0,
        "query": {"bool": {"filter": heeded}},
        "aggs": {"values": {"terms": {"field": field, "size": 65_535, "order": {"_key": "asc"}}}},
    }
    buckets = reader.search(index, body)["aggregations"]["values"]["buckets"]
    return [(bucket["key"], int(bucket["doc_count"])) for bucket in buckets]
