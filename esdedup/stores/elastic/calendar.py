"""What lineage asks of a server beyond the clusters at hand: how late each dump is, and which pages it has."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from esdedup.stores.duckdb_lineage import DUMPS, PAGES
from esdedup.stores.elastic.reading import Reader, Wanted
from esdedup.stores.store import SourceMark

_MOST_SOURCES = 65_535
_TIME = {"format": "yyyy-MM-dd'T'HH:mm:ss'Z'"}
"""As dumps write times."""


class ServerCalendar:
    """Of the sources `marks`, whose sentences and documents are in the indices `names`."""

    def __init__(self, reader: Reader, names: dict[str, str], marks: Sequence[SourceMark]) -> None:
        self._reader = reader
        self._names = names
        self._marks = marks

    def dumps(self) -> pa.Table:
        """As `esdedup.stores.duckdb_lineage.Calendar.dumps`."""
        latest = {name: {"max": {"field": name, **_TIME}} for name in ("timestamp", "last_timestamp")}
        terms = {"terms": {"field": "source_number", "size": _MOST_SOURCES}, "aggs": latest}
        body = {"size": 0, "query": {"exists": {"field": "timestamp"}}, "aggs": {"sources": terms}}
        history = {mark.number: mark.history for mark in self._marks}
        rows = [
            (bucket["key"], history[bucket["key"]], max(bucket[name].get("value_as_string", "") for name in latest))
            for bucket in self._reader.search(self._names["sentences"], body)["aggregations"]["sources"]["buckets"]
        ]
        columns = list(zip(*rows, strict=True)) or [()] * len(DUMPS)
        return pa.table([pa.array(column, kind) for column, kind in zip(columns, DUMPS.types, strict=True)], DUMPS)

    def pages(self, titles: pa.Table) -> pa.Table:
        """As `esdedup.stores.duckdb_lineage.Calendar.pages`."""
        wanted = Wanted(source=("source_number", "title"))
        found = {
            (hit["_source"]["source_number"], hit["_source"]["title"])
            for hits in self._reader.look_up(self._names["documents"], "title", titles["title"].to_pylist(), wanted)
            for hit in hits
        }
        columns = list(zip(*sorted(found), strict=True)) or [(), ()]
        return pa.table([pa.array(column, kind) for column, kind in zip(columns, PAGES.types, strict=True)], PAGES)
