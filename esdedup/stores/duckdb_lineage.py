"""Where the sentences of clusters came from, out of the tables that both stores have: each sentence's parent.

The parent is the most similar sentence that is known to have stood somewhere before. A sentence stands once a page,
from the first revision that has it: putting it back after somebody took it out begins nothing new. Documents of one
title are one page, as in two dumps of one wiki.

A dump with full history tells when each sentence came. A plain one tells less: a page had it by its last edit, and
not yet when an earlier dump shows the page without it. Only what is certain is said.
"""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from esdedup.database import Database
from esdedup.stores.store import WITH_HISTORY

DUMPS: pa.Schema = pa.schema([("source", pa.int32()), ("history", pa.bool_()), ("as_of", pa.string())])
"""Sources whose sentences have times: whether read with all revisions, and the time of the last edit in each."""

PAGES: pa.Schema = pa.schema([("source", pa.int32()), ("title", pa.string())])


class Calendar(Protocol):
    """What lineage asks of a store beyond the clusters at hand."""

    def dumps(self) -> pa.Table:
        """All sources with times, of `DUMPS`."""

    def pages(self, titles: pa.Table) -> pa.Table:
        """Which sources have pages with the titles in column `title`, of `PAGES`."""


class EmbeddedCalendar:
    """The calendar of an embedded store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def dumps(self) -> pa.Table:
        """As `Calendar.dumps`."""
        if not self._db.rows("SELECT 1 FROM sentences WHERE timestamp IS NOT NULL LIMIT 1"):
            return DUMPS.empty_table()
        return self._db.table(
            "SELECT w.number AS source, any_value(contains(w.fingerprint, ?)) AS history, "
            "max(greatest(s.timestamp, s.last_timestamp)) AS as_of FROM sentences s "
            "JOIN documents d ON d.number = s.document JOIN sources w ON w.number = d.source "
            "WHERE s.timestamp IS NOT NULL GROUP BY w.number",
            [WITH_HISTORY],
        ).cast(DUMPS)

    def pages(self, titles: pa.Table) -> pa.Table:
        """As `Calendar.pages`."""
        self._db.create("titles", titles, temporary=True)
        return self._db.table("SELECT DISTINCT source, title FROM documents SEMI JOIN titles USING (title)").cast(PAGES)


def trace(db: Database, clusters: pa.Table, calendar: Calendar) -> None:
    """Fill `origins`, and `copies` of the clusters in column `id`, whose texts, pairs and sentences are there.

    Where no order can be known, as of one plain dump, `copies` stays null.
    """
    dumps = calendar.dumps()
    if dumps.num_rows < 2 and not any(dumps["history"].to_pylist()):
        return
    db.create("traced", clusters, temporary=True)
    db.create("dumps", dumps, temporary=True)
    db.execute(_TURNS)
    titles = db.table("SELECT DISTINCT title FROM turns WHERE NOT history AND title <> ''")
    db.create("pages", calendar.pages(titles), temporary=True)
    db.execute(_PARENTS)
    for table in ("traced", "dumps", "pages", "turns", "known", "alike", "firsts", "firsts_of_page", "parents"):
        db.execute(f"DROP TABLE {table}")


# `since`: up to then the page is known not to have had it; `moment`: the state of the page in which it was seen
_TURNS = """
CREATE OR REPLACE TEMP TABLE turns AS
SELECT row_number() OVER (ORDER BY timestamp, moment, revision, id, position) - 1 AS turn, *
FROM (SELECT c.cluster, s.hash, s.document, s.position, s.timestamp, s.revision, w.history, w.as_of, n.id, n.title,
    CASE WHEN w.history THEN s.timestamp ELSE w.as_of END AS moment, coalesce(nullif(n.title, ''), n.id) AS page
FROM sentences s JOIN cluster_texts c USING (hash) JOIN traced k ON k.id = c.cluster
JOIN documents d ON d.number = s.document JOIN named n ON n.number = s.document JOIN dumps w ON w.source = d.source
WHERE s.timestamp IS NOT NULL)
"""
_PARENTS = """
CREATE OR REPLACE TEMP TABLE firsts AS
    SELECT * FROM turns SEMI JOIN (SELECT min(turn) AS turn FROM turns GROUP BY cluster, hash) USING (turn);
CREATE OR REPLACE TEMP TABLE firsts_of_page AS
    SELECT * FROM turns SEMI JOIN (SELECT arg_min(turn, (moment, turn)) AS turn FROM turns GROUP BY cluster, hash, page)
    USING (turn);
CREATE OR REPLACE TEMP TABLE known AS
    SELECT f.turn, max(w.as_of) AS since
    FROM firsts_of_page f JOIN pages p USING (title) JOIN dumps w USING (source)
    WHERE NOT f.history AND w.as_of < f.as_of GROUP BY f.turn;
CREATE OR REPLACE TEMP TABLE alike AS
    WITH texts AS (SELECT DISTINCT hash FROM turns), near AS (SELECT * FROM pairs WHERE a IN (SELECT hash FROM texts))
    SELECT a AS hash, b AS other, coalesce(jaccard, 0) AS jaccard, word_edit_distance AS edits FROM near
    UNION ALL SELECT b, a, coalesce(jaccard, 0), word_edit_distance FROM near
    UNION ALL SELECT hash, hash, 1, 0 FROM texts;
CREATE OR REPLACE TEMP TABLE parents AS
    SELECT child, arg_max({'parent': parent, 'jaccard': jaccard, 'edits': edits, 'copied': copied},
        {'jaccard': jaccard, 'same_page': NOT copied, 'turn': -parent}) AS found
    FROM (
        -- of all that stand with one text, the first and the first of the same page are enough
        SELECT c.turn AS child, p.turn AS parent, s.jaccard, s.edits, true AS copied
        FROM turns c JOIN alike s USING (hash) JOIN firsts p ON p.hash = s.other AND p.cluster = c.cluster
        LEFT JOIN known k ON k.turn = c.turn
        WHERE p.turn < c.turn AND p.page <> c.page
            AND CASE WHEN c.history THEN p.timestamp < c.timestamp ELSE p.timestamp <= k.since END
        UNION ALL
        SELECT c.turn, p.turn, s.jaccard, s.edits, false
        FROM turns c JOIN alike s USING (hash)
        JOIN firsts_of_page p ON p.hash = s.other AND p.page = c.page AND p.cluster = c.cluster
        WHERE p.turn < c.turn AND (p.moment < c.moment
            OR (p.history AND c.history AND p.moment = c.moment AND p.revision < c.revision))
    ) GROUP BY child;
INSERT INTO origins
    SELECT c.cluster, c.document, c.position, p.document, p.position, found.jaccard, found.edits, found.copied
    FROM parents JOIN turns c ON c.turn = child JOIN turns p ON p.turn = found.parent;
UPDATE clusters SET copies = coalesce(o.copies, 0)
    FROM traced t LEFT JOIN (SELECT cluster, count_if(copied) AS copies FROM origins GROUP BY cluster) o
    ON o.cluster = t.id WHERE clusters.id = t.id;
"""
