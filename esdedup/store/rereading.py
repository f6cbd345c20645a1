"""Compare the documents of a run with those that were stored before, in the tables of a store."""

from __future__ import annotations

from typing import Any, NamedTuple

from esdedup.columns.database import Database

_KEYED = """(
    SELECT d.number, CASE WHEN s.qualified THEN s.name ELSE '' END AS source, d.key, d.occurrence, d.content,
        d.source AS file, d.place
    FROM documents d JOIN sources s ON s.number = d.source
)"""
"""The documents with what they are recognized by. A document is the same one again by its id, in whatever file."""


class Reread(NamedTuple):
    """The outcome of a run."""

    counts: dict[str, int]
    """Counts of documents `new`, `replaced`, `unchanged` and `repeated`."""
    repeated: list[tuple[Any, ...]]
    """By source: its number, how many ids it has more than once, and the first of them."""


def find_repeats(db: Database, first: int, *, by_place: bool = False) -> list[tuple[Any, ...]]:
    """Make the table `repeats` (number, n) of the documents from number `first` on whose id was read before among them:
    the second document with an id has n = 2, and so on. Return them as in `Reread`.

    `by_place` is for a run in parts: then the place in the source decides which of two came first, not the number.
    """
    db.execute(
        "CREATE OR REPLACE TEMP TABLE repeats AS SELECT number, n FROM ("
        "SELECT number, row_number() OVER (PARTITION BY source, key "
        f"ORDER BY {'file, place' if by_place else 'number'}) AS n FROM {_KEYED} "
        f"WHERE number >= ? AND (source, key) IN (SELECT source, key FROM {_KEYED} WHERE number >= ? "
        "GROUP BY source, key HAVING count(*) > 1)) WHERE n > 1",
        [first, first],
    )
    return db.rows(
        "SELECT source, count(*), list('record ' || place || ': id ' || key ORDER BY number)[1:5] "
        "FROM documents JOIN repeats USING (number) GROUP BY source ORDER BY source"
    )


def compare_documents(db: Database, first: int, *, by_place: bool = False) -> Reread:
    """Compare the documents from number `first` on with earlier ones. Make the table `outdated` (old, new, same).

    Those of `find_repeats` get their occurrence.
    """
    repeated = find_repeats(db, first, by_place=by_place)
    db.execute("UPDATE documents SET occurrence = r.n FROM repeats r WHERE documents.number = r.number")
    db.execute(
        "CREATE OR REPLACE TEMP TABLE outdated AS "
        "SELECT old.number AS old, new.number AS new, new.content = old.content AS same "
        f"FROM {_KEYED} new JOIN {_KEYED} old USING (source, key, occurrence) WHERE new.number >= ? AND old.number < ?",
        [first, first],
    )
    read = db.count("SELECT count(*) FROM documents WHERE number >= ?", [first])
    unchanged, known = db.row("SELECT count(DISTINCT new) FILTER (same), count(DISTINCT new) FROM outdated")
    counts = {"new": read - known, "replaced": known - unchanged, "unchanged": unchanged}
    return Reread(counts | {"repeated": sum(count for _, count, _ in repeated)}, repeated)
