"""Passages that stand on two pages word for word, on one of them since earlier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from esdedup.columns.arrays import text_column
from esdedup.store.naming import NAMED
from esdedup.text.wikitext.linked import names_page

if TYPE_CHECKING:
    from esdedup.columns.database import Database

_LEAST_SENTENCES = 3
"""Fewer sentences may be equal by chance."""

_STEP = 3
"""Places from one sentence of a passage to the next one, at most, and as many on both pages: between them others may
stand that were too short to be kept.
"""

SPREAD = """
SELECT count(*) FROM (
    SELECT cluster FROM cluster_texts JOIN sentences USING (hash) JOIN clusters k ON k.id = cluster
    WHERE NOT k.ignored GROUP BY cluster HAVING min(document) <> max(document)
)
"""

# what the newest revision of a page no longer has is left out, and its links decide
_COPIED = f"""
WITH steps AS (
    SELECT o.document, o.position, o.parent_document, s.hash, s.text, s.timestamp, s.contributor,
        position - lag(position) OVER w AS step, parent_position - lag(parent_position) OVER w AS parent_step
    FROM origins o JOIN clusters k ON k.id = o.cluster JOIN sentences s USING (document, position)
    JOIN documents d ON d.number = o.document
    WHERE o.copied AND o.jaccard = 1 AND NOT k.ignored AND (s.last_revision IS NULL OR s.last_revision = d.revision)
    WINDOW w AS (PARTITION BY o.document, o.parent_document ORDER BY o.position, o.parent_position)
), runs AS (
    SELECT *, count_if(NOT coalesce(step = parent_step AND step BETWEEN 1 AND {_STEP}, false))
        OVER (PARTITION BY document, parent_document ORDER BY position) AS run FROM steps
), passages AS (
    SELECT document, parent_document, list(hash) AS hashes, list(text ORDER BY position) AS texts,
        arg_min_null(timestamp, position) AS timestamp, arg_min_null(contributor, position) AS contributor
    FROM runs GROUP BY document, parent_document, run HAVING count(*) >= {_LEAST_SENTENCES}
), newest AS (
    SELECT d.number AS document, arg_max(v.number, v.revision) AS version
    FROM documents d JOIN documents v ON v.key = d.key AND coalesce(v.title, '') = coalesce(d.title, '')
    WHERE d.number IN (SELECT document FROM passages) AND v.revision IS NOT NULL GROUP BY d.number
), kept AS (
    SELECT p.*, coalesce(version, p.document) AS version FROM passages p LEFT JOIN newest USING (document)
)
SELECT n.id AS document, n.title, p.id AS source_document, p.title AS source_title, timestamp,
    CASE WHEN n.history THEN contributor END AS contributor, texts, links
FROM kept JOIN documents d ON d.number = version
JOIN {NAMED} n ON n.number = kept.document JOIN {NAMED} p ON p.number = parent_document
WHERE (SELECT count(DISTINCT s.hash) FROM sentences s WHERE s.document = version AND list_contains(hashes, s.hash))
    = len(list_distinct(hashes))
QUALIFY row_number()
    OVER (PARTITION BY coalesce(n.title, n.id), coalesce(p.title, p.id), texts ORDER BY timestamp, n.id) = 1
ORDER BY len(texts) DESC, n.id, p.id, texts
"""


def copied_passages(db: Database) -> list[dict[str, Any]]:
    """Return passages of three sentences and more that a page has word for word from an older one, without a link to
    it, the longest first.

    Each has the younger document (`document`, `title`), the older one (`source_document`, `source_title`), the time and
    the contributor of its first sentence, its `texts`, and whether it is `uncertain`: the page has so many links that
    this one may be among them.
    """
    found = db.table(_COPIED)
    titles = text_column([title or "" for title in found["source_title"].to_pylist()])
    linked = names_page(found["links"].combine_chunks().cast(pa.binary()), titles)
    rows = found.drop_columns("links").to_pylist()
    return [row | {"uncertain": link is None} for row, link in zip(rows, linked, strict=True) if not link]
