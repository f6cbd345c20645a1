"""The tables that an engine leaves in the database of a scan. Clusters are made of them.

`texts` has the columns of `esdedup.matching.engine.TEXTS`. `pairs` has those of `esdedup.matching.engine.PAIRS` and
`closeness`, the similarity by the measure of the matcher; a < b by number.
"""

from __future__ import annotations

import pyarrow as pa

from esdedup.columns.database import Database
from esdedup.matching.engine import PAIRS


def create_pairs(db: Database) -> None:
    """Create the empty table `pairs`."""
    db.create("pairs", PAIRS.append(pa.field("closeness", pa.float64())).empty_table())


def create_signatures(db: Database) -> None:
    """Create the table `signatures`, if there is none."""
    db.execute("CREATE TABLE IF NOT EXISTS signatures (hash UBIGINT, group_id BIGINT, length INTEGER, tokens BIGINT[])")


def collapse(db: Database, stale: pa.Table | None = None) -> int:
    """Make the table `texts` from `signatures`. Return the number of texts.

    Identical sentences are one text (number, hash, copies, length, group_id, stale), numbered from 0 in the order of
    their content hashes. Without `stale` (a column `hash`), all texts are stale.
    """
    if stale is not None:
        db.create("wanted", stale)
    db.execute(
        f"""
        CREATE OR REPLACE TABLE texts AS
        SELECT (row_number() OVER (ORDER BY hash) - 1)::INTEGER AS number, *,
            {"true" if stale is None else "hash IN (SELECT hash FROM wanted)"} AS stale
        FROM (
            SELECT hash, count(*) AS copies, min(length) AS length, min(rowid) AS first,
                CASE WHEN min(group_id) = max(group_id) THEN min(group_id) ELSE -1 END AS group_id
            FROM signatures GROUP BY hash
        )
        ORDER BY hash
        """
    )
    return db.count("SELECT count(*) FROM texts")
