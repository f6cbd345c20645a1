"""Find the records that share most terms with another one, by server queries (see `esdedup.store.ranking_joins`).

Each record is looked up with one boolean query. Its terms are optional, and filters require the same first word and a
larger number. Every term scores one, so the score is the number of common terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from esdedup.columns.database import Database
from esdedup.errors import StoreError
from esdedup.store.elasticsearch.bulk import Bulk, put
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.indices import WORKING, Indices
from esdedup.store.elasticsearch.rows import one_signed
from esdedup.store.ranking_joins import create_ranked

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
