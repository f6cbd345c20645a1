"""Results out of the embedded store, in the contract's order and with its names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any

import duckdb
import pyarrow as pa

from esdedup.columns.database import Database
from esdedup.errors import UsageError
from esdedup.store.protocol import ALL_CLUSTERS, ORDERS, ClusterQuery
from esdedup.text.words import holding

_PAGE = 20_000  # sentences
_FEW = 100  # clusters


def sentence_id(unit: str) -> str:
    """SQL for a sentence's id: `DOCUMENT:POSITION`, or the document's alone where units are records."""
    return "n.id" if unit == "record" else "n.id || ':' || s.position"


def rank_members(db: Database, unit: str, table: str, wanted: str, *, few: bool = False) -> None:
    """Make `table`: every sentence of the texts that `wanted` selects, with its names; a `few` are looked up by row.

    `turn` 1 is a text's first occurrence, 2 its second, 3 any other: by source and document, where ids that are
    numbers count as such (line 9 comes before line 10).
    """
    chosen = f"sentences SEMI JOIN ({wanted}) w USING (hash)"
    if few:
        rows = db.rows(f"SELECT rowid FROM {chosen}")
        db.create("rows_of_few", pa.table({"row": pa.array([row for (row,) in rows], pa.int64())}), temporary=True)
        chosen = "sentences WHERE rowid IN (SELECT row FROM rows_of_few)"
    # no sorting and no windows: a text may stand in more sentences than fit in memory
    db.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE {table} AS
        WITH chosen AS (
            SELECT s.*, n.source, n.id AS named, n.title, CASE WHEN n.history THEN s.contributor END AS who,
                {sentence_id(unit)} AS id,
                {{'source': n.source, 'numeral': n.numeral, 'id': n.id, 'position': s.position}} AS key
            FROM (SELECT * FROM {chosen}) s JOIN named n ON n.number = s.document
        )
        SELECT c.hash, c.id, c.source, c.named AS document, c.title, c.position, c.text, c.revision, c.timestamp,
            c.who AS contributor, c.document AS number, coalesce(list_position(f.two, c.key), 3) AS turn
        FROM chosen c JOIN (SELECT hash, min(key, 2) AS two FROM chosen GROUP BY hash) f USING (hash)
        """
    )


