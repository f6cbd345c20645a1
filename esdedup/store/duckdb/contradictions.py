"""What the tables of a store promise, and the first promise that one of them breaks.

It is asked only after something has failed: then the error is explained by the store, if the store is to blame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from esdedup.columns.database import Database

_TEXTS = "SELECT hash FROM sentences"

_BROKEN = {
    "a source has a number, name or form that cannot be": (
        "sources WHERE number < 0 OR number IS NULL OR name IS NULL OR qualified IS NULL OR history IS NULL"
    ),
    "a document has values that cannot be": (
        "documents WHERE number IS NULL OR number < 0 OR source IS NULL OR key IS NULL OR occurrence IS NULL "
        "OR occurrence < 1 OR content IS NULL OR sentences IS NULL OR sentences < 0 OR place IS NULL OR place < 0"
    ),
    "two documents have one number": "documents GROUP BY number HAVING count(*) > 1",
    "a sentence has values that cannot be": (
        "sentences WHERE document IS NULL OR position IS NULL OR position < 0 OR hash IS NULL OR text IS NULL "
        "OR tokens IS NULL OR list_min(tokens) < 0 OR list_max(tokens) >= 9007199254740992"
    ),
    "two sentences are at one place": "sentences GROUP BY document, position HAVING count(*) > 1",
    "one text has two hashes, or one hash two texts": "sentences GROUP BY hash HAVING min(text) <> max(text)",
    "two clusters have one id": "clusters GROUP BY id HAVING count(*) > 1 OR id IS NULL",
    "a cluster has values that cannot be": (
        "clusters WHERE size IS NULL OR size < 1 OR distinct_texts IS NULL OR distinct_texts < 1 OR ignored IS NULL "
        "OR representative IS NULL OR NOT isfinite(min_jaccard) OR NOT isfinite(farthest) "
        "OR NOT isfinite(kind_confidence) OR NOT isfinite(contradiction) OR (kind IS NULL) <> (kind_confidence IS NULL)"
        " OR (kind IS NULL) <> (kind_reason IS NULL) OR contradictions < 0 OR copies < 0"
    ),
    "an origin has a sentence that is not stored, or values that cannot be": (
        "origins WHERE cluster IS NULL OR document IS NULL OR position IS NULL OR parent_document IS NULL "
        "OR parent_position IS NULL OR copied IS NULL OR NOT isfinite(jaccard)"
    ),
}
"""SQL that finds a row with values that no store has at any time, by what is wrong."""

_UNLINKED = {
    "a document is of a source that is not listed": "documents d ANTI JOIN sources s ON s.number = d.source",
    "a sentence is of a document that is not listed": "sentences s ANTI JOIN documents d ON d.number = s.document",
    "a cluster has a text that is not stored, or a text a cluster that is not listed": (
        f"cluster_texts WHERE hash IS NULL OR cluster IS NULL OR hash NOT IN ({_TEXTS} WHERE hash IS NOT NULL) "
        "OR cluster NOT IN (SELECT id FROM clusters WHERE id IS NOT NULL)"
    ),
    "a cluster is represented by a text that it does not have": (
        "(SELECT id AS cluster, unnest([representative, weakest_a, weakest_b]) AS hash FROM clusters) "
        "ANTI JOIN cluster_texts USING (cluster, hash) WHERE hash IS NOT NULL"
    ),
    "a pair has a text that is not stored, or values that cannot be": (
        f"pairs WHERE a IS NULL OR b IS NULL OR a NOT IN ({_TEXTS} WHERE hash IS NOT NULL) "
        f"OR b NOT IN ({_TEXTS} WHERE hash IS NOT NULL) OR NOT isfinite(jaccard) OR shared_tokens IS NULL "
        "OR word_edit_distance IS NULL"
    ),
}
"""The same for rows that refer to others which are not there. While a run is not finished, or changes wait for a scan,
this is as it should be.
"""

_UNSETTLED = (
    "SELECT 1 FROM about WHERE key = 'started' OR (key = 'scan' AND contains(value, 'overtaken')) "
    "UNION ALL SELECT 1 FROM stale"
)


def contradiction(db: Database) -> str | None:
    """Return what is wrong with the tables of a store; None if they agree with each other."""
    with db.connection.cursor() as cursor:  # the connection may be in the middle of a query
        unsettled = cursor.execute(f"SELECT 1 FROM ({_UNSETTLED}) LIMIT 1").fetchall()
        for what, where in (_BROKEN if unsettled else _BROKEN | _UNLINKED).items():
            if cursor.execute(f"SELECT 1 FROM {where} LIMIT 1").fetchall():
                return what
    return None
