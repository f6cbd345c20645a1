"""The store on a server: Elasticsearch indices."""

from __future__ import annotations

import logging
import tempfile
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.clustering.clusters import Clusters
from esdedup.columns.database import Database
from esdedup.errors import StoreError, StoreLockedError
from esdedup.formats.reading_options import Part
from esdedup.matching.engine import signatures_schema
from esdedup.store.classifying import Judge
from esdedup.store.elasticsearch import generations
from esdedup.store.elasticsearch.address import ServerAddress
from esdedup.store.elasticsearch.changes import Changes
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.indices import CORPUS, RESULTS, WORKING, Indices
from esdedup.store.elasticsearch.journal import Journal, forget_documents
from esdedup.store.elasticsearch.loading import Loader
from esdedup.store.elasticsearch.lookups import Lookups, source_homes
from esdedup.store.elasticsearch.mirror import Mirror
from esdedup.store.elasticsearch.progress import Progress
from esdedup.store.elasticsearch.questions import Questions
from esdedup.store.elasticsearch.ranking import rank_by_queries
from esdedup.store.elasticsearch.reading import Reader, Wanted, integers, signed
from esdedup.store.elasticsearch.rows import (
    POSITION_BITS,
    SIGNATURE,
    signature_table,
)
from esdedup.store.elasticsearch.shown import ShownResults
from esdedup.store.elasticsearch.state import State
from esdedup.store.elasticsearch.writing import Merger, clusters_by, result_counts, write_results
from esdedup.store.protocol import ALL, ALL_CLUSTERS, ClusterQuery, ReadingMark, Signatures, SourceMark, Store

log = logging.getLogger("esdedup")

WHOLE_SCAN_FROM = 0.25
"""The share of texts that have changed from which on scanning all again is quicker than working them in."""


