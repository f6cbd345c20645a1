"""The corpus of a store on a server: the indices `documents` and `sentences`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, table_of_rows
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.errors import StoreError, StoreLockedError
from esdedup.formats.reading_options import Part
from esdedup.lookup.search import Found
from esdedup.matching.engine import SIGNATURES, Elsewhere
from esdedup.matching.groups import token_lists
from esdedup.store.corpus import ALL, COPIES, DUMPS, PAGES, Corpus, Filters, Question, SentenceQuery, Signatures
from esdedup.store.elasticsearch.changes import Changes
from esdedup.store.elasticsearch.generations import OpenGeneration
from esdedup.store.elasticsearch.holds import Hold
from esdedup.store.elasticsearch.journal import forget_documents
from esdedup.store.elasticsearch.ledger import ServerLedger
from esdedup.store.elasticsearch.loading import Loader
from esdedup.store.elasticsearch.mending import Mender
from esdedup.store.elasticsearch.reading import Fields, hashes, integers, signed
from esdedup.store.elasticsearch.remote_reading import TEXT, read_slice, read_texts, texts_of
from esdedup.store.elasticsearch.rows import (
    OURS,
    POSITION_BITS,
    POSITION_MASK,
    numbers,
    signature_fields,
    signature_table,
    table_of_hits,
    token_rows,
    unique_hashes,
)
from esdedup.store.elasticsearch.searches import rank_by_queries
from esdedup.store.elasticsearch.sentence_queries import SentenceQueries
from esdedup.store.elasticsearch.token_words import words_of_tokens
from esdedup.store.ledger import SourceCheckpoint, is_much

log = logging.getLogger("esdedup")

_SHOWN: pa.Schema = pa.schema([("group_id", pa.int64()), ("id", pa.string()), ("title", pa.string())])
_CHANGED: pa.Schema = pa.schema([("hash", pa.uint64()), ("existed", pa.bool_())])
_NUMBERED: pa.Schema = pa.schema(
    [("hash", pa.uint64()), ("number", pa.int64()), ("file", pa.int32()), ("place", pa.int64())]
)
_FIRST_TEXT: pa.Schema = TEXT.append(pa.field("number", pa.int64()))
_HASH = Fields(columns=("hash",))
_MOST_SOURCES = 65_535
_MOST_LANGUAGES = 10_000
_TIME = {"format": "yyyy-MM-dd'T'HH:mm:ss'Z'"}
"""The time format of dumps."""


class ServerCorpus(Corpus):
    """Documents, sentences and tokens of the open generation."""

    def __init__(self, opened: OpenGeneration, ledger: ServerLedger, *, read_only: bool) -> None:
        self.signing = opened.signing
        self._read_only = read_only
        self._open = opened
        self._ledger = ledger
        self._loader: Loader | None = None
        self._mender = Mender(opened, ledger)
        self._queries = SentenceQueries(opened)

    def mend(self) -> None:
        """Make good what others have changed since the last write, if it can be."""
        self._mender.mend()

    # -- loading --------------------------------------------------------------------------------------------

    def begin(self, checkpoints: list[SourceCheckpoint], part: Part = ALL) -> int:
        self.require_current()
        names = self._open.names
        first, next_number, anew = self._ledger.begin(checkpoints, part)
        self._open.indices.refresh(names["sentences"], names["documents"])
        # what a killed run wrote after its last checkpoint, or from a source that has changed since
        self._forget(range(next_number, self._ledger.reach, part.parts))
        own = range(first + part.number - 1, next_number, part.parts)
        for number in anew:
            self._forget(self._of_source(number, own))
        self._open.indices.relax(names["sentences"])
        self._loader = Loader(self._open, self._ledger, part.parts, lookup=self.lookup and self._open.has_lookup)
        return next_number

    def _forget(self, documents: Sequence[int]) -> None:
        """Delete documents that this part has written."""
        forget_documents(self._open.connection, self._open.names, documents, check=self._ledger.check)

    def _of_source(self, number: int, documents: Sequence[int]) -> list[int]:
        """Return which of these documents are stored, themselves or some of their sentences, as read from a source."""
        theirs, found = {"term": {"source_number": number}}, np.empty(0, np.int64)
        for kind, field in (("sentences", "document_number"), ("documents", "number")):
            fields = Fields(columns=(field,))
            for hits in self._open.reader.look_up(self._open.names[kind], field, documents, fields, theirs):
                found = np.union1d(found, integers(hits, field))
        return found.tolist()

    def append(self, checkpoint: SourceCheckpoint, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        if self._loader is None:
            raise StoreError(f"{self._open.address}: nothing has been indexed yet")
        self._loader.append(checkpoint, documents, sentences, seen)

    def require_current(self) -> None:
        self._open.require_current()

    def give_up(self) -> None:
        self._open.connection.give_up()

    def commit(self) -> dict[str, int]:
        self._ledger.report_refused()
        reading = self._ledger.unfinished_reading()
        if reading is None:
            return {}
        names, reader = self._open.names, self._open.reader
        missing = self._ledger.missing_parts()
        self._open.indices.refresh(names["sentences"], names["documents"])  # make them visible before they are counted
        if missing:
            log.warning("this part is complete; still to come: %s", ", ".join(map(str, missing)))
            return {}
        self._mender.sign(reading.first)  # what others have changed meanwhile
        before = reader.count(names["sentences"], {"range": {"number": {"lt": reading.first << POSITION_BITS}}})
        arrived = reader.count(names["sentences"]) - before
        remember = self._ledger.follows_changes() and not is_much(arrived, before)
        journal = self._open.journal()
        with self._open.private(self._ledger.sources()) as db:
            changes = Changes(db, self._open, journal)
            read, stale = changes.commit(
                reading.first, self._ledger.sources(),
                by_place=self._ledger.in_parts, remember=remember, complete=self.complete,
            )  # fmt: skip
        self._open.indices.restore(names["sentences"])  # before the end: nobody would do it afterwards
        journal.commit(**self._ledger.ended(read), **self._updates(stale, remember))
        self._mender.remember()
        self._loader = None
        return read.counts

    def remove(self, ids: Sequence[str]) -> tuple[int, list[str]]:
        self.require_current()
        journal, remember = self._open.journal(), self._ledger.follows_changes()
        with self._open.private() as db:
            changes = Changes(db, self._open, journal)
            removed, unknown, stale = changes.remove(ids, remember=remember)
        if removed:
            journal.commit(read=None, **self._updates(stale, remember))
            self._mender.remember()
        return removed, unknown

    def _updates(self, stale: int, remember: bool) -> dict[str, Any]:
        """Return the ledger values for a change of documents."""
        overtaken = not remember or is_much(self.changes() + stale, self._ledger.scanned_texts())
        return self._ledger.changed(overtaken=overtaken)

    # -- scanning -------------------------------------------------------------------------------------------

    def signatures(
        self, across: str, done: Collection[int] = (), of: pa.Table | None = None
    ) -> Iterator[tuple[int, Signatures]]:
        reader, index, seen = self._open.reader, self._open.names["sentences"], 0
        group_ids, columns = source_groups(self._ledger.sources()), self.signing.tokens
        fields = signature_fields(across, earlier=self._open.is_earlier)
        if of is not None:
            pages = reader.look_up(index, "hash", signed(of["hash"].to_numpy()), fields)
            tables = [signature_table(hits, columns, group_ids, across) for hits in pages if hits]
            yield 0, pa.concat_tables([SIGNATURES.empty_table(), *tables])
            return
        self._mend_if_changed()
        slices = reader.slices(index)
        left = [one for one in slices if one.number not in done]
        for one, hits in reader.read_slices(index, fields, left):
            seen += len(hits)
            yield one.number, signature_table(hits, columns, group_ids, across)
        expected = reader.count(index)
        if len(left) == len(slices) and seen != expected:
            raise StoreLockedError(
                f"{self._open.address}: another command has just changed this store ({index} has {expected:,} "
                f"sentences, but {seen:,} were read); run this command again after it ends"
            )

    def texts(self, hashes: pa.Table, *, first: bool = False) -> Iterator[pa.RecordBatch]:
        reader, index = self._open.reader, self._open.names["sentences"]
        if not first:
            yield from texts_of(reader, index, hashes)
            return
        values, fields = signed(hashes["hash"].to_numpy()), Fields(columns=("number",), source=True)
        for hits in reader.first_of_each(index, "hash", values, fields, sort=["number"]):
            rows = table_of_hits(hits, _FIRST_TEXT, {})
            number = rows["number"].to_numpy()
            rows = rows.append_column("document", pa.array(number >> POSITION_BITS))
            rows = rows.append_column("position", pa.array(number & POSITION_MASK)).drop_columns("number")
            yield from rows.to_batches()

    def copies(self, hashes: pa.Table) -> Iterator[pa.RecordBatch]:
        values, fields = signed(hashes["hash"].to_numpy()), Fields(source=("hash", "number", "source_number", "place"))
        for hits in self._open.reader.look_up(self._open.names["sentences"], "hash", values, fields):
            rows = table_of_hits(hits, _NUMBERED, {"file": "source_number"})
            number = rows["number"].to_numpy()
            columns = (rows["hash"], number >> POSITION_BITS, number & POSITION_MASK, rows["file"], rows["place"])
            yield from pa.table(dict(zip(COPIES.names, columns, strict=True))).cast(COPIES).to_batches()

    def elsewhere(self, across: str) -> Elsewhere:
        index, address = self._open.names["sentences"], self._open.connection.address
        self._mend_if_changed()
        groups = source_groups(self._ledger.sources())
        fields = signature_fields(across, earlier=self._open.is_earlier)
        read = partial(read_slice, address, index, fields, self.signing.tokens, groups, across)
        slices = [partial(read, one) for one in self._open.reader.slices(index)]
        return Elsewhere(slices, partial(read_texts, address, index))

    def rank(self, scratch: Database, top: int) -> None:
        rank_by_queries(self._open.connection, self._open.indices, self._open.generation, scratch, top)

    def _mend_if_changed(self) -> None:
        """Make good what others have changed since the store was opened, but not for a reader."""
        if not self._read_only:
            self._mender.mend_if_changed()

    # -- bringing results up to date ------------------------------------------------------------------------

    def changes(self) -> int:
        return 0 if self._open.results is None else self._open.reader.count(self._open.names["stale"])

    def changed_texts(self) -> pa.Table | None:
        if not self._ledger.follows_changes():
            return None
        reader, names = self._open.reader, self._open.names
        fields = Fields(columns=("tokens",), source=True)
        pages = reader.read_all(names["stale"], fields, {"term": {"renamed": False}})
        hits = [hit for some in pages for hit in some]
        table = table_of_hits(hits, _CHANGED, {})
        known = reader.first_of_each(names["sentences"], "hash", signed(table["hash"].to_numpy()), _HASH)
        exists = pc.is_in(table["hash"], pa.array(unique_hashes(known, "hash")))
        tokens = token_rows(hits, self.signing.tokens)
        return table.append_column("exists", exists).append_column("tokens", token_lists(tokens)).sort_by("hash")

    def holders(self, tokens: pa.Table) -> pa.Table:
        asked = np.unique(tokens["token"].to_numpy())
        earlier = self._open.is_earlier
        words, fields = asked if earlier else words_of_tokens(asked), signature_fields("any", earlier=earlier)
        found = [pa.table({"token": pa.array([], pa.int64()), "hash": pa.array([], pa.uint64())})]
        for hits in self._open.reader.look_up(self._open.names["sentences"], "tokens", words, fields):
            if not hits:
                continue
            held = token_rows(hits, self.signing.tokens)
            at, columns = np.nonzero(np.isin(held, asked))  # two columns may have the same word
            rows = pa.table({"token": held[at, columns], "hash": hashes(numbers(hits, "hash"))[at]})
            found.append(rows.group_by(rows.column_names).aggregate([]))
        return pa.concat_tables(found).group_by(["token", "hash"]).aggregate([])

    # -- questions ------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        reader, names = self._open.reader, self._open.names
        total = {"size": 0, "track_total_hits": True, "aggs": {"sentences": {"sum": {"field": "sentences"}}}}
        read = reader.search(names["documents"], total)
        return {
            "documents": int(read["hits"]["total"]["value"]),
            "sentences_read": int(read["aggregations"]["sentences"]["value"]),
            "sentences_kept": reader.count(names["sentences"]),
        } | self._ledger.distinct_texts(self.changes())

    def has_lookup(self) -> bool:
        return False  # it lies in the sentences, and goes with them

    def lookup_behind(self) -> int:
        return self._queries.behind()

    def make_lookup(self, threads: int, follow: Callable[[int], None]) -> None:
        self.require_current()
        hold = Hold(self._open.state, self._open.address)
        try:
            self._open.require_settled()
            ours = self._mender.is_ours()
            self._queries.make(follow)
            if ours:
                self._mender.remember()  # or what was just written would be read as that of others
        finally:
            hold.release()

    def alike(self, question: Question, most: int, enough: float) -> Found:
        return self._queries.alike(question, most, enough)

    def beginning(self, question: Question, most: int) -> Found:
        return self._queries.beginning(question, most)

    def has_document(self, identity: str) -> bool:
        return self._queries.has_document(identity)

    def places(self, hashes: Hashes, filters: Filters) -> pa.Table:
        return self._queries.places(hashes, filters)

    def standing(self, query: SentenceQuery) -> tuple[pa.Table, pa.Table]:
        return self._queries.standing(query)

    def sentences(self, query: SentenceQuery) -> pa.Table:
        return self._queries.of_texts(query) if query.ids is None else self._queries.named(query.ids)

    def groups(self, by: str) -> Iterator[pa.RecordBatch]:
        yield from self._documents() if by == "documents" else self._sources()

    def _documents(self) -> Iterator[pa.RecordBatch]:
        """Rows of all documents that have sentences."""
        reader, names = self._open.reader, self._open.names
        with self._open.private() as db:
            db.execute(
                "CREATE TABLE held (group_id BIGINT); CREATE TABLE shown (group_id BIGINT, id VARCHAR, title VARCHAR)"
            )
            for hits in reader.read_all(names["sentences"], Fields(columns=("document_number",)), OURS):
                db.insert("held", pa.table({"group_id": integers(hits, "document_number")}))
            for hits in reader.read_all(names["documents"], Fields(source=True)):
                rows = [{"group_id": row["number"], **row} for row in (hit["_source"] for hit in hits)]
                db.insert("shown", pa.Table.from_pylist(rows, _SHOWN))
            yield from db.batches(
                "SELECT group_id, id, title, sentences FROM shown JOIN "
                "(SELECT group_id, count(*) AS sentences FROM held GROUP BY group_id) USING (group_id)"
            )

    def _sources(self) -> Iterator[pa.RecordBatch]:
        """Rows (group_id, id, title, sentences) of all sources that have sentences."""
        checkpoints = self._ledger.sources()
        group_ids = source_groups(checkpoints)
        held = {
            checkpoint.number: self._open.reader.count(
                self._open.names["sentences"], {"term": {"source_number": checkpoint.number}}
            )
            for checkpoint in checkpoints
        }
        names = {int(group_ids[checkpoint.number]): checkpoint.name for checkpoint in checkpoints}
        totals = {
            group_id: sum(count for number, count in held.items() if group_ids[number] == group_id)
            for group_id in names
        }
        rows = [
            {"group_id": group_id, "id": name, "sentences": totals[group_id]}
            for group_id, name in names.items()
            if totals[group_id]
        ]
        yield pa.RecordBatch.from_pylist(rows, _SHOWN.append(pa.field("sentences", pa.int64())))

    def languages(self) -> dict[str, int]:
        order: list[dict[str, str]] = [{"_count": "desc"}, {"_key": "asc"}]
        terms = {"terms": {"field": "language", "size": _MOST_LANGUAGES, "order": order}}
        found = self._open.reader.search(self._open.names["sentences"], {"size": 0, "aggs": {"languages": terms}})
        return {bucket["key"]: bucket["doc_count"] for bucket in found["aggregations"]["languages"]["buckets"]}

    def dumps(self) -> pa.Table:
        latest = {name: {"max": {"field": name, **_TIME}} for name in ("timestamp", "last_timestamp")}
        terms = {"terms": {"field": "source_number", "size": _MOST_SOURCES}, "aggs": latest}
        body = {"size": 0, "query": {"exists": {"field": "timestamp"}}, "aggs": {"sources": terms}}
        rows = [
            (bucket["key"], max(bucket[name].get("value_as_string", "") for name in latest))
            for bucket in self._open.reader.search(self._open.names["sentences"], body)["aggregations"]["sources"][
                "buckets"
            ]
        ]
        return table_of_rows(rows, DUMPS)

    def pages(self, titles: pa.Table) -> pa.Table:
        fields = Fields(source=True)
        found = {
            (hit["_source"]["source_number"], hit["_source"]["title"])
            for hits in self._open.reader.look_up(
                self._open.names["documents"], "title", titles["title"].to_pylist(), fields
            )
            for hit in hits
        }
        return table_of_rows(sorted(found), PAGES)


def source_groups(checkpoints: Sequence[SourceCheckpoint]) -> Numbers:
    """Map each source number to the smallest number of a source with the same name: files of a folder are one group."""
    group_ids = np.zeros(1 + max((checkpoint.number for checkpoint in checkpoints), default=0), np.int64)
    for checkpoint in checkpoints:
        group_ids[checkpoint.number] = min(
            other.number
            for other in checkpoints
            if (other.name, other.qualified) == (checkpoint.name, checkpoint.qualified)
        )
    return group_ids
