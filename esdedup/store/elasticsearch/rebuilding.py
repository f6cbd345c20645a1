"""Make a generation of the corpus again from its sentences, where its state, its documents or its fields are lost.

Everything a scan needs stands with the sentences: texts, ids, titles, numbers. What cannot be known again is where a
source lies and what documents without sentences there were.
"""

from __future__ import annotations

import logging
import re
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.database import Database
from esdedup.errors import StoreError
from esdedup.matching.signing import Signing
from esdedup.store.elasticsearch.bulk import Action, Bulk, put
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.generations import discard_results
from esdedup.store.elasticsearch.indices import CORPUS, RESULTS, Indices
from esdedup.store.elasticsearch.journal import State
from esdedup.store.elasticsearch.ledger import ServerLedger, saved_checkpoint
from esdedup.store.elasticsearch.reading import Fields, Hits, Reader
from esdedup.store.elasticsearch.resigning import number_of, sign_again
from esdedup.store.elasticsearch.rows import CHANGED, POSITION_BITS, POSITION_MASK
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.schemas import saved_signing

log = logging.getLogger("esdedup")

JOB = "doctor"
_MEMORY = 2**28  # bytes of the private database, which spills

_TABLES = """
CREATE TABLE held (document BIGINT);
CREATE TABLE changed (document BIGINT);
CREATE TABLE found (document BIGINT);
"""
"""The document of each sentence; documents of which a sentence was changed or is gone; and those that are there."""