class ServerStore(Store):
    """A store at `address`. Opening one that does not exist makes it, if `frozen` is given.

    `frozen` holds the signing options that were asked for. `fresh` names the job that makes a new generation, which
    no alias knows until it is published; the same job goes on with what it has made. `memory` bytes may be used by
    private databases, in which results are named and changes are worked out. Raises `NotAStoreError`,
    `StoreVersionError`, `StoreSettingsError` (where the store has others) and `StoreError` where the server cannot
    be reached; `StoreLockedError` where another writer comes between.
    """

    def __init__(
        self,
        address: ServerAddress,
        frozen: Mapping[str, Any] | None = None,
        *,
        memory: int = 2**28,
        threads: int = 1,
        read_only: bool = False,
        fresh: str | None = None,
    ) -> None:
        self.address = str(address)
        self._memory = memory
        self._threads = threads
        self._fresh = fresh is not None
        self._connection = Connection(address)
        try:
            self._indices = Indices(self._connection)
            self._generation, self.signing = generations.open_generation(
                self._indices, self.address, frozen, read_only=read_only, fresh=fresh
            )
            self._reader = Reader(self._connection)
            self._state = State(self._connection, self._indices.name("state", self._generation))
            self._progress = Progress(self._state, self.address)
            if not read_only:
                self._journal().carry_out()
                self._show_results()
        except BaseException:
            self._connection.close()
            raise
        self._loader: Loader | None = None
        self._shown = ShownResults(self._private, self._mirror)

    @property
    def generation(self) -> str:
        return self._generation

    @property
    def _lookups(self) -> Lookups:
        return Lookups(self._reader, self._names)

    @property
    def _questions(self) -> Questions:
        return Questions(self._reader, self._names)

    # -- names ----------------------------------------------------------------------------------------------

    @property
    def _names(self) -> dict[str, str]:
        """The names of the indices in use, by kind; those of results once there was a scan."""
        names = {kind: self._indices.name(kind, self._generation) for kind in CORPUS}
        scan = self._state.get("scan")
        if scan is not None:
            names |= {kind: self._indices.name(kind, scan["generation"]) for kind in RESULTS}
        return names

    def _journal(self) -> Journal:
        return Journal(self._connection, self._state, self._names)

    def _show_results(self) -> None:
        """Let the aliases name the results that the state tells of, unless this generation is still being made.

        What was there before is deleted; what is newer may be of a scan that is under way.
        """
        scan = self._state.get("scan")
        shown = None if scan is None else scan["generation"]
        if self._indices.live("state") == self._generation:
            self._indices.swap(dict.fromkeys(RESULTS, shown))
        if shown is not None:
            generations.discard_results(self._indices, self._generation, until=shown)

    @contextmanager
    def _private(self) -> Iterator[Database]:
        """A database for one piece of work; it spills into the system's temporary folder."""
        with (
            tempfile.TemporaryDirectory(prefix="esdedup-") as spill,
            Database(memory=self._memory, threads=self._threads, spill=Path(spill)) as db,
        ):
            yield db

    def _mirror(self, db: Database) -> Mirror:
        return Mirror(db, self._reader, self._names, self.sources(), self.signing.unit)

    def publish(self, keep: int = 0) -> None:
        if self._fresh:
            scan = self._state.get("scan")
            generations.publish(self._indices, self._generation, None if scan is None else scan["generation"], keep)

    # -- loading --------------------------------------------------------------------------------------------

    def sources(self) -> list[SourceMark]:
        return self._progress.sources()

    def begin(self, marks: list[SourceMark], part: Part = ALL) -> int:
        names = self._names
        first, next_number, anew = self._progress.begin(marks, part)
        self._indices.refresh(names["sentences"], names["documents"])
        # what a killed reading wrote behind its last mark, or of a source that has changed since
        self._forget(range(next_number, self._progress.reach, part.parts))
        own = range(first + part.number - 1, next_number, part.parts)
        for number in anew:
            self._forget(self._lookups.of_source(number, own))
        self._indices.relax(self._generation)
        self._loader = Loader(self._connection, names, self.signing.unit, self._progress, part.parts)
        return next_number

    def _forget(self, numbers: Sequence[int]) -> None:
        """Delete documents that this part has written."""
        forget_documents(self._connection, self._names, numbers, check=self._progress.check)

    def append(self, mark: SourceMark, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        if self._loader is None:
            raise StoreError(f"{self.address}: no reading has begun")
        self._loader.append(mark, documents, sentences, seen)

    def give_up(self) -> None:
        self._connection.give_up()

    def settle(self) -> dict[str, int]:
        self._progress.tell_refused()
        reading = self._progress.unfinished()
        if reading is None:
            return {}
        missing = self._progress.missing_parts()
        if missing:
            log.warning("this part is read; still to come: %s", ", ".join(map(str, missing)))
            self._indices.refresh(self._names["sentences"], self._names["documents"])  # before they are counted
            return {}
        names = self._names
        self._indices.refresh(names["sentences"], names["documents"])
        before = self._reader.count(names["sentences"], {"range": {"number": {"lt": reading.first << POSITION_BITS}}})
        arrived = self._reader.count(names["sentences"]) - before
        remember = self._remembers() and arrived <= WHOLE_SCAN_FROM * before
        journal = self._journal()
        with self._private() as db:
            changes = Changes(db, self._reader, names, journal, self.signing.unit)
            settled = changes.settle(reading.first, by_place=self._progress.in_parts, remember=remember)
        self._indices.restore(self._generation)  # before the end, after which nobody would
        journal.commit(**self._progress.ended(settled.repeated), **self._changed(settled.touched, remember))
        self._loader = None
        return settled.counts

    def remove(self, ids: Sequence[str]) -> tuple[int, list[str]]:
        journal, remember = self._journal(), self._remembers()
        with self._private() as db:
            changes = Changes(db, self._reader, self._names, journal, self.signing.unit)
            removed, unknown, touched = changes.remove(ids, remember=remember)
        if removed:
            journal.commit(read=None, **self._changed(touched, remember))
        return removed, unknown

    def begin_job(self, verb: str, names: Sequence[str] = ()) -> list[str]:
        job = self._state.get("running")
        self._state.tell(running={"verb": verb, "names": list(names)})
        return list(job["names"]) if job is not None and job["verb"] == verb else []

    def end_job(self) -> None:
        self._state.tell(running=None)

    def unfinished_job(self) -> str | None:
        job = self._state.get("running")
        return None if job is None else str(job["verb"])

    def last_reading(self) -> ReadingMark | None:
        told = self._state.get("read")
        return None if told is None else ReadingMark(**told)

    def unfinished_reading(self) -> ReadingMark | None:
        return self._progress.unfinished()

    def _remembers(self) -> bool:
        """Whether changes are noted for `merge_results`; after too many of them the next scan is a whole one."""
        scan = self._state.get("scan")
        return scan is not None and not scan.get("overtaken")

    def _changed(self, touched: int, remember: bool) -> dict[str, Any]:
        """What the state says of a change of documents."""
        told: dict[str, Any] = {"state": uuid.uuid4().hex}
        scan = self._state.get("scan")
        if scan is not None:
            known = self._reader.count(self._names["touched"])
            texts = scan["summary"]["counts"]["distinct_sentences"]
            if not remember or known + touched > WHOLE_SCAN_FROM * texts:
                told["scan"] = {**scan, "overtaken": True}
        return told

    # -- scanning -------------------------------------------------------------------------------------------

    def signatures(self, across: str, done: Collection[int] = ()) -> Iterator[tuple[int, Signatures]]:
        index, homes, seen = self._names["sentences"], source_homes(self.sources()), 0
        schema = signatures_schema(self.signing.tokens)
        slices = self._reader.slices(index)
        left = [one for one in slices if one.number not in done]
        for one, hits in self._reader.read_slices(index, SIGNATURE, left):
            seen += len(hits)
            yield one.number, signature_table(hits, schema, homes, across)
        expected = self._reader.count(index)
        if len(left) == len(slices) and seen != expected:
            raise StoreLockedError(
                f"{self.address}: another command has just changed this store ({index} holds {expected:,} sentences, "
                f"and {seen:,} were read); run this one again when that has ended"
            )

    def signatures_of(self, across: str, hashes: pa.Table) -> pa.Table:
        schema = signatures_schema(self.signing.tokens)
        homes = source_homes(self.sources())
        pages = self._reader.look_up(self._names["sentences"], "hash", signed(hashes["hash"].to_numpy()), SIGNATURE)
        tables = [signature_table(hits, schema, homes, across) for hits in pages if hits]
        return pa.concat_tables([schema.empty_table(), *tables])

    def texts(self, hashes: pa.Table) -> Iterator[pa.RecordBatch]:
        wanted = Wanted(source=("hash", "text"))
        values = signed(hashes["hash"].to_numpy())
        for hits in self._reader.first_of_each(self._names["sentences"], "hash", values, wanted):
            rows = [hit["_source"] for hit in hits]
            found = np.array([row["hash"] for row in rows], np.int64).view(np.uint64)
            yield pa.record_batch({"hash": found, "text": pa.array([row["text"] for row in rows], pa.large_string())})

    def rank(self, scratch: Database, top: int) -> None:
        rank_by_queries(self._connection, self._indices, self._generation, scratch, top)

    def replace_results(
        self, pairs: Iterator[pa.RecordBatch], clusters: Clusters, summary: dict[str, Any], judge: Judge | None = None
    ) -> None:
        mirror = self._shown.begin()
        generation = write_results(self._connection, self._indices, self._generation, mirror, pairs, clusters, judge)
        self._shown.keep(mirror)
        self._state.tell(scan={"generation": generation, "summary": summary})
        self._show_results()
        generations.discard_results(self._indices, self._generation, but=generation)  # what killed scans have left

    def state(self) -> str:
        return str(self._state.get("state"))

    def changed_texts(self) -> pa.Table | None:
        return self._lookups.changed(self.signing.tokens) if self._remembers() else None

    def sharing(self, tokens: pa.Table) -> pa.Table:
        return self._lookups.sharing(tokens["token"].to_numpy())

    def hanging_together(self, hashes: pa.Table) -> tuple[pa.Table, pa.Table]:
        return self._lookups.hanging_together(hashes["hash"].to_numpy())

    def merge_results(
        self,
        outdated: pa.Table,
        pairs: pa.Table,
        affected: pa.Table,
        clusters: Clusters,
        summary: dict[str, Any],
        judge: Judge | None = None,
    ) -> None:
        self._shown.forget()
        journal, scan = self._journal(), self._state.get("scan")
        with self._private() as db:
            merger = Merger(self._reader, self._names, journal, db)
            changed, hung = (texts["hash"].to_numpy() for texts in (outdated, affected))
            merger.merge(self.sources(), self.signing.unit, changed, pairs, hung, clusters, judge)
        for hits in self._reader.read_all(self._names["touched"], Wanted(fields=("hash",))):
            journal.delete("touched", (str(text) for text in integers(hits, "hash").tolist()))
        journal.commit(scan={"generation": scan["generation"], "summary": summary})

    def first_rows(self, hashes: pa.Table) -> pa.Table:
        return self._lookups.first_rows(hashes["hash"].to_numpy())

    # -- reading --------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        names = self._names
        total = {"size": 0, "track_total_hits": True, "aggs": {"sentences": {"sum": {"field": "sentences"}}}}
        read = self._reader.search(names["documents"], total)
        counts = {
            "documents": int(read["hits"]["total"]["value"]),
            "sentences_read": int(read["aggregations"]["sentences"]["value"]),
            "sentences_kept": self._reader.count(names["sentences"]),
        }
        scan = self._state.get("scan")
        if scan is not None and self._is_current(scan):  # otherwise only reading them all would tell
            counts["distinct_sentences"] = scan["summary"]["counts"]["distinct_sentences"]
        return counts

    def last_scan(self) -> dict[str, Any] | None:
        scan = self._state.get("scan")
        if scan is None:
            return None
        told, names = scan["summary"], self._names
        now = result_counts(self._reader, names)
        far, ignored = now.pop("far"), now.pop("ignored")
        return {
            **told,
            "counts": {**told["counts"], **now},
            "far_reaching_clusters": far,
            "ignored_clusters": ignored,
            "current": self._is_current(scan),
        }

    def _is_current(self, scan: dict[str, Any]) -> bool:
        """Whether nothing has changed since a scan."""
        return not scan.get("overtaken") and not self._reader.count(self._names["touched"])

    def last_scanning(self) -> dict[str, Any] | None:
        scan = self._state.get("scan")
        return None if scan is None else dict(scan["summary"]["scanning"])

    def pair_rows(self) -> Iterator[pa.RecordBatch]:
        return self._shown.pair_rows()

    def cluster_rows(self, wanted: ClusterQuery = ALL_CLUSTERS) -> Iterator[dict[str, Any]]:
        return self._shown.cluster_rows(self._questions, wanted)

    def cluster_sizes(self, kind: str | None = None) -> dict[int, int]:
        return {int(size): count for size, count in self._clusters_by("size", kind)}

    def kinds(self) -> dict[str, int]:
        return {str(kind): count for kind, count in self._clusters_by("kind")}

    def _clusters_by(self, field: str, kind: str | None = None) -> list[tuple[Any, int]]:
        scanned = self._state.get("scan") is not None
        return clusters_by(self._reader, self._names["clusters"], field, kind) if scanned else []

    def disk_bytes(self) -> int:
        return self._indices.bytes_on_disk()

    # -- questions ------------------------------------------------------------------------------------------

    def sentences_sharing(self, tokens: Sequence[int], most: int | None = None) -> pa.Table:
        return self._questions.sharing(tokens, most)

    def sentences_starting(self, prefix: str, limit: int) -> pa.Table:
        return self._questions.starting(prefix, limit)

    def sentences_named(self, ids: Sequence[str]) -> pa.Table:
        return self._questions.named(ids)

    def new_matches(self, first: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
        return self._shown.new_matches(first, limit)

    def memberships(self) -> Iterator[pa.RecordBatch]:
        return self._shown.memberships()

    def pair_hashes(self, among: pa.Table | None = None) -> Iterator[pa.RecordBatch]:
        for table in self._lookups.pairs(None if among is None else among["hash"].to_numpy()):
            yield from table.select(["a", "b", "jaccard", "shared_tokens"]).to_batches()

    def trees(self, wanted: ClusterQuery) -> Iterator[dict[str, Any]]:
        return self._shown.trees(self._questions, wanted)

    def copiers(self) -> tuple[dict[str | None, int], int]:
        return self._lookups.copiers()

    def homes(self, by: str) -> Iterator[pa.RecordBatch]:
        yield from (self._lookups.documents() if by == "documents" else self._lookups.sources(self.sources()))

    # -- ending ---------------------------------------------------------------------------------------------

    def drop(self) -> None:
        self._indices.delete(WORKING + RESULTS + CORPUS)

    def close(self) -> None:
        self._shown.forget()
        self._connection.close()
