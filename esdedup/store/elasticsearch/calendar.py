"""What lineage asks of a server beyond the clusters at hand: how late each dump is, and which pages it has."""

from __future__ import annotations

import pyarrow as pa

from esdedup.columns.arrays import table_of_rows
from esdedup.store.duckdb.lineage import DUMPS, PAGES
from esdedup.store.elasticsearch.reading import Reader, Wanted

_MOST_SOURCES = 65_535
_TIME = {"format": "yyyy-MM-dd'T'HH:mm:ss'Z'"}
"""As dumps write times."""


class ServerCalendar:
    """Of the sentences and documents in the indices `names`."""

    def __init__(self, reader: Reader, names: dict[str, str]) -> None:
        self._reader = reader
        self._names = names

    def dumps(self) -> pa.Table:
        """As `esdedup.store.duckdb.lineage.Calendar.dumps`."""
        latest = {name: {"max": {"field": name, **_TIME}} for name in ("timestamp", "last_timestamp")}
        terms = {"terms": {"field": "source_number", "size": _MOST_SOURCES}, "aggs": latest}
        body = {"size": 0, "query": {"exists": {"field": "timestamp"}}, "aggs": {"sources": terms}}
        rows = [
            (bucket["key"], max(bucket[name].get("value_as_string", "") for name in latest))
            for bucket in self._reader.search(self._names["sentences"], body)["aggregations"]["sources"]["buckets"]
        ]
        return table_of_rows(rows, DUMPS)

    def pages(self, titles: pa.Table) -> pa.Table:
        """As `esdedup.store.duckdb.lineage.Calendar.pages`."""
        wanted = Wanted(source=("source_number", "title"))
        found = {
            (hit["_source"]["source_number"], hit["_source"]["title"])
            for hits in self._reader.look_up(self._names["documents"], "title", titles["title"].to_pylist(), wanted)
            for hit in hits
        }
        return table_of_rows(sorted(found), PAGES)
