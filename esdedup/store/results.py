"""The results of scans: pairs, clusters and their meaning, in tables of DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from esdedup.errors import UsageError
from esdedup.store.cluster_kinds import give_meaning, insert_clusters
from esdedup.store.cluster_queries import ALL_CLUSTERS, ORDERS, ClusterQuery, cluster_of, is_cluster_id, tree_of
from esdedup.store.naming import NAMED, SOURCE_GROUPS, at_once, rank_members, sentence_id
from esdedup.store.new_matches import new_matches
from esdedup.store.origins import in_order, moment
from esdedup.store.passages import SPREAD, copied_passages
from esdedup.store.schemas import MEMBERSHIPS, PAIRS
from esdedup.store.shared_documents import note_clusters
from esdedup.text.words import holding

if TYPE_CHECKING:
    from esdedup.clustering.clusters import Clusters
    from esdedup.columns.database import Database
    from esdedup.store.cluster_kinds import Classifier
    from esdedup.store.corpus import Corpus
    from esdedup.store.ledger import Ledger

_PAGE = 20_000  # sentences


class Results:
    """Results in the database `db`, beside their sentences and documents. Derived tables are kept until they change."""

    def __init__(self, corpus: Corpus, ledger: Ledger, db: Database | None = None) -> None:
        self._held = db
        self._corpus = corpus
        self._ledger = ledger
        self._unit = corpus.signing.unit
        self._ranked = False
        self._calls = 0
        self.lost: str | None = None  # what somebody has deleted of the results: then there are none

    @property
    def db(self) -> Database:
        """The database, with all results."""
        assert self._held is not None
        return self._held

    # -- saving ---------------------------------------------------------------------------------------------

    def replace(
        self,
        pairs: Iterator[pa.RecordBatch],
        clusters: Clusters,
        summary: dict[str, Any],
        classifier: Classifier | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """Replace the old results with those of a scan, all or nothing.

        Pairs are rows of `PAIRS`. Without a classifier, clusters have no kind. `meanwhile` may read rows and sizes of
        the new ones while they are published. Its errors do not hold them up.
        """
        with self.db.alone(), self.db.transaction():
            for table in ("pairs", "clusters", "cluster_texts", "origins"):
                self.db.execute(f"DELETE FROM {table}")
            self.db.insert_all("pairs", PAIRS, (batch.cast(PAIRS) for batch in pairs))
            self._save(clusters, summary, classifier, partly=False)
        self.db.execute("CHECKPOINT")
        meanwhile()

    def merge(
        self,
        stale: pa.Table,
        pairs: pa.Table,
        affected: pa.Table,
        clusters: Clusters,
        summary: dict[str, Any],
        classifier: Classifier | None = None,
    ) -> None:
        """Replace the pairs of the texts `stale` and the clusters of `affected` (with all their texts), or nothing."""
        self.db.create("affected", affected, temporary=True)
        old = "SELECT cluster FROM cluster_texts SEMI JOIN affected USING (hash)"
        with self.db.alone(), self.db.transaction():
            self.replace_pairs(stale, pairs)
            if classifier is not None:
                note_clusters(self.db, old)
            self.db.execute(f"DELETE FROM clusters WHERE id IN ({old}); DELETE FROM origins WHERE cluster IN ({old})")
            self.db.execute("DELETE FROM cluster_texts WHERE hash IN (SELECT hash FROM affected)")
            self._save(clusters, summary, classifier, partly=True)
        self.db.execute("CHECKPOINT")

    def replace_pairs(self, stale: pa.Table, pairs: pa.Table) -> None:
        """Replace the pairs of the texts in column `hash` of `stale`."""
        self.db.create("stale_texts", stale, temporary=True)
        theirs = "SELECT hash FROM stale_texts"
        self.db.execute(f"DELETE FROM pairs WHERE a IN ({theirs}) OR b IN ({theirs})")
        self.db.insert("pairs", pairs)

    def _save(self, clusters: Clusters, summary: dict[str, Any], meant: Classifier | None, *, partly: bool) -> None:
        self._ranked = False
        insert_clusters(self.db, clusters, meant=meant is not None)
        if meant is not None:
            ids, ordered = clusters.clusters.select(["id"]), in_order(self.db, self._corpus)
            give_meaning(self.db, self.some_clusters, ids, meant, self._corpus, ordered=ordered, partly=partly)
        self._ledger.set(scan={"summary": summary})
        self.db.execute("DELETE FROM stale")
        self._ranked = False

    def closure(self, texts: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Return the texts in column `hash`, all texts connected to them by pairs and clusters, and the pairs."""
        db = self.db
        db.create("net", texts, temporary=True)
        reached, grown = -1, texts.num_rows
        while grown != reached:
            reached = grown
            for more in (
                "SELECT hash FROM cluster_texts WHERE cluster IN "
                "(SELECT cluster FROM cluster_texts SEMI JOIN net USING (hash))",
                "SELECT b AS hash FROM pairs WHERE a IN (SELECT hash FROM net)",
                "SELECT a AS hash FROM pairs WHERE b IN (SELECT hash FROM net)",
            ):
                db.execute(f"INSERT INTO net SELECT DISTINCT hash FROM ({more}) ANTI JOIN net USING (hash)")
            grown = db.count("SELECT count(*) FROM net")
        pairs = db.table("SELECT * FROM pairs WHERE a IN (SELECT hash FROM net)")
        return db.table("SELECT DISTINCT hash FROM net ORDER BY hash"), pairs

    # -- counts ---------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """Return counts of pairs, clusters and clustered sentences, not ignored, and of `far` and `ignored` ones."""
        clusters, sentences, far, ignored = self.db.row(
            "SELECT count(*) FILTER (NOT ignored), sum(size) FILTER (NOT ignored), "
            "count(farthest) FILTER (NOT ignored), count(*) FILTER (ignored) FROM clusters"
        )
        return {
            "pairs": self.db.count(f"SELECT count(*) FROM pairs WHERE {_SHOWN}"),
            "clusters": clusters,
            "clustered_sentences": int(sentences or 0),
            "far": far,
            "ignored": ignored,
        }

    def last_scan(self) -> dict[str, Any] | None:
        """Return what was saved of the last scan (None: there is none), its counts, and whether it is `current`."""
        scan = self._ledger.get("scan")
        if scan is None or self.lost:
            return None
        saved, now = scan["summary"], self.counts()
        far, ignored = now.pop("far"), now.pop("ignored")
        return {
            **saved,
            "counts": {**saved["counts"], **now},
            "far_reaching_clusters": far,
            "ignored_clusters": ignored,
            "current": not scan.get("overtaken") and not self._corpus.changes(),
        }

    def kinds(self) -> dict[str, int]:
        """Count the clusters of each kind, by name. Ignored clusters are not counted."""
        which = "NOT ignored AND kind IS NOT NULL"
        return dict(self.db.rows(f"SELECT kind, count(*) FROM clusters WHERE {which} GROUP BY kind ORDER BY kind"))

    def sizes(self, kind: str | None = None) -> dict[int, int]:
        """Count the clusters that are not ignored by size, in order of size, or only those of one kind."""
        which = "NOT ignored AND (?::VARCHAR IS NULL OR kind = ?) GROUP BY size ORDER BY size"
        return dict(self.db.rows(f"SELECT size, count(*) FROM clusters WHERE {which}", [kind, kind]))

    def contradictions(self) -> int:
        """Count the contradictions in clusters that are not ignored."""
        return self.db.count("SELECT sum(contradictions) FROM clusters WHERE NOT ignored")

    def copiers(self) -> tuple[dict[str | None, int], int]:
        """Return the copies between pages that each contributor added, and the number of sentences without a time."""
        copies = self.db.rows(
            "SELECT CASE WHEN n.history THEN s.contributor END AS who, count(*) FROM origins o "
            "JOIN clusters k ON k.id = o.cluster AND NOT k.ignored JOIN sentences s USING (document, position) "
            f"JOIN {NAMED} n ON n.number = s.document WHERE o.copied GROUP BY who"
        )
        undated = self.db.count(
            "SELECT count(*) FROM sentences SEMI JOIN (SELECT hash FROM cluster_texts JOIN clusters ON id = cluster "
            f"WHERE NOT ignored) USING (hash) WHERE {moment('timestamp')} IS NULL"
        )
        return dict(copies), undated

    # -- queries --------------------------------------------------------------------------------------------

    def pair_rows(self) -> Iterator[pa.RecordBatch]:
        """Yield pairs of distinct texts, each named by its first occurrence, a < b as UTF-8 bytes, by (a, b)."""
        self._rank_all()
        parts = self.db.parts("a", self.db.count("SELECT count(*) FROM pairs"))
        named = _NAMED_PAIRS.format(parts[0])
        if len(parts) > 1:  # names are joined part by part, and nothing else is in memory when all is sorted
            self.db.gather("named_pairs", map(_NAMED_PAIRS.format, parts))
            named = "FROM named_pairs"
        yield from self.db.stream(f"{named} ORDER BY a, b")
        self.db.execute("DROP TABLE IF EXISTS named_pairs")

    def pair_hashes(self, among: pa.Table | None = None) -> Iterator[pa.RecordBatch]:
        """Return rows (a, b, jaccard, shared_tokens, probability): the texts of each pair, or only `among` the few in
        `hash`.
        """
        every = "SELECT a, b, jaccard, shared_tokens, probability FROM pairs"
        if among is None:
            return self.db.batches(every)
        self.db.create("few", among, temporary=True)
        found = self.db.table(f"{every} SEMI JOIN few ON a = few.hash SEMI JOIN few f ON b = f.hash")
        return iter(found.to_batches())

    def memberships(self) -> Iterator[pa.RecordBatch]:
        """Yield every sentence of a text with pairs or copies, unless its cluster is ignored, as `MEMBERSHIPS`."""
        batches = self.db.batches(
            f"""
            SELECT s.hash, c.cluster, k.kind, h.group_id AS source, d.source AS file, s.document, d.place, s.position,
                {sentence_id(self._unit)} AS id, s.length
            -- of text, its length alone: a join would hold the rest
            FROM (SELECT hash, document, position, length(text)::INTEGER AS length FROM sentences) s
            JOIN ({_SHOWN_TEXTS}) c USING (hash)
            JOIN {NAMED} n ON n.number = s.document JOIN documents d ON d.number = s.document
            JOIN ({SOURCE_GROUPS}) h ON h.number = d.source
            LEFT JOIN clusters k ON k.id = c.cluster
            """
        )
        return (batch.cast(MEMBERSHIPS) for batch in batches)

    def new_matches(self, first: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
        """As `esdedup.store.new_matches.new_matches`."""
        return new_matches(self.db, self._unit, _SHOWN_TEXTS, first, limit)

    def ordered(self) -> bool:
        """Whether copies were told, because the sources show an order in time."""
        return self.db.count("SELECT count(copies) FROM clusters") > 0

    def spread(self) -> int:
        """Count the clusters that are not ignored and have sentences of several documents."""
        return self.db.count(SPREAD)

    def passages(self) -> list[dict[str, Any]]:
        """As `esdedup.store.passages.copied_passages`."""
        return copied_passages(self.db)

    def cluster_rows(self, query: ClusterQuery = ALL_CLUSTERS) -> Iterator[dict[str, Any]]:
        """Yield clusters in order, with members by (source, document, position), in the form of the contract."""
        order, holds, values = self._conditions(query)
        few = query != replace(ALL_CLUSTERS, sort=query.sort)
        more = _WITH_NEWEST if query.shared else ""
        for rows in self._groups(order, holds, values, query.limit, few, more, brief=query.brief):
            yield cluster_of(rows, query)

    def some_clusters(self, ids: pa.Table) -> Iterator[dict[str, Any]]:
        """Yield the clusters in column `id`, also ignored ones, in any order."""
        self.db.create("some_clusters", ids, temporary=True)
        for rows in self._groups("id", ["id IN (SELECT id FROM some_clusters)"], [], None, True, _WITH_NEWEST):
            yield cluster_of(rows, ClusterQuery(shared=True))
        self.db.execute("DROP TABLE some_clusters")

    def trees(self, query: ClusterQuery) -> Iterator[dict[str, Any]]:
        """Yield clusters with a copy between pages: `cluster` (id), `copies` and `members` in chronological order.

        Members that have a time: id, title, text, timestamp, contributor, parent (id of the most similar sentence that
        is known to have appeared earlier, or null), jaccard, edits (words that differ from it), copied (whether the
        parent is in another page).
        """
        order, holds, values = self._conditions(replace(query, having="copies"))
        for rows in self._groups(order, holds, values, query.limit, True, _WITH_PARENTS):
            yield tree_of(rows)

    def _conditions(self, query: ClusterQuery) -> tuple[str, list[str], list[Any]]:
        """Return the order of the requested clusters, the conditions, and the values of these."""
        column, direction = ORDERS[query.sort]
        order = f"{column} {direction} NULLS LAST, id"
        holds, values = ["NOT ignored", "size BETWEEN ? AND ?"], [query.min_size, query.max_size]  # type: tuple[list[str], list[Any]]
        if query.kind is not None:
            holds.append("kind = ?")
            values.append(query.kind)
        if query.having is not None:
            holds.append(f"{query.having} > 0")
        if query.ids is not None:
            holds.append("id IN (SELECT unnest(?::UBIGINT[]))")
            values.append([int(identity, 16) for identity in query.ids if is_cluster_id(identity)])
        for wanted, place in (
            (query.document, _OF_DOCUMENT.format("id = ?")),
            (query.article, _OF_DOCUMENT.format("id = ? OR title = ?")),
            (query.language, "language = ?"),
        ):
            if wanted is not None:
                holds.append(_WITH.format(place))
                values += [wanted] * place.count("?")
        if query.text is not None and query.text.split():
            self._find_texts(query.text)
            holds.append("id IN (SELECT cluster FROM cluster_texts SEMI JOIN texts_found USING (hash))")
        if query.after is not None:
            holds.append(self._behind(column, direction, query.after))
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
        """Yield the members of each cluster, joined with `more`. Unless only a `few` are wanted, all names are kept.

        With `brief`, only the first two of the representative's text and of the weakest edge's texts.
        """
        most = "" if limit is None else f"LIMIT {int(limit)}"
        # tables of this call only: other queries may run between two pages
        self._calls += 1
        chosen, members = f"chosen{self._calls}", "members"
        paged = f"(sum(size) OVER (ORDER BY rank) // {at_once(self.db, _PAGE)})::BIGINT"
        self.db.execute(
            f"CREATE TEMP TABLE {chosen} AS SELECT *, {paged} AS page "
            f"FROM (SELECT *, row_number() OVER (ORDER BY {order}) AS rank FROM "
            f"(SELECT * FROM clusters WHERE {' AND '.join(holds)} ORDER BY {order} {most}))",
            values,
        )
        if brief or (few and not self._ranked):
            members = f"members{self._calls}"
            texts = f"SELECT hash FROM cluster_texts JOIN {chosen} ON id = cluster"
            if brief:
                texts = f"SELECT unnest([representative, weakest_a, weakest_b]) AS hash FROM {chosen}"
            rank_members(self.db, self._unit, members, texts)
        else:
            self._rank_all()
        try:
            for (page,) in self.db.rows(f"SELECT DISTINCT page FROM {chosen} ORDER BY page"):
                rows = self.db.table(
                    f"SELECT k.*, m.* EXCLUDE (id, number), m.id AS sentence, {'o.*' if more else ''} FROM {members} m "
                    f"JOIN cluster_texts c USING (hash) JOIN {chosen} k ON k.id = c.cluster {more.format(members)} "
                    f"WHERE k.page = ? {'AND m.turn <= 2' if brief else ''} "
                    "ORDER BY k.rank, m.source, m.document, m.position",
                    [page],
                )
                for _, held in groupby(rows.to_pylist(), lambda row: row["rank"]):
                    yield list(held)
        finally:
            with suppress(duckdb.Error):  # if the store was closed meanwhile, its tables are gone
                self.db.execute(f"DROP TABLE {chosen}")
                if members != "members":
                    self.db.execute(f"DROP TABLE {members}")

    def _find_texts(self, text: str) -> None:
        """Make `texts_found`: the texts of clusters that contain every word of `text`."""
        words = text.split()
        holds = " AND ".join("contains(lower(text), lower(?))" for _ in words)
        rows = self.db.table(
            f"SELECT DISTINCT hash, text FROM sentences SEMI JOIN cluster_texts USING (hash) WHERE {holds}", words
        )
        held = holding(rows["text"].cast(pa.large_string()).combine_chunks(), text)
        self.db.create("texts_found", rows.select(["hash"]).filter(pa.array(held)), temporary=True)

    def _rank_all(self) -> None:
        if not self._ranked:
            # with star linkage, a text of a pair may not be in any cluster
            rank_members(self.db, self._unit, "members", _TEXTS)
            self._ranked = True

    def _behind(self, column: str, direction: str, after: str) -> str:
        """Return the condition for clusters that follow the cluster `after`."""
        number = int(after, 16) if is_cluster_id(after) else -1
        row = self.db.row(f"SELECT {column} FROM clusters WHERE id = ?::HUGEINT", [number])
        if not row:
            raise UsageError(f"after {after}: no cluster has this id; pass the last id of the previous page")
        if row[0] is None:  # these come last, by id
            return f"({column} IS NULL AND id > {number}::UBIGINT)"
        value, beyond = f"{row[0]!r}::DOUBLE", "<" if direction == "desc" else ">"
        return f"({column} IS NULL OR {column} {beyond} {value} OR ({column} = {value} AND id > {number}::UBIGINT))"


_TEXTS = "SELECT hash FROM cluster_texts UNION SELECT a FROM pairs UNION SELECT b FROM pairs"
_IGNORED_TEXTS = "SELECT hash FROM cluster_texts JOIN clusters ON id = cluster WHERE ignored"
_SHOWN = f"a NOT IN ({_IGNORED_TEXTS}) AND b NOT IN ({_IGNORED_TEXTS})"
_NAMED_PAIRS = f"""
SELECT least(one.id, two.id) AS a, greatest(one.id, two.id) AS b, p.jaccard, p.word_edit_distance, p.shared_tokens,
    p.probability
FROM (SELECT * FROM pairs WHERE {_SHOWN} AND {{}}) p JOIN members one ON one.hash = p.a AND one.turn = 1
JOIN members two ON two.hash = p.b AND two.turn = 1"""
_WITH_NEWEST = """LEFT JOIN (
    SELECT number AS document_number, revision AS newest, source AS source_number FROM documents
) o ON o.document_number = m.number"""

_WITH_PARENTS = """LEFT JOIN (
    SELECT o.document AS number, o.position AS place, p.id AS parent, o.jaccard, o.edits, o.copied
    FROM origins o JOIN {} p ON p.number = o.parent_document AND p.position = o.parent_position
) o ON o.number = m.number AND o.place = m.position"""
_WITH = "id IN (SELECT cluster FROM cluster_texts SEMI JOIN (SELECT hash FROM sentences WHERE {}) USING (hash))"
_OF_DOCUMENT = f"document IN (SELECT number FROM {NAMED} WHERE {{}})"

_SHOWN_TEXTS = """
SELECT hash, cluster FROM (SELECT hash FROM cluster_texts UNION SELECT a FROM pairs UNION SELECT b FROM pairs)
LEFT JOIN cluster_texts USING (hash) LEFT JOIN clusters ON id = cluster WHERE NOT coalesce(ignored, false)
"""
"""Texts with pairs or copies, unless their cluster is ignored."""
