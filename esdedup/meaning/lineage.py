"""Who said it first: each sentence under the most similar one that stood somewhere before it.

A sentence stands once a page, from the first revision that has it: putting it back after somebody took it out begins
nothing new. Documents of one title are one page, as in two dumps of one wiki. Works in a private, spilling database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.compiled import compiled
from esdedup.database import Database, private_database
from esdedup.meaning.editors import EDITORS, editor_kind
from esdedup.pairs.groups import Numbers
from esdedup.stores.store import Store

_TABLES = """
CREATE TABLE said (cluster UBIGINT, hash UBIGINT, document INTEGER, id VARCHAR, title VARCHAR, revision BIGINT,
    timestamp VARCHAR, contributor VARCHAR);
CREATE TABLE pairs (a UBIGINT, b UBIGINT, jaccard DOUBLE, word_edit_distance INTEGER);
"""
_PREPARE = """
CREATE TABLE turns AS SELECT *, coalesce(nullif(title, ''), document::VARCHAR) AS page,
    row_number() OVER (ORDER BY timestamp, revision, id) - 1 AS turn FROM said;
CREATE TABLE alike AS
    SELECT a AS hash, b AS other, coalesce(jaccard, 0) AS jaccard, word_edit_distance AS edits FROM pairs
    UNION ALL SELECT b, a, coalesce(jaccard, 0), word_edit_distance FROM pairs
    UNION ALL SELECT DISTINCT hash, hash, 1, 0 FROM said;
CREATE TABLE firsts AS SELECT * FROM turns SEMI JOIN (SELECT min(turn) AS turn FROM turns GROUP BY hash) USING (turn);
CREATE TABLE firsts_of_page AS
    SELECT * FROM turns SEMI JOIN (SELECT min(turn) AS turn FROM turns GROUP BY hash, page) USING (turn);
CREATE TABLE parents AS
    SELECT child, arg_max({'parent': parent, 'jaccard': jaccard, 'edits': edits},
        {'jaccard': jaccard, 'same_page': same_page, 'turn': -parent}) AS found
    FROM (
        -- of all that stand with one text, the first and the first of the same page are enough
        SELECT c.turn AS child, p.turn AS parent, s.jaccard, s.edits, p.page = c.page AS same_page
        FROM turns c JOIN alike s USING (hash) JOIN firsts p ON p.hash = s.other AND p.cluster = c.cluster
        WHERE p.timestamp < c.timestamp
        UNION ALL
        SELECT c.turn, p.turn, s.jaccard, s.edits, true
        FROM turns c JOIN alike s USING (hash)
        JOIN firsts_of_page p ON p.hash = s.other AND p.page = c.page AND p.cluster = c.cluster
        WHERE p.timestamp < c.timestamp OR (p.timestamp = c.timestamp AND p.revision < c.revision)
    ) GROUP BY child;
"""


class Lineage:
    """The parents of all sentences of all clusters, as far as their times are known."""

    def __init__(self, db: Database) -> None:
        self._db = db
        db.execute(_PREPARE)
        rows = db.arrays(
            "SELECT turn, coalesce(found.parent, -1) AS parent, coalesce(found.edits, 0) AS edits "
            "FROM turns LEFT JOIN parents ON child = turn ORDER BY turn"
        )
        self._depth, self._errors = _descend(rows["parent"].astype(np.int64), rows["edits"].astype(np.int64))

    def trees(self) -> Iterator[dict[str, Any]]:
        """One row a cluster with a copy from page to page, most copies first: `cluster`, `copies` and `members`.

        Members in the order of time: id, title, timestamp, contributor, editor, parent (id, null for what came from
        nowhere), jaccard and edits (words that differ from the parent), copy (whether the parent stands in another
        page), depth, and errors (edits added up from the beginning).
        """
        batches = self._db.batches(
            """
            SELECT t.cluster, c.copies, t.turn, t.id, t.title, t.timestamp, t.contributor, p.id AS parent,
                found.jaccard, found.edits, p.page <> t.page AS copy
            FROM turns t JOIN (
                SELECT t.cluster, count(*) AS copies FROM turns t JOIN parents ON child = t.turn
                JOIN turns p ON p.turn = found.parent WHERE p.page <> t.page GROUP BY t.cluster
            ) c USING (cluster) LEFT JOIN parents ON child = t.turn LEFT JOIN turns p ON p.turn = found.parent
            ORDER BY c.copies DESC, t.cluster, t.turn
            """
        )
        rows = (row for batch in batches for row in batch.to_pylist())
        for cluster, held in groupby(rows, itemgetter("cluster")):
            members = [self._member(row) for row in held]
            yield {
                "cluster": f"{cluster:016x}",
                "copies": sum(bool(member["copy"]) for member in members),
                "members": members,
            }

    def _member(self, row: dict[str, Any]) -> dict[str, Any]:
        told = {name: row[name] for name in ("id", "title", "timestamp", "contributor")}
        jaccard = None if row["jaccard"] is None else round(row["jaccard"], 6)
        return told | {
            "editor": editor_kind(row["contributor"]),
            "parent": row["parent"],
            "jaccard": jaccard,
            "edits": row["edits"],
            "copy": bool(row["copy"]),
            "depth": int(self._depth[row["turn"]]),
            "errors": int(self._errors[row["turn"]]),
        }

    def editors(self) -> dict[str, int]:
        """How many copies each kind of editor has added."""
        counts: Counter[str] = Counter(dict.fromkeys(EDITORS, 0))
        rows = self._db.rows(
            "SELECT t.contributor, count(*) FROM turns t JOIN parents ON child = t.turn "
            "JOIN turns p ON p.turn = found.parent WHERE p.page <> t.page GROUP BY t.contributor"
        )
        for contributor, count in rows:
            counts[editor_kind(contributor)] += count
        return dict(counts)

    def undated(self) -> int:
        """Sentences of clusters without a time."""
        return self._db.count("SELECT count(*) FROM undated")


@contextmanager
def trace(store: Store) -> Iterator[Lineage]:
    """Work out the lineage of all clusters that are not ignored."""
    with private_database() as db:
        db.execute(_TABLES)
        for batch in store.appearances():
            db.insert("said", pa.Table.from_batches([batch]))
        for batch in store.pair_hashes():
            db.insert("pairs", pa.Table.from_batches([batch]))
        db.execute("CREATE TABLE undated AS SELECT id FROM said WHERE timestamp IS NULL")
        db.execute("DELETE FROM said WHERE timestamp IS NULL")
        yield Lineage(db)


@compiled
def _descend(parent: Numbers, edits: Numbers) -> tuple[Numbers, Numbers]:
    """Depth and summed edits of each row, whose parent comes before it (-1 for none)."""
    depth, errors = np.zeros(len(parent), np.int64), np.zeros(len(parent), np.int64)
    for row in range(len(parent)):
        if parent[row] >= 0:
            depth[row] = depth[parent[row]] + 1
            errors[row] = errors[parent[row]] + edits[row]
    return depth, errors
