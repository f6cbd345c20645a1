"""Queries that the server answers: sentences by tokens, beginnings and ids, and the clusters of a query.

For a few clusters, nothing else has to be loaded.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from heapq import nsmallest
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.hashing import Hashes
from esdedup.store.cluster_queries import ORDERS, ClusterQuery, is_cluster_id
from esdedup.store.elasticsearch.reading import PAGE, Fields, Hits, Reader, hashes, integers
from esdedup.store.elasticsearch.rows import NAMED, sentence_table
from esdedup.store.schemas import SENTENCES, START_CHARS
from esdedup.text.words import holding

_LONGEST_ID = 32_766  # bytes; the longest term that the server accepts and stores


class SentenceLookup:
    """Finds sentences of an index by their tokens and beginnings, if required in one language; and by their ids."""

    def __init__(self, reader: Reader, index: str, language: str | None = None) -> None:
        self._reader = reader
        self._index = index
        self._filters = [] if language is None else [{"term": {"language": language}}]

    def sharing(self, tokens: Sequence[int], most: int | None) -> pa.Table:
        """Return sentences with at least one of the tokens, or the `most` with most of them: the score is the count."""
        should = [{"constant_score": {"filter": {"term": {"tokens": token}}}} for token in tokens]
        query: dict[str, Any] = {"bool": {"should": should, "minimum_should_match": 1, "filter": self._filters}}
        if most is not None:
            return sentence_table(self._first(query, most))
        return pa.concat_tables(map(sentence_table, self._reader.matching(self._index, [query], NAMED)))

    def _first(self, query: dict[str, Any], most: int) -> Hits:
        """Return the `most` documents with the highest scores; ties are broken by the lowest hash."""
        order = [{"_score": "desc"}, {"hash": "asc"}, {"number": "asc"}]
        pages = self._reader.in_order(self._index, {"query": query, "sort": order, **NAMED.body()}, most)
        return [hit for hits in pages for hit in hits]

    def starting(self, folded: str, limit: int | None) -> pa.Table:
        """Return the first `limit` sentences by (text, id) whose case-folded text begins with `folded`."""
        limit = sys.maxsize if limit is None else limit
        found: Hits = []
        body: dict[str, Any] = {
            "size": min(max(limit, 64), PAGE),
            "query": {"bool": {"filter": [{"prefix": {"start": folded[:START_CHARS]}}, *self._filters]}},
            "sort": ["head", "id"],
            "track_total_hits": False,
            **NAMED.body(),
        }
        while limit:
            page = self._reader.search(self._index, body)["hits"]["hits"]
            found += [hit for hit in page if hit["_source"]["text"].casefold().startswith(folded)]
            # texts that share their first characters with the last one may come in any order
            if len(page) < body["size"] or (len(found) >= limit and page[-1]["sort"][0] != _head(found, limit)):
                break
            body |= {"search_after": page[-1]["sort"], "size": min(2 * body["size"], PAGE)}
        found.sort(key=lambda hit: (hit["_source"]["text"], hit["_source"]["id"]))
        return sentence_table(found[:limit])

    def named(self, ids: Sequence[str]) -> pa.Table:
        """Return the sentences with these ids."""
        asked = [identity for identity in ids if len(identity.encode()) <= _LONGEST_ID]
        pages = self._reader.look_up(self._index, "id", asked, NAMED)
        return pa.concat_tables([SENTENCES.empty_table(), *map(sentence_table, pages)])


def _head(found: Hits, limit: int) -> str:
    """Return the beginning of the last of the first `limit` texts."""
    return str(nsmallest(limit, (hit["_source"]["text"][:START_CHARS] for hit in found))[-1])


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
    filters: list[dict[str, Any]] = [{"term": {"ignored": False}}, {"range": {"size": {"gte": search.min_size}}}]
    if search.kind is not None:
        filters.append({"term": {"kind": search.kind}})
    if search.having is not None:
        filters.append({"range": {search.having: {"gt": 0}}})
    return filters


def _number(identity: str) -> Hashes:
    """Return the number of the cluster with this id, if it is one."""
    return np.array([int(identity, 16)] if is_cluster_id(identity) else [], np.uint64)