class Results:
    """Reads pairs and clusters; what naming them needs is worked out once for as long as nothing changes."""

    def __init__(self, db: Database, unit: str) -> None:
        self._db = db
        self._unit = unit
        self._ranked = False
        self._calls = 0

    def forget(self) -> None:
        """The results have changed."""
        self._ranked = False

    def counts(self) -> dict[str, int]:
        """Counts of pairs, clusters and clustered sentences, without what is ignored."""
        clusters, sentences = self._db.row("SELECT count(*), sum(size) FROM clusters WHERE NOT ignored")
        pairs = self._db.count(f"SELECT count(*) FROM pairs WHERE {_HEEDED}")
        return {"pairs": pairs, "clusters": clusters, "clustered_sentences": int(sentences or 0)}

    def pair_rows(self) -> Iterator[pa.RecordBatch]:
        """Pairs of distinct texts, each named by its first occurrence, a < b as UTF-8 bytes, by (a, b)."""
        self._rank_all()
        yield from self._db.stream(
            f"""
            SELECT least(one.id, two.id) AS a, greatest(one.id, two.id) AS b, p.jaccard,
                p.word_edit_distance, p.shared_tokens
            FROM (SELECT * FROM pairs WHERE {_HEEDED}) p
            JOIN members one ON one.hash = p.a AND one.turn = 1
            JOIN members two ON two.hash = p.b AND two.turn = 1
            ORDER BY a, b
            """
        )

    def kinds(self) -> dict[str, int]:
        """How many clusters there are of each kind, by name, without what is ignored."""
        of_each = (
            "SELECT kind, count(*) FROM clusters WHERE NOT ignored AND kind IS NOT NULL GROUP BY kind ORDER BY kind"
        )
        return dict(self._db.rows(of_each))

    def cluster_sizes(self, kind: str | None) -> dict[int, int]:
        """As `esdedup.store.protocol.Store.cluster_sizes`."""
        of_each = (
            "SELECT size, count(*) FROM clusters WHERE NOT ignored AND (?::VARCHAR IS NULL OR kind = ?) "
            "GROUP BY size ORDER BY size"
        )
        return dict(self._db.rows(of_each, [kind, kind]))

    def cluster_rows(self, wanted: ClusterQuery) -> Iterator[dict[str, Any]]:
        """Clusters in order, with members by (source, document, position), as the contract writes them."""
        order, holds, values = self._conditions(wanted)
        few = wanted != replace(ALL_CLUSTERS, sort=wanted.sort)
        for rows in self._groups(order, holds, values, wanted.limit, few, brief=wanted.brief):
            found = {name: rows[0][name] for name in _BESIDE} if wanted.brief else {}
            yield _cluster(rows) | found

    def some_clusters(self, ids: pa.Table) -> Iterator[dict[str, Any]]:
        """The clusters in column `id`, ignored ones too, in any order."""
        self._db.create("some_clusters", ids, temporary=True)
        for rows in self._groups("id", ["id IN (SELECT id FROM some_clusters)"], [], None, True):
            yield _cluster(rows)
        self._db.execute("DROP TABLE some_clusters")

    def trees(self, wanted: ClusterQuery) -> Iterator[dict[str, Any]]:
        """As `esdedup.store.protocol.Store.trees`."""
        order, holds, values = self._conditions(replace(wanted, having="copies"))
        for rows in self._groups(order, holds, values, wanted.limit, True, _WITH_PARENTS):
            yield _tree(rows)

    def _conditions(self, wanted: ClusterQuery) -> tuple[str, list[str], list[Any]]:
        """How the clusters that are wanted are ordered, the conditions for them, and the values in these."""
        column, direction = ORDERS[wanted.sort]
        order = f"{column} {direction} NULLS LAST, id"
        holds, values = ["NOT ignored", "size >= ?"], [wanted.min_size]  # type: tuple[list[str], list[Any]]
        if wanted.kind is not None:
            holds.append("kind = ?")
            values.append(wanted.kind)
        if wanted.having is not None:
            holds.append(f"{wanted.having} > 0")
        if wanted.ids is not None:
            holds.append("id IN (SELECT unnest(?::UBIGINT[]))")
            values.append([int(identity, 16) for identity in wanted.ids if is_cluster_id(identity)])
        if wanted.document is not None:
            holds.append(_WITH.format("document IN (SELECT number FROM named WHERE id = ?)"))
            values.append(wanted.document)
        if wanted.article is not None:
            holds.append(_WITH.format("document IN (SELECT number FROM named WHERE id = ? OR title = ?)"))
            values += [wanted.article, wanted.article]
        if wanted.text is not None and wanted.text.split():
            self._find_texts(wanted.text)
            holds.append("id IN (SELECT cluster FROM cluster_texts SEMI JOIN texts_found USING (hash))")
        if wanted.after is not None:
            holds.append(self._behind(column, direction, wanted.after))
        return order, holds, values

    def _groups(
        self,
        order: str,
        holds: list[str],
        values: list[Any],
        limit: int | None,
        few: bool,
        more: str = "",
        *,
        brief: bool = False,
    ) -> Iterator[list[dict[str, Any]]]:
        """The rows of the members of each cluster, joined with `more`; unless `few` are wanted, all names are kept.

        In `brief`, only the first two of the representative's text and of the ends of the weakest edge.
        """
        most = "" if limit is None else f"LIMIT {int(limit)}"
        # tables of this call alone: other questions may come between two pages
        self._calls += 1
        chosen, members = f"chosen{self._calls}", "members"
        self._db.execute(
            f"CREATE TEMP TABLE {chosen} AS SELECT *, (sum(size) OVER (ORDER BY rank) // {_PAGE})::BIGINT AS page "
            f"FROM (SELECT *, row_number() OVER (ORDER BY {order}) AS rank FROM clusters "
            f"WHERE {' AND '.join(holds)} ORDER BY rank {most})",
            values,
        )
        if few:
            members = f"members{self._calls}"
            texts = f"SELECT hash FROM cluster_texts JOIN {chosen} ON id = cluster"
            if brief:
                texts = f"SELECT unnest([representative, weakest_a, weakest_b]) AS hash FROM {chosen}"
            rank_members(self._db, self._unit, members, texts, few=brief)
        else:
            self._rank_all()
        try:
            for (page,) in self._db.rows(f"SELECT DISTINCT page FROM {chosen} ORDER BY page"):
                rows = self._db.table(
                    f"SELECT k.*, m.* EXCLUDE (id, number), m.id AS sentence, {'o.*' if more else ''} FROM {members} m "
                    f"JOIN cluster_texts c USING (hash) JOIN {chosen} k ON k.id = c.cluster {more.format(members)} "
                    f"WHERE k.page = ? {'AND m.turn <= 2' if brief else ''} "
                    "ORDER BY k.rank, m.source, m.document, m.position",
                    [page],
                )
                for _, held in groupby(rows.to_pylist(), lambda row: row["rank"]):
                    yield list(held)
        finally:
            with suppress(duckdb.Error):  # where the store was closed meanwhile, its tables are gone
                self._db.execute(f"DROP TABLE {chosen}")
                if members != "members":
                    self._db.execute(f"DROP TABLE {members}")

    def _find_texts(self, text: str) -> None:
        """Make `texts_found`: the texts of clusters that hold every word of `text`."""
        words = text.split()
        holds = " AND ".join("contains(lower(text), lower(?))" for _ in words)
        rows = self._db.table(
            f"SELECT DISTINCT hash, text FROM sentences SEMI JOIN cluster_texts USING (hash) WHERE {holds}", words
        )
        held = holding(rows["text"].cast(pa.large_string()).combine_chunks(), text)
        self._db.create("texts_found", rows.select(["hash"]).filter(pa.array(held)), temporary=True)

    def _rank_all(self) -> None:
        if not self._ranked:
            # with star linkage, a text of a pair may be in no cluster
            rank_members(self._db, self._unit, "members", _TEXTS)
            self._ranked = True

    def _behind(self, column: str, direction: str, after: str) -> str:
        """The condition for what comes behind the cluster `after`."""
        number = int(after, 16) if is_cluster_id(after) else -1
        row = self._db.row(f"SELECT {column} FROM clusters WHERE id = ?::HUGEINT", [number])
        if not row:
            raise UsageError(f"after {after}: no cluster has this id; give the one that the page before ended with")
        if row[0] is None:  # these come last, by id
            return f"({column} IS NULL AND id > {number}::UBIGINT)"
        value, beyond = f"{row[0]!r}::DOUBLE", "<" if direction == "desc" else ">"
        return f"({column} IS NULL OR {column} {beyond} {value} OR ({column} = {value} AND id > {number}::UBIGINT))"


