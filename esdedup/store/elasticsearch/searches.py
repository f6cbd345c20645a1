"""The clusters of a query, which the server chooses: for a few of them, nothing else has to be loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.errors import StoreError
from esdedup.store.cluster_queries import ORDERS, ClusterQuery, is_cluster_id
from esdedup.store.elasticsearch.bulk import Bulk, put
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.indices import WORKING, Indices
from esdedup.store.elasticsearch.reading import PAGE, Fields, Reader, hashes, integers
from esdedup.store.elasticsearch.rows import one_signed
from esdedup.store.ranking_joins import create_ranked
from esdedup.text.words import holding

_UNSPACED = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Scripts without spaces, which every analyser splits into words differently."""


class ClusterLookup:
    """Finds clusters in the indices `names`."""

    def __init__(self, reader: Reader, names: dict[str, str]) -> None:
        self._reader = reader
        self._names = names

    def chosen(self, search: ClusterQuery) -> Hashes | None:
        """Return the clusters to load for a query, a superset of its answer; None for all clusters."""
        chosen = self._holding(search)
        if search.ids is not None:
            named = np.concatenate([_NONE, *map(_number, search.ids)])
            chosen = named if chosen is None else np.intersect1d(chosen, named)
        if chosen is None and search.limit is not None:
            chosen = self._page(search)
        if chosen is None and (search.kind is not None or search.having is not None):
            chosen = self._of_kind(search)
        if chosen is None or search.after is None:
            return chosen
        return np.union1d(chosen, _number(search.after))

    def _holding(self, search: ClusterQuery) -> Hashes | None:
        """Return the clusters that contain a sentence of the requested document and article, one in the language, and
        one with all words of the text; None for all.
        """
        chosen: Hashes | None = None
        for name, fields in ((search.document, ("document",)), (search.article, ("document", "title"))):
            if name is not None:
                named = [{"term": {field: name}} for field in fields]
                some = self._clusters({"bool": {"should": named, "minimum_should_match": 1}}, None)
                chosen = some if chosen is None else np.intersect1d(chosen, some)
        if search.language is not None:
            some = self._clusters({"term": {"language": search.language}}, None)
            chosen = some if chosen is None else np.intersect1d(chosen, some)
        text = search.text
        if text is not None and text.split():
            # for scripts with spaces the server's words are nearly ours; the hits are checked again
            asked = {"match": {"text": {"query": text, "operator": "and", "zero_terms_query": "all"}}}
            with_words = self._clusters({"match_all": {}} if _UNSPACED.search(text) else asked, text)
            chosen = with_words if chosen is None else np.intersect1d(chosen, with_words)
        return chosen

    def _clusters(self, query: dict[str, Any], text: str | None) -> Hashes:
        read = Fields(columns=("cluster_hash",), source=text is not None)
        found = [_NONE]
        for hits in self._reader.read_all(self._names["members"], read, query):
            clusters = hashes(integers(hits, "cluster_hash"))
            if text is not None:
                texts = pa.array([hit["_source"]["text"] for hit in hits], pa.large_string())
                clusters = clusters[holding(texts, text)]
            found.append(clusters)
        return np.unique(np.concatenate(found))

    def _of_kind(self, search: ClusterQuery) -> Hashes:
        """Return the clusters of the requested kind with their required properties."""
        query = {"bool": {"filter": _filters(search)}}
        pages = self._reader.read_all(self._names["clusters"], Fields(columns=("hash",)), query)
        return np.concatenate([_NONE, *(hashes(integers(hits, "hash")) for hits in pages)])

    def _page(self, search: ClusterQuery) -> Hashes | None:
        """Return the first clusters that are not ignored, by size and kind alone; None if all must be searched."""
        begin = None if search.after is None else self._cluster(search.after)
        if search.limit is None or not 0 < search.limit <= PAGE or (search.after is not None and begin is None):
            return None
        field, direction = ORDERS[search.sort]
        body: dict[str, Any] = {
            "size": search.limit,
            "query": {"bool": {"filter": _filters(search)}},
            "sort": [{field: {"order": direction, "missing": "_last"}}, {"id": "asc"}],
            "track_total_hits": False,
            **Fields(columns=("hash",)).body(),
        }
        if begin is not None:
            if begin.get(field) is None:  # these come last
                return None
            body["search_after"] = [begin[field], search.after]
        return hashes(integers(self._reader.search(self._names["clusters"], body)["hits"]["hits"], "hash"))

    def _cluster(self, identity: str) -> dict[str, Any] | None:
        [hits] = self._reader.look_up(self._names["clusters"], "id", [identity], Fields(source=True))
        return dict(hits[0]["_source"]) if hits else None


