"""The embedded store: one DuckDB file."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

from esdedup.clustering.clusters import Clusters
from esdedup.errors import StoreError
from esdedup.formats.reading_options import Part
from esdedup.matching.engine import signatures_schema
from esdedup.matching.signing import HASH_SCHEME, Signing, freeze
from esdedup.store.classifying import Judge
from esdedup.store.duckdb import generation_file as files
from esdedup.store.duckdb import questions as questions
from esdedup.store.duckdb.changes import (
    hanging_together,
    register_functions,
    remove_documents,
    settle_reading,
    sort_lookups,
)
from esdedup.store.duckdb.lineage import EmbeddedCalendar
from esdedup.store.duckdb.meanings import insert_clusters
from esdedup.store.duckdb.results import Results
from esdedup.store.duckdb.source_marks import read_marks, save_mark
from esdedup.store.protocol import (
    ALL,
    ALL_CLUSTERS,
    STANDARD_INPUT,
    ClusterQuery,
    ReadingMark,
    Signatures,
    SourceMark,
    Store,
)
from esdedup.store.schemas import SCHEMA_VERSION, check_same, mapping_text

WHOLE_SCAN_FROM = 0.25
"""The share of texts that have changed from which on scanning all again is quicker than working them in."""


class EmbeddedStore(Store):
    """A store in the file `path`. Opening one that does not exist makes it, if `frozen` is given.

    `frozen` holds the signing options that were asked for. `fresh` names the job that makes a new generation,
    which stays beside the old one until it is published; the same job goes on with what it has made. Raises
    `NotAStoreError`, `StoreVersionError`, `StoreSettingsError` (where the store has others) and
    `StoreLockedError`. Readers (`read_only`) share the file, a writer has it alone.
    """

    def __init__(
        self,
        path: Path,
        frozen: Mapping[str, Any] | None = None,
        *,
        memory: int = 2**28,
        threads: int = 1,
        read_only: bool = False,
        fresh: str | None = None,
    ) -> None:
        self.address = str(path)
        self._live = path
        self._path = path if fresh is None else files.prepare_generation(path, fresh)
        if self._path.is_file() and self._path.stat().st_size == 0:
            self._path.unlink()  # what is left where the very first write failed
        if not self._path.exists() and (frozen is None or read_only):
            raise StoreError(f"{path}: there is no store; make one with esdedup run or esdedup index")
        self._db = files.connect(self._path, memory, threads, read_only)
        self._about = files.About(self._db, read_only=read_only)
        try:
            if files.is_empty(self._db):
                self._make(freeze(None, frozen or {}), fresh)
            else:
                files.check_made_here(self._db, path)
            files.check_version(self._about, path)
            self.signing = files.stored_signing(self._about)
            check_same(str(path), self.signing, freeze(self.signing, frozen or {}))
            if not read_only:
                register_functions(self._db)
        except BaseException as error:
            self._db.close()
            if isinstance(error, Exception) and files.is_circumstance(error):
                raise files.store_error(error, path) from error
            raise
        self._results = Results(self._db, self.signing.unit)
        self._questions = questions.Questions(self._db, self.signing.unit, read_only=read_only)

    def _make(self, signing: Signing, job: str | None) -> None:
        with self._transaction():
            self._db.execute(mapping_text("embedded.sql").format(tokens=signing.tokens))
            self._about.tell("schema", SCHEMA_VERSION)
            self._about.tell("hash-scheme", HASH_SCHEME)
            self._about.tell("signing", signing.saved())
            self._about.tell("tables", [row[0] for row in self._db.rows("SELECT table_name FROM duckdb_tables()")])
            self._about.tell("job", job)

    @property
    def generation(self) -> str:
        return "" if self._path == self._live else "fresh"

    def publish(self, keep: int = 0) -> None:
        if self._path != self._live:
            self._db.close()
            files.publish_generation(self._path, self._live)

    # -- loading --------------------------------------------------------------------------------------------

    def sources(self) -> list[SourceMark]:
        return read_marks(self._db)

    def begin(self, marks: list[SourceMark], part: Part = ALL) -> int:
        assert part == ALL, "a store in a file has one writer"
        with self._transaction():
            started, stored = self.unfinished_reading(), self.sources()
            for mark in marks:
                # a source that is known keeps the form of its ids, whatever it is named together with
                mark.qualified = next((old.qualified for old in stored if old.name == mark.name), mark.qualified)
                known = next((old for old in stored if (old.name, old.path) == (mark.name, mark.path)), None)
                if known is None:
                    mark.number = 1 + max((old.number for old in stored), default=-1)
                    stored.append(mark)
                else:
                    mark.number = known.number
                    if started is not None and known.same_as(mark) and mark.path != STANDARD_INPUT:
                        mark.documents, mark.finished, mark.skips = known.documents, known.finished, known.skips
                    elif started is not None:
                        self._forget_reading(known.number, started.first)
                save_mark(self._db, mark)
            # what a killed reading wrote of a page that it had not read to its end
            next_number = self._db.count("SELECT max(number) + 1 FROM documents")
            for table in ("sentences", "seen"):
                self._db.execute(f"DELETE FROM {table} WHERE document >= ?", [next_number])
            # documents from this number on belong to the reading that begins now
            first = next_number if started is None else started.first
            before = [] if started is None else started.sources
            numbers = sorted({*before, *(mark.number for mark in marks)})
            self._about.tell("started", asdict(ReadingMark(numbers, first)))
            self._about.forget("read")
        return next_number

    def _forget_reading(self, source: int, first: int) -> None:
        """Delete what the unfinished reading has written of a source that must be read anew."""
        theirs = "SELECT number FROM documents WHERE source = ? AND number >= ?"
        for table in ("sentences", "seen"):
            self._db.execute(f"DELETE FROM {table} WHERE document IN ({theirs})", [source, first])
        self._db.execute("DELETE FROM documents WHERE source = ? AND number >= ?", [source, first])

    def append(self, mark: SourceMark, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        with self._transaction():
            if documents.num_rows:
                self._db.connection.register("incoming", documents)
                self._db.execute("INSERT INTO documents BY NAME SELECT *, 1 AS occurrence FROM incoming")
                self._db.connection.unregister("incoming")
            if sentences.num_rows:
                self._db.insert("sentences", sentences)
            if seen.num_rows:
                self._db.insert("seen", seen)
            save_mark(self._db, mark)

    def settle(self) -> dict[str, int]:
        reading = self.unfinished_reading()
        if reading is None:
            return {}
        with self._transaction():
            settled = settle_reading(self._db, reading.first, remember=self._remembers())
            self._about.tell("read", asdict(reading))
            self._about.forget("started")
            self._has_changed()
        self._db.execute("CHECKPOINT")
        return settled

    def remove(self, ids: Sequence[str]) -> tuple[int, list[str]]:
        with self._transaction():
            removed, unknown = remove_documents(self._db, ids, remember=self._remembers())
            if removed:
                self._about.forget("read")
                self._has_changed()
        return removed, unknown

    def begin_job(self, verb: str, names: Sequence[str] = ()) -> list[str]:
        job = self._about.get("running")
        self._about.tell("running", {"verb": verb, "names": list(names)})
        return list(job["names"]) if job is not None and job["verb"] == verb else []

    def end_job(self) -> None:
        self._about.forget("running")

    def unfinished_job(self) -> str | None:
        job = self._about.get("running")
        return None if job is None else str(job["verb"])

    def last_reading(self) -> ReadingMark | None:
        told = self._about.get("read")
        return None if told is None else ReadingMark(**told)

    def unfinished_reading(self) -> ReadingMark | None:
        told = self._about.get("started")
        return None if told is None else ReadingMark(**told)

    def _remembers(self) -> bool:
        """Whether changes are noted for `merge_results`; after too many of them the next scan is a whole one."""
        return self._about.get("scan") is not None and self._about.get("overtaken") is None

    def _has_changed(self) -> None:
        self._about.tell("state", uuid.uuid4().hex)
        texts = self._db.count("SELECT count(*) FROM starts")
        if self._db.count("SELECT count(*) FROM touched") > WHOLE_SCAN_FROM * texts:
            self._db.execute("DELETE FROM touched")
            self._about.tell("overtaken", True)
        sort_lookups(self._db, self._about)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            with suppress(duckdb.Error):  # the database may have ended it by itself
                self._db.execute("ROLLBACK")
            raise

    # -- scanning -------------------------------------------------------------------------------------------

    def signatures(self, across: str, done: Collection[int] = ()) -> Iterator[tuple[int, Signatures]]:
        if not done:
            yield 0, self._signatures(across, "")

    def signatures_of(self, across: str, hashes: pa.Table) -> pa.Table:
        self._db.create("wanted", hashes, temporary=True)
        return self._signatures(across, "SEMI JOIN wanted USING (hash)").read_all()

    def _signatures(self, across: str, only: str) -> pa.RecordBatchReader:
        home = {"any": "-1", "documents": "s.document", "sources": "h.home"}[across]
        join = "JOIN documents d ON d.number = s.document JOIN homes h ON h.number = d.source"
        self._db.execute(f"CREATE OR REPLACE TEMP VIEW homes AS {questions.SOURCE_HOMES}")
        batches = self._db.stream(
            f"SELECT s.hash, {home}::BIGINT AS home, strlen(s.text)::INTEGER AS length, s.tokens "
            f"FROM sentences s {only} {join if across == 'sources' else ''}",
            rows=100_000,
        )
        schema = signatures_schema(self.signing.tokens)
        return pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in batches))

    def texts(self, hashes: pa.Table) -> Iterator[pa.RecordBatch]:
        self._db.create("wanted", hashes, temporary=True)
        yield from self._db.stream(
            "SELECT hash, any_value(text) AS text FROM sentences SEMI JOIN wanted USING (hash) GROUP BY hash"
        )

    def replace_results(
        self, pairs: Iterator[pa.RecordBatch], clusters: Clusters, summary: dict[str, Any], judge: Judge | None = None
    ) -> None:
        with self._transaction():
            for table in ("pairs", "clusters", "cluster_texts", "origins"):
                self._db.execute(f"DELETE FROM {table}")
            for batch in pairs:
                self._db.insert("pairs", pa.Table.from_batches([batch]))
            self._save_clusters(clusters, summary, judge)
        self._db.execute("CHECKPOINT")

    def state(self) -> str:
        return str(self._about.get("state"))

    def changed_texts(self) -> pa.Table | None:
        if not self._remembers():
            return None
        return self._db.table(
            "SELECT hash, existed, s.hash IS NOT NULL AS exists, tokens FROM touched "
            "LEFT JOIN (SELECT hash FROM starts SEMI JOIN touched USING (hash)) s USING (hash) ORDER BY hash"
        )

    def sharing(self, tokens: pa.Table) -> pa.Table:
        self._db.create("asked", tokens, temporary=True)
        return self._db.table("SELECT token, hash FROM postings SEMI JOIN asked USING (token)")

    def hanging_together(self, hashes: pa.Table) -> tuple[pa.Table, pa.Table]:
        return hanging_together(self._db, hashes)

    def merge_results(
        self,
        outdated: pa.Table,
        pairs: pa.Table,
        affected: pa.Table,
        clusters: Clusters,
        summary: dict[str, Any],
        judge: Judge | None = None,
    ) -> None:
        self._db.create("outdated_texts", outdated, temporary=True)
        self._db.create("affected", affected, temporary=True)
        theirs = "SELECT hash FROM outdated_texts"
        old = "SELECT cluster FROM cluster_texts SEMI JOIN affected USING (hash)"
        with self._transaction():
            self._db.execute(f"DELETE FROM pairs WHERE a IN ({theirs}) OR b IN ({theirs})")
            self._db.insert("pairs", pairs)
            self._db.execute(f"DELETE FROM clusters WHERE id IN ({old}); DELETE FROM origins WHERE cluster IN ({old})")
            self._db.execute("DELETE FROM cluster_texts WHERE hash IN (SELECT hash FROM affected)")
            self._save_clusters(clusters, summary, judge)
        self._db.execute("CHECKPOINT")

    def _save_clusters(self, clusters: Clusters, summary: dict[str, Any], judge: Judge | None) -> None:
        insert_clusters(self._db, self._results, clusters, judge, EmbeddedCalendar(self._db))
        self._about.tell("scan", summary)
        self._db.execute("DELETE FROM touched")
        self._about.forget("overtaken")
        self._results.forget()

    def first_rows(self, hashes: pa.Table) -> pa.Table:
        self._db.create("wanted", hashes, temporary=True)
        return self._db.table(
            "SELECT hash, document, position, length(text) AS length FROM sentences SEMI JOIN wanted USING (hash) "
            "QUALIFY row_number() OVER (PARTITION BY hash ORDER BY document, position) = 1"
        )

    # -- reading --------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        return {
            "documents": self._db.count("SELECT count(*) FROM documents"),
            "sentences_read": self._db.count("SELECT sum(sentences) FROM documents"),
            "sentences_kept": self._db.count("SELECT count(*) FROM sentences"),
            "distinct_sentences": self._db.count("SELECT count(DISTINCT hash) FROM sentences"),
        }

    def last_scan(self) -> dict[str, Any] | None:
        scanned = self._about.get("scan")
        if scanned is None:
            return None
        far = self._db.count("SELECT count(*) FROM clusters WHERE farthest IS NOT NULL AND NOT ignored")
        current = self._about.get("overtaken") is None and not self._db.count("SELECT count(*) FROM touched")
        ignored = self._db.count("SELECT count(*) FROM clusters WHERE ignored")
        told = {"far_reaching_clusters": far, "ignored_clusters": ignored, "current": current}
        return {**scanned, "counts": {**scanned["counts"], **self._results.counts()}, **told}

    def last_scanning(self) -> dict[str, Any] | None:
        told = self._about.get("scan")
        return None if told is None else dict(told["scanning"])

    def pair_rows(self) -> Iterator[pa.RecordBatch]:
        return self._results.pair_rows()

    def cluster_rows(self, wanted: ClusterQuery = ALL_CLUSTERS) -> Iterator[dict[str, Any]]:
        return self._results.cluster_rows(wanted)

    def kinds(self) -> dict[str, int]:
        return self._results.kinds()

    def cluster_sizes(self, kind: str | None = None) -> dict[int, int]:
        return self._results.cluster_sizes(kind)

    def disk_bytes(self) -> int:
        return sum(path.stat().st_size for path in (self._path, files.log_beside(self._path)) if path.exists())

    # -- questions ------------------------------------------------------------------------------------------

    def sentences_sharing(self, tokens: Sequence[int], most: int | None = None) -> pa.Table:
        return self._questions.sharing(tokens, most)

    def sentences_starting(self, prefix: str, limit: int) -> pa.Table:
        return self._questions.starting(prefix, limit)

    def sentences_named(self, ids: Sequence[str]) -> pa.Table:
        return self._questions.named(ids)

    def new_matches(self, first: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
        return questions.new_matches(self._db, self.signing.unit, first, limit)

    def memberships(self) -> Iterator[pa.RecordBatch]:
        return questions.memberships(self._db, self.signing.unit)

    def pair_hashes(self, among: pa.Table | None = None) -> Iterator[pa.RecordBatch]:
        every = "SELECT a, b, jaccard, shared_tokens FROM pairs"
        if among is None:
            return self._db.batches(every)
        self._db.create("few", among, temporary=True)
        found = self._db.table(f"{every} SEMI JOIN few ON a = few.hash SEMI JOIN few f ON b = f.hash")
        return iter(found.to_batches())

    def trees(self, wanted: ClusterQuery) -> Iterator[dict[str, Any]]:
        return self._results.trees(wanted)

    def copiers(self) -> tuple[dict[str | None, int], int]:
        return questions.copiers(self._db)

    def homes(self, by: str) -> Iterator[pa.RecordBatch]:
        return questions.homes(self._db, by)

    # -- ending ---------------------------------------------------------------------------------------------

    def drop(self) -> None:
        self._db.execute("DROP VIEW IF EXISTS named; DROP VIEW IF EXISTS keyed")
        for table in self._about.get("tables"):
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
        others = not files.is_empty(self._db)
        self._db.close()
        if not others:
            files.delete(self._path)
        files.delete_generation(self._live)

    def close(self) -> None:
        self._db.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(duckdb.Error):  # the error that is on its way says more
            self.close()
        if isinstance(error, Exception) and files.is_circumstance(error):
            raise files.store_error(error, Path(self.address)) from error
