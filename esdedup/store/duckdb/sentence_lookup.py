"""Look up sentences of a store in a file by their tokens, beginnings and ids."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, table_of_rows
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.store.duckdb.changes import start_keys
from esdedup.store.naming import NAMED
from esdedup.store.schemas import SENTENCES, START_CHARS

_KEPT_SENTENCES = 5_000_000

_ONE_BY_ONE = 64  # tokens: planning a query with twice as many literals takes more than twice as long


class SentenceLookup:
    """Finds sentences by their tokens, beginnings and ids.

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

    def sharing(self, tokens: Sequence[int], most: int | None, language: str | None = None) -> pa.Table:
        """Return sentences with at least one of the tokens, or the `most` that share most; by their number, then by
        hash. With `language`, only those in it.
        """
        if len(tokens) <= _ONE_BY_ONE:
            # the postings are sorted by token, so little of them is read
            one = "SELECT hash FROM postings WHERE token = ?"
            near = self._db.arrays(" UNION ALL ".join([one] * len(tokens)), tokens)
        else:
            near = self._db.arrays(
                "SELECT hash FROM postings SEMI JOIN (SELECT unnest(?::BIGINT[]) AS token) USING (token)", [tokens]
            )
        found = near["hash"] if language is None else self._in_language(near["hash"], language)
        hashes, held = np.unique(found, return_counts=True)
        if most is not None:
            hashes = hashes[np.lexsort((hashes.view(np.int64), -held))][
                :most
            ]  # signed, in the same order as on a server
        if language is None:
            return self._of_texts(hashes, most)
        return _only(self._of_texts(hashes), language).slice(0, most)

    def _in_language(self, hashes: Hashes, language: str) -> Hashes:
        """Return those of these texts that a sentence in the language has, as often as given."""
        known = self._db.arrays(
            "SELECT DISTINCT hash FROM sentences SEMI JOIN (SELECT unnest(?::UBIGINT[]) AS hash) USING (hash) "
            "WHERE language = ?",
            [np.unique(hashes).tolist(), language],
        )
        return hashes[np.isin(hashes, known["hash"])]

    def starting(self, folded: str, limit: int | None, language: str | None = None) -> pa.Table:
        """Return the first `limit` sentences by (text, id) whose case-folded text begins with `folded`. With
        `language`, only those in it.
        """
        limit = sys.maxsize if limit is None else limit
        low = start_keys(pa.chunked_array([[folded]], pa.string()))[0].as_py()
        missing = 8 - len(folded.encode()[:8])
        starts = self._db.table(
            "SELECT start, hash FROM starts WHERE key BETWEEN ? AND ? ORDER BY start",
            [low, low + (1 << 8 * missing) - 1],
        )
        beginnings = "\n".join(starts["start"].to_pylist()).casefold().split("\n") if starts.num_rows else []
        head = folded[:START_CHARS]
        # case folding may make a prefix longer, never shorter
        fits = [at for at, text in enumerate(beginnings) if text.startswith(head[: len(text)])]
        found = SENTENCES.empty_table()
        step = max(limit, 64)
        for begin in range(0, len(fits), step):
            some = starts.take(pa.array(fits[begin : begin + step]))
            rows = _only(self._of_texts(some["hash"].to_numpy()), language)
            held = [text.casefold().startswith(folded) for text in rows["text"].to_pylist()]
            found = pa.concat_tables([found, rows.filter(pa.array(held, pa.bool_()))])
            # texts that share their first characters with the last one may come in any order
            if found.num_rows >= limit and not _tied(starts, fits, begin + step):
                break
        named = list(zip(found["text"].to_pylist(), found["id"].to_pylist(), strict=True))
        order = sorted(range(found.num_rows), key=lambda row: named[row])
        return found.take(pa.array(order[:limit], pa.int64()))

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
        return self._named(found["row"], found["document"])

    def _of_texts(self, hashes: Hashes, most: int | None = None) -> pa.Table:
        """Return the sentences with these texts, or the first `most` of them in the order of the texts."""
        if self._keep and self._hashes is None:
            self._keep = self._db.count("SELECT count(*) FROM sentences") <= _KEPT_SENTENCES
        if not self._keep:
            found = self._db.arrays(
                "SELECT rowid AS row, document::BIGINT AS document FROM sentences "
                "JOIN (SELECT unnest(?::UBIGINT[]) AS hash, unnest(?::INTEGER[]) AS turn) USING (hash) "
                f"ORDER BY turn, row {'' if most is None else f'LIMIT {int(most)}'}",
                [hashes.tolist(), list(range(len(hashes)))],
            )
            return self._named(found["row"], found["document"])
        if self._hashes is None:
            held = self._db.arrays(
                "SELECT rowid AS row, document::BIGINT AS document, hash FROM sentences ORDER BY hash, row"
            )
            self._hashes, self._rows, self._documents = held["hash"], held["row"], held["document"]
        ends = [np.searchsorted(self._hashes, hashes, side) for side in ("left", "right")]
        spans = [np.arange(begin, end) for begin, end in zip(*ends, strict=True)]
        at = np.concatenate([np.empty(0, np.int64), *spans]).astype(np.int64)[:most]
        return self._named(self._rows[at], self._documents[at])

    def _named(self, rows: Numbers, documents: Numbers) -> pa.Table:
        """Return sentences by row number, in that order, with their names.

        Both are looked up by number, one after the other: a join would read all texts, or all names.
        """
        names = self._names(documents)
        found = {}
        for row, document, position, *rest in self._db.rows(
            "SELECT rowid, document, position, text, revision, timestamp, language, hash FROM sentences "
            "WHERE rowid IN (SELECT unnest(?::BIGINT[]))",
            [rows.tolist()],
        ):
            source, name, title = names[document]
            identity = name if self._unit == "record" else f"{name}:{position}"
            found[row] = (identity, source, name, title, position, *rest)
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


def _only(sentences: pa.Table, language: str | None) -> pa.Table:
    return sentences if language is None else sentences.filter(pc.equal(sentences["language"], language))


def _tied(starts: pa.Table, fits: list[int], end: int) -> bool:
    return end < len(fits) and bool(starts["start"][fits[end - 1]] == starts["start"][fits[end]])
