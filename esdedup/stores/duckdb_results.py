"""Results out of the embedded store, in the contract's order and with its names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pyarrow as pa

from esdedup.database import Database

KINDLESS = {"kind": None, "kind_confidence": None, "kind_reason": None}


def sentence_id(unit: str) -> str:
    """SQL for a sentence's id: `DOCUMENT:POSITION`, or the document's alone where units are records."""
    return "n.id" if unit == "record" else "n.id || ':' || s.position"


def _rank_members(db: Database, unit: str) -> None:
    """Table `members`: every sentence of every cluster with its names; `turn` 1 is a text's first occurrence.

    First by source and document, where ids that are numbers count as such: line 9 comes before line 10.
    """
    db.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE members AS
        SELECT c.cluster, s.hash, {sentence_id(unit)} AS id, n.source, n.id AS document, n.title, s.position,
            s.text, s.revision, s.timestamp,
            row_number() OVER (PARTITION BY s.hash ORDER BY n.source, n.numeral, n.id, s.position) AS turn
        FROM sentences s JOIN cluster_texts c USING (hash) JOIN named n ON n.number = s.document
        """
    )


def pair_rows(db: Database, unit: str) -> Iterator[pa.RecordBatch]:
    """Pairs of distinct texts, each named by its first occurrence, a < b as UTF-8 bytes, by (a, b)."""
    _rank_members(db, unit)
    yield from db.stream(
        """
        SELECT least(one.id, two.id) AS a, greatest(one.id, two.id) AS b, p.jaccard,
            p.word_edit_distance, p.shared_tokens
        FROM pairs p JOIN members one ON one.hash = p.a AND one.turn = 1
        JOIN members two ON two.hash = p.b AND two.turn = 1
        ORDER BY a, b
        """
    )


def cluster_rows(
    db: Database, unit: str, min_size: int, document: str | None, text: str | None, limit: int | None
) -> Iterator[dict[str, Any]]:
    """Clusters by (-size, id) with members by (source, document, position), as the contract writes them."""
    _rank_members(db, unit)
    wanted, values = ["size >= ?"], [min_size]  # type: tuple[list[str], list[Any]]
    if document is not None:
        wanted.append("id IN (SELECT cluster FROM members WHERE document = ?)")
        values.append(document)
    for word in (text or "").split():
        wanted.append("id IN (SELECT cluster FROM members WHERE contains(lower(text), lower(?)))")
        values.append(word)
    most = "" if limit is None else f"LIMIT {int(limit)}"
    db.execute(
        "CREATE OR REPLACE TEMP TABLE chosen AS SELECT *, row_number() OVER (ORDER BY size DESC, id) AS rank "
        f"FROM clusters WHERE {' AND '.join(wanted)} ORDER BY rank {most}",
        values,
    )
    members = db.stream(
        "SELECT k.*, m.* EXCLUDE (cluster, id), m.id AS sentence FROM members m JOIN chosen k ON k.id = m.cluster "
        "ORDER BY k.rank, m.source, m.document, m.position",
        rows=50_000,
    )
    rows = (row for batch in members for row in batch.to_pylist())
    for _, held in groupby(rows, lambda row: row["rank"]):
        yield _cluster(list(held))


def _cluster(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One cluster from the rows of its members; each row repeats the columns of the cluster."""
    cluster = rows[0]
    firsts = {row["hash"]: row["sentence"] for row in rows if row["turn"] == 1}
    weakest = [firsts.get(cluster["weakest_a"]), firsts.get(cluster["weakest_b"])]
    if cluster["distinct_texts"] == 1:
        weakest = [row["sentence"] for row in rows if row["turn"] <= 2]
    least = cluster["min_jaccard"]
    return {
        "id": f"{cluster['id']:016x}",
        "size": cluster["size"],
        "distinct": cluster["distinct_texts"],
        **KINDLESS,
        "min_jaccard": None if least is None else round(least, 6),
        "weakest": sorted(weakest, key=str.encode) if all(weakest) else None,
        "representative": firsts[cluster["representative"]],
        "members": [
            {
                "id": row["sentence"],
                **{name: row[name] for name in ("source", "document", "title", "position", "text")},
                **{name: row[name] for name in ("revision", "timestamp")},
            }
            for row in rows
        ],
    }
