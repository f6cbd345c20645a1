"""The results of a scan as documents: flat, each with the names and texts that a person wants to see beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from esdedup.columns.database import Database
from esdedup.store.classifying import FOUND, MEANINGS
from esdedup.store.elasticsearch.bulk import Action, put
from esdedup.store.elasticsearch.rows import POSITION_BITS, one_signed
from esdedup.store.naming import rank_members

_ROWS = 20_000

Named = tuple[str, dict[str, Any]]
"""A document with its id."""


def actions(documents: Iterator[Named]) -> Iterator[Action]:
    """Documents as bulk actions."""
    return (put(identity, orjson.dumps(document)) for identity, document in documents)


def rank(db: Database, unit: str) -> None:
    """Make the table `members` of a database: every sentence in it, with its names."""
    rank_members(db, unit, "members", "SELECT DISTINCT hash FROM sentences")


def pair_documents(db: Database) -> Iterator[Named]:
    """The documents of the index `pairs`, of every pair in a database."""
    rows = db.stream(
        """
        SELECT p.a AS a_hash, p.b AS b_hash, least(one.id, two.id) AS a, greatest(one.id, two.id) AS b, p.jaccard,
            p.word_edit_distance, p.shared_tokens, c.cluster, coalesce(k.ignored, false) OR coalesce(l.ignored, false)
            AS ignored
        FROM pairs p JOIN members one ON one.hash = p.a AND one.turn = 1
        JOIN members two ON two.hash = p.b AND two.turn = 1
        LEFT JOIN cluster_texts c ON c.hash = p.a LEFT JOIN clusters k ON k.id = c.cluster
        LEFT JOIN cluster_texts d ON d.hash = p.b LEFT JOIN clusters l ON l.id = d.cluster
        """,
        rows=_ROWS,
    )
    for batch in rows:
        for row in batch.to_pylist():
            told = {**row, "a_hash": _signed(row["a_hash"]), "b_hash": _signed(row["b_hash"])}
            yield pair_identity(row["a_hash"], row["b_hash"]), told | {"cluster": _shown(row["cluster"])}


def pair_identity(a: int, b: int) -> str:
    """The id of a pair's document."""
    return f"{a:016x}{b:016x}"


def cluster_documents(db: Database) -> Iterator[Named]:
    """The documents of the index `clusters`, of every cluster in a database."""
    rows = db.stream(
        """
        SELECT k.*, face.id AS face, face.text, list_sort([one.id, two.id]) AS weakest, twins.ids AS twins
        FROM clusters k JOIN members face ON face.hash = k.representative AND face.turn = 1
        LEFT JOIN members one ON one.hash = k.weakest_a AND one.turn = 1
        LEFT JOIN members two ON two.hash = k.weakest_b AND two.turn = 1
        LEFT JOIN (SELECT hash, list_sort(list(id)) AS ids FROM members WHERE turn <= 2 GROUP BY hash) twins
            ON twins.hash = k.representative AND k.distinct_texts = 1
        """,
        rows=_ROWS,
    )
    for batch in rows:
        for row in batch.to_pylist():
            weakest = row["twins"] or [name for name in row["weakest"] if name is not None]
            yield (
                f"{row['id']:016x}",
                {
                    "id": _shown(row["id"]),
                    "size": row["size"],
                    "distinct": row["distinct_texts"],
                    **{name: row[name] for name in (*MEANINGS.names, *FOUND.names)},
                    "min_jaccard": row["min_jaccard"],
                    "weakest": weakest,
                    "representative": row["face"],
                    "text": row["text"],
                    "ignored": row["ignored"],
                    "farthest": row["farthest"],
                    "hash": _signed(row["id"]),
                    "weakest_a": _signed(row["weakest_a"]),
                    "weakest_b": _signed(row["weakest_b"]),
                    "representative_hash": _signed(row["representative"]),
                },
            )


def member_documents(db: Database) -> Iterator[Named]:
    """The documents of the index `members`: every sentence of every cluster in a database."""
    rows = db.stream(
        """
        SELECT m.*, k.id AS cluster, k.size, k.distinct_texts AS distinct, k.min_jaccard, k.ignored,
            k.kind, k.kind_confidence, k.copies, m.hash = k.representative AND m.turn = 1 AS representative,
            d.source AS source_number, d.place, p.id AS parent, o.jaccard AS parent_jaccard, o.edits, o.copied,
            o.parent_document, o.parent_position
        FROM members m JOIN cluster_texts c USING (hash) JOIN clusters k ON k.id = c.cluster
        JOIN documents d ON d.number = m.number
        LEFT JOIN origins o ON o.document = m.number AND o.position = m.position
        LEFT JOIN members p ON p.number = o.parent_document AND p.position = o.parent_position
        """,
        rows=_ROWS,
    )
    for batch in rows:
        for row in batch.to_pylist():
            document, above, place = (row.pop(name) for name in ("number", "parent_document", "parent_position"))
            del row["turn"]
            number = document << POSITION_BITS | row["position"]
            yield (
                str(number),
                {
                    **row,
                    "cluster": _shown(row["cluster"]),
                    "cluster_hash": _signed(row["cluster"]),
                    "hash": _signed(row["hash"]),
                    "number": number,
                    "document_number": document,
                    "parent_number": None if above is None else above << POSITION_BITS | place,
                },
            )


def _shown(identity: int | None) -> str | None:
    return None if identity is None else f"{identity:016x}"


def _signed(value: int | None) -> int | None:
    return None if value is None else one_signed(value)
