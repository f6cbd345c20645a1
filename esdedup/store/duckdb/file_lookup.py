"""The lookup of a store in a file: in the folder STORE.lookup beside it, or in the user's cache.

It is made from the texts of the store, and belongs to one state of it. So it may be deleted at any time, and a store
that comes without one gets it at the first question.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.first_seen import FirstSeen
from esdedup.errors import StoreError
from esdedup.files import user_cache
from esdedup.lookup.gram_lists import MOST_TEXTS
from esdedup.lookup.lookup_folder import ENDING, LookupFolder, StoredTexts
from esdedup.lookup.search import NOTHING, Found, Lookup
from esdedup.lookup.text_blocks import TEXTS, DamagedLookupError, keys_of
from esdedup.lookup.text_rows import Rows, TextRows
from esdedup.store.duckdb.ledger import DamagedError
from esdedup.store.duckdb.sentence_lookup import WITHIN, of_filters

if TYPE_CHECKING:
    from esdedup.columns.database import Database
    from esdedup.columns.hashing import Hashes
    from esdedup.store.corpus import Question
    from esdedup.store.ledger import Ledger

_OVERFETCHED = 4
"""With filters, so many times more texts are looked up first."""

_ARRIVED = "FROM sentences WHERE document >= ?"

_FULL = (errno.ENOSPC, errno.EDQUOT)


def folders_of(store: Path) -> list[LookupFolder]:
    """Return where the lookup of a store may be: beside it, or in the user's cache."""
    path = store.resolve()
    folders = [LookupFolder(path.with_name(path.name + ENDING))]
    with suppress(RuntimeError):  # a user without a home
        named = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
        folders.append(LookupFolder(user_cache() / "lookups" / named))
    return folders


def delete_lookup(store: Path) -> None:
    """Delete the lookup of a store, wherever it is."""
    for folder in folders_of(store):
        folder.delete()


class _Opened(NamedTuple):
    state: str
    path: Path
    lookup: Lookup
    rows: TextRows


