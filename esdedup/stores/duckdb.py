"""The embedded store: one DuckDB file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from esdedup.clustering.union import Clusters
from esdedup.database import Database
from esdedup.errors import NotAStoreError, StoreError, StoreLockedError, StoreSettingsError, StoreVersionError
from esdedup.pairs.collider import signatures_schema
from esdedup.records import Skips
from esdedup.settings import HASH_SCHEME, Signing, freeze
from esdedup.stores.duckdb_results import cluster_rows, pair_rows
from esdedup.stores.schemas import SCHEMA_VERSION, mapping_text
from esdedup.stores.store import STANDARD_INPUT, SourceMark, Store


class EmbeddedStore(Store):
    """A store in the file `path`. Opening one that does not exist makes it, if `frozen` is given.

    `frozen` holds the signing options that were asked for. Raises `NotAStoreError`, `StoreVersionError`,
    `StoreSettingsError` (where the store has others) and `StoreLockedError`. Readers (`read_only`) share the
    file, a writer has it alone.
    """

    def __init__(
        self,
        path: Path,
        frozen: Mapping[str, Any] | None = None,
        *,
        memory: int = 2**28,
        threads: int = 1,
        read_only: bool = False,
        fresh: bool = False,
    ) -> None:
        self.address = str(path)
        self._path = path
        existed = path.exists()
        if not existed and (frozen is None or read_only):
            raise StoreError(f"{path}: there is no store; make one with esdedup run or esdedup index")
        self._db = _connect(path, memory, threads, read_only)
        try:
            empty = self._db.count("SELECT count(*) FROM duckdb_tables()") == 0
            if not empty:
                self._check_is_store()
            if fresh or empty:
                self._make(freeze(None, frozen or {}))
            self.signing = self._stored_signing()
            _check_same(path, self.signing, freeze(self.signing, frozen or {}))
        except BaseException:
            self._db.close()
            raise

    # -- opening --------------------------------------------------------------------------------------------

    def _check_is_store(self) -> None:
        made_here = self._db.count(
            "SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('about', 'cluster_texts')"
        )
        if made_here != 2:
            raise NotAStoreError(f"{self._path}: a DuckDB file that esdedup did not make; name another --store")
        version = int(self._about("schema") or 0)
        if version > SCHEMA_VERSION:
            raise StoreVersionError(
                f"{self._path}: written with schema {version}, this esdedup reads up to {SCHEMA_VERSION}; upgrade it"
            )

    def _make(self, signing: Signing) -> None:
        self._db.execute("BEGIN")
        self._drop_tables()
        self._db.execute(mapping_text("embedded.sql").format(tokens=signing.tokens))
        self._tell("schema", SCHEMA_VERSION)
        self._tell("hash-scheme", HASH_SCHEME)
        self._tell("signing", {field.name: getattr(signing, field.name) for field in fields(Signing)})
        self._db.execute("COMMIT")

    def _stored_signing(self) -> Signing:
        scheme = int(self._about("hash-scheme") or 0)
        if scheme != HASH_SCHEME:
            raise StoreVersionError(
                f"{self._path}: tokens of hash scheme {scheme}, this esdedup makes scheme {HASH_SCHEME}; "
                "index again with --fresh"
            )
        return Signing(**json.loads(self._about("signing") or "{}"))

    def _about(self, key: str) -> str | None:
        row = self._db.row("SELECT value FROM about WHERE key = ?", [key])
        return str(row[0]) if row else None

    def _tell(self, key: str, value: Any) -> None:
        self._db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", [key, json.dumps(value)])

    # -- loading --------------------------------------------------------------------------------------------

    def sources(self) -> list[SourceMark]:
        marks = []
        for number, name, qualified, path, fingerprint, documents, finished in self._db.rows(
            "SELECT number, name, qualified, path, fingerprint, documents, finished FROM sources ORDER BY number"
        ):
            skips = Skips()
            for reason, count, places in self._db.rows(
                "SELECT reason, count, places FROM skipped WHERE source = ? ORDER BY reason", [number]
            ):
                skips.counts[reason] = count
                if places:
                    skips.places[reason] = places
            marks.append(SourceMark(name, path, fingerprint, qualified, number, documents, finished, skips))
        return marks

    def begin(self, marks: list[SourceMark]) -> int:
        stored = self.sources()
        self._db.execute("BEGIN")
        started = self._about("started")
        if started is None:
            # documents from this number on belong to the reading that begins now
            self._tell("started", self._db.count("SELECT max(number) + 1 FROM documents"))
        next_source = 1 + max((mark.number for mark in stored), default=-1)
        for mark in marks:
            identity = (mark.name, mark.qualified, mark.path)
            known = next((old for old in stored if (old.name, old.qualified, old.path) == identity), None)
            if known is None:
                mark.number = next_source
                next_source += 1
            else:
                mark.number = known.number
                if started is not None and known.same_as(mark) and mark.path != STANDARD_INPUT:
                    mark.documents, mark.finished, mark.skips = known.documents, known.finished, known.skips
                elif started is not None:
                    self._forget_reading(known.number, int(started))
            self._save(mark)
        # what a killed reading wrote of a page that it had not read to its end
        next_number = self._db.count("SELECT max(number) + 1 FROM documents")
        for table in ("sentences", "last_seen"):
            self._db.execute(f"DELETE FROM {table} WHERE document >= ?", [next_number])
        self._db.execute("COMMIT")
        return next_number

    def _forget_reading(self, source: int, first: int) -> None:
        """Delete what the unfinished reading has written of a source that must be read anew."""
        theirs = "SELECT number FROM documents WHERE source = ? AND number >= ?"
        for table in ("sentences", "last_seen"):
            self._db.execute(f"DELETE FROM {table} WHERE document IN ({theirs})", [source, first])
        self._db.execute("DELETE FROM documents WHERE source = ? AND number >= ?", [source, first])

    def append(self, mark: SourceMark, documents: pa.Table, sentences: pa.Table, last_seen: pa.Table) -> None:
        self._db.execute("BEGIN")
        try:
            if documents.num_rows:
                self._db.connection.register("incoming", documents)
                self._db.execute("INSERT INTO documents BY NAME SELECT *, 1 AS occurrence FROM incoming")
                self._db.connection.unregister("incoming")
            if sentences.num_rows:
                self._db.insert("sentences", sentences)
            if last_seen.num_rows:
                self._db.insert("last_seen", last_seen)
            self._save(mark)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def _save(self, mark: SourceMark) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                mark.number,
                mark.name,
                mark.qualified,
                mark.path,
                mark.fingerprint,
                mark.documents,
                mark.finished,
            ],
        )
        self._db.execute("DELETE FROM skipped WHERE source = ?", [mark.number])
        for reason, count in mark.skips.counts.items():
            self._db.execute(
                "INSERT INTO skipped VALUES (?, ?, ?, ?)",
                [mark.number, reason, count, mark.skips.places.get(reason, [])],
            )

    def settle(self) -> dict[str, int]:
        started = self._about("started")
        if started is None:
            return {}
        first = int(started)
        self._db.execute("BEGIN")
        try:
            repeated = self._number_repeats(first)
            merged = self._merge_with_earlier(first)
            self._db.execute(
                "UPDATE sentences SET last_revision = l.revision, last_timestamp = l.timestamp FROM last_seen l "
                "WHERE sentences.document = l.document AND sentences.position = l.position"
            )
            self._db.execute("DELETE FROM last_seen")
            for source, count in repeated:
                self._db.execute("INSERT INTO skipped VALUES (?, 'repeated_id', ?, [])", [source, count])
            self._db.execute("DELETE FROM about WHERE key IN ('started', 'scan')")
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("CHECKPOINT")
        return {"repeated": sum(count for _, count in repeated), **merged}

    def _number_repeats(self, first: int) -> list[tuple[Any, ...]]:
        """Give the second document with an id the occurrence 2, and so on; counts by source."""
        self._db.execute(
            "CREATE OR REPLACE TEMP TABLE repeats AS SELECT number, n FROM ("
            "SELECT number, row_number() OVER (PARTITION BY source, key ORDER BY number) AS n FROM keyed "
            "WHERE number >= ? AND (source, key) IN (SELECT source, key FROM keyed WHERE number >= ? "
            "GROUP BY source, key HAVING count(*) > 1)) WHERE n > 1",
            [first, first],
        )
        self._db.execute("UPDATE documents SET occurrence = r.n FROM repeats r WHERE documents.number = r.number")
        return self._db.rows(
            "SELECT source, count(*) FROM documents JOIN repeats USING (number) GROUP BY source ORDER BY source"
        )

    def _merge_with_earlier(self, first: int) -> dict[str, int]:
        """Of a document read before, keep the old rows if it is unchanged, else the new ones; counts of both."""
        if first == 0:
            return {"unchanged": 0, "replaced": 0}
        self._db.execute(
            "CREATE OR REPLACE TEMP TABLE outdated AS SELECT new.content = old.content AS same, "
            "CASE WHEN new.content = old.content THEN new.number ELSE old.number END AS number "
            "FROM keyed new JOIN keyed old USING (source, key, occurrence) "
            "WHERE new.number >= ? AND old.number < ?",
            [first, first],
        )
        self._db.execute("DELETE FROM sentences WHERE document IN (SELECT number FROM outdated)")
        self._db.execute("DELETE FROM documents WHERE number IN (SELECT number FROM outdated)")
        unchanged = self._db.count("SELECT count(*) FROM outdated WHERE same")
        return {"unchanged": unchanged, "replaced": self._db.count("SELECT count(*) FROM outdated") - unchanged}

    # -- scanning -------------------------------------------------------------------------------------------

    def signatures(self, across: str) -> pa.RecordBatchReader:
        home = {"any": "-1", "documents": "s.document", "sources": "d.source"}[across]
        join = "JOIN documents d ON d.number = s.document" if across == "sources" else ""
        batches = self._db.stream(
            f"SELECT s.hash, {home}::BIGINT AS home, strlen(s.text)::INTEGER AS length, s.tokens "
            f"FROM sentences s {join}",
            rows=100_000,
        )
        schema = signatures_schema(self.signing.tokens)
        return pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in batches))

    def texts(self, hashes: pa.Table) -> Iterator[pa.RecordBatch]:
        self._db.create("wanted", hashes, temporary=True)
        yield from self._db.stream(
            "SELECT hash, any_value(text) AS text FROM sentences SEMI JOIN wanted USING (hash) GROUP BY hash"
        )

    def replace_results(self, pairs: Iterator[pa.RecordBatch], clusters: Clusters, summary: dict[str, Any]) -> None:
        self._db.execute("BEGIN")
        try:
            for table in ("pairs", "clusters", "cluster_texts"):
                self._db.execute(f"DELETE FROM {table}")
            for batch in pairs:
                self._db.insert("pairs", pa.Table.from_batches([batch]))
            self._db.insert("clusters", clusters.clusters)
            self._db.insert("cluster_texts", clusters.texts)
            self._tell("scan", summary)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("CHECKPOINT")

    # -- reading --------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        return {
            "documents": self._db.count("SELECT count(*) FROM documents"),
            "sentences_read": self._db.count("SELECT sum(sentences) FROM documents"),
            "sentences_kept": self._db.count("SELECT count(*) FROM sentences"),
            "distinct_sentences": self._db.count("SELECT count(DISTINCT hash) FROM sentences"),
        }

    def last_scan(self) -> dict[str, Any] | None:
        told = self._about("scan")
        return None if told is None else dict(json.loads(told))

    def unfinished(self) -> bool:
        return self._about("started") is not None

    def pair_rows(self) -> Iterator[pa.RecordBatch]:
        return pair_rows(self._db, self.signing.unit)

    def cluster_rows(
        self,
        *,
        min_size: int = 2,
        document: str | None = None,
        text: str | None = None,
        limit: int | None = None,
    ) -> Iterator[dict[str, Any]]:
        return cluster_rows(self._db, self.signing.unit, min_size, document, text, limit)

    def cluster_sizes(self) -> dict[int, int]:
        return dict(self._db.rows("SELECT size, count(*) FROM clusters GROUP BY size ORDER BY size"))

    def disk_bytes(self) -> int:
        return sum(path.stat().st_size for path in (self._path, _log(self._path)) if path.exists())

    # -- ending ---------------------------------------------------------------------------------------------

    def _drop_tables(self) -> None:
        self._db.execute("DROP VIEW IF EXISTS named; DROP VIEW IF EXISTS keyed")
        for table in _TABLES:
            self._db.execute(f"DROP TABLE IF EXISTS {table}")

    def drop(self) -> None:
        self._drop_tables()
        others = self._db.count("SELECT count(*) FROM duckdb_tables() WHERE NOT temporary")
        self._db.close()
        if others == 0:
            self._path.unlink(missing_ok=True)
            _log(self._path).unlink(missing_ok=True)

    def close(self) -> None:
        self._db.close()


_TABLES = (
    "about",
    "sources",
    "documents",
    "sentences",
    "last_seen",
    "skipped",
    "pairs",
    "clusters",
    "cluster_texts",
)


def _log(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def _connect(path: Path, memory: int, threads: int, read_only: bool) -> Database:
    try:
        return Database(path, memory=memory, threads=threads, read_only=read_only)
    except duckdb.IOException as error:
        holder = re.search(r"PID (\d+)", str(error))
        if "lock" in str(error).lower():
            who = f"process {holder[1]}" if holder else "another process"
            raise StoreLockedError(f"{path}: in use by {who}; wait for it to end, or name another --store") from error
        if "not a valid DuckDB" in str(error):
            raise NotAStoreError(f"{path}: not a DuckDB file; name another --store") from error
        raise StoreError(f"{path}: {_first_line(error)}; name a --store that can be written") from error
    except duckdb.Error as error:
        raise StoreError(f"{path}: {_first_line(error)}; name another --store") from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _check_same(path: Path, stored: Signing, asked: Signing) -> None:
    ours, theirs = asked.describe(), stored.describe()
    for name in [*ours, *theirs]:
        if ours.get(name) != theirs.get(name):
            raise StoreSettingsError(
                f"{path}: the store has {name} {theirs.get(name, 'unset')}, you ask for {ours.get(name, 'unset')}; "
                "leave the option out, name another --store, or begin again with --fresh"
            )