class Rebuilding:
    """Makes the generation `old` again from what is left of it. Its sentences must be there."""

    def __init__(self, connection: Connection, indices: Indices, old: str) -> None:
        self._connection = connection
        self._indices = indices
        self._old = old
        self._sources: dict[int, SourceCheckpoint] = {}
        self._dated: set[int] = set()  # sources with revisions
        self._reopened: set[int] = set()  # sources of changed documents
        self._next = 0

    def make(self) -> int:
        """Make a new generation and let it take the place of the old one. Return the number of its sentences."""
        made, count = self._make()
        discard_results(self._indices, self._old)
        self._replace(made)
        log.warning("%s: made %s sentences again from their texts", self._connection.address, f"{count:,}")
        return count

    def look_up(self, follow: Callable[[int], None]) -> str:
        """Make a generation whose sentences can be looked up, and return its name. The results stay, if all sentences
        are as they must be. `follow` gets the number of sentences done.
        """
        indices = self._indices
        indices.lookup = True
        made, _ = self._make(follow, keep=True)
        self._replace(made)
        # afterwards: an unfinished generation is deleted with its results
        scan = State(self._connection, indices.name("state", made)).get("scan")
        if scan is None or scan.get("lost"):
            discard_results(indices, self._old)
            return made
        for kind in RESULTS:
            index = indices.name(kind, scan["generation"])
            if indices.exists(index):
                indices.set_meta(index, {**indices.meta(index), "corpus": made})
        return made

    def _make(self, follow: Callable[[int], None] = lambda _: None, *, keep: bool = False) -> tuple[str, int]:
        """Make a new generation, with `keep` for the same results. Return its name and the number of its sentences."""
        indices, old = self._indices, self._old
        meta = self._meta()
        there = [kind for kind in CORPUS if indices.exists(indices.name(kind, old))]
        indices.refresh(*(indices.name(kind, old) for kind in there))  # a search must see the last state
        for left in indices.generations("state"):
            if left != indices.live("state") and indices.meta(indices.name("state", left)).get("job") == JOB:
                indices.delete(CORPUS, [left])
        shards = indices.shards(indices.name("sentences", old))
        made = indices.make(CORPUS, {**meta, "job": JOB}, loading=True, shards=shards)
        signing = saved_signing(str(self._connection.address), meta["signing"])
        with (
            tempfile.TemporaryDirectory(prefix="esdedup-") as spill,
            Database(memory=_MEMORY, threads=1, spill=Path(spill)) as db,
        ):
            db.execute(_TABLES)
            count = self._copy_sentences(db, made, signing, follow)
            changed = self._write_documents(db, made, signing.unit)
        self._write_state(made, keep=keep and not changed)
        indices.restore(indices.name("sentences", made))
        indices.refresh(*(indices.name(kind, made) for kind in CORPUS))
        if changed:
            log.warning(
                "%s: %s documents were made again or have other sentences than before; index their sources again",
                self._connection.address, f"{changed:,}",
            )  # fmt: skip
        return made, count

    def _replace(self, made: str) -> None:
        """Let a generation take the place of the old one."""
        indices, state = self._indices, self._indices.name("state", made)
        indices.swap(dict.fromkeys(CORPUS, made))
        indices.set_meta(state, {**indices.meta(state), "job": None})
        indices.delete([kind for kind in CORPUS if indices.exists(indices.name(kind, self._old))], [self._old])

    def _meta(self) -> dict[str, Any]:
        """Return the frozen settings, which every index of a generation has."""
        for kind in ("sentences", "documents", "state"):
            name = self._indices.name(kind, self._old)
            if self._indices.exists(name) and self._indices.has_meta(name):
                meta = self._indices.meta(name)
                return {key: meta[key] for key in ("hash-scheme", "signing", "replicas")}
        raise StoreError(f"{self._connection.address}: the settings of the store are lost; restore it from a snapshot")

    def _pages(self, kind: str) -> Iterator[Hits]:
        """Yield every document of an index, whatever its fields are. Raise `StoreError` if some do not arrive."""
        index, reader, seen = self._indices.name(kind, self._old), Reader(self._connection), 0
        for hits in reader.written_since(index, None, Fields(source=True)):
            seen += len(hits)
            yield hits
        if seen != reader.count(index):
            raise StoreError(f"{self._connection.address}: {index} was not read to the end; run the same command again")

    def _copy_sentences(self, db: Database, made: str, signing: Signing, follow: Callable[[int], None]) -> int:
        count = 0
        with Bulk(self._connection, self._indices.name("sentences", made)) as bulk:
            for hits in self._pages("sentences"):
                ours = [hit for hit in hits if number_of(hit) is not None]
                again = sign_again(ours, signing, lookup=self._indices.lookup)
                owners = np.array([int(hit["_id"]) for hit in ours], np.int64) >> POSITION_BITS
                kept = np.setdiff1d(np.arange(len(ours)), again.unfit)
                bulk.add(put(ours[at]["_id"], again.documents[at]) for at in kept)
                _add(db, "held", owners[kept])
                _add(db, "changed", owners[np.union1d(again.changed, again.unfit)])
                self._dated |= {hit["_source"].get("source_number") or 0 for hit in ours if _is_dated(hit["_source"])}
                count += len(kept)
                follow(count)
        return count

    def _write_documents(self, db: Database, made: str, unit: str) -> int:
        """Copy the documents, and make those that are lost. Return how many have other sentences than before."""
        sentences, documents = (self._indices.name(kind, made) for kind in ("sentences", "documents"))
        self._indices.refresh(sentences)
        db.execute("CREATE TABLE kept AS SELECT document, count(*) AS sentences FROM held GROUP BY document")
        there = self._indices.exists(self._indices.name("documents", self._old))
        with Bulk(self._connection, documents) as bulk:
            for hits in self._pages("documents") if there else ():
                ours = [hit for hit in hits if number_of(hit) is not None and "number" in hit["_source"]]
                bulk.add(self._copied(db, [hit["_source"] for hit in ours]))
            lost = db.arrays("SELECT document FROM kept ANTI JOIN found USING (document) ORDER BY document")["document"]
            _add(db, "changed", lost)
            for row in remade_documents(Reader(self._connection), sentences, lost.tolist(), unit):
                self._seen(row, changed=True)
                bulk.add([put(str(row["number"]), orjson.dumps(row))])
        return db.count("SELECT count(DISTINCT document) FROM changed")

    def _copied(self, db: Database, rows: list[dict[str, Any]]) -> Iterator[Action]:
        """Yield documents as they must be stored. Those with fewer or other sentences than before count as changed."""
        numbers = np.array([row["number"] for row in rows], np.int64)
        had = np.array([row.get("kept") or 0 for row in rows], np.int64)
        db.create("page", pa.table({"document": numbers}))
        held = dict(db.rows("SELECT document, sentences FROM page JOIN kept USING (document)"))
        _add(db, "found", numbers)
        _add(db, "changed", numbers[np.array([held.get(number, 0) for number in numbers.tolist()]) < had])
        changed = {number for (number,) in db.rows("SELECT document FROM page SEMI JOIN changed USING (document)")}
        for row in rows:
            number = row["number"]
            self._seen(row, changed=number in changed)
            content = {"content": CHANGED} if number in changed else {}
            yield put(str(number), orjson.dumps(row | {"kept": held.get(number, 0)} | content))

    def _seen(self, document: dict[str, Any], *, changed: bool) -> None:
        """Note what a document says about its source, and its number."""
        self._next = max(self._next, document["number"] + 1)
        number = document["source_number"]
        source = self._sources.setdefault(
            number,
            SourceCheckpoint(
                document["source"], "", "", qualified=document["qualified"], history=number in self._dated,
                number=number, finished=True,
            ),
        )  # fmt: skip
        source.documents += 1
        if changed:
            self._reopened.add(number)

    def _write_state(self, made: str, *, keep: bool) -> None:
        """Copy the state. If it is lost, make it from the documents. Without `keep`, there are no results any more."""
        state = State(self._connection, self._indices.name("state", made))
        old = self._indices.name("state", self._old)
        if self._indices.exists(old):
            for hits in self._pages("state"):
                for hit in hits:
                    value = dict(hit["_source"]["value"])
                    if hit["_id"] == "state":
                        state.set(**{name: each for name, each in value.items() if name != "writer"})
                    elif hit["_id"] != "hold" and not hit["_id"].startswith("journal-"):
                        state.put_piece(hit["_id"], value)
        else:
            sources = [saved_checkpoint(self._sources[number]) for number in sorted(self._sources)]
            state.set(sources=sources, next=self._next, turn=1)
            log.warning(
                "%s: how sources were read and scanned is lost with the state, and so are the results; run esdedup "
                "scan with the options that you want", self._connection.address,
            )  # fmt: skip
        scan = state.get("scan")
        lost = scan if keep or scan is None else scan | {"lost": "the store was repaired"}
        read = None if self._reopened else state.get("read")
        state.set(scan=lost, watched=None, journal=None, drafts=None, read=read, state=uuid.uuid4().hex)
        if self._reopened:
            ServerLedger(state, str(self._connection.address)).reopen(self._reopened)


