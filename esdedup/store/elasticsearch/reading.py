"""Read documents from an index: in slices of a numeric field, or by looking up many values.

Within a slice, each page begins after the last number of the page before it. So a page that is lost on the way is
requested again, and the server keeps nothing between two pages. A scroll or a point in time is no faster, and the
server forgets it when it restarts. Slices are cut by the documents' numbers, since these are not spread evenly over
their range.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event
from typing import Any, NamedTuple, TypeVar

import numpy as np
from elasticsearch import ApiError

from esdedup.columns.ahead import begun_ahead
from esdedup.columns.arrays import Numbers
from esdedup.errors import StoreError, StoreLockedError
from esdedup.store.elasticsearch.answers import LostAnswerError, TooLongError, reason_of, whole
from esdedup.store.elasticsearch.connection import Connection, Pauses

PAGE = 10_000
"""Documents per answer: the most that a server returns. A fifth of it if whole documents are read one after the other,
because a server makes large answers slowly.
"""

SLICE = 50_000
"""Documents per slice if only columns are read; two fifths of it for whole documents."""

ASKED = 4_096
"""Values per lookup; a quarter of it for whole documents."""

_KEYS = {
    "sentences": ("number",), "members": ("number",), "documents": ("number",), "pairs": ("a_hash", "b_hash"),
    "clusters": ("hash",), "stale": ("hash",),
}  # fmt: skip
"""The numbers that identify a document of each kind of index. It is cut into slices by the first of them."""

_PARTS = ("_id", "_routing", "fields", "_source", "sort")
_HITS = "timed_out,_shards,hits.total," + ",".join(f"hits.hits.{name}" for name in _PARTS)
"""What is read of the answer to a search."""

_RANGES = 500  # ranges per count request
_READERS = 2

Hits = list[dict[str, Any]]

T = TypeVar("T")
V = TypeVar("V")


class Fields(NamedTuple):
    """The fields that a search reads: `columns` from doc values, with `source` the document, or some fields of it."""

    columns: Sequence[str] = ()
    source: bool | Sequence[str] = False

    def body(self) -> dict[str, Any]:
        """The part of a search body that selects these fields."""
        body: dict[str, Any] = {"_source": self.source}
        if self.columns:
            body["docvalue_fields"] = list(self.columns)
        if not self.source:
            body["stored_fields"] = "_none_"
        return body


class Slice(NamedTuple):
    """The documents with a key from `low` to `high` (exclusive)."""

    number: int
    low: int
    high: int
    documents: int  # approximate count


class Reader:
    """Reads indices of a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def count(self, index: str, query: dict[str, Any] | None = None) -> int:
        """Count the documents that match."""
        asked = {"query": query or _ALL}
        answer = self._until_whole(lambda: whole(self._connection.ask("POST", f"/{index}/_count", asked)))
        return int(answer["count"])

    def search(self, index: str, body: dict[str, Any], ended: Event | None = None, **parameters: Any) -> dict[str, Any]:
        """Run a search. All shards must answer."""
        return self._until_whole(
            lambda: whole(self._connection.ask("POST", f"/{index}/_search", body, ended=ended, **parameters)), ended
        )

    def slices(self, index: str, size: int | None = None, query: dict[str, Any] | None = None) -> list[Slice]:
        """Return slices of an index, or of the documents that match, of at most `size` documents (`SLICE`).

        The same documents always give the same slices.
        """
        key, size = _keys(index)[0], size or SLICE
        body = {
            "size": 0,
            "query": query or _ALL,
            "track_total_hits": True,
            "aggs": {"low": {"min": {"field": key}}, "high": {"max": {"field": key}}},
        }
        answer = self.search(index, body)
        count = answer["hits"]["total"]["value"]
        if not count:
            return []
        # an aggregation rounds numbers to 53 bits, so the ends reach a little further
        low, high = (int(answer["aggregations"][end]["value"]) for end in ("low", "high"))
        low, high = max(low - 2048, -(2**63)), min(high + 2048, 2**63 - 1)
        ends, counts = self._cut(index, key, query, low, high + 1, count, size)
        slices: list[Slice] = []
        for begin, end, held in zip(ends[:-1], ends[1:], counts, strict=True):
            if slices and slices[-1].documents + held <= size:  # merge small neighbours
                last = slices.pop()
                slices.append(Slice(last.number, last.low, end, last.documents + held))
            else:
                slices.append(Slice(len(slices), begin, end, held))
        return slices

    def _cut(
        self, index: str, key: str, query: dict[str, Any] | None, low: int, high: int, count: int, size: int
    ) -> tuple[list[int], list[int]]:
        """Return ends of ranges from `low` to `high` with at most `size` documents each, and their counts."""
        # the server takes ends as floating-point numbers, which limits the distance between large ones
        grain = 1 << max(0, max(abs(low), abs(high)).bit_length() - 53)
        if count <= size or high - low <= grain:
            return [low, high], [count]
        parts = min(2 * -(-count // size), _RANGES)
        ends = sorted({low + (high - low) * part // parts for part in range(parts + 1)})
        ranges = [{"from": begin, "to": end} for begin, end in pairwise(ends)]
        body = {
            "size": 0,
            "query": query or _ALL,
            "track_total_hits": False,
            "aggs": {"held": {"range": {"field": key, "ranges": ranges}}},
        }
        buckets = self.search(index, body)["aggregations"]["held"]["buckets"]
        all_ends, counts = [low], []
        for begin, end, bucket in zip(ends[:-1], ends[1:], buckets, strict=True):
            inner, held = self._cut(index, key, query, begin, end, bucket["doc_count"], size)
            all_ends += inner[1:]
            counts += held
        return all_ends, counts

    def read_slices(
        self, index: str, fields: Fields, slices: Sequence[Slice], query: dict[str, Any] | None = None
    ) -> Iterator[tuple[Slice, Hits]]:
        """Yield every slice with its matching documents, a few slices at a time."""
        only = [] if query is None else [query]

        def read(one: Slice, ended: Event) -> tuple[Slice, Hits]:
            return one, self._read(index, [_between(_keys(index)[0], one), *only], fields, ended)

        yield from self._ahead(read, slices)

    def _ahead(self, read: Callable[[V, Event], T], asked: Iterable[V]) -> Iterator[T]:
        """Yield what `read` returns for each of these, in this order, while the next ones are being read."""
        ended = self._connection.end()
        with ThreadPoolExecutor(_READERS) as threads:
            try:
                for reading in begun_ahead((threads.submit(read, one, ended) for one in asked), _READERS):
                    yield reading.result()
            finally:
                ended.set()
                threads.shutdown(cancel_futures=True)

    def read_all(self, index: str, fields: Fields, query: dict[str, Any] | None = None) -> Iterator[Hits]:
        """Yield every document of an index that matches, slice by slice."""
        size = SLICE * 2 // 5 if fields.source is True else SLICE
        seen, expected = 0, self.count(index, query)
        if not expected:
            return
        for _, hits in self.read_slices(index, fields, self.slices(index, size, query), query):
            seen += len(hits)
            yield hits
        if seen != expected:
            raise StoreLockedError(
                f"{self._connection.address}: another command has just changed this store ({index} had {expected:,} "
                f"documents, but {seen:,} were read); run this command again after it ends"
            )

    def look_up(
        self,
        index: str,
        field: str,
        values: Numbers | Sequence[Any],
        fields: Fields,
        query: dict[str, Any] | None = None,
    ) -> Iterator[Hits]:
        """Yield the documents whose field has one of the values (and that match `query`), in batches."""
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        only = [] if query is None else [query]
        step = ASKED // 4 if fields.source is True else ASKED
        asked = [[{"terms": {field: listed[at : at + step]}}, *only] for at in range(0, len(listed), step)]

        def read(queries: Sequence[dict[str, Any]], ended: Event) -> tuple[Sequence[dict[str, Any]], Hits | None]:
            return queries, self._one_page(index, queries, fields, ended)

        for queries, found in self._ahead(read, asked):
            yield from self._all(index, queries, fields) if found is None else [found]

    def matching(self, index: str, queries: Sequence[dict[str, Any]], fields: Fields) -> Iterator[Hits]:
        """Yield the documents that match all the queries, in batches. Usually this is one page without a cursor."""
        found = self._one_page(index, queries, fields)
        yield from self._all(index, queries, fields) if found is None else [found]

    def _all(self, index: str, queries: Sequence[dict[str, Any]], fields: Fields) -> Iterator[Hits]:
        return self.read_all(index, fields, {"bool": {"filter": list(queries)}})

    def _one_page(
        self, index: str, queries: Sequence[dict[str, Any]], fields: Fields, ended: Event | None = None
    ) -> Hits | None:
        """Return the documents that match all the queries; None if they do not fit on a page."""
        try:
            found = self._page(index, _page(queries, fields), ended)
        except TooLongError:
            return None
        return found["hits"] if found["total"]["value"] == len(found["hits"]) else None

    def in_order(self, index: str, body: dict[str, Any], most: int | None = None, **parameters: Any) -> Iterator[Hits]:
        """Yield the first `most` documents of a search, page by page. What it sorts by must tell them all apart."""
        left = sys.maxsize if most is None else most
        size = PAGE // 5 if body["_source"] is True else PAGE
        while left:
            body = body | {"size": min(size, left), "track_total_hits": False}
            try:
                answer = self.search(index, body, **parameters, **_only_hits(body))
            except TooLongError:  # very long texts: request fewer
                if body["size"] == 1:
                    raise
                size = max(body["size"] // 8, 1)
                continue
            page: Hits = answer.get("hits", {}).get("hits", [])  # which are left out if there are none
            if page:
                yield page
            if len(page) < body["size"]:
                return
            left -= len(page)
            body["search_after"] = page[-1]["sort"]

    def written_since(
        self, index: str, marks: Sequence[int] | None, fields: Fields, query: dict[str, Any] | None = None
    ) -> Iterator[Hits]:
        """Yield the documents (that match `query`) with a sequence number above the mark of their shard, whatever
        fields they have; without marks, all of them.
        """
        for shard, mark in enumerate([-1] * len(self.marks(index)) if marks is None else marks):
            asked = [{"range": {"_seq_no": {"gt": mark}}}, query or _ALL]
            body = {"query": {"bool": {"filter": asked}}, "sort": [{"_seq_no": "asc"}], **fields.body()}
            yield from self.in_order(index, body, preference=f"_shards:{shard}")

    def marks(self, index: str) -> list[int]:
        """Return the highest sequence number of each shard of an index; -1 for an empty one."""
        last = {"size": 0, "track_total_hits": False, "aggs": {"last": {"max": {"field": "_seq_no"}}}}
        shards = self.search(index, last)["_shards"]["total"]
        answers = (self.search(index, last, preference=f"_shards:{shard}") for shard in range(shards))
        values = (answer["aggregations"]["last"]["value"] for answer in answers)
        return [-1 if value is None else int(value) for value in values]

    def first_of_each(
        self,
        index: str,
        field: str,
        values: Numbers,
        fields: Fields,
        *,
        query: dict[str, Any] | None = None,
        sort: Sequence[Any] = ("_doc",),
    ) -> Iterator[Hits]:
        """For each value that occurs where `query` matches, return one document: the first by `sort`."""
        only = [] if query is None else [query]
        listed = values.tolist()
        waiting = [listed[begin : begin + ASKED] for begin in range(0, len(listed), ASKED)][::-1]
        while waiting:
            asked = waiting.pop()
            body = {
                "size": len(asked),
                "query": {"bool": {"filter": [{"terms": {field: asked}}, *only]}},
                "collapse": {"field": field},
                "sort": list(sort),
                **fields.body(),
            }
            try:
                yield self.search(index, body)["hits"]["hits"]
            except TooLongError:  # very long texts: request fewer
                if len(asked) == 1:
                    raise
                middle = len(asked) // 2
                waiting += [asked[middle:], asked[:middle]]

    def _read(self, index: str, queries: Sequence[dict[str, Any]], fields: Fields, ended: Event) -> Hits:
        """Return every document that matches all the queries. After `ended` is set, do not retry."""
        query = {"bool": {"filter": list(queries)}}
        body = {"query": query, "sort": list(_keys(index)), **fields.body()}

        def read() -> Hits:
            count = self.count(index, query)
            hits = [hit for page in self.in_order(index, body, ended=ended) for hit in page]
            if len(hits) != count:
                raise LostAnswerError from ValueError(f"{len(hits):,} of {count:,} documents arrived")
            return hits

        return self._until_whole(read, ended)

    def _page(self, index: str, body: dict[str, Any], ended: Event | None = None) -> dict[str, Any]:
        return dict(self.search(index, body, ended, **_only_hits(body))["hits"])

    def _until_whole(self, read: Callable[[], T], ended: Event | None = None) -> T:
        pauses = Pauses(ended or self._connection.end(), self._connection.notice)
        while True:
            try:
                return read()
            except LostAnswerError as error:
                if not pauses.wait(why="incomplete answers"):
                    cause = error.__cause__
                    why = reason_of(cause.body) if isinstance(cause, ApiError) else cause
                    raise StoreError(
                        f"{self._connection.address}: incomplete answers after several attempts ({why}); "
                        "run the same command again"
                    ) from error


_ALL: dict[str, Any] = {"match_all": {}}


def _keys(index: str) -> tuple[str, ...]:
    """Return the numbers that identify a document of an index, which is named PREFIX-KIND-DATE."""
    return _KEYS[index.split("-")[-2]]


def _only_hits(body: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters for an answer without what nobody reads. Leaving that out of whole documents takes a server
    longer than to send it.
    """
    return {} if body["_source"] is True else {"filter_path": _HITS}


def _page(queries: Sequence[dict[str, Any]], fields: Fields) -> dict[str, Any]:
    body = {"size": PAGE, "query": {"bool": {"filter": list(queries)}}, "sort": ["_doc"], "track_total_hits": True}
    return body | fields.body()


def _between(field: str, one: Slice) -> dict[str, Any]:
    return {"range": {field: {"gte": one.low, "lt": one.high} if one.high < 2**63 else {"gte": one.low}}}


# -- columns -------------------------------------------------------------------------------------------------


def integers(hits: Hits, field: str) -> Numbers:
    """Return a field with one whole number in every document, from doc values."""
    return np.fromiter((hit["fields"][field][0] for hit in hits), np.int64, len(hits))


def hashes(numbers: Numbers) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Convert the signed numbers of the server to content hashes."""
    return numbers.astype(np.int64).view(np.uint64)


def signed(values: np.ndarray[Any, np.dtype[np.uint64]]) -> Numbers:
    """Convert content hashes to signed numbers, as the server stores them."""
    return np.ascontiguousarray(values, np.uint64).view(np.int64)