def is_cluster_id(identity: str) -> bool:
    """Whether this is the form of a cluster's id: 16 hexadecimal digits."""
    return re.fullmatch(r"[0-9a-f]{16}", identity) is not None


_TEXTS = "SELECT hash FROM cluster_texts UNION SELECT a FROM pairs UNION SELECT b FROM pairs"
_IGNORED_TEXTS = "SELECT hash FROM cluster_texts JOIN clusters ON id = cluster WHERE ignored"
_HEEDED = f"a NOT IN ({_IGNORED_TEXTS}) AND b NOT IN ({_IGNORED_TEXTS})"
_BESIDE = ("frame", "contradictions", "contradiction", "copies")
"""What is known of a cluster beside what the contract writes."""

_WITH_PARENTS = """LEFT JOIN (
    SELECT o.document AS number, o.position AS place, p.id AS parent, o.jaccard, o.edits, o.copied
    FROM origins o JOIN {} p ON p.number = o.parent_document AND p.position = o.parent_position
) o ON o.number = m.number AND o.place = m.position"""
_WITH = "id IN (SELECT cluster FROM cluster_texts SEMI JOIN (SELECT hash FROM sentences WHERE {}) USING (hash))"


def _cluster(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One cluster from the rows of its members; each row repeats the columns of the cluster."""
    cluster = rows[0]
    firsts = {row["hash"]: row["sentence"] for row in rows if row["turn"] == 1}
    weakest = [firsts.get(cluster["weakest_a"]), firsts.get(cluster["weakest_b"])]
    if cluster["distinct_texts"] == 1:
        weakest = [row["sentence"] for row in rows if row["turn"] <= 2]
    least = cluster["min_jaccard"]
    return {
        "id": f"{cluster['id']:016x}",
        "size": cluster["size"],
        "distinct": cluster["distinct_texts"],
        **{name: cluster[name] for name in ("kind", "kind_confidence", "kind_reason")},
        "min_jaccard": None if least is None else round(least, 6),
        "weakest": sorted(weakest, key=str.encode) if all(weakest) else None,
        "representative": firsts[cluster["representative"]],
        "members": [
            {
                "id": row["sentence"],
                **{name: row[name] for name in ("source", "document", "title", "position", "text")},
                **{name: row[name] for name in ("revision", "timestamp")},
            }
            for row in rows
        ],
    }


def _tree(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A cluster that was copied from page to page, its members in the order of time."""
    names = ("title", "text", "timestamp", "contributor", "parent", "jaccard", "edits", "copied")
    dated = [row for row in rows if row["timestamp"] is not None]
    dated.sort(
        key=lambda row: (row["timestamp"], row["revision"] or 0, row["parent"] is not None, row["sentence"].encode())
    )
    return {
        "cluster": f"{rows[0]['id']:016x}",
        "copies": rows[0]["copies"],
        "members": [{"id": row["sentence"], **{name: row[name] for name in names}} for row in dated],
    }
