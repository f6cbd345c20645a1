"""The clusters of a query, which the server chooses: for a few of them, nothing else has to be loaded."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.hashing import Hashes
from esdedup.store.cluster_queries import ORDERS, ClusterQuery, is_cluster_id
from esdedup.store.elasticsearch.reading import PAGE, Fields, Reader, hashes, integers
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
            if begin[field] is None:  # these come last
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
