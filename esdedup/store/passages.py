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

_GAP = 3
"""Between two sentences of a passage, as many others may stand on both pages that were too short to be kept."""

SPREAD = """
SELECT count(*) FROM (
    SELECT cluster FROM cluster_texts JOIN sentences USING (hash) JOIN clusters k ON k.id = cluster
    WHERE NOT k.ignored GROUP BY cluster HAVING min(document) <> max(document)
)
"""

# sentences that a newer revision no longer has are left out; of versions of a page, one is told
_COPIED = f"""
WITH steps AS (
    SELECT o.document, o.position, o.parent_document, s.text, s.timestamp, s.contributor,
        position - lag(position) OVER w AS step, parent_position - lag(parent_position) OVER w AS parent_step
    FROM origins o JOIN clusters k ON k.id = o.cluster JOIN sentences s USING (document, position)
    JOIN documents d ON d.number = o.document
    WHERE o.copied AND o.jaccard = 1 AND NOT k.ignored AND (s.last_revision IS NULL OR s.last_revision = d.revision)
    WINDOW w AS (PARTITION BY o.document, o.parent_document ORDER BY o.position, o.parent_position)
), runs AS (
    SELECT *, count_if(NOT coalesce(step = parent_step AND step BETWEEN 1 AND {_GAP}, false))
        OVER (PARTITION BY document, parent_document ORDER BY position) AS run FROM steps
), passages AS (
    SELECT document, parent_document, list(text ORDER BY position) AS texts, arg_min(timestamp, position) AS timestamp,
        arg_min(contributor, position) AS contributor
    FROM runs GROUP BY document, parent_document, run HAVING count(*) >= {_LEAST_SENTENCES}
)
SELECT n.id AS document, n.title, p.id AS source_document, p.title AS source_title, timestamp,
    CASE WHEN n.history THEN contributor END AS contributor, texts, links
FROM passages JOIN documents d ON d.number = document
JOIN {NAMED} n ON n.number = document JOIN {NAMED} p ON p.number = parent_document
QUALIFY row_number()
    OVER (PARTITION BY coalesce(n.title, n.id), coalesce(p.title, p.id), texts ORDER BY timestamp, n.id) = 1
ORDER BY len(texts) DESC, n.id, p.id, texts
"""


def copied_passages(db: Database) -> tuple[list[dict[str, Any]], int]:
    """Return passages of three sentences and more that a page has word for word from an older one, without a link to
    it, the longest first; and how many more stand on pages with so many links that this one may be among them.

    Each has the younger document (`document`, `title`), the older one (`source_document`, `source_title`), the time and
    the contributor of its first sentence, and its `texts`.
    """
    found = db.table(_COPIED)
    links, titles = (
        found["links"].combine_chunks(),
        text_column([title or "" for title in found["source_title"].to_pylist()]),
    )
    linked = names_page(links.cast(pa.binary()), titles)
    told = found.drop_columns("links").filter(pa.array([link is False for link in linked], pa.bool_()))
    return told.to_pylist(), linked.count(None)
