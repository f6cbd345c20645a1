"""Sentences of an index, looked up by their tokens, beginnings and ids."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from heapq import nsmallest
from typing import Any

import pyarrow as pa

from esdedup.store.elasticsearch.answers import TooLongError
from esdedup.store.elasticsearch.reading import PAGE, Hits, Reader
from esdedup.store.elasticsearch.rows import NAMED, sentence_table
from esdedup.store.schemas import SENTENCES, START_CHARS

_NAMED_AT_ONCE = 1000
_LONGEST_ID = 32_766  # bytes; the server takes no longer term, and has none

_FIRST_ANSWER = 500  # sentences; of whole texts, more may be too long for one answer


class SentenceLookup:
    """Finds sentences of an index by their tokens, beginnings and ids."""

    def __init__(self, reader: Reader, index: str) -> None:
        self._reader = reader
        self._index = index

    def sharing(self, tokens: Sequence[int], most: int | None) -> pa.Table:
        """Sentences that hold one of the tokens, or the `most` that hold most: the server's score is how many."""
        should = [{"constant_score": {"filter": {"term": {"tokens": token}}}} for token in tokens]
        query: dict[str, Any] = {"bool": {"should": should, "minimum_should_match": 1}}
        index = self._index
        if most is not None:
            return sentence_table(self._first(index, query, most))
        body = {"size": _FIRST_ANSWER, "track_total_hits": True, "query": query, **NAMED.body()}
        with suppress(TooLongError):
            answer = self._reader.search(index, body)["hits"]
            if answer["total"]["value"] == len(answer["hits"]):
                return sentence_table(answer["hits"])
        return pa.concat_tables(sentence_table(hits) for hits in self._reader.read_all(index, NAMED, query))

    def _first(self, index: str, query: dict[str, Any], most: int) -> Hits:
        """The `most` documents with the highest scores, of equal ones those with the lowest hash."""
        found: Hits = []
        at_once = min(most, PAGE)
        order = [{"_score": "desc"}, {"hash": "asc"}, {"number": "asc"}]
        body: dict[str, Any] = {"track_total_hits": False, "query": query, "sort": order, **NAMED.body()}
        while len(found) < most:
            body["size"] = min(at_once, most - len(found))
            try:
                page = self._reader.search(index, body)["hits"]["hits"]
            except TooLongError:  # very long texts: fewer at once
                if at_once == 1:
                    raise
                at_once //= 2
                continue
            found += page
            if len(page) < body["size"]:
                break
            body["search_after"] = page[-1]["sort"]
        return found

    def starting(self, folded: str, limit: int | None) -> pa.Table:
        """The first `limit` sentences by (text, id) whose case-folded text begins with `folded`."""
        limit = sys.maxsize if limit is None else limit
        found: Hits = []
        body: dict[str, Any] = {
            "size": min(max(limit, 64), PAGE),
            "query": {"bool": {"filter": {"prefix": {"start": folded[:START_CHARS]}}}},
            "sort": ["head", "id"],
            "track_total_hits": False,
            **NAMED.body(),
        }
        while limit:
            page = self._reader.search(self._index, body)["hits"]["hits"]
            found += [hit for hit in page if hit["_source"]["text"].casefold().startswith(folded)]
            # texts whose first characters are the same as the last one's may come in any order
            if len(page) < body["size"] or (len(found) >= limit and page[-1]["sort"][0] != _head(found, limit)):
                break
            body |= {"search_after": page[-1]["sort"], "size": min(2 * body["size"], PAGE)}
        rows = [hit["_source"] for hit in found]
        rows.sort(key=lambda row: (row["text"], row["id"]))
        return sentence_table([{"_source": row} for row in rows[:limit]]) if rows else SENTENCES.empty_table()

    def named(self, ids: Sequence[str]) -> pa.Table:
        """The sentences with these ids."""
        found = [SENTENCES.empty_table()]
        ids = [identity for identity in ids if len(identity.encode()) <= _LONGEST_ID]
        for first in range(0, len(ids), _NAMED_AT_ONCE):
            some = list(ids[first : first + _NAMED_AT_ONCE])
            body = {"size": len(some), "query": {"bool": {"filter": {"terms": {"id": some}}}}, **NAMED.body()}
            found.append(sentence_table(self._reader.search(self._index, body)["hits"]["hits"]))
        return pa.concat_tables(found)


def _head(found: Hits, limit: int) -> str:
    """The beginning of the last of the first `limit` texts."""
    return str(nsmallest(limit, (hit["_source"]["text"][:START_CHARS] for hit in found))[-1])
