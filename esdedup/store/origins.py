"""The origins of clustered sentences, from the tables of a store: each sentence's parent.

The parent is the most similar sentence that is known to have appeared earlier elsewhere. A sentence counts once for
each page, from the first revision that has it: restoring it after somebody removed it is not a new beginning. Documents
with the same title are one page, as in two dumps of one wiki.

A dump with full history says when each sentence was added. A plain dump says less: a page had the sentence by its last
edit, and did not have it if an earlier dump shows the page without it. Only certain orders are used.
"""

from __future__ import annotations

import pyarrow as pa

from esdedup.columns.database import Database
from esdedup.store.corpus import Corpus
from esdedup.store.naming import NAMED


def moment(timestamp: str) -> str:
    """SQL for a timestamp in the format of dumps; null for anything else."""
    return f"CASE WHEN try_strptime({timestamp}, '%Y-%m-%dT%H:%M:%SZ') IS NOT NULL THEN {timestamp} END"


def trace(db: Database, clusters: pa.Table, corpus: Corpus) -> None:
    """Fill `origins`, and `copies` of the clusters in column `id`. Their texts, pairs and sentences must be present.

    For sources that are `in_order`. Without it, as with a single plain dump, `copies` stays null.
    """
    db.create("traced", clusters, temporary=True)
    db.execute(_APPEARANCES)
    titles = db.table("SELECT DISTINCT title FROM appearances WHERE NOT history AND title <> ''")
    db.create("pages", corpus.pages(titles), temporary=True)
    db.execute(_FIRSTS)
    db.execute(_ALIKE.format(alike="SELECT DISTINCT hash, hash AS other, 1.0 AS jaccard, 0 AS edits FROM appearances"))
    # of the others, those with something similar before; identical words are always the most similar
    db.execute("DELETE FROM appearances WHERE ordinal IN (SELECT child FROM parents)")
    db.execute(_ALIKE.format(alike=_PAIRS))
    db.execute(_ORIGINS)
    for table in _TEMPORARY:
        db.execute(f"DROP TABLE {table}")


def in_order(db: Database, corpus: Corpus) -> bool:
    """Whether sources can show an order in time. If so, make the table `dumps`."""
    if not db.rows(_IN_ORDER.format("sources")):
        return False  # nothing needs to be read for a single plain dump
    db.create("dated", corpus.dumps(), temporary=True)
    db.execute(
        "CREATE OR REPLACE TEMP TABLE dumps AS "
        "SELECT d.*, w.history FROM dated d JOIN sources w ON w.number = d.source; DROP TABLE dated"
    )
    return bool(db.rows(_IN_ORDER.format("dumps")))


_TEMPORARY = ("traced", "dumps", "pages", "appearances", "everyone", "known", "firsts", "firsts_of_page", "parents")

_IN_ORDER = "SELECT 1 FROM {} HAVING count(*) > 1 OR bool_or(history)"
"""Returns a row if these sources can show an order in time."""

# `moment`: the page state in which it was seen
_APPEARANCES = f"""
CREATE OR REPLACE TEMP TABLE appearances AS
SELECT row_number() OVER (ORDER BY timestamp, moment, revision, id, position) - 1 AS ordinal, *
FROM (SELECT c.cluster, s.hash, s.document, s.position, s.timestamp, s.revision, w.history, w.as_of, n.id, n.title,
    CASE WHEN w.history THEN s.timestamp ELSE w.as_of END AS moment, coalesce(nullif(n.title, ''), n.id) AS page
FROM sentences s JOIN cluster_texts c USING (hash) JOIN traced k ON k.id = c.cluster
JOIN documents d ON d.number = s.document JOIN {NAMED} n ON n.number = s.document JOIN dumps w ON w.source = d.source
WHERE {moment("s.timestamp")} IS NOT NULL)
"""
# of all sentences with one text, the first two of different pages are enough; `since`: the page is known not to have
# had it up to then
_FIRSTS = """
CREATE OR REPLACE TEMP TABLE everyone AS SELECT ordinal, cluster, document, position FROM appearances;
CREATE OR REPLACE TEMP TABLE firsts AS
    SELECT * FROM appearances SEMI JOIN (SELECT min(ordinal) AS ordinal FROM appearances GROUP BY cluster, hash)
    USING (ordinal);
CREATE OR REPLACE TEMP TABLE firsts_of_page AS
    SELECT * FROM appearances SEMI JOIN (
        SELECT arg_min(ordinal, (moment, ordinal)) AS ordinal FROM appearances GROUP BY cluster, hash, page)
    USING (ordinal);
CREATE OR REPLACE TEMP TABLE known AS
    SELECT f.ordinal, max(w.as_of) AS since
    FROM firsts_of_page f JOIN pages p USING (title) JOIN dumps w USING (source)
    WHERE NOT f.history AND w.as_of < f.as_of GROUP BY f.ordinal;
CREATE OR REPLACE TEMP TABLE parents (
    child BIGINT, found STRUCT(parent BIGINT, jaccard DOUBLE, edits INTEGER, copied BOOLEAN)
);
"""
_PAIRS = """
SELECT a AS hash, b AS other, jaccard, word_edit_distance AS edits FROM pairs WHERE a IN (SELECT hash FROM appearances)
UNION ALL SELECT b, a, jaccard, word_edit_distance FROM pairs WHERE b IN (SELECT hash FROM appearances)
"""
_ALIKE = """
INSERT INTO parents
SELECT child, arg_max({{'parent': parent, 'jaccard': jaccard, 'edits': edits, 'copied': copied}},
    {{'jaccard': coalesce(jaccard, 0), 'same_page': NOT copied, 'ordinal': -parent}})
FROM (
    WITH alike AS ({alike})
    SELECT c.ordinal AS child, p.ordinal AS parent, s.jaccard, s.edits, true AS copied
    FROM appearances c JOIN alike s USING (hash) JOIN firsts p ON p.hash = s.other AND p.cluster = c.cluster
    LEFT JOIN known k ON k.ordinal = c.ordinal
    WHERE p.ordinal < c.ordinal AND p.page <> c.page
        AND CASE WHEN c.history THEN p.timestamp < c.timestamp ELSE p.timestamp <= k.since END
    UNION ALL
    SELECT c.ordinal, p.ordinal, s.jaccard, s.edits, false
    FROM appearances c JOIN alike s USING (hash)
    JOIN firsts_of_page p ON p.hash = s.other AND p.page = c.page AND p.cluster = c.cluster
    -- one revision that stands in two dumps is the same one; of one edit, no sentence comes before the other
    WHERE p.ordinal < c.ordinal AND (p.moment < c.moment OR (p.moment = c.moment
        AND (p.revision < c.revision OR (p.document <> c.document AND p.hash = c.hash))))
) GROUP BY child
"""
_ORIGINS = """
INSERT INTO origins
    SELECT c.cluster, c.document, c.position, p.document, p.position, found.jaccard, found.edits, found.copied
    FROM parents JOIN everyone c ON c.ordinal = child JOIN everyone p ON p.ordinal = found.parent;
UPDATE clusters SET copies = coalesce(o.copies, 0)
    FROM traced t LEFT JOIN (SELECT cluster, count_if(copied) AS copies FROM origins GROUP BY cluster) o
    ON o.cluster = t.id WHERE clusters.id = t.id;
"""
