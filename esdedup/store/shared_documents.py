"""What two documents share: of the sentences that both have, alike or equal, how many are equal.

Pages of one pattern share sentences that differ in their values; a copied passage has equal ones. Clusters of many
sentences say nothing about two of their documents, and are not counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from esdedup.store.naming import NAMED

if TYPE_CHECKING:
    from esdedup.columns.database import Database

MOST_SENTENCES = 50
"""Larger clusters are not counted."""

SHARED: pa.Schema = pa.schema(
    [
        ("one", pa.int32()),  # number of a document
        ("two", pa.int32()),  # a higher one
        ("equal", pa.int32()),  # clusters in which they have a text in common
        ("varied", pa.int32()),  # clusters in which all their texts differ
    ]
)

_STAND = f"""
SELECT DISTINCT cluster, hash, document FROM sentences JOIN cluster_texts USING (hash)
WHERE cluster IN (SELECT id FROM clusters WHERE size <= {MOST_SENTENCES}) AND """


def find_shared(db: Database, judged: str) -> None:
    """Make the table `shared_documents`, with rows of `SHARED`.

    They are of every two documents that have different texts in one of the clusters that the query `judged` selects,
    and share more sentences.
    """
    db.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE met AS
        WITH stands AS (
            {_STAND} document IN (
                SELECT document FROM sentences WHERE hash IN (
                    SELECT hash FROM cluster_texts WHERE cluster IN ({judged})))
        )
        SELECT cluster, a.document AS one, b.document AS two, bool_or(a.hash = b.hash) AS equal
        FROM stands a JOIN stands b USING (cluster) WHERE a.document < b.document GROUP BY ALL;

        CREATE OR REPLACE TEMP TABLE shared_documents AS
        SELECT one, two, count_if(equal) AS equal, count_if(NOT equal) AS varied FROM met
        SEMI JOIN (SELECT one, two FROM met WHERE NOT equal) w USING (one, two)
        GROUP BY one, two HAVING count(*) > 1;

        DROP TABLE met
        """
    )


def note_documents(db: Database, stands: str) -> None:
    """Add to the table `touched` every two documents that met in a cluster, by the query `stands` (cluster, document).

    What a cluster means depends on what its documents share, so others are judged again when some are made again.
    """
    db.execute(
        f"""
        CREATE TEMP TABLE IF NOT EXISTS touched (one INTEGER, two INTEGER);
        INSERT INTO touched SELECT DISTINCT a.document, b.document
            FROM ({stands}) a JOIN ({stands}) b USING (cluster) WHERE a.document < b.document
        """
    )


def note_frames(db: Database, frames: str) -> None:
    """Add the numbers of frames that a query selects to the table `touched_frames`: so many clusters have one."""
    db.execute(
        "CREATE TEMP TABLE IF NOT EXISTS touched_frames (frame_number BIGINT); INSERT INTO touched_frames "
        f"SELECT DISTINCT frame_number FROM ({frames}) WHERE frame_number IS NOT NULL"
    )


def note_clusters(db: Database, ids: str) -> None:
    """Do both for the clusters that `ids` selects, from the tables of a store."""
    note_documents(db, f"{_STAND} cluster IN ({ids})")
    note_frames(db, f"SELECT frame_number FROM clusters WHERE id IN ({ids})")


RELATED = f"""
WITH stands AS ({_STAND} document IN (SELECT one FROM touched UNION SELECT two FROM touched))
SELECT DISTINCT a.cluster AS id FROM stands a JOIN stands b USING (cluster)
JOIN touched ON one = a.document AND two = b.document
"""
"""SQL for the clusters in which two documents meet that are `touched`."""

SHARED_IN_CLUSTERS = f"""
WITH held AS ({_STAND} cluster IN ({{0}})),
ranked AS (
    SELECT cluster, number, row_number() OVER (PARTITION BY cluster ORDER BY id) - 1 AS rank
    FROM (SELECT DISTINCT cluster, document FROM held) JOIN {NAMED} n ON n.number = document
)
SELECT a.cluster AS id, a.rank AS one, b.rank AS two, coalesce(equal, 0) AS equal, coalesce(varied, 1) AS varied,
    d.links AS links, e.links AS others
FROM ranked a JOIN ranked b ON b.cluster = a.cluster AND a.rank < b.rank
JOIN documents d ON d.number = a.number JOIN documents e ON e.number = b.number
LEFT JOIN shared_documents ON one = least(a.number, b.number) AND two = greatest(a.number, b.number)
WHERE equal IS NOT NULL OR (d.links IS NOT NULL AND e.links IS NOT NULL) ORDER BY id, a.rank, b.rank
"""
"""SQL for what each two documents of the clusters of a query share, and what they name. They are numbered from 0 in the
order of their ids.
"""
