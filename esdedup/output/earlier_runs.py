"""How clusters changed since an earlier run: new, grown and gone ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.database import private_database
from esdedup.columns.hashing import content_hashes
from esdedup.errors import SourceError
from esdedup.matching.protocol import Scanning
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.store import Store
from esdedup.text.words import holding

NEW, GROWN, GONE = "new", "grown", "gone"

_SENTENCES = 10_000  # read at a time
_CLUSTERS = 1_000

_CLUSTER = {"id", "size", "distinct", "kind", "kind_confidence", "kind_reason", "min_jaccard", "members"}
_MEMBER = {"id", "document", "title", "text"}

# clusters are matched by text: ids of sentences change with the pages around them
_COMPARE = """
CREATE TABLE held AS SELECT cluster, hash, count(*) AS copies FROM members WHERE cluster IS NOT NULL GROUP BY ALL;
CREATE TABLE changed AS
    SELECT cluster, sum(coalesce(b.copies, 0))::BIGINT AS before
    FROM held h LEFT JOIN (SELECT hash, sum(copies) AS copies, min(place) AS place FROM earlier GROUP BY hash) b
        USING (hash)
    GROUP BY cluster HAVING bool_or(h.copies > coalesce(b.copies, 0)) OR min(b.place) <> max(b.place) ORDER BY cluster;
CREATE TABLE gone AS
    SELECT place FROM earlier LEFT JOIN (SELECT hash FROM held UNION SELECT hash FROM wanted) h USING (hash)
    GROUP BY place HAVING count(h.hash) = 0 ORDER BY place;
"""


def changes(store: Store, run: Path, query: ClusterQuery) -> Iterator[dict[str, Any]]:
    """Yield the clusters that match the query and changed since a run, given by its folder or its file of clusters.

    Each has `change` and `before`: the number of sentences with its texts that were in clusters then. First come `new`
    clusters and `grown` ones (with a sentence more, or merged from several), in the order of the query. Then come the
    `gone` ones as they were: none of their texts is in a cluster any more. Raises `SourceError` if there are no such
    results.
    """
    path = _clusters_file(run)
    with private_database() as db:
        db.execute(
            "CREATE TABLE earlier (place BIGINT, hash UBIGINT, copies BIGINT);"
            "CREATE TABLE members (hash UBIGINT, cluster UBIGINT)"
        )
        for table in _texts(path):
            db.insert("earlier", table)
        ignored = Scanning.from_described(store.ledger.last_scanning() or {}).ignore  # ignored clusters are not gone
        db.create("wanted", pa.table({"hash": pa.array(ignored, pa.uint64())}))
        for batch in store.results.memberships():
            db.insert("members", pa.Table.from_batches([batch]).select(["hash", "cluster"]))
        db.execute(_COMPARE)
        changed = db.arrays("SELECT cluster, before FROM changed")
        gone = db.arrays("SELECT place FROM gone")["place"]
    for cluster in store.results.cluster_rows(query):
        at = _place(changed["cluster"], np.uint64(int(cluster["id"], 16)))
        if at is not None:
            before = int(changed["before"][at])
            yield {"change": GROWN if before else NEW, "before": before, **cluster}
    if len(gone):
        for place, cluster in enumerate(_read(path)):
            if _place(gone, place) is not None and _fits(cluster, query):
                yield {"change": GONE, "before": cluster["size"], **cluster}


def _place(values: npt.NDArray[Any], value: Any) -> int | None:
    """Return the index of the value among sorted ones; None if it is not there."""
    at = int(np.searchsorted(values, value))
    return at if at < len(values) and values[at] == value else None


def _fits(cluster: dict[str, Any], query: ClusterQuery) -> bool:
    """Return whether a cluster of the file matches the query."""
    members = cluster["members"]
    return (
        query.min_size <= cluster["size"] <= query.max_size
        and query.kind in (None, cluster["kind"])
        and query.document in (None, *(member["document"] for member in members))
        and (not query.text or bool(holding(text_column([one["text"] for one in members]), query.text).any()))
    )


def _clusters_file(run: Path) -> Path:
    for path in (run, run / "clusters.jsonl", run / "clusters.parquet"):
        if path.is_file():
            return path
    raise SourceError(f"{run}: no clusters.jsonl or clusters.parquet; give the folder of an earlier esdedup run")


def _texts(path: Path) -> Iterator[pa.Table]:
    """Yield rows (place, hash, copies), in parts: the texts of each cluster of a file, by its number there."""
    places: list[int] = []
    texts: list[str] = []
    for place, cluster in enumerate(_read(path)):
        held = [member["text"] for member in cluster["members"]]
        places += [place] * len(held)
        texts += held
        if len(texts) >= _SENTENCES:
            yield _counted(places, texts)
            places, texts = [], []
    yield _counted(places, texts)


def _counted(places: list[int], texts: list[str]) -> pa.Table:
    hashes = content_hashes(*text_buffers(text_column(texts)))
    rows = pa.table({"place": np.array(places, np.int64), "hash": hashes})
    return rows.group_by(["place", "hash"]).aggregate([([], "count_all")]).rename_columns(["place", "hash", "copies"])


def _read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the clusters of a file in order."""
    again = "give the clusters that an earlier esdedup run has written"
    number = 0
    try:
        for row in _rows(path):
            if not isinstance(row, dict) or not row.keys() >= _CLUSTER or not isinstance(row["size"], int):
                raise TypeError
            if not row["members"] or not all(one.keys() >= _MEMBER for one in row["members"]):
                raise TypeError
            if not all(isinstance(one["text"], str) for one in row["members"]):
                raise TypeError
            yield row
            number += 1
    except (AttributeError, TypeError, orjson.JSONDecodeError) as error:
        raise SourceError(f"{path}: record {number + 1} is not a cluster; {again}") from error
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"{path}: {error}; {again}") from error


def _rows(path: Path) -> Iterator[Any]:
    if path.suffix == ".parquet":
        for batch in pq.ParquetFile(path).iter_batches(batch_size=_CLUSTERS):
            yield from batch.to_pylist()
    else:
        with path.open("rb") as lines:
            yield from map(orjson.loads, lines)
