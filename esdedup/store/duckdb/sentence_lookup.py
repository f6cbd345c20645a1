"""Look up sentences of a store in a file by their texts and ids."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import run_starts, table_of_rows
from esdedup.store.corpus import PLACES, Filters, SentenceQuery
from esdedup.store.duckdb.ledger import DamagedError
from esdedup.store.naming import NAMED
from esdedup.store.schemas import SENTENCES

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.columns.database import Database
    from esdedup.columns.hashing import Hashes
    from esdedup.lookup.text_rows import TextRows

_KEPT_NAMES = 20_000

MOST_LOOKED_AT = 10_000
"""So many sentences of a text are looked at to find those of a source, document or language."""

WITHIN = f"""
JOIN {NAMED} n ON n.number = s.document
WHERE (? IS NULL OR s.language = ?) AND (? IS NULL OR n.source = ?) AND (? IS NULL OR n.id = ?)
"""
"""SQL for sentences `s` that pass filters."""


_OF_ROWS = "WHERE rowid IN (SELECT unnest(?::BIGINT[]))"


class _Sentence(NamedTuple):
    document: int
    position: int
    text: str
    revision: int | None
    timestamp: str | None
    language: str | None
    hash: int


class SentenceLookup:
    """Finds sentences by their texts and ids.

    Those with a text are read by their rows, once the lookup is there, which has these. The last names of documents are
    held in memory: who types finds the same ones with each key.
    """

    def __init__(self, db: Database, unit: str, rows: Callable[[], TextRows | None], *, read_only: bool) -> None:
        self._db = db
        self._unit = unit
        self._rows = rows
        self._may_hold = read_only  # or names may change
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
        within, values = (WITHIN, of_filters(filters)) if filters.chosen else ("WHERE true", [])  # names take long
        within += " AND hash IN (SELECT unnest(?::UBIGINT[]))"
        values = [*values, asked.tolist()]
        if (listed := self._rows()) is not None:
            begins, ends = listed.spans(asked)
            if not (ends > begins).any():
                return PLACES.empty_table()
            if (ends - begins).sum() <= MOST_LOOKED_AT:
                rows, beginnings = listed.between(begins, ends)
                read = self._db.table(f"SELECT rowid, hash, document FROM sentences {_OF_ROWS}", [rows.tolist()])
                held = dict(zip(read["rowid"].to_pylist(), read["hash"].to_pylist(), strict=True))
                if _stand(listed, rows, beginnings, held):
                    if not filters.chosen:
                        return _counted(read.filter(pc.is_in(read["hash"], pa.array(asked))))
                    within += " AND s.rowid IN (SELECT unnest(?::BIGINT[]))"
                    values.append(rows.tolist())
        return self._db.table(
            "SELECT hash, count(*) AS sentences, count(DISTINCT document) AS documents "
            f"FROM sentences s {within} GROUP BY hash",
            values,
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
            SELECT s.rowid AS row FROM sentences s
            JOIN meant m ON m.number = s.document AND m.position = s.position
            """,
            [[document for document, _ in asked], [position for _, position in asked]],
        )["row"]
        return self._shown(self._read(found, {}).values())

    def _of_texts(self, hashes: Hashes, texts: Mapping[int, str], most: int | None) -> pa.Table:
        """Return the sentences with the texts, in the order of the texts, at most so many of each."""
        if (listed := self._rows()) is not None:
            begins, ends = listed.spans(hashes)
            shown = ends if most is None else np.minimum(ends, begins + most)
            if (shown - begins).sum() <= MOST_LOOKED_AT:
                rows, beginnings = listed.between(begins, shown)
                held = self._read(rows, texts)
                found = _chosen(hashes, rows, held, most)
                enough = [end == all_ or len(each) == most for each, end, all_ in zip(found, shown, ends, strict=True)]
                # else rows of other texts, whose hashes begin alike, took their places
                if all(enough) and _stand(listed, rows, beginnings, {row: each.hash for row, each in held.items()}):
                    return self._shown(chain.from_iterable(found))
        read = self._db.arrays(
            "SELECT s.rowid AS row FROM sentences s "
            "JOIN (SELECT unnest(?::UBIGINT[]) AS hash, unnest(?::INTEGER[]) AS turn) USING (hash) "
            "QUALIFY row_number() OVER (PARTITION BY turn ORDER BY s.rowid) <= ? ORDER BY turn, row",
            [hashes.tolist(), list(range(len(hashes))), sys.maxsize if most is None else most],
        )
        return self._shown(chain.from_iterable(_chosen(hashes, read["row"], self._read(read["row"], texts), most)))

    def _read(self, rows: Numbers, texts: Mapping[int, str]) -> dict[int, _Sentence]:
        """Return sentences by row number. `texts` are those that are known, by hash.

        Sentences and names are looked up by number, one after the other: a join would read all texts, or all names. To
        read the text of a row takes longer than all else of it.
        """
        read = self._db.rows(
            f"SELECT rowid, document, position, {'NULL' if texts else 'text'}, revision, timestamp, language, hash "
            f"FROM sentences {_OF_ROWS}",
            [rows.tolist()],
        )
        found = {row: _Sentence(*values) for row, *values in read}
        return {
            row: each._replace(text=texts[each.hash]) if each.hash in texts else each for row, each in found.items()
        }

    def _shown(self, sentences: Iterable[_Sentence]) -> pa.Table:
        """Return sentences with the names of their documents."""
        shown = list(sentences)
        names = self._named_documents({sentence.document for sentence in shown})
        rows = []
        for document, position, *others in shown:
            if document not in names:
                raise DamagedError("a sentence has a document that is not there")
            source, name, title = names[document]
            identity = name if self._unit == "record" else f"{name}:{position}"
            rows.append((identity, source, name, title, position, *others))
        return table_of_rows(rows, SENTENCES)

    def _named_documents(self, asked: set[int]) -> dict[int, tuple[str, str, str | None]]:
        """Return source, id and title of each document, as `NAMED` does."""
        known = self._names
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
            if self._may_hold:
                if len(self._names) + len(read) > _KEPT_NAMES:
                    self._names = {}
                self._names.update(list(read.items())[:_KEPT_NAMES])
            names |= read
        return names


def _stand(listed: TextRows, rows: Numbers, beginnings: Hashes, held: Mapping[int, int]) -> bool:
    """Whether the rows of a store still have the texts by which they are listed. `held` are their hashes."""
    if not all(row in held for row in rows.tolist()):
        return False
    return np.array_equal(listed.beginnings(np.array([held[row] for row in rows.tolist()], np.uint64)), beginnings)


def _counted(read: pa.Table) -> pa.Table:
    """Return in how many sentences and documents the texts of some rows stand, as `PLACES`."""
    counts = read.group_by("hash").aggregate([("document", "count"), ("document", "count_distinct")])
    return counts.rename_columns(PLACES.names).cast(PLACES)


def _chosen(hashes: Hashes, rows: Numbers, held: Mapping[int, _Sentence], most: int | None) -> list[list[_Sentence]]:
    """Return for each text those of the rows that have it, at most so many."""
    of_text: dict[int, list[_Sentence]] = {hash_: [] for hash_ in hashes.tolist()}
    for row in dict.fromkeys(rows.tolist()):  # texts whose hashes begin alike have rows in common
        if row in held and held[row].hash in of_text:
            of_text[held[row].hash].append(held[row])
    return [of_text[hash_][:most] for hash_ in hashes.tolist()]


def of_filters(filters: Filters) -> list[str | None]:
    """Return the values for `WITHIN`."""
    return [value for value in (filters.language, filters.source, filters.document) for _ in range(2)]
