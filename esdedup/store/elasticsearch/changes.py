"""Work out what changes when a run ends or documents are removed: repeated ids, replaced documents, affected texts.

The names and contents of documents are compared in a private database. The resulting changes go into a journal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.database import Database
from esdedup.matching.groups import token_lists
from esdedup.store.elasticsearch.generations import OpenGeneration
from esdedup.store.elasticsearch.journal import Journal
from esdedup.store.elasticsearch.reading import ASKED, Fields, Hits, integers
from esdedup.store.elasticsearch.rows import (
    NAMED,
    POSITION_BITS,
    POSITION_MASK,
    numbers,
    table_of_hits,
    token_rows,
)
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.rereading import MANY, Reread, compare_documents
from esdedup.store.schemas import DATES

_DOCUMENT: pa.Schema = pa.schema(
    [
        ("number", pa.int32()),
        ("source", pa.int32()),
        ("key", pa.string()),
        ("occurrence", pa.int32()),
        ("content", pa.uint64()),
        ("place", pa.int64()),
    ]
)
_FIELDS = {"source": "source_number"}
_DOCUMENT_FIELDS = Fields(source=True)
_HELD = Fields(source=("number", "document_number", "hash", "tokens"))
_DATED = Fields(source=("number", "document_number", *DATES))


class Changes:
    """Works out the effects of a change of documents on one store."""

    def __init__(self, db: Database, opened: OpenGeneration, journal: Journal) -> None:
        self._db = db
        self._reader = opened.reader
        self._names = opened.names
        self._journal = journal
        self._unit = opened.signing.unit
        self._tokens = opened.signing.tokens

    def commit(
        self, first: int, sources: Sequence[SourceCheckpoint], *, by_place: bool, remember: bool, complete: bool
    ) -> tuple[Reread, int]:
        """Write down the end of a run whose documents are numbered from `first`, as `compare_documents` does.

        With `remember`, also write down the affected texts and return their number.
        """
        self._load(self._reader.read_all(self._names["documents"], _DOCUMENT_FIELDS, _from(first)))
        self._load(self._old_documents(first, every=complete))
        read = compare_documents(self._db, first, sources, self._date_versions, by_place=by_place, complete=complete)
        same, replaced = (self._numbers(f"SELECT {end} FROM outdated WHERE {which}") for end, which in _ENDS)
        superseded = self._numbers("SELECT number FROM superseded")
        dropped = np.concatenate([same, superseded])
        stale = self._mark_stale_reading(first, dropped, replaced) if remember else 0
        self._rename_repeats()
        redated = self._date_again(same)
        stale += self._mark_stale_dated(redated) if remember else 0
        self._journal.forget(dropped.tolist())
        self._journal.forget(replaced.tolist())
        return read, stale

    def remove(self, ids: Sequence[str], *, remember: bool) -> tuple[int, list[str], int]:
        """Write down the removal of documents. Return how many there are, the unknown ids, and the number of affected
        texts.
        """
        fields = Fields(source=True)
        hits = [hit for some in self._reader.look_up(self._names["documents"], "id", list(ids), fields) for hit in some]
        found = np.unique(np.array([hit["_source"]["number"] for hit in hits], np.int64))
        unknown = sorted(set(ids) - {hit["_source"]["id"] for hit in hits}, key=str.encode)
        stale = 0
        if remember:
            self._db.execute(_MOVES)
            self._note_moves(found, "old", -1)
            stale = self._mark_stale(first=None)
        self._journal.forget(found.tolist())
        return len(found), unknown, stale

    # -- documents ------------------------------------------------------------------------------------------

    def _load(self, pages: Iterator[Hits]) -> None:
        for hits in pages:
            self._db.insert("documents", table_of_hits(hits, _DOCUMENT, _FIELDS))

    def _date_versions(self) -> None:
        """Make the table `dated` of `compare_documents`."""
        self._db.execute("CREATE OR REPLACE TEMP TABLE dated (number INTEGER, revision BIGINT)")
        versions = self._numbers("SELECT number FROM versions")
        for hits in self._reader.look_up(self._names["sentences"], "document_number", versions.tolist(), _DATED):
            rows = {
                "number": numbers(hits, "document_number").astype(np.int32),
                "revision": pa.array([hit["_source"].get("last_revision") for hit in hits], pa.int64()),
            }
            self._db.insert("dated", pa.table(rows))
        self._db.execute(
            "CREATE OR REPLACE TEMP TABLE dated AS SELECT number, max(revision) AS revision FROM dated GROUP BY number"
        )

    def _old_documents(self, first: int, *, every: bool) -> Iterator[Hits]:
        index = self._names["documents"]
        before = {"range": {"number": {"lt": first}}}
        held, asked = self._reader.count(index, before), self._db.count("SELECT count(*) FROM documents")
        if not held:
            return
        # of many, looking the old ones up by name is faster than reading all
        if every or held < MANY * asked:
            yield from self._reader.read_all(index, _DOCUMENT_FIELDS, before)
            return
        keys = [key for (key,) in self._db.rows("SELECT DISTINCT key FROM documents")]
        yield from self._reader.look_up(index, "key", keys, _DOCUMENT_FIELDS, before)

    def _rename_repeats(self) -> None:
        """Rename the second document with an id, and its sentences, to ID#2, and so on."""
        repeats: dict[int, int] = dict(
            self._db.rows(
                "SELECT number, n FROM repeats WHERE number NOT IN (SELECT new FROM outdated WHERE same)"  # removed
            )
        )
        renamed: dict[int, str] = {}
        for hits in self._reader.look_up(self._names["documents"], "number", list(repeats), Fields(source=True)):
            for document in (hit["_source"] for hit in hits):
                number = document["number"]
                occurrence = repeats[number]
                renamed[number] = name = f"{document['id']}#{occurrence}"
                self._journal.put("documents", [(str(number), document | {"occurrence": occurrence, "id": name})])
        for hits in self._reader.look_up(self._names["sentences"], "document_number", list(renamed), NAMED):
            for whole in (hit["_source"] for hit in hits):
                name = renamed[whole["document_number"]]
                identity = name if self._unit == "record" else f"{name}:{whole['position']}"
                self._journal.put("sentences", [(str(whole["number"]), whole | {"id": identity, "document": name})])

    def _date_again(self, same: Numbers) -> list[int]:
        """Copy new dates to unchanged documents: they may have been read from other revisions. Return their numbers."""
        redated: list[int] = []
        index = self._names["sentences"]
        if not len(same) or not self._reader.count(index, {"exists": {"field": "revision"}}):
            return redated
        olds = dict(self._db.rows("SELECT new, old FROM outdated WHERE same"))
        for begin in range(0, len(same), ASKED):
            asked = same[begin : begin + ASKED].tolist()
            now = {
                _place(hit, olds[hit["_source"]["document_number"]]): _dates(hit)
                for hits in self._reader.look_up(index, "document_number", asked, _DATED)
                for hit in hits
            }
            then = {
                hit["_source"]["number"]: _dates(hit)
                for hits in self._reader.look_up(index, "document_number", [olds[one] for one in asked], _DATED)
                for hit in hits
            }
            changed = [number for number, dates in now.items() if then.get(number, dates) != dates]
            redated += changed
            for hits in self._reader.look_up(index, "number", changed, NAMED):
                for whole in (hit["_source"] for hit in hits):
                    self._journal.put("sentences", [(str(whole["number"]), whole | now[whole["number"]])])
        return redated

    # -- texts ----------------------------------------------------------------------------------------------

    def _mark_stale_reading(self, first: int, same: Numbers, replaced: Numbers) -> int:
        self._db.execute(_MOVES)
        index, query = self._names["sentences"], _from(first << POSITION_BITS)
        for hits in self._reader.read_all(index, _HELD, query):
            documents = numbers(hits, "document_number")
            kept = ~np.isin(documents, same)
            self._note([hit for hit, keep in zip(hits, kept, strict=True) if keep], documents[kept], 1)
        self._note_moves(replaced, "new", -1)
        return self._mark_stale(first)

    def _note_moves(self, moved: Numbers, end: str, copies: int) -> None:
        """Record the sentences of documents; those of replaced ones under the number of the replacement."""
        by_number = dict(self._db.rows("SELECT old, new FROM outdated WHERE NOT same")) if end == "new" else {}
        for hits in self._reader.look_up(self._names["sentences"], "document_number", moved, _HELD):
            documents = [by_number.get(number, number) for number in numbers(hits, "document_number").tolist()]
            self._note(hits, np.array(documents, np.int64), copies)

    def _note(self, hits: Hits, documents: Numbers, copies: int) -> None:
        if not hits:
            return
        rows = {
            "hash": numbers(hits, "hash"),
            "document": documents,
            "copies": np.full(len(hits), copies, np.int32),
            "tokens": token_lists(token_rows(hits, self._tokens)),
        }
        self._db.insert("moves", pa.table(rows))

    def _mark_stale(self, first: int | None) -> int:
        """Write down the texts of `moves`, and whether the last scan had them. Return their number.

        If a document has as many copies of a text as before, only the place may have changed: the text is `renamed`. A
        text that was already stale keeps its first entry.
        """
        moved = self._db.table(
            "SELECT hash, bool_and(copies = 0) AS renamed, any_value(tokens) AS tokens, bool_or(gone) AS gone FROM ("
            "SELECT hash, document, sum(copies) AS copies, any_value(tokens) AS tokens, bool_or(copies < 0) AS gone "
            "FROM moves GROUP BY hash, document) GROUP BY hash ORDER BY hash"
        )
        texts = moved["hash"].to_numpy()
        known: set[int] = set(moved["hash"].filter(moved["gone"]).to_pylist())
        if first is not None:
            before = {"range": {"number": {"lt": first << POSITION_BITS}}}
            for hits in self._reader.first_of_each(
                self._names["sentences"], "hash", texts, Fields(columns=("hash",)), query=before
            ):
                known |= set(integers(hits, "hash").tolist())
        fields = Fields(source=True)
        noted = {
            hit["_source"]["hash"]: hit["_source"]
            for hits in self._reader.look_up(self._names["stale"], "hash", texts, fields)
            for hit in hits
        }
        # an unchanged text may have a new sentence number: its origin is worked out again
        dated = self._dated(moved["hash"].filter(moved["renamed"]).to_numpy())
        for text, renamed, tokens in zip(
            texts.tolist(), moved["renamed"].to_pylist(), moved["tokens"].to_pylist(), strict=True
        ):
            renamed = renamed and text not in dated
            old = noted.get(text)
            existed = text in known if old is None else old["existed"]
            renamed = renamed and (old is None or old["renamed"])
            document = {"hash": text, "existed": existed, "renamed": renamed, "tokens": tokens}
            self._journal.put("stale", [(str(text), document)])
        return len(texts)

    def _mark_stale_dated(self, sentences: list[int]) -> int:
        """Write down the texts of sentences whose first date changed, if this matters. Return their number."""
        texts: dict[int, list[int]] = {}
        for hits in self._reader.look_up(self._names["sentences"], "number", sentences, _HELD):
            held = token_lists(token_rows(hits, self._tokens)).to_pylist()
            texts |= {hit["_source"]["hash"]: tokens for hit, tokens in zip(hits, held, strict=True)}
        dated = self._dated(np.array(sorted(texts), np.int64))
        for text in sorted(dated):
            document = {"hash": text, "existed": True, "renamed": False, "tokens": texts[text]}
            self._journal.put("stale", [(str(text), document)])
        return len(dated)

    def _dated(self, texts: Numbers) -> set[int]:
        """Return those of these texts that are in clusters with a known origin."""
        fields, known = Fields(columns=("hash",)), {"exists": {"field": "copies"}}
        pages = self._reader.first_of_each(self._names["members"], "hash", texts, fields, query=known)
        return {text for hits in pages for text in integers(hits, "hash").tolist()}

    def _numbers(self, query: str) -> Numbers:
        return np.array([row[0] for row in self._db.rows(query)], np.int64)


_ENDS = (("new", "same"), ("old", "NOT same"))

_MOVES = "CREATE TABLE moves (hash BIGINT, document BIGINT, copies INTEGER, tokens BIGINT[])"


def _from(number: int) -> dict[str, Any]:
    return {"range": {"number": {"gte": number}}}


def _dates(hit: dict[str, Any]) -> dict[str, Any]:
    return {name: hit["_source"].get(name) for name in DATES}


def _place(hit: dict[str, Any], document: int) -> int:
    """Return the number of the sentence at the same position of another document."""
    position: int = hit["_source"]["number"] & POSITION_MASK
    return document << POSITION_BITS | position
