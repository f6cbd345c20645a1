"""Changes of a store in a file: commit runs, replace and remove documents, and note which texts changed.

Each function runs inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from esdedup.store.ledger import forget_skips, note_repeated
from esdedup.store.naming import NAMED
from esdedup.store.rereading import OLDER, compare_documents
from esdedup.store.schemas import DATES

if TYPE_CHECKING:
    from esdedup.columns.database import Database
    from esdedup.store.duckdb.ledger import FileLedger

_DATED_TEXTS = "SELECT hash FROM cluster_texts JOIN clusters ON id = cluster WHERE copies IS NOT NULL"
"""Texts of clusters with a known order in time."""
_DATED_VERSIONS = """
CREATE OR REPLACE TEMP TABLE dated AS SELECT number, max(revision) AS revision FROM (
    SELECT document AS number, coalesce(last_revision, revision) AS revision FROM sentences
    UNION ALL SELECT document, last_revision FROM seen
) SEMI JOIN versions USING (number) GROUP BY number
"""
"""The newest revision of each version of a page, as its sentences tell it."""
_SAME = "SELECT new FROM outdated WHERE same"
_REPLACED = "SELECT old FROM outdated WHERE NOT same"


def commit_reading(db: Database, ledger: FileLedger, first: int, *, remember: bool, complete: bool) -> dict[str, int]:
    """Commit a run whose documents are numbered from `first`. With `remember`, record the texts that it changed.

    Repeated ids are numbered. For a document that was read before, the old rows stay if it is unchanged; otherwise the
    new ones do. With `complete`, pages of a wiki that were not read again are deleted.
    """
    counts, repeated, older, again = compare_documents(
        db, first, ledger.sources(), lambda: db.execute(_DATED_VERSIONS), complete=complete
    )
    for table, number in (("sentences", "document"), ("seen", "document"), ("documents", "number")) if older else ():
        db.execute(f"DELETE FROM {table} WHERE {number} IN (SELECT number FROM superseded)")
    if remember:
        db.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE moved AS SELECT DISTINCT hash FROM (
                SELECT hash, document FROM (
                    SELECT hash, document, 1 AS copies FROM sentences
                    WHERE document >= {first} AND document NOT IN ({_SAME})
                    UNION ALL
                    SELECT hash, o.new, -1 FROM sentences s JOIN outdated o ON s.document = o.old WHERE NOT o.same
                ) GROUP BY hash, document HAVING sum(copies) <> 0
                    -- what stays may hang under another number, or begin at another time
                    OR (count(*) > 1 AND hash IN ({_DATED_TEXTS}))
                UNION ALL
                SELECT n.hash, n.document FROM sentences n JOIN outdated o ON o.new = n.document AND o.same
                JOIN sentences s ON s.document = o.old AND s.position = n.position
                WHERE n.hash IN ({_DATED_TEXTS}) AND ({_other_dates("s", "n")})
            )
            """
        )
        _note(db, f"WHERE document < {first}")
    db.execute(
        f"UPDATE sentences SET {_taken_from('l')} FROM seen l "
        "WHERE sentences.document = l.document AND sentences.position = l.position"
    )
    db.execute("DELETE FROM seen")
    if repeated or older or again:
        checkpoints, reading = ledger.sources(), ledger.unfinished_reading()
        note_repeated(checkpoints, repeated)
        note_repeated(checkpoints, older, OLDER)
        changed = forget_skips(checkpoints, reading.sources) if again and reading is not None else []
        for checkpoint in [*changed, *(checkpoints[source] for source, *_ in repeated + older)]:
            ledger.save(checkpoint)
    if counts["unchanged"]:
        db.execute(  # in two steps: in one, all sentences would be held to find the few
            "CREATE OR REPLACE TEMP TABLE redated AS "
            f"SELECT s.rowid AS row, {', '.join(f'n.{name}' for name in DATES)} "
            "FROM (SELECT old, new FROM outdated WHERE same) JOIN sentences n ON n.document = new "
            "JOIN sentences s ON s.document = old AND s.position = n.position "
            f"WHERE n.document >= {first} AND s.document < {first} AND ({_other_dates('s', 'n')})"
        )
        db.execute(f"UPDATE sentences SET {_taken_from('n')} FROM redated n WHERE sentences.rowid = n.row")
        db.execute(f"DELETE FROM sentences WHERE document IN ({_SAME})")
        db.execute(f"DELETE FROM documents WHERE number IN ({_SAME})")
    if counts["replaced"] or (complete and counts["gone"]):
        _delete_documents(db, _REPLACED)
    return counts


def remove_documents(db: Database, ids: Sequence[str], *, remember: bool) -> tuple[int, list[str]]:
    """Delete documents by their shown ids. Return the number, and the unknown ids."""
    names = [name.encode("utf-8", "replace").decode() for name in ids]  # an id that is not valid UTF-8 is unknown here
    db.create("asked", pa.table({"id": pa.array(names, pa.string())}), temporary=True)
    db.execute(f"CREATE OR REPLACE TEMP TABLE leaving AS SELECT number, id FROM {NAMED} SEMI JOIN asked USING (id)")
    unknown = [row[0] for row in db.rows("SELECT DISTINCT id FROM asked ANTI JOIN leaving USING (id) ORDER BY id")]
    if remember:
        db.execute(
            "CREATE OR REPLACE TEMP TABLE moved AS SELECT DISTINCT hash FROM sentences "
            "WHERE document IN (SELECT number FROM leaving)"
        )
        _note(db, "")
    _delete_documents(db, "SELECT number FROM leaving")
    return db.count("SELECT count(*) FROM leaving"), unknown


def _taken_from(other: str) -> str:
    """SQL that copies dates from another row."""
    return ", ".join(f"{name} = {other}.{name}" for name in DATES)


def _other_dates(one: str, two: str) -> str:
    """SQL for whether the dates of two sentences differ."""
    return " OR ".join(f"{one}.{name} IS DISTINCT FROM {two}.{name}" for name in DATES)


def _note(db: Database, before: str) -> None:
    """Record the texts of `moved`, and whether the last scan had them: as a sentence that the clause `before` leaves,
    for a text that is not recorded has not changed since.
    """
    db.execute(
        f"""
        INSERT INTO stale
        SELECT hash, known.hash IS NOT NULL, any_value(tokens)
        FROM (SELECT hash, tokens FROM sentences SEMI JOIN moved USING (hash)) s
        LEFT JOIN (SELECT DISTINCT hash FROM sentences SEMI JOIN moved USING (hash) {before}) known USING (hash)
        ANTI JOIN stale USING (hash) GROUP BY ALL
        """
    )


def _delete_documents(db: Database, numbers: str) -> None:
    """Delete documents and their sentences."""
    db.execute(f"DELETE FROM sentences WHERE document IN ({numbers})")
    db.execute(f"DELETE FROM documents WHERE number IN ({numbers})")