class FileLookup:
    """The lookup of the store in the file `store`, which `db` has open."""

    def __init__(self, db: Database, ledger: Ledger, store: Path) -> None:
        self._db = db
        self._ledger = ledger
        self._folders = folders_of(store)
        self._opened: _Opened | None = None

    def exists(self) -> bool:
        """See `Corpus.has_lookup`."""
        return any(folder.bytes() for folder in self._folders)

    def behind(self) -> int:
        """See `Corpus.lookup_behind`."""
        return 0 if self._found() is not None else max(1, self._db.count("SELECT count(*) FROM sentences"))

    def make(self, threads: int, follow: Callable[[int], None]) -> None:
        """See `Corpus.make_lookup`. Raise `StoreError` if it can be written nowhere."""
        reach = self._db.count("SELECT max(number) + 1 FROM documents")
        state = self._ledger.state()
        states = {*(self._ledger.get("states") or []), state}
        texts = StoredTexts(state, states, reach, self._novel, self._gone, self._rows())
        for number, folder in enumerate(self._folders):
            try:
                folder.update(texts, threads, follow)
            except OSError as error:
                if number == 0 and error.errno not in _FULL:
                    continue  # who may only read the store has a cache of their own
                raise StoreError(
                    f"{folder.path}: the lookup cannot be written: {error.strerror or error}; free disk space and run "
                    "the same command again"
                ) from error
            return
        raise StoreError(f"{self._folders[0].path}: the lookup cannot be written; make its folder writable")

    def _gone(self, known: Hashes) -> Hashes:
        self._db.create("known_texts", pa.table({"hash": known}), temporary=True)
        gone: Hashes = self._db.arrays("SELECT hash FROM known_texts ANTI JOIN sentences USING (hash)")["hash"]
        return gone

    def _novel(self, known: Hashes, first: int) -> Iterator[pa.RecordBatch]:
        count, end = self._db.row(f"SELECT count(*), coalesce(max(rowid) + 1, 0) {_ARRIVED}", [first])
        seen = FirstSeen(count)
        for batch in self._db.stream(f"SELECT hash {_ARRIVED}", [first]):
            _check_complete(batch)
            seen.note(batch["hash"].to_numpy())
        seen.settle(known)
        new = np.zeros(end, np.bool_)
        for batch in self._db.stream(f"SELECT hash, rowid {_ARRIVED}", [first]):
            new[batch["rowid"].to_numpy()] = seen.firsts(batch["hash"].to_numpy())
        for batch in self._db.stream(f"SELECT hash, text, rowid {_ARRIVED}", [first], rows=MOST_TEXTS):
            _check_complete(batch)
            kept = batch.filter(pa.array(new[batch["rowid"].to_numpy()]))
            if kept.num_rows:
                yield kept.drop_columns(["rowid"]).cast(TEXTS)

    def _rows(self) -> Rows:
        count = self._db.count("SELECT count(*) FROM sentences")
        query = "SELECT hash, rowid AS row FROM sentences WHERE hash BETWEEN ? AND ?"
        return Rows(count, self._end(), lambda low, high: self._db.stream(query, [low, high]))

    def _end(self) -> int:
        """Return a number that is higher than that of each row."""
        return self._db.count("SELECT max(rowid) + 1 FROM sentences")

    def _found(self) -> _Opened | None:
        """Return the lookup if it is up to date."""
        state = self._ledger.state()
        if self._opened is None or self._opened.state != state:
            there = ((folder.path, folder.read(state)) for folder in self._folders)
            end = self._end()
            found = ((path, read) for path, read in there if read is not None and read.rows.end == end)
            self._opened = next((_Opened(state, path, Lookup(each.segments), each.rows) for path, each in found), None)
        return self._opened

    def rows(self) -> TextRows | None:
        """Return the rows of texts, if the lookup is up to date."""
        found = self._found()
        return None if found is None else found.rows

    def _ask(self, ask: Callable[[Lookup], Found]) -> Found:
        found = self._found()
        assert found is not None, "the lookup is made before it is asked"
        try:
            return ask(found.lookup)
        except DamagedLookupError as error:
            raise StoreError(
                f"{found.path}: damaged; delete this folder, and the next question makes it again"
            ) from error

    def alike(self, question: Question, most: int, enough: float) -> Found:
        """See `Corpus.alike`."""
        filters = question.filters
        if filters.document is not None:
            return self._of_document(question)
        if not filters.chosen:
            return self._ask(lambda lookup: lookup.alike(question.grams, most, enough))
        found = self._ask(lambda lookup: lookup.alike(question.grams, _OVERFETCHED * most, enough))
        return self._passing(found, question, most)

    def beginning(self, question: Question, most: int) -> Found:
        """See `Corpus.beginning`."""
        squeezed = question.form.replace(" ", "")
        if not question.filters.chosen:
            return self._ask(lambda lookup: lookup.beginning(squeezed, most))
        if question.filters.document is not None:
            return self._of_document(question, squeezed.encode())
        found = self._ask(lambda lookup: lookup.beginning(squeezed, max(_OVERFETCHED * most, MOST_TEXTS)))
        return self._passing(found, question, most)

    def _passing(self, found: Found, question: Question, most: int) -> Found:
        """Return the first of the texts that pass the filters."""
        passed = self._db.arrays(
            f"SELECT DISTINCT hash FROM sentences s {WITHIN} AND hash IN (SELECT unnest(?::UBIGINT[]))",
            [*of_filters(question.filters), found.hashes.tolist()],
        )["hash"]
        passing = np.flatnonzero(np.isin(found.hashes, passed))
        kept = passing[:most]
        left_out = found.left_out + len(passing) - len(kept)
        return Found(found.hashes[kept], found.texts.take(pa.array(kept)), left_out)

    def _of_document(self, question: Question, beginning: bytes = b"") -> Found:
        """Return the texts of the document that is asked for, in their order: they are few."""
        rows = self._db.table(
            f"SELECT hash, any_value(text) AS text FROM sentences s {WITHIN} GROUP BY hash",
            of_filters(question.filters),
        )
        if not rows.num_rows:
            return NOTHING
        texts = rows["text"].combine_chunks().cast(pa.large_string())
        keys = keys_of(texts)
        kept = sorted((at for at in range(len(keys)) if keys[at].startswith(beginning)), key=lambda at: keys[at])
        return Found(rows["hash"].to_numpy()[kept], texts.take(pa.array(kept, pa.int64())))


def _check_complete(batch: pa.RecordBatch) -> None:
    if any(column.null_count for column in batch.columns):
        raise DamagedError("a sentence has no text or no hash")
