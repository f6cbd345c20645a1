"""Compare the documents of a run with those that were stored before, in the tables of a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

if TYPE_CHECKING:
    from esdedup.columns.database import Database
    from esdedup.store.ledger import SourceCheckpoint

_KEYED = """(
    SELECT d.number, CASE WHEN s.qualified THEN s.name ELSE '' END AS source, d.key, d.occurrence, d.content,
        d.source AS file, d.place
    FROM documents d JOIN sources s ON s.number = d.source
)"""
"""The documents with what they are recognized by. A document is the same one again by its id, in whatever file."""


OLDER = "older_version"
"""Why a page is skipped of which a newer revision was read in the same run."""

MANY = 8
"""If a store has this many times more documents than a run, what was read is hardly a whole export."""


class Reread(NamedTuple):
    """The outcome of a run."""

    counts: dict[str, int]
    """Counts of documents `new`, `replaced`, `unchanged` and `repeated`, and of pages that are `gone`."""
    repeated: list[tuple[Any, ...]]
    """By source: its number, how many ids it has more than once, and the first of them."""
    older: list[tuple[Any, ...]]
    """The same for pages of which a newer revision was read. They are in the table `superseded` (number)."""
    again: bool
    """Whether most pages of the wikis that were read had been read before: what was skipped then does not count."""


def find_repeats(
    db: Database, first: int, sources: Sequence[SourceCheckpoint], *, by_place: bool = False
) -> list[tuple[Any, ...]]:
    """Make the table `repeats` (number, n) of the documents from number `first` on whose id was read before among them:
    the second document with an id has n = 2, and so on. Return them as in `Reread`. Pages of `sources` that are parts
    of a wiki are none of them: they are versions of one page.

    `by_place` is for a run in parts: then the place in the source decides which of two came first, not the number.
    """
    wikis = [source.number for source in sources if source.wiki]
    db.create("wiki_files", pa.table({"file": pa.array(wikis, pa.int32())}), temporary=True)
    db.execute(
        "CREATE OR REPLACE TEMP TABLE alike AS SELECT number, file, row_number() OVER (PARTITION BY source, key "
        f"ORDER BY {'file, place' if by_place else 'number'}) AS n FROM {_KEYED} "
        f"WHERE number >= ? AND (source, key) IN (SELECT source, key FROM {_KEYED} WHERE number >= ? "
        "GROUP BY source, key HAVING count(*) > 1)",
        [first, first],
    )
    db.execute(
        "CREATE OR REPLACE TEMP TABLE repeats AS "
        "SELECT number, n FROM alike ANTI JOIN wiki_files USING (file) WHERE n > 1"
    )
    db.execute("CREATE OR REPLACE TEMP TABLE versions AS SELECT number FROM alike SEMI JOIN wiki_files USING (file)")
    return _told(db, "repeats")


def _told(db: Database, table: str) -> list[tuple[Any, ...]]:
    return db.rows(
        "SELECT source, count(*), list('record ' || place || ': id ' || key ORDER BY number)[1:5] "
        f"FROM documents JOIN {table} USING (number) GROUP BY source ORDER BY source"
    )


def compare_documents(
    db: Database,
    first: int,
    sources: Sequence[SourceCheckpoint],
    date_versions: Callable[[], None],
    *,
    by_place: bool = False,
    complete: bool = False,
) -> Reread:
    """Compare the documents from number `first` on with earlier ones. Make the table `outdated` (old, new, same).

    Those of `find_repeats` get their occurrence. Of the pages in `versions`, the newest revision counts:
    `date_versions` makes the table `dated` (number, revision) for them. With `complete`, pages of a wiki that were not
    read again are outdated, too.
    """
    repeated = find_repeats(db, first, sources, by_place=by_place)
    db.execute("UPDATE documents SET occurrence = r.n FROM repeats r WHERE documents.number = r.number")
    db.execute("CREATE OR REPLACE TEMP TABLE superseded (number INTEGER)")
    if db.count("SELECT count(*) FROM versions"):
        date_versions()
        db.execute(
            "INSERT INTO superseded SELECT number FROM (SELECT number, row_number() OVER (PARTITION BY source, key "
            f"ORDER BY revision DESC NULLS LAST, content, number) AS n FROM {_KEYED} JOIN versions USING (number) "
            "LEFT JOIN dated USING (number)) WHERE n > 1"
        )
    older = _told(db, "superseded")
    db.execute(
        "CREATE OR REPLACE TEMP TABLE outdated AS "
        "SELECT old.number AS old, new.number AS new, new.content = old.content AS same "
        f"FROM {_KEYED} new ANTI JOIN superseded USING (number) JOIN {_KEYED} old USING (source, key, occurrence) "
        "WHERE new.number >= ? AND old.number < ?",
        [first, first],
    )
    read = db.count("SELECT count(*) FROM documents ANTI JOIN superseded USING (number) WHERE number >= ?", [first])
    unchanged, known = db.row("SELECT count(DISTINCT new) FILTER (same), count(DISTINCT new) FROM outdated")
    counts = {"new": read - known, "replaced": known - unchanged, "unchanged": unchanged}
    gone, again = _find_gone(db, first, complete)
    counts |= {"repeated": sum(count for _, count, _ in repeated), "gone": gone}
    return Reread(counts, repeated, older, again)


def _find_gone(db: Database, first: int, complete: bool) -> tuple[int, bool]:
    """Return how many pages of the wikis that were read were not read again, and whether most pages were.

    With `complete`, pages that were not read again are outdated.
    """
    db.execute(
        "CREATE OR REPLACE TEMP TABLE unseen AS WITH pages AS ("
        f"SELECT k.number, s.name FROM {_KEYED} k JOIN sources s ON s.number = k.file SEMI JOIN wiki_files USING (file)"
        ") SELECT number FROM pages ANTI JOIN outdated ON old = number "
        "WHERE number < ? AND name IN (SELECT name FROM pages WHERE number >= ?)",
        [first, first],
    )
    unseen = db.count("SELECT count(*) FROM unseen")
    again = unseen < db.count(
        "SELECT count(*) FROM documents SEMI JOIN wiki_files ON file = source SEMI JOIN outdated ON old = number"
    )
    if complete:
        db.execute("INSERT INTO outdated SELECT number, number, false FROM unseen")
        return unseen, again
    held, read = db.row("SELECT count(*) FILTER (number < $1), count(*) FILTER (number >= $1) FROM documents", [first])
    return unseen if held < MANY * read else 0, again
