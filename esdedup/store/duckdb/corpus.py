"""The corpus of a store in a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from esdedup.matching.engine import SIGNATURES
from esdedup.store.corpus import ALL, COPIES, DUMPS, PAGES, Corpus, Filters, Question, SentenceQuery, Signatures
from esdedup.store.duckdb.changes import commit_reading, remove_documents
from esdedup.store.duckdb.sentence_lookup import SentenceLookup
from esdedup.store.ledger import SourceCheckpoint, is_much
from esdedup.store.naming import NAMED, SOURCE_GROUPS
from esdedup.store.origins import moment
from esdedup.store.schemas import KNOWN

if TYPE_CHECKING:
    from esdedup.columns.database import Database
    from esdedup.columns.hashing import Hashes
    from esdedup.formats.reading_options import Part
    from esdedup.lookup.search import Found
    from esdedup.matching.signing import Signing
    from esdedup.store.duckdb.file_lookup import FileLookup
    from esdedup.store.duckdb.ledger import FileLedger

_KNOWN_STATES = 1_000
"""So many of its last states a store knows: a lookup that was made for an earlier one looks at all texts again."""

_DOCUMENTS_AT_ONCE = 2**19
"""So many documents are grouped at once: their dates take a few hundred bytes each."""


class FileCorpus(Corpus):
    """Documents, sentences and tokens in the tables of a database."""

    def __init__(self, db: Database, ledger: FileLedger, signing: Signing, store: Path, *, read_only: bool) -> None:
        self.signing = signing
        self._db = db
        self._ledger = ledger
        self._places = SentenceLookup(db, signing.unit, lambda: self._lookup.rows(), read_only=read_only)
        self._store = store

    @cached_property
    def _lookup(self) -> FileLookup:
        from esdedup.store.duckdb.file_lookup import FileLookup

        return FileLookup(self._db, self._ledger, self._store)

    # -- loading --------------------------------------------------------------------------------------------

    def begin(self, checkpoints: list[SourceCheckpoint], part: Part = ALL) -> int:
        assert part == ALL, "a store in a file has one writer"
        with self._db.transaction():
            self._ledger.set(next=self._next_number())
            started, stored = self._ledger.unfinished_reading(), self._ledger.sources()
            for checkpoint in checkpoints:
                known = checkpoint.enter(stored)
                if known is not None and started is not None and not checkpoint.goes_on(known):
                    self._forget_reading(known.number, started.first)
                self._ledger.save(checkpoint)
            # what a killed run wrote of a page that it had not read to the end
            next_number = self._next_number()
            for table in ("sentences", "seen"):
                self._db.execute(f"DELETE FROM {table} WHERE document >= ?", [next_number])
            # documents from this number on belong to the run that begins now
            first = next_number if started is None else started.first
            before = [] if started is None else started.sources
            numbers = sorted({*before, *(checkpoint.number for checkpoint in checkpoints)})
            self._ledger.set(started={"sources": numbers, "first": first}, read=None)
        return next_number

    def _next_number(self) -> int:
        """Return the number of the next document. No number is given twice: a lookup knows by it what is new."""
        return max(self._ledger.get("next") or 0, self._db.count("SELECT max(number) + 1 FROM documents"))

    def _forget_reading(self, source: int, first: int) -> None:
        """Delete what the unfinished run has written of a source that must be read again."""
        theirs = "SELECT number FROM documents WHERE source = ? AND number >= ?"
        for table in ("sentences", "seen"):
            self._db.execute(f"DELETE FROM {table} WHERE document IN ({theirs})", [source, first])
        self._db.execute("DELETE FROM documents WHERE source = ? AND number >= ?", [source, first])

    def append(self, checkpoint: SourceCheckpoint, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        with self._db.transaction():
            once = documents.append_column("occurrence", pa.array(np.ones(documents.num_rows, np.int32)))
            for table, rows in {"documents": once, "sentences": sentences, "seen": seen}.items():
                if rows.num_rows:
                    self._db.insert(table, rows)
            self._ledger.save(checkpoint)

    def known_documents(self, checkpoint: SourceCheckpoint) -> tuple[Iterator[pa.RecordBatch], pa.Array] | None:
        reading = self._ledger.unfinished_reading()
        if reading is None or reading.first == 0:
            return None
        name = checkpoint.name if checkpoint.qualified else ""
        theirs = (
            "FROM documents d JOIN sources s ON s.number = d.source "
            "WHERE CASE WHEN s.qualified THEN s.name ELSE '' END = $1 AND d.number"
        )
        known = f"""
            SELECT key, content, units, short, kept, revision, timestamp, contributor
            FROM (
                SELECT d.number, key, content, sentences AS units, short {theirs} BETWEEN $2 AND $3 AND occurrence = 1
            ) JOIN (
                SELECT document, count(*)::INTEGER AS kept, any_value(revision) AS revision,
                    any_value(timestamp) AS timestamp, any_value(contributor) AS contributor
                FROM sentences WHERE document BETWEEN $2 AND $3 GROUP BY document
                HAVING coalesce(min(revision), 0) = coalesce(max(last_revision), 0)
            ) ON document = number
            """
        stored = (
            batch
            for first in range(0, reading.first, _DOCUMENTS_AT_ONCE)
            for batch in self._db.batches(known, [name, first, min(first + _DOCUMENTS_AT_ONCE, reading.first) - 1])
        )
        begun = self._db.table(f"SELECT key {theirs} >= $2", [name, reading.first])["key"].combine_chunks()
        return (batch.cast(KNOWN) for batch in stored), begun

    def room(self) -> tuple[int, int] | None:
        with suppress(OSError):
            return self._store.stat().st_size, disk_usage(self._store.resolve().parent).free
        return None

    def commit(self) -> dict[str, int]:
        reading = self._ledger.unfinished_reading()
        if reading is None:
            return {}
        with self._db.alone():
            with self._db.transaction():
                remember = self._ledger.follows_changes()
                self._ledger.set(next=self._next_number())
                counts = commit_reading(
                    self._db, self._ledger, reading.first, remember=remember, complete=self.complete
                )
                self._ledger.set(read={"sources": reading.sources, "first": reading.first}, started=None)
                self._has_changed()
            self._db.execute("CHECKPOINT")
        return counts

    def remove(self, ids: Sequence[str]) -> tuple[int, list[str]]:
        with self._db.alone(), self._db.transaction():
            self._ledger.set(next=self._next_number())
            removed, unknown = remove_documents(self._db, ids, remember=self._ledger.follows_changes())
            if removed:
                self._ledger.set(read=None)
                self._has_changed()
        return removed, unknown

    def _has_changed(self) -> None:
        overtaken = is_much(self.changes(), self._ledger.scanned_texts())
        if overtaken:
            self._db.execute("DELETE FROM stale")
        changed = self._ledger.changed(overtaken=overtaken)
        states = [*(self._ledger.get("states") or []), changed["state"]]
        self._ledger.set(**changed, states=states[-_KNOWN_STATES:])

    # -- scanning -------------------------------------------------------------------------------------------

    def signatures(
        self, across: str, done: Collection[int] = (), of: pa.Table | None = None
    ) -> Iterator[tuple[int, Signatures]]:
        if of is not None:
            self._db.create("wanted", of, temporary=True)
            yield 0, self._signatures(across, "SEMI JOIN wanted USING (hash)")
        elif not done:
            yield 0, self._signatures(across, "")

    def _signatures(self, across: str, only: str) -> pa.RecordBatchReader:
        group = {"any": "-1", "documents": "s.document", "sources": "h.group_id"}[across]
        join = "JOIN documents d ON d.number = s.document JOIN source_groups h ON h.number = d.source"
        self._db.execute(f"CREATE OR REPLACE TEMP VIEW source_groups AS {SOURCE_GROUPS}")
        batches = self._db.stream(
            f"SELECT s.hash, {group}::BIGINT AS group_id, strlen(s.text)::INTEGER AS length, s.tokens "
            f"FROM sentences s {only} {join if across == 'sources' else ''}",
            rows=100_000,
        )
        return pa.RecordBatchReader.from_batches(SIGNATURES, (batch.cast(SIGNATURES) for batch in batches))

    def texts(self, hashes: pa.Table, *, first: bool = False) -> Iterator[pa.RecordBatch]:
        self._db.create("wanted", hashes, temporary=True)
        chosen = "FROM sentences SEMI JOIN wanted USING (hash) GROUP BY hash"
        if first:
            yield from self._db.stream(
                "SELECT hash, f.text, f.document, f.position FROM (SELECT hash, arg_min({'text': text, 'document': "
                f"document, 'position': position}}, (document, position)) AS f {chosen})"
            )
        else:
            yield from self._db.stream(f"SELECT hash, any_value(text) AS text {chosen}")

    def copies(self, hashes: pa.Table) -> Iterator[pa.RecordBatch]:
        self._db.create("wanted", hashes, temporary=True)
        rows = self._db.stream(
            "SELECT s.hash, s.document, s.position, d.source AS file, d.place FROM sentences s "
            "SEMI JOIN wanted USING (hash) JOIN documents d ON d.number = s.document"
        )
        return (batch.cast(COPIES) for batch in rows)

    # -- updating results -----------------------------------------------------------------------------------

    def changes(self) -> int:
        return self._db.count("SELECT count(*) FROM stale")

    def changed_texts(self) -> pa.Table | None:
        if not self._ledger.follows_changes():
            return None
        return self._db.table(
            "SELECT hash, existed, s.hash IS NOT NULL AS exists, tokens FROM stale "
            "LEFT JOIN (SELECT DISTINCT hash FROM sentences SEMI JOIN stale USING (hash)) s USING (hash) ORDER BY hash"
        )

    def holders(self, tokens: pa.Table) -> pa.Table:
        self._db.create("asked", tokens, temporary=True)
        # every token is read: an index of them would be twice as large as the tokens, and no faster for a million texts
        return self._db.table(
            "SELECT DISTINCT token, hash FROM (SELECT unnest(tokens) AS token, hash FROM sentences) "
            "SEMI JOIN asked USING (token)"
        )

    # -- queries --------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        return {
            "documents": self._db.count("SELECT count(*) FROM documents"),
            "sentences_read": self._db.count("SELECT sum(sentences) FROM documents"),
            "sentences_kept": self._db.count("SELECT count(*) FROM sentences"),
        } | self._ledger.distinct_texts(self.changes())

    def has_lookup(self) -> bool:
        return self._lookup.exists()

    def lookup_behind(self) -> int:
        return self._lookup.behind()

    def make_lookup(self, threads: int, follow: Callable[[int], None]) -> None:
        self._lookup.make(threads, follow)

    def alike(self, question: Question, most: int, enough: float) -> Found:
        found = self._lookup.alike(question, most, enough)
        if question.text is None or not found.left_out:
            return found
        return found.joined(self.itself(question.text, question.filters))

    def beginning(self, question: Question, most: int) -> Found:
        return self._lookup.beginning(question, most)

    def has_document(self, identity: str) -> bool:
        held = f"SELECT 1 FROM {NAMED} n JOIN sentences s ON s.document = n.number WHERE n.id = ? LIMIT 1"
        return bool(self._db.rows(held, [identity]))

    def places(self, hashes: Hashes, filters: Filters) -> pa.Table:
        return self._places.places(hashes, filters)

    def sentences(self, query: SentenceQuery) -> pa.Table:
        return self._places.of_texts(query) if query.ids is None else self._places.named(query.ids)

    def groups(self, by: str) -> Iterator[pa.RecordBatch]:
        if by == "documents":
            return self._db.batches(
                f"SELECT n.number AS group_id, n.id, n.title, s.sentences FROM {NAMED} n JOIN "
                "(SELECT document, count(*) AS sentences FROM sentences GROUP BY document) s ON s.document = n.number"
            )
        return self._db.batches(
            "SELECT h.group_id, any_value(h.name) AS id, NULL::VARCHAR AS title, count(*) AS sentences "
            "FROM sentences s JOIN documents d ON d.number = s.document "
            f"JOIN ({SOURCE_GROUPS}) h ON h.number = d.source GROUP BY h.group_id"
        )

    def languages(self) -> dict[str, int]:
        return dict(
            self._db.rows(
                "SELECT language, count(*) AS sentences FROM sentences WHERE language IS NOT NULL "
                "GROUP BY language ORDER BY sentences DESC, language"
            )
        )

    def dumps(self) -> pa.Table:
        if not self._db.rows("SELECT 1 FROM sentences WHERE timestamp IS NOT NULL LIMIT 1"):
            return DUMPS.empty_table()
        return self._db.table(
            f"SELECT d.source, max(greatest({moment('s.timestamp')}, {moment('s.last_timestamp')})) AS as_of "
            "FROM sentences s JOIN documents d ON d.number = s.document GROUP BY d.source HAVING as_of IS NOT NULL",
        ).cast(DUMPS)

    def pages(self, titles: pa.Table) -> pa.Table:
        self._db.create("titles", titles, temporary=True)
        found = self._db.table("SELECT DISTINCT source, title FROM documents SEMI JOIN titles USING (title)")
        self._db.execute("DROP TABLE titles")
        return found.cast(PAGES)
