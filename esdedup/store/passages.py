"""Passages that stand on two pages word for word, on one of them since earlier."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from esdedup.columns.arrays import text_column
from esdedup.store.naming import NAMED
from esdedup.text.wikitext.linked import names_page

if TYPE_CHECKING:
    from esdedup.columns.database import Database

LEAST_SENTENCES = 3
"""Fewer sentences may be equal by chance."""

_GAP = 3
"""Between two sentences of a passage, others may stand that were too short to be kept."""

SPREAD = """
SELECT count(*) FROM (
    SELECT cluster FROM cluster_texts JOIN sentences USING (hash) JOIN clusters k ON k.id = cluster
    WHERE NOT k.ignored GROUP BY cluster HAVING min(document) <> max(document)
)
"""

_COPIED = f"""
SELECT o.document, o.position, o.parent_document, o.parent_position, s.text, s.timestamp, d.links,
    CASE WHEN n.history THEN s.contributor END AS contributor, n.id, n.title, p.id AS parent_id, p.title AS parent_title
FROM origins o JOIN clusters k ON k.id = o.cluster JOIN sentences s USING (document, position)
JOIN documents d ON d.number = o.document
JOIN {NAMED} n ON n.number = o.document JOIN {NAMED} p ON p.number = o.parent_document
WHERE o.copied AND o.jaccard = 1 AND NOT k.ignored
ORDER BY o.document, o.parent_document, o.position
"""


def copied_passages(db: Database) -> list[dict[str, Any]]:
    """Return passages of three sentences and more that a page has word for word from an older one, without a link to
    it; the longest first.

    Each has the younger document (`document`, `title`), the older one (`source_document`, `source_title`), the time and
    the contributor of its first sentence, and its `texts`.
    """
    found = []
    for _, rows in groupby(db.table(_COPIED).to_pylist(), lambda row: (row["document"], row["parent_document"])):
        run: list[dict[str, Any]] = []
        for row in rows:
            if run and not _follows(run[-1], row):
                found.append(run)
                run = []
            run.append(row)
        found.append(run)
    passages = [run for run in found if len(run) >= LEAST_SENTENCES]
    titles = [run[0]["parent_title"] or "" for run in passages]
    linked = names_page(pa.array([run[0]["links"] for run in passages], pa.binary()), text_column(titles))
    told = [_passage(run) for run, link in zip(passages, linked, strict=True) if not link]
    told.sort(key=lambda row: (-len(row["texts"]), row["document"], row["source_document"]))
    return told


def _follows(before: dict[str, Any], row: dict[str, Any]) -> bool:
    """Whether a sentence is the next one of a passage on both pages."""
    return all(0 < row[name] - before[name] <= _GAP for name in ("position", "parent_position"))


def _passage(run: list[dict[str, Any]]) -> dict[str, Any]:
    first = run[0]
    return {
        "document": first["id"],
        "title": first["title"],
        "source_document": first["parent_id"],
        "source_title": first["parent_title"],
        "timestamp": first["timestamp"],
        "contributor": first["contributor"],
        "texts": [row["text"] for row in run],
    }
