"""What clusters mean, asked of a judge for some clusters at a time, out of the tables that both stores have.

Sentences and the names of their documents must be there already; results are not yet.
"""

from __future__ import annotations

import pyarrow as pa

from esdedup.clustering.union import Clusters
from esdedup.database import Database
from esdedup.stores.meanings import IDENTICAL, MEANINGS, MEMBERS, MOST_TEXTS, PLACES, Judge

_TEXTS = 20_000  # at a time


def with_meanings(db: Database, clusters: Clusters, judge: Judge | None) -> pa.Table:
    """The table of clusters, with the columns of `MEANINGS` where there is a judge."""
    if judge is None:
        return clusters.clusters
    db.create("unjudged", clusters.clusters, temporary=True)
    db.create("unjudged_texts", clusters.texts, temporary=True)
    db.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE looked_at AS
        SELECT t.cluster, t.hash, t.hash = u.representative AS representative, u.page
        FROM unjudged_texts t JOIN (
            SELECT id, representative, sum(least(distinct_texts, {MOST_TEXTS})) OVER (ORDER BY id) // {_TEXTS} AS page
            FROM unjudged WHERE distinct_texts > 1
        ) u ON u.id = t.cluster
        QUALIFY t.hash = u.representative OR row_number() OVER (PARTITION BY t.cluster ORDER BY t.hash) < {MOST_TEXTS}
        """
    )
    told = [pa.schema([("id", pa.uint64()), *MEANINGS]).empty_table()]
    for (page,) in db.rows("SELECT DISTINCT page FROM looked_at ORDER BY page"):
        told.append(judge(db.table(_MEMBERS_OF_PAGE, [page]).cast(MEMBERS)))
    db.create("judged", pa.concat_tables(told), temporary=True)
    alike = [f"coalesce(j.{name}, ?) AS {name}" for name in MEANINGS.names]
    rows = db.table(
        f"SELECT u.*, {', '.join(alike)} FROM unjudged u LEFT JOIN judged j USING (id) ORDER BY id", list(IDENTICAL)
    )
    for table in ("unjudged", "unjudged_texts", "looked_at", "judged"):
        db.execute(f"DROP TABLE {table}")
    return rows


# of a text's documents the first, as members are ordered
_MEMBERS_OF_PAGE = f"""
SELECT cluster, representative, text,
    array_to_string(list_distinct(list_transform(places, lambda p: p.title)), ' ') AS titles,
    list_resize(list_transform(places, lambda p: hash(p.title)), {PLACES}, 0)::UBIGINT[{PLACES}] AS named,
    list_resize(list_transform(places, lambda p: p.number + 1), {PLACES}, 0)::UBIGINT[{PLACES}] AS homes,
    list_resize(list_transform(places, lambda p: p.since), {PLACES}, 0)::BIGINT[{PLACES}] AS since,
    list_resize(list_transform(places, lambda p: p.till), {PLACES}, 0)::BIGINT[{PLACES}] AS till
FROM (
    SELECT l.cluster, l.hash, any_value(l.representative) AS representative, any_value(s.text) AS text,
        min({{'source': n.source, 'numeral': n.numeral, 'id': n.id, 'position': s.position, 'number': n.number,
            'title': coalesce(nullif(n.title, ''), n.id),
            'since': least(coalesce(s.revision, 0), coalesce(s.last_revision, s.revision, 0)),
            'till': greatest(coalesce(s.revision, 0), coalesce(s.last_revision, s.revision, 0))}}, {PLACES}) AS places
    FROM (SELECT * FROM looked_at WHERE page = ?) l JOIN sentences s USING (hash) JOIN named n ON n.number = s.document
    GROUP BY l.cluster, l.hash
) ORDER BY cluster, hash
"""
