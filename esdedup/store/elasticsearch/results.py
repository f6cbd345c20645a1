"""Results on a server: published as documents, and loaded into a private database to be shown.

A few clusters are loaded on their own, and the server computes counts. Everything is loaded at most once and kept until
it changes; then it answers everything. The results of a scan are kept from the start.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.clustering.clusters import Clusters
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.errors import StoreLockedError
from esdedup.store.cluster_kinds import Classifier, give_meaning, insert_clusters, number_frames
from esdedup.store.cluster_queries import ALL_CLUSTERS, ClusterQuery
from esdedup.store.corpus import Corpus
from esdedup.store.elasticsearch import generations, publishing
from esdedup.store.elasticsearch.generations import OpenGeneration
from esdedup.store.elasticsearch.indices import RESULTS
from esdedup.store.elasticsearch.journal import Journal, count_documents
from esdedup.store.elasticsearch.publishing import Extract
from esdedup.store.elasticsearch.reading import Fields, integers, signed
from esdedup.store.elasticsearch.rows import PAIR, PAIR_FIELDS, POSITION_BITS, table_of_hits, unique_hashes
from esdedup.store.elasticsearch.searches import ClusterLookup
from esdedup.store.elasticsearch.sending import beside, make_readable, parts_of_results, send_results
from esdedup.store.ledger import Ledger
from esdedup.store.origins import in_order
from esdedup.store.results import Results
from esdedup.store.schemas import PAIRS
from esdedup.store.shared_documents import note_clusters

log = logging.getLogger("esdedup")

_HASH = Fields(columns=("hash",))
_SHOWN = {"term": {"ignored": False}}


class PublishedResults(Results):
    """The results of the open generation."""

    def __init__(self, opened: OpenGeneration, corpus: Corpus, ledger: Ledger) -> None:
        super().__init__(corpus, ledger)
        self._open = opened
        self._kept = ExitStack()

    @property
    def db(self) -> Database:
        """A private database with all results."""
        if self._held is None:
            extract = self._begin()
            extract.load_results()
            extract.load_sentences()
            extract.load_links()
            self._held = extract.db
        return self._held

    def forget(self) -> None:
        """Drop the loaded results, because they have changed or are not needed any more."""
        self._held, self._ranked = None, False
        self._kept.close()

    def check(self, *, read_only: bool) -> None:
        """See whether the results are whole; if not, there are none. A writer also finishes what another one left."""
        opened = self._open
        lost = opened.lost_results()
        if read_only:
            if lost is not None:  # unless a writer is just changing them
                opened.state.reload()
                lost = opened.lost_results()
            if lost is not None:
                opened.state.pretend(scan=opened.state.get("scan") | {"lost": lost})
            self.lost = lost
            return
        self._lose(lost)
        opened.journal().carry_out()
        if lost is None:
            self._lose(opened.lost_results())
        self.show()

    def _lose(self, lost: str | None) -> None:
        state = self._open.state
        scan = state.get("scan")
        if lost is not None and not scan.get("lost"):
            log.warning("%s: no results: %s; a scan makes them again", self._open.address, lost)
            try:
                state.set(scan=scan | {"lost": lost})
            except StoreLockedError:
                state.reload()
                if not (state.get("scan") or {}).get("lost"):
                    raise
                # another part of the same run was faster
        self.lost = lost

    def show(self) -> None:
        """Point the aliases to the results in the ledger, unless this generation is still being made.

        Older results are deleted. Newer ones may belong to a scan in progress, and are kept.
        """
        indices, results = self._open.indices, self._open.results
        if indices.live("state") == self._open.generation:
            indices.swap(dict.fromkeys(RESULTS, results))
        if results is not None:
            indices.own(indices.name(kind, results) for kind in RESULTS)
            generations.discard_results(indices, self._open.generation, until=results)
        elif self.lost is not None:
            generations.discard_results(indices, self._open.generation)

    # -- saving ---------------------------------------------------------------------------------------------

    def replace(
        self,
        pairs: Iterator[pa.RecordBatch],
        clusters: Clusters,
        summary: dict[str, Any],
        classifier: Classifier | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """As `Results.replace`: classified in a private database and published in new indices, which become live."""
        extract, opened = self._begin(), self._open
        ended, give_up = Event(), opened.connection.give_up
        make = partial(opened.indices.make, RESULTS, {"corpus": opened.generation}, loading=True)
        with beside(make, ended, give_up) as made:
            for batch in pairs:
                extract.db.insert("pairs", pa.Table.from_batches([batch]))
            self._insert(extract, clusters, meant=classifier is not None)
        generation = made.result()
        names = {kind: opened.indices.name(kind, generation) for kind in RESULTS}
        ordered = in_order(extract.db, self._corpus)
        parts = parts_of_results(settled=classifier is not None and not ordered)
        large = publishing.is_large(extract.db)
        send = partial(send_results, opened, extract.db, names, ended, one_by_one=large)

        def publish() -> None:
            if early.done():
                early.result()  # raises its error before anything else is sent
            send(parts.late)
            early.result()
            make_readable(opened, names.values())
            if ended.is_set():
                raise InterruptedError("the command was interrupted")
            held = count_documents(opened.connection, names)
            self._ledger.set(scan={"generation": generation, "summary": summary, "documents": held})
            self.lost = None
            self.show()
            generations.discard_results(opened.indices, opened.generation, but=generation)  # left by killed scans

        with beside(partial(send, parts.early), ended, give_up, first=large) as early:
            if classifier is not None:
                extract.load_links()
                shown = Results(self._corpus, self._ledger, extract.db).some_clusters
                ids = clusters.clusters.select(["id"])
                give_meaning(extract.db, shown, ids, classifier, self._corpus, ordered=ordered)
            self._held, self._ranked = extract.db, True  # `meanwhile` and the next requests read what is just written
            with beside(publish, ended, give_up, whole=True, first=large) as published:
                meanwhile()
                published.result()

    def merge(
        self,
        stale: pa.Table,
        pairs: pa.Table,
        affected: pa.Table,
        clusters: Clusters,
        summary: dict[str, Any],
        classifier: Classifier | None = None,
    ) -> None:
        """As `Results.merge`. Documents contain sentence names, so texts that only have new names are rewritten too."""
        self.forget()
        opened = self._open
        journal, names, renamed = opened.journal(), opened.names, self._renamed()
        regrouped = self._clusters_of(affected["hash"].to_numpy())
        with opened.private(self._ledger.sources()) as db:
            extract = self._extract(db)
            # the updated clusters, whose names must be looked up again
            others = np.setdiff1d(self._clusters_of(renamed), regrouped)
            extract.load_clusters(others)
            texts = [affected["hash"].to_numpy(), renamed, stale["hash"].to_numpy()]
            extract.load_pairs_of(np.unique(np.concatenate(texts)))
            every = "SELECT a, b FROM pairs"
            before = set(db.rows(every))
            results = Results(self._corpus, self._ledger, db)
            results.replace_pairs(stale, pairs)
            self._insert(extract, clusters, meant=classifier is not None)
            ids = clusters.clusters.select(["id"])
            written = pa.concat_tables([ids, pa.table({"id": others})])
            if classifier is not None:
                extract.note_old_clusters(regrouped)
                number_frames(db, classifier, "SELECT id FROM clusters")
                note_clusters(db, "SELECT id FROM clusters")
                extract.load_related(regrouped)
                extract.load_links()
                publishing.rank(db, self._unit)
                ordered = in_order(db, self._corpus)
                give_meaning(db, results.some_clusters, ids, classifier, self._corpus, ordered=ordered, partly=True)
                written = pa.concat_tables([written, db.table("SELECT id FROM judged")])
            gone = before - set(db.rows(every))
            journal.delete("pairs", (publishing.pair_identity(*pair) for pair in sorted(gone)))
            self._delete_clusters(journal, np.union1d(regrouped, others))
            db.create("written", written)
            journal.put("pairs", publishing.documents(db, "pairs"))
            for kind in ("clusters", "members"):
                journal.put(kind, publishing.documents(db, kind, "k.id IN (SELECT id FROM written)"))
        for hits in opened.reader.read_all(names["stale"], Fields(columns=("hash",))):
            journal.delete("stale", (str(text) for text in integers(hits, "hash").tolist()))
        journal.commit(scan={"generation": opened.results, "summary": summary})

    def _insert(self, extract: Extract, clusters: Clusters, *, meant: bool) -> None:
        """Add clusters and every sentence that pairs and clusters refer to, with its names."""
        extract.load_sentences(clusters.texts["hash"].to_numpy())
        insert_clusters(extract.db, clusters, meant=meant)
        publishing.rank(extract.db, self._unit)

    def _renamed(self) -> Hashes:
        pages = self._open.reader.read_all(
            self._open.names["stale"], Fields(columns=("hash",)), {"term": {"renamed": True}}
        )
        return unique_hashes(pages, "hash")

    def _clusters_of(self, texts: Hashes) -> Hashes:
        pages = self._open.reader.first_of_each(
            self._open.names["members"], "hash", signed(texts), Fields(columns=("cluster_hash",))
        )
        return unique_hashes(pages, "cluster_hash")

    def _delete_clusters(self, journal: Journal, clusters: Hashes) -> None:
        journal.delete("clusters", (f"{cluster:016x}" for cluster in clusters.tolist()))
        fields = Fields(columns=("number",))
        for hits in self._open.reader.look_up(self._open.names["members"], "cluster_hash", signed(clusters), fields):
            journal.delete("members", (str(number) for number in integers(hits, "number").tolist()))

    # -- loading --------------------------------------------------------------------------------------------

    def _begin(self) -> Extract:
        """Open an empty private database for all results."""
        self.forget()
        return self._extract(self._kept.enter_context(self._open.private(self._ledger.sources())))

    def _extract(self, db: Database) -> Extract:
        return Extract(db, self._open.reader, self._open.names)

    @contextmanager
    def _holding(self, query: ClusterQuery) -> Iterator[Results | None]:
        """Return results that include the clusters of the query; None if all are or must be loaded."""
        if self._held is not None:
            yield None
            return
        chosen = ClusterLookup(self._open.reader, self._open.names).chosen(query)
        if chosen is None:
            yield None
            return
        with self._open.private(self._ledger.sources()) as db:
            extract = self._extract(db)
            extract.load_clusters(chosen, brief=query.brief)
            extract.load_sentences()
            if query.shared:
                extract.load_links()
            yield Results(self._corpus, self._ledger, db)

    def closure(self, texts: pa.Table) -> tuple[pa.Table, pa.Table]:
        """As `Results.closure`, computed step by step by the server."""
        reader, names = self._open.reader, self._open.names
        net: Hashes = np.unique(texts["hash"].to_numpy())
        new, pairs = net, PAIRS.empty_table()
        while len(new):
            mates = reader.look_up(names["members"], "cluster_hash", signed(self._clusters_of(new)), _HASH)
            reached = [unique_hashes(mates, "hash")]
            for end in PAIR_FIELDS.values():
                for hits in reader.look_up(names["pairs"], end, signed(new), PAIR):
                    some = table_of_hits(hits, PAIRS, PAIR_FIELDS)
                    pairs = pa.concat_tables([pairs, some])
                    reached += [some["a"].to_numpy(), some["b"].to_numpy()]
            new = np.setdiff1d(np.concatenate(reached), net)
            net = np.union1d(net, new)
        once = pairs.group_by(["a", "b"]).aggregate([(name, "min") for name in PAIRS.names[2:]])
        return pa.table({"hash": net}), once.rename_columns(PAIRS.names).cast(PAIRS)

    # -- counts ---------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """As `Results.counts`, computed by the server."""
        if self._held is not None:
            return super().counts()
        body = {
            "size": 0,
            "track_total_hits": True,
            "query": _SHOWN,
            "aggs": {"sentences": {"sum": {"field": "size"}}, "far": {"value_count": {"field": "farthest"}}},
        }
        reader, names = self._open.reader, self._open.names
        clusters = reader.search(names["clusters"], body)
        return {
            "pairs": reader.count(names["pairs"], _SHOWN),
            "clusters": clusters["hits"]["total"]["value"],
            "clustered_sentences": int(clusters["aggregations"]["sentences"]["value"]),
            "far": clusters["aggregations"]["far"]["value"],
            "ignored": reader.count(names["clusters"], {"term": {"ignored": True}}),
        }

    def kinds(self) -> dict[str, int]:
        """As `Results.kinds`, computed by the server."""
        if self._held is not None:
            return super().kinds()
        return {str(kind): count for kind, count in self._clusters_by("kind")}

    def sizes(self, kind: str | None = None) -> dict[int, int]:
        """As `Results.sizes`, computed by the server."""
        if self._held is not None:
            return super().sizes(kind)
        return {int(size): count for size, count in self._clusters_by("size", kind)}

    def contradictions(self) -> int:
        """As `Results.contradictions`, computed by the server."""
        if self._held is not None:
            return super().contradictions()
        return sum(int(found) * clusters for found, clusters in self._clusters_by("contradictions"))

    def ordered(self) -> bool:
        """As `Results.ordered`, computed by the server."""
        if self._held is not None or self._open.results is None:
            return super().ordered()
        return self._open.reader.count(self._open.names["clusters"], {"exists": {"field": "copies"}}) > 0

    def spread(self) -> int:
        """As `Results.spread`, computed by the server."""
        if self._held is not None or self._open.results is None:
            return super().spread()
        several = {"bool": {"filter": [_SHOWN, {"range": {"document_count": {"gte": 2}}}]}}
        return self._open.reader.count(self._open.names["clusters"], several)

    def _clusters_by(self, field: str, kind: str | None = None) -> list[tuple[Any, int]]:
        """Count the clusters for each value of a field, in order. With `kind`, only those of a kind, not ignored."""
        if self._open.results is None:
            return []
        shown = [_SHOWN, *([{"term": {"kind": kind}}] if kind is not None else [])]
        body = {
            "size": 0,
            "query": {"bool": {"filter": shown}},
            "aggs": {"values": {"terms": {"field": field, "size": 65_535, "order": {"_key": "asc"}}}},
        }
        answer = self._open.reader.search(self._open.names["clusters"], body)
        return [(bucket["key"], int(bucket["doc_count"])) for bucket in answer["aggregations"]["values"]["buckets"]]

    def copiers(self) -> tuple[dict[str | None, int], int]:
        """As `Results.copiers`, computed from the members."""
        index = self._open.names["members"]
        copies = {"bool": {"filter": [_SHOWN, {"term": {"copied": True}}]}}
        pages = self._open.reader.read_all(index, Fields(source=True), copies)
        counts = Counter(hit["_source"].get("contributor") for hits in pages for hit in hits)
        undated = {"bool": {"filter": [_SHOWN], "must_not": [{"exists": {"field": "timestamp"}}]}}
        return counts, self._open.reader.count(index, undated)

    # -- queries --------------------------------------------------------------------------------------------

    def pair_hashes(self, among: pa.Table | None = None) -> Iterator[pa.RecordBatch]:
        """As `Results.pair_hashes`, without loading anything else."""
        reader, index = self._open.reader, self._open.names["pairs"]
        if among is None:
            pages = reader.read_all(index, PAIR)
        else:
            texts = signed(among["hash"].to_numpy())
            pages = reader.look_up(index, "a_hash", texts, PAIR, {"terms": {"b_hash": texts.tolist()}})
        for hits in pages:
            yield from (
                table_of_hits(hits, PAIRS, PAIR_FIELDS).select(["a", "b", "jaccard", "shared_tokens"]).to_batches()
            )

    def new_matches(self, first: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
        """As `Results.new_matches`. Only what is related to those sentences is loaded."""
        with self._open.private(self._ledger.sources()) as db:
            self._extract(db).load_results_since(first << POSITION_BITS)
            return Results(self._corpus, self._ledger, db).new_matches(first, limit)

    def cluster_rows(self, query: ClusterQuery = ALL_CLUSTERS) -> Iterator[dict[str, Any]]:
        """As `Results.cluster_rows`. If only some are requested, only those are loaded."""
        with self._holding(query) as some:
            if some is None:
                yield from super().cluster_rows(query)
                return
            if query.brief:  # the loaded rows have few texts: do not filter them by document or words again
                query = replace(query, document=None, article=None, text=None)
            yield from some.cluster_rows(query)

    def trees(self, query: ClusterQuery) -> Iterator[dict[str, Any]]:
        """As `Results.trees`. If only some are requested, only those are loaded."""
        with self._holding(replace(query, having="copies")) as some:
            yield from super().trees(query) if some is None else some.trees(query)