_NONE: Hashes = np.empty(0, np.uint64)


def _filters(search: ClusterQuery) -> list[dict[str, Any]]:
    """Return the filters on single fields of a cluster."""
    sizes = {"gte": search.min_size, "lte": search.max_size}
    filters: list[dict[str, Any]] = [{"term": {"ignored": False}}, {"range": {"size": sizes}}]
    if search.kind is not None:
        filters.append({"term": {"kind": search.kind}})
    if search.having is not None:
        filters.append({"range": {search.having: {"gt": 0}}})
    return filters


def _number(identity: str) -> Hashes:
    """Return the number of the cluster with this id, if it is one."""
    return np.array([int(identity, 16)] if is_cluster_id(identity) else [], np.uint64)


MOST_TERMS = 1024
"""The maximum number of terms of a query, which every server accepts."""

_QUERIES_AT_ONCE = 200


def rank_by_queries(connection: Connection, indices: Indices, corpus: str, scratch: Database, top: int) -> None:
    """Fill `ranked` of `scratch` with up to `top` others of each record, using a temporary index.

    Raise `StoreError` if a record has more terms than a query may have.
    """
    longest = scratch.count("SELECT max(len(terms)) FROM records")
    if longest > MOST_TERMS:
        raise StoreError(
            f"{connection.address}: a record has {longest:,} terms, and a query may have {MOST_TERMS:,}; "
            "use --query-by signature"
        )
    create_ranked(scratch)
    indices.delete(WORKING)  # left by killed scans
    generation = indices.make(WORKING, {"corpus": corpus})
    [index] = (indices.name(kind, generation) for kind in WORKING)
    try:
        with Bulk(connection, index) as bulk:
            for rows in _records(scratch):
                bulk.add(
                    put(str(row["number"]), orjson.dumps({**row, "hash": one_signed(row["hash"])})) for row in rows
                )
        indices.refresh(index)
        for rows in _records(scratch):
            for first in range(0, len(rows), _QUERIES_AT_ONCE):
                some = rows[first : first + _QUERIES_AT_ONCE]
                scratch.insert("ranked", _answers(connection, index, some, top))
    finally:
        with suppress(StoreError):  # the first error matters; the next scan deletes the index
            indices.delete(WORKING)


def _records(scratch: Database) -> Iterator[list[dict[str, Any]]]:
    for batch in scratch.batches(
        "SELECT number, hash, words, first_word, group_id, terms FROM records ORDER BY number", rows=10_000
    ):
        yield batch.to_pylist()


def _answers(connection: Connection, index: str, rows: list[dict[str, Any]], top: int) -> pa.Table:
    lines = []
    for row in rows:
        asked = {
            "size": top,
            "_source": False,
            "docvalue_fields": ["number"],
            "sort": [{"_score": "desc"}, {"number": "asc"}],
            "query": {
                "bool": {
                    "filter": [
                        {"range": {"number": {"gt": row["number"]}}},
                        {"term": {"first_word": row["first_word"]}},
                    ],
                    "must_not": [] if row["group_id"] < 0 else [{"term": {"group_id": row["group_id"]}}],
                    "should": [{"constant_score": {"filter": {"term": {"terms": term}}}} for term in row["terms"]],
                    "minimum_should_match": 1,
                }
            },
        }
        lines += [b"{}", orjson.dumps(asked)]
    answers = connection.ask("POST", f"/{index}/_msearch", b"\n".join(lines) + b"\n", lines=True)
    found: list[tuple[int, int, int]] = []
    for row, answer in zip(rows, answers["responses"], strict=True):
        if "error" in answer or answer["_shards"]["failed"]:
            raise StoreError(f"{connection.address}: {index} could not be searched; run the same command again")
        found += [
            (row["number"], int(hit["fields"]["number"][0]), round(hit["_score"])) for hit in answer["hits"]["hits"]
        ]
    columns = np.array(found, np.int32).reshape(-1, 3)
    return pa.table({name: columns[:, at] for at, name in enumerate(("a", "b", "score"))})
