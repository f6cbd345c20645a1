"""Look up sentences of a store in a file by their texts and ids."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, run_starts, table_of_rows
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.store.corpus import PLACES, Filters, SentenceQuery
from esdedup.store.naming import NAMED
from esdedup.store.schemas import SENTENCES

_KEPT_SENTENCES = 5_000_000

MOST_LOOKED_AT = 10_000
"""So many sentences of a text are looked at to find those of a source, document or language."""

WITHIN = f"""
JOIN {NAMED} n ON n.number = s.document
WHERE (? IS NULL OR s.language = ?) AND (? IS NULL OR n.source = ?) AND (? IS NULL OR n.id = ?)
"""
"""SQL for sentences `s` that pass filters."""


class SentenceLookup:
    """Finds sentences by their texts and ids.

    A read-only store cannot change. The places of its texts are then kept in memory, 24 bytes for each sentence, if
    there are not too many.
    """

    def __init__(self, db: Database, unit: str, *, read_only: bool) -> None:
        self._db = db
        self._unit = unit
        self._keep = read_only
        self._sources: dict[int, tuple[str, str]] = {}
        self._hashes: Hashes | None = None  # sorted
        self._rows = np.empty(0, np.int64)
        self._documents: Numbers = np.empty(0, np.int64)

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
        if not filters.chosen and self._held():
            begins, ends = self._spans(asked)
            documents = [len(np.unique(self._documents[low:high])) for low, high in zip(begins, ends, strict=True)]
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
        return self._named(found["row"], found["document"], {})

    def _of_texts(self, hashes: Hashes, texts: Mapping[int, str], most: int | None) -> pa.Table:
        """Return the sentences with these texts, in the order of the texts, at most so many of each."""
        if not self._held():
            found = self._db.arrays(
                "SELECT s.rowid AS row, document::BIGINT AS document FROM sentences s "
                "JOIN (SELECT unnest(?::UBIGINT[]) AS hash, unnest(?::INTEGER[]) AS turn) USING (hash) "
                "QUALIFY row_number() OVER (PARTITION BY turn ORDER BY s.rowid) <= ? ORDER BY turn, row",
                [hashes.tolist(), list(range(len(hashes))), sys.maxsize if most is None else most],
            )
            return self._named(found["row"], found["document"], texts)
        begins, ends = self._spans(hashes)
        if most is not None:
            ends = np.minimum(ends, begins + most)
        at = np.concatenate([np.empty(0, np.int64), *map(np.arange, begins, ends)]).astype(np.int64)
        return self._named(self._rows[at], self._documents[at], texts)

    def _held(self) -> bool:
        """Whether the places of all texts are in memory."""
        if self._keep and self._hashes is None:
            self._keep = self._db.count("SELECT count(*) FROM sentences") <= _KEPT_SENTENCES
            if self._keep:
                held = self._db.arrays(
                    "SELECT rowid AS row, document::BIGINT AS document, hash FROM sentences ORDER BY hash, row"
                )
                self._rows, self._documents = held["row"], held["document"]
                self._hashes = held["hash"]  # last: another thread may look
        return self._keep

    def _spans(self, hashes: Hashes) -> tuple[Numbers, Numbers]:
        assert self._hashes is not None, "the places are in memory"
        return np.searchsorted(self._hashes, hashes), np.searchsorted(self._hashes, hashes, "right")

    def _named(self, rows: Numbers, documents: Numbers, texts: Mapping[int, str]) -> pa.Table:
        """Return sentences by row number, in that order, with their names. `texts` are those that are known, by hash.

        Both are looked up by number, one after the other: a join would read all texts, or all names. To read the text
        of a row takes longer than all else of it.
        """
        names = self._names(documents)
        found = {}
        for row, document, position, text, *rest in self._db.rows(
            f"SELECT rowid, document, position, {'NULL' if texts else 'text'}, revision, timestamp, language, hash "
            "FROM sentences WHERE rowid IN (SELECT unnest(?::BIGINT[]))",
            [rows.tolist()],
        ):
            source, name, title = names[document]
            identity = name if self._unit == "record" else f"{name}:{position}"
            found[row] = (identity, source, name, title, position, texts.get(rest[-1], text), *rest)
        return table_of_rows([found[row] for row in rows.tolist()], SENTENCES)

    def _names(self, documents: Numbers) -> dict[int, tuple[str, str, str | None]]:
        """Return source, id and title of each document, as `NAMED` does."""
        if not self._keep or not self._sources:
            rows = self._db.rows("SELECT number, name, qualified FROM sources")
            self._sources = {number: (name, f"{name}/" if qualified else "") for number, name, qualified in rows}
        names = {}
        for number, source, key, occurrence, title in self._db.rows(
            "SELECT number, source, key, occurrence, title FROM documents "
            "WHERE number IN (SELECT unnest(?::INTEGER[]))",
            [np.unique(documents).tolist()],
        ):
            name, before = self._sources[source]
            names[number] = (name, before + key + (f"#{occurrence}" if occurrence > 1 else ""), title)
        return names


def of_filters(filters: Filters) -> list[str | None]:
    """Return the values for `WITHIN`."""
    return [value for value in (filters.language, filters.source, filters.document) for _ in range(2)]
