"""What the sentences of new documents match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from esdedup.store.naming import rank_members

if TYPE_CHECKING:
    from esdedup.columns.database import Database


def new_matches(db: Database, unit: str, shown: str, first: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of sentences of documents from number `first` on with a match, and the first `limit`.

    `shown` is SQL for texts with pairs or copies. Rows id, text, match (an identical sentence, else the most similar
    one), match_text, jaccard; by document and position.
    """
    db.execute(
        "CREATE OR REPLACE TEMP TABLE arrived AS SELECT s.document, s.position, s.hash FROM sentences s "
        f"JOIN ({shown}) USING (hash) WHERE s.document >= {int(first)}"
    )
    count = db.count("SELECT count(*) FROM arrived")
    db.execute(f"CREATE OR REPLACE TEMP TABLE shown AS SELECT * FROM arrived ORDER BY document, position LIMIT {limit}")
    db.execute(
        """
        CREATE OR REPLACE TEMP TABLE partners AS
        SELECT hash, arg_max(partner, (coalesce(jaccard, 0), -partner::HUGEINT)) AS partner, max(jaccard) AS jaccard
        FROM (SELECT a AS hash, b AS partner, jaccard FROM pairs UNION ALL SELECT b, a, jaccard FROM pairs)
        SEMI JOIN shown USING (hash) GROUP BY hash
        """
    )
    rank_members(db, unit, "faces", "SELECT hash FROM shown UNION SELECT partner AS hash FROM partners")
    rows = db.rows(
        """
        SELECT me.id, me.text, coalesce(twin.id, other.id), coalesce(twin.text, other.text),
            CASE WHEN twin.id IS NULL THEN p.jaccard ELSE 1.0 END
        FROM shown a JOIN faces me ON me.hash = a.hash AND me.number = a.document AND me.position = a.position
        LEFT JOIN faces twin ON twin.hash = me.hash AND twin.turn = CASE WHEN me.turn = 1 THEN 2 ELSE 1 END
        LEFT JOIN partners p ON p.hash = a.hash LEFT JOIN faces other ON other.hash = p.partner AND other.turn = 1
        ORDER BY a.document, a.position
        """
    )
    names = ("id", "text", "match", "match_text", "jaccard")
    return count, [
        dict(zip(names, (*row[:4], None if row[4] is None else round(row[4], 6)), strict=True)) for row in rows
    ]
