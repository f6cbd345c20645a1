"""Look up sentences of a store in a file by their texts and ids."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, run_starts, table_of_rows
from esdedup.store.corpus import PLACES, Filters, SentenceQuery
from esdedup.store.duckdb.ledger import DamagedError
from esdedup.store.naming import NAMED
from esdedup.store.schemas import SENTENCES

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.columns.database import Database
    from esdedup.columns.hashing import Hashes

MOST_HELD = 5_000_000


class HeldSentences:
    """All sentences in the order of their texts, those of one text in reading order. They take about 60 bytes each, and
    three times as much while they are read.
    """

    def __init__(self, db: Database) -> None:
        read = db.table(
            "SELECT rowid AS row, document::BIGINT AS document, hash, position, revision, timestamp, language "
            "FROM sentences"
        ).combine_chunks()
        if read["document"].null_count or read["hash"].null_count:
            raise DamagedError("a sentence has no document or no hash")
        order = np.lexsort((read["row"].to_numpy(), read["hash"].to_numpy()))
        self.documents, self._hashes = (read[name].to_numpy()[order] for name in ("document", "hash"))
        others = read.select(["position", "revision", "timestamp", "language"])
        languages = others["language"].combine_chunks().dictionary_encode()
        self._others = others.set_column(3, "language", languages).take(pa.array(order))

    def spans(self, texts: Hashes) -> tuple[Numbers, Numbers]:
        """Return where the sentences with each of these texts, given by hash, begin and end."""
        return np.searchsorted(self._hashes, texts), np.searchsorted(self._hashes, texts, "right")

    def numbered(self, places: Numbers) -> list[tuple[Any, ...]]:
        """Return document, position, revision, timestamp, language and hash of sentences."""
        columns = [column.to_pylist() for column in self._others.take(pa.array(places)).columns]
        return list(zip(self.documents[places].tolist(), *columns, self._hashes[places].tolist(), strict=True))


_OF_COPIES: WeakValueDictionary[Path, HeldSentences] = WeakValueDictionary()


def held_of_copy(db: Database, copy: Path) -> HeldSentences:
    """Return the sentences of a copy of a store, which all who have it open share."""
    found = _OF_COPIES.get(copy)
    return _OF_COPIES.setdefault(copy, HeldSentences(db)) if found is None else found


_KEPT_NAMES = 20_000
_FEW = 4

MOST_LOOKED_AT = 10_000
"""So many sentences of a text are looked at to find those of a source, document or language."""

WITHIN = f"""
JOIN {NAMED} n ON n.number = s.document
WHERE (? IS NULL OR s.language = ?) AND (? IS NULL OR n.source = ?) AND (? IS NULL OR n.id = ?)
"""
"""SQL for sentences `s` that pass filters."""


class SentenceLookup:
    """Finds sentences by their texts and ids.

    A read-only store cannot change. Its sentences are then held in memory, if there are not too many, and so are the
    last names of documents: who types finds the same ones with each key. To read all sentences takes longer than a few
    questions, so those of a store that is no `copy`, made to be asked often, are read only after these.
    """

    def __init__(self, db: Database, unit: str, *, read_only: bool, copy: Path | None) -> None:
        self._db = db
        self._unit = unit
        self._may_hold = read_only
        self._copy = copy
        self._asked = 0
        self._held: HeldSentences | None = None
        self._names: dict[int, tuple[str, str, str | None]] = {}

    def of_texts(self, query: SentenceQuery) -> pa.Table:
        """Return the sentences with the texts of a query."""
        hashes = np.array(query.hashes, np.uint64)
        chosen = query.filters.chosen
        found = self._of_texts(hashes, query.texts, MOST_LOOKED_AT if chosen else query.most)
        if not chosen:
            return found
        for name, value in chosen.items():
            found = found.filter(pc.equal(found[name], value))
        if query.most is None:
            return found
        texts = found["hash"].to_numpy()
        starts = run_starts(texts)
        nth = np.arange(len(texts)) - np.repeat(starts, np.diff(np.append(starts, len(texts))))
        return found.filter(pa.array(nth < query.most))

    def places(self, hashes: Hashes, filters: Filters) -> pa.Table:
        """Return in how many sentences and documents texts stand, as `PLACES`."""
        asked = np.unique(hashes)
        if not filters.chosen and (held := self._in_memory()) is not None:
            begins, ends = held.spans(asked)
            there = ends > begins
            asked, begins, ends = asked[there], begins[there], ends[there]
            documents = [len(np.unique(held.documents[low:high])) for low, high in zip(begins, ends, strict=True)]
            return pa.table([pa.array(asked), pa.array(ends - begins), pa.array(documents, pa.int64())], PLACES)
        return self._db.table(
            "SELECT hash, count(*) AS sentences, count(DISTINCT document) AS documents FROM sentences s "
            f"{WITHIN} AND hash IN (SELECT unnest(?::UBIGINT[])) GROUP BY hash",
            [*of_filters(filters), asked.tolist()],
        ).cast(PLACES)

    def named(self, ids: Sequence[str]) -> pa.Table:
        """Return the sentences with these ids."""
        asked: list[tuple[str, int]] = []
        for identity in ids:
            document, _, position = (identity, "", "0") if self._unit == "record" else identity.rpartition(":")
            if re.fullmatch("0|[1-9][0-9]{0,8}", position):
                asked.append((document, int(position)))
        found = self._db.arrays(
            f"""
            WITH asked AS (SELECT unnest(?::VARCHAR[]) AS id, unnest(?::INTEGER[]) AS position),
            meant AS (SELECT number, position FROM {NAMED} JOIN asked USING (id))
            SELECT s.rowid AS row, s.document::BIGINT AS document FROM sentences s
            JOIN meant m ON m.number = s.document AND m.position = s.position
            """,
            [[document for document, _ in asked], [position for _, position in asked]],
        )
        return self._read(found["row"], found["document"], {})

    def _of_texts(self, hashes: Hashes, texts: Mapping[int, str], most: int | None) -> pa.Table:
        """Return the sentences with these texts, in the order of the texts, at most so many of each."""
        held = self._in_memory() if texts else None  # the texts themselves are not
        if held is None:
            found = self._db.arrays(
                "SELECT s.rowid AS row, document::BIGINT AS document FROM sentences s "
                "JOIN (SELECT unnest(?::UBIGINT[]) AS hash, unnest(?::INTEGER[]) AS turn) USING (hash) "
                "QUALIFY row_number() OVER (PARTITION BY turn ORDER BY s.rowid) <= ? ORDER BY turn, row",
                [hashes.tolist(), list(range(len(hashes))), sys.maxsize if most is None else most],
            )
            return self._read(found["row"], found["document"], texts)
        begins, ends = held.spans(hashes)
        if most is not None:
            ends = np.minimum(ends, begins + most)
        at = np.concatenate([np.empty(0, np.int64), *map(np.arange, begins, ends)]).astype(np.int64)
        return self._shown(held.documents[at], held.numbered(at), texts)

    def _in_memory(self) -> HeldSentences | None:
        if not self._may_hold or self._held is not None:
            return self._held
        self._asked += 1
        if self._copy is not None or self._asked > _FEW:
            self._may_hold = self._db.count("SELECT count(*) FROM sentences") <= MOST_HELD
            if self._may_hold:
                self._held = HeldSentences(self._db) if self._copy is None else held_of_copy(self._db, self._copy)
        return self._held

    def _read(self, rows: Numbers, documents: Numbers, texts: Mapping[int, str]) -> pa.Table:
        """Return sentences by row number, in that order, with their names. `texts` are those that are known, by hash.

        Sentences and names are looked up by number, one after the other: a join would read all texts, or all names. To
        read the text of a row takes longer than all else of it.
        """
        read = self._db.rows(
            f"SELECT rowid, hash, {'NULL' if texts else 'text'}, document, position, revision, timestamp, language "
            "FROM sentences WHERE rowid IN (SELECT unnest(?::BIGINT[]))",
            [rows.tolist()],
        )
        texts = texts or {hash_: text for _, hash_, text, *_ in read}
        found = {row: (*others, hash_) for row, hash_, _, *others in read}
        return self._shown(documents, [found[row] for row in rows.tolist()], texts)

    def _shown(self, documents: Numbers, sentences: Iterable[tuple[Any, ...]], texts: Mapping[int, str]) -> pa.Table:
        """Return sentences (document, position, revision, timestamp, language and hash) with their names and texts."""
        names = self._named_documents(documents)
        found = []
        for document, position, *when, hash_ in sentences:
            source, name, title = names[document]
            identity = name if self._unit == "record" else f"{name}:{position}"
            found.append((identity, source, name, title, position, texts[hash_], *when, hash_))
        return table_of_rows(found, SENTENCES)

    def _named_documents(self, documents: Numbers) -> dict[int, tuple[str, str, str | None]]:
        """Return source, id and title of each document, as `NAMED` does."""
        asked, known = set(documents.tolist()), self._names
        names = {number: known[number] for number in asked.intersection(known)}
        if missing := list(asked.difference(names)):
            read = {
                number: (source, (f"{source}/" if qualified else "") + key + (f"#{nth}" if nth > 1 else ""), title)
                for number, source, qualified, key, nth, title in self._db.rows(
                    "SELECT d.number, s.name, s.qualified, d.key, d.occurrence, d.title FROM documents d "
                    "JOIN sources s ON s.number = d.source WHERE d.number IN (SELECT unnest(?::INTEGER[]))",
                    [missing],
                )
            }
            if self._held is not None:
                if len(self._names) + len(read) > _KEPT_NAMES:
                    self._names = {}
                self._names.update(list(read.items())[:_KEPT_NAMES])
            names |= read
        return names


def of_filters(filters: Filters) -> list[str | None]:
    """Return the values for `WITHIN`."""
    return [value for value in (filters.language, filters.source, filters.document) for _ in range(2)]