def _add(db: Database, table: str, documents: Numbers) -> None:
    db.insert(table, pa.table({"document": documents}))


def _is_dated(sentence: dict[str, Any]) -> bool:
    return sentence.get("last_revision") is not None


_REPEATED = re.compile("(.*)#([2-9]|[1-9][0-9]{1,8})", re.DOTALL)
_MADE_AT_ONCE = 256


def remade_documents(reader: Reader, sentences: str, numbers: Sequence[int], unit: str) -> Iterator[dict[str, Any]]:
    """Yield the documents with these numbers, made from the sentences in the index `sentences`.

    They count as changed, so reading their source again brings the true ones back.
    """
    for begin in range(0, len(numbers), _MADE_AT_ONCE):
        made: dict[int, dict[str, Any]] = {}
        asked = numbers[begin : begin + _MADE_AT_ONCE]
        for hits in reader.look_up(sentences, "document_number", asked, Fields(source=True)):
            for row in (hit["_source"] for hit in hits):
                document = made.setdefault(row["document_number"], _document(row))
                document["kept"] += 1
                position = 0 if unit == "record" else row["number"] & POSITION_MASK
                document["sentences"] = max(document["sentences"], position + 1)
        yield from (made[number] for number in sorted(made))


def _document(sentence: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a sentence, as far as this tells."""
    source, identity = sentence["source"], sentence["document"]
    qualified = identity.startswith(f"{source}/")
    key, occurrence = identity.removeprefix(f"{source}/"), 1
    if (repeated := _REPEATED.fullmatch(key)) is not None:
        key, occurrence = repeated[1], int(repeated[2])
    return {
        "number": sentence["document_number"],
        "source_number": sentence.get("source_number") or 0,
        "source": source,
        "qualified": qualified,
        "key": key,
        "occurrence": occurrence,
        "id": identity,
        "title": sentence.get("title"),
        "content": CHANGED,
        "sentences": 0,
        "kept": 0,
        "place": sentence.get("place"),
        "language": sentence.get("language"),
    }
