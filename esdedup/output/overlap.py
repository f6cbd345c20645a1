"""Which documents or sources share sentences, and how many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from esdedup.columns.database import Database, private_database
from esdedup.errors import UsageError
from esdedup.store.store import Store

COMMON = 100
"""A text in more documents than this is boilerplate: it is not counted."""

_TABLES = """
CREATE TABLE group_ids (group_id INTEGER, id VARCHAR, title VARCHAR, sentences BIGINT);
CREATE TABLE members (hash UBIGINT, source INTEGER, document INTEGER);
CREATE TABLE pairs (a UBIGINT, b UBIGINT);
"""
_COLUMNS = {
    "group_ids": ["group_id", "id", "title", "sentences"],
    "members": ["hash", "source", "document"],
    "pairs": ["a", "b"],
}
_GROUPS = {"documents": "document", "sources": "source"}


class Overlap(NamedTuple):
    """Rows of a, b (ids, a < b), their titles, `a_sentences`, `b_sentences` (stored ones), `a_in_b` and `b_in_a`
    (sentences that the other has), `a_share` and `b_share` of their sentences; the most sentences first.

    `common_texts` texts were not counted, because they are in more than `COMMON` documents. `title` is that of
    `document`.
    """

    rows: list[dict[str, Any]]
    common_texts: int
    title: str | None = None


def overlaps(store: Store, by: str, document: str | None, limit: int | None) -> Overlap:
    """Return pairs of `documents` or `sources` with common sentences; only those of `document`, if given.

    Raises `UsageError` if the document is unknown or has no sentence.
    """
    if by not in _GROUPS:
        raise UsageError(f"by is {by!r}; allowed: documents, sources")
    with private_database() as db:
        db.execute(_TABLES)
        _load(db, "group_ids", store.corpus.groups(by))
        only, title = "", None
        if document is not None:
            row = db.row("SELECT group_id, title FROM group_ids WHERE id = ?", [document])
            if not row:
                raise UsageError(f"{document}: not the id of one of the {by}, or it has no sentence in the store")
            title = row[1]
            only = f"AND ({row[0]} IN (one.group_id, two.group_id))"
        _load(db, "members", store.results.memberships())
        _load(db, "pairs", store.results.pair_hashes())
        db.execute(
            f"CREATE TABLE held AS SELECT hash, {_GROUPS[by]} AS group_id, count(*) AS sentences "
            "FROM members GROUP BY 1, 2"
        )
        db.execute("CREATE TABLE common AS SELECT hash FROM held GROUP BY hash HAVING count(*) > ?", [COMMON])
        if by == "documents":
            db.execute("DELETE FROM held WHERE hash IN (SELECT hash FROM common)")
        # each sentence counts once for each other group_id, however many similar sentences there are
        db.execute(
            f"""
            CREATE TABLE standing AS
            SELECT this, that, sum(sentences)::BIGINT AS sentences FROM (
                SELECT DISTINCT one.group_id AS this, two.group_id AS that, one.hash, one.sentences
                FROM (SELECT a, b FROM pairs UNION ALL SELECT b, a FROM pairs
                    UNION ALL SELECT DISTINCT hash, hash FROM held) link
                JOIN held one ON one.hash = link.a JOIN held two ON two.hash = link.b
                WHERE one.group_id <> two.group_id {only}
            ) GROUP BY this, that
            """
        )
        rows = db.table(
            f"""
            SELECT one.id AS a, two.id AS b, one.title AS a_title, two.title AS b_title,
                one.sentences AS a_sentences, two.sentences AS b_sentences,
                there.sentences AS a_in_b, back.sentences AS b_in_a,
                round(there.sentences / one.sentences, 6) AS a_share,
                round(back.sentences / two.sentences, 6) AS b_share
            FROM standing there JOIN standing back ON back.this = there.that AND back.that = there.this
            JOIN group_ids one ON one.group_id = there.this JOIN group_ids two ON two.group_id = there.that
            WHERE (one.id, one.group_id) < (two.id, two.group_id)
            ORDER BY greatest(a_in_b, b_in_a) DESC, least(a_in_b, b_in_a) DESC, a, b
            {"" if limit is None else f"LIMIT {int(limit)}"}
            """
        )
        common = db.count("SELECT count(*) FROM common") if by == "documents" else 0
    return Overlap(rows.to_pylist(), common, title)


def _load(db: Database, table: str, batches: Iterator[pa.RecordBatch]) -> None:
    for batch in batches:
        db.insert(table, pa.Table.from_batches([batch]).select(_COLUMNS[table]))
