"""Questions to the embedded store: who shares these tokens, who begins like this, what matches the new documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers, table_of_rows
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.store.duckdb.changes import START_CHARS, start_keys
from esdedup.store.duckdb.lineage import moment
from esdedup.store.duckdb.results import rank_members, sentence_id
from esdedup.store.protocol import MEMBERSHIPS, SENTENCES

SOURCE_HOMES = "SELECT number, min(number) OVER (PARTITION BY name, qualified) AS home, name FROM sources"
"""Files of one folder share their source's name: together they are one home."""

_HEEDED_TEXTS = """
SELECT hash, cluster FROM (SELECT hash FROM cluster_texts UNION SELECT a FROM pairs UNION SELECT b FROM pairs)
LEFT JOIN cluster_texts USING (hash) LEFT JOIN clusters ON id = cluster WHERE NOT coalesce(ignored, false)
"""
"""Texts that have pairs or copies, unless their cluster is ignored."""

_KEPT_SENTENCES = 5_000_000

_ONE_BY_ONE = 64  # tokens: a query that names each takes more than twice as long to plan for twice as many


class Questions:
    """Answers questions about single sentences. While a store is open to read only, it cannot change: where its
    texts stand is then kept in memory, 24 bytes a sentence, if there are not too many."""

    def __init__(self, db: Database, unit: str, *, read_only: bool) -> None:
        self._db = db
        self._unit = unit
        self._keep = read_only
        self._sources: dict[int, tuple[str, str]] = {}
        self._hashes: Hashes | None = None  # sorted
        self._rows = np.empty(0, np.int64)
        self._documents: Numbers = np.empty(0, np.int64)

    def sharing(self, tokens: Sequence[int], most: int | None) -> pa.Table:
        """As `esdedup.store.protocol.Store.sentences_sharing`: by how many tokens they hold, then by hash."""
        if len(tokens) <= _ONE_BY_ONE:
            # of the postings, which stand in the order of tokens, little is then read
            one = "SELECT hash FROM postings WHERE token = ?"
            near = self._db.arrays(" UNION ALL ".join([one] * len(tokens)), tokens)
        else:
            near = self._db.arrays(
                "SELECT hash FROM postings SEMI JOIN (SELECT unnest(?::BIGINT[]) AS token) USING (token)", [tokens]
            )
        hashes, held = np.unique(near["hash"], return_counts=True)
        if most is not None:
            hashes = hashes[np.lexsort((hashes.view(np.int64), -held))][:most]  # as a server orders hashes: signed
        return self._of_texts(hashes, most)

    def starting(self, folded: str, limit: int) -> pa.Table:
        """The first `limit` sentences by (text, id) whose case-folded text begins with `folded`."""
        low = start_keys(pa.chunked_array([[folded]], pa.string()))[0].as_py()
        missing = 8 - len(folded.encode()[:8])
        starts = self._db.table(
            "SELECT start, hash FROM starts WHERE key BETWEEN ? AND ? ORDER BY start",
            [low, low + (1 << 8 * missing) - 1],
        )
        beginnings = "\n".join(starts["start"].to_pylist()).casefold().split("\n") if starts.num_rows else []
        head = folded[:START_CHARS]
        # the fold of a start may be longer than the start, never shorter
        fits = [at for at, text in enumerate(beginnings) if text.startswith(head[: len(text)])]
        found = SENTENCES.empty_table()
        step = max(limit, 64)
        for begin in range(0, len(fits), step):
            some = starts.take(pa.array(fits[begin : begin + step]))
            rows = self._of_texts(some["hash"].to_numpy())
            held = [text.casefold().startswith(folded) for text in rows["text"].to_pylist()]
            found = pa.concat_tables([found, rows.filter(pa.array(held, pa.bool_()))])
            # texts whose first characters are the same as the last one's may come in any order
            if found.num_rows >= limit and not _tied(starts, fits, begin + step):
                break
        named = list(zip(found["text"].to_pylist(), found["id"].to_pylist(), strict=True))
        order = sorted(range(found.num_rows), key=lambda row: named[row])
        return found.take(pa.array(order[:limit], pa.int64()))

    def named(self, ids: Sequence[str]) -> pa.Table:
        """The sentences with these ids."""
        asked: list[tuple[str, int]] = []
        for identity in ids:
            document, _, position = (identity, "", "0") if self._unit == "record" else identity.rpartition(":")
            if re.fullmatch("0|[1-9][0-9]{0,8}", position):
                asked.append((document, int(position)))
        found = self._db.arrays(
            """
            WITH asked AS (SELECT unnest(?::VARCHAR[]) AS id, unnest(?::INTEGER[]) AS position),
            meant AS (SELECT number, position FROM named JOIN asked USING (id))
            SELECT s.rowid AS row, s.document::BIGINT AS document FROM sentences s
            JOIN meant m ON m.number = s.document AND m.position = s.position
            """,
            [[document for document, _ in asked], [position for _, position in asked]],
        )
        return self._named(found["row"], found["document"])

    def _of_texts(self, hashes: Hashes, most: int | None = None) -> pa.Table:
        """The sentences with these texts, or the first so many of them in the order of the texts."""
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
        """Sentences by the numbers of their rows, in that order, with their names.

        Both are asked for by number, one after the other: a join would read all texts, or all names.
        """
        names = self._names(documents)
        found = {}
        for row, document, position, *rest in self._db.rows(
            "SELECT rowid, document, position, text, revision, timestamp, hash FROM sentences "
            "WHERE rowid IN (SELECT unnest(?::BIGINT[]))",
            [rows.tolist()],
        ):
            source, name, title = names[document]
            identity = name if self._unit == "record" else f"{name}:{position}"
            found[row] = (identity, source, name, title, position, *rest)
        return table_of_rows([found[row] for row in rows.tolist()], SENTENCES)

    def _names(self, documents: Numbers) -> dict[int, tuple[str, str, str | None]]:
        """Source, id and title of each document, as the view `named` has them."""
        if not self._keep or not self._sources:
            told = self._db.rows("SELECT number, name, qualified FROM sources")
            self._sources = {number: (name, f"{name}/" if qualified else "") for number, name, qualified in told}
        names = {}
        for number, source, key, occurrence, title in self._db.rows(
            "SELECT number, source, key, occurrence, title FROM documents "
            "WHERE number IN (SELECT unnest(?::INTEGER[]))",
            [np.unique(documents).tolist()],
        ):
            name, before = self._sources[source]
            names[number] = (name, before + key + (f"#{occurrence}" if occurrence > 1 else ""), title)
        return names


def _tied(starts: pa.Table, fits: list[int], end: int) -> bool:
    return end < len(fits) and bool(starts["start"][fits[end - 1]] == starts["start"][fits[end]])


def new_matches(db: Database, unit: str, first: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """Sentences of documents from number `first` on that match another: how many, and the first `limit`."""
    db.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE arrived AS
        SELECT s.document, s.position, s.hash FROM sentences s JOIN ({_HEEDED_TEXTS}) USING (hash)
        WHERE s.document >= {int(first)}
        """
    )
    count = db.count("SELECT count(*) FROM arrived")
    db.execute(f"CREATE OR REPLACE TEMP TABLE shown AS SELECT * FROM arrived ORDER BY document, position LIMIT {limit}")
    db.execute(
        """
        CREATE OR REPLACE TEMP TABLE partners AS
        SELECT hash, arg_max(partner, (coalesce(jaccard, 0), -partner::HUGEINT)) AS partner, max(jaccard) AS jaccard
        FROM (SELECT a AS hash, b AS partner, jaccard FROM pairs UNION ALL SELECT b, a, jaccard FROM pairs)
        SEMI JOIN shown USING (hash) GROUP BY hash
        """
    )
    rank_members(db, unit, "faces", "SELECT hash FROM shown UNION SELECT partner AS hash FROM partners", few=True)
    rows = db.rows(
        """
        SELECT me.id, me.text, coalesce(twin.id, other.id), coalesce(twin.text, other.text),
            CASE WHEN twin.id IS NULL THEN p.jaccard ELSE 1.0 END
        FROM shown a JOIN faces me ON me.hash = a.hash AND me.number = a.document AND me.position = a.position
        LEFT JOIN faces twin ON twin.hash = me.hash AND twin.turn = CASE WHEN me.turn = 1 THEN 2 ELSE 1 END
        LEFT JOIN partners p ON p.hash = a.hash LEFT JOIN faces other ON other.hash = p.partner AND other.turn = 1
        ORDER BY a.document, a.position
        """
    )
    names = ("id", "text", "match", "match_text", "jaccard")
    return count, [
        dict(zip(names, (*row[:4], None if row[4] is None else round(row[4], 6)), strict=True)) for row in rows
    ]


def memberships(db: Database, unit: str) -> Iterator[pa.RecordBatch]:
    """Every sentence of every cluster that is not ignored, of `MEMBERSHIPS`."""
    batches = db.batches(
        f"""
        SELECT s.hash, c.cluster, k.kind, h.home AS source, d.source AS mark, s.document, d.place, s.position,
            {sentence_id(unit)} AS id, length(s.text)::INTEGER AS length
        FROM sentences s JOIN ({_HEEDED_TEXTS}) c USING (hash)
        JOIN named n ON n.number = s.document JOIN documents d ON d.number = s.document
        JOIN ({SOURCE_HOMES}) h ON h.number = d.source
        LEFT JOIN clusters k ON k.id = c.cluster
        """
    )
    return (batch.cast(MEMBERSHIPS) for batch in batches)


def copiers(db: Database) -> tuple[dict[str | None, int], int]:
    """How many copies from page to page each contributor has added; and sentences of clusters without a time."""
    copies = db.rows(
        "SELECT CASE WHEN n.history THEN s.contributor END AS who, count(*) FROM origins o "
        "JOIN clusters k ON k.id = o.cluster AND NOT k.ignored JOIN sentences s USING (document, position) "
        "JOIN named n ON n.number = s.document WHERE o.copied GROUP BY who"
    )
    undated = db.count(
        "SELECT count(*) FROM sentences SEMI JOIN (SELECT hash FROM cluster_texts JOIN clusters ON id = cluster "
        f"WHERE NOT ignored) USING (hash) WHERE {moment('timestamp')} IS NULL"
    )
    return dict(copies), undated


def homes(db: Database, by: str) -> Iterator[pa.RecordBatch]:
    """Rows (home, id, title, sentences) of the documents or sources."""
    if by == "documents":
        return db.batches(
            "SELECT n.number AS home, n.id, n.title, s.sentences FROM named n JOIN "
            "(SELECT document, count(*) AS sentences FROM sentences GROUP BY document) s ON s.document = n.number"
        )
    return db.batches(
        f"SELECT h.home, any_value(h.name) AS id, NULL::VARCHAR AS title, count(*) AS sentences FROM sentences s "
        f"JOIN documents d ON d.number = s.document JOIN ({SOURCE_HOMES}) h ON h.number = d.source GROUP BY h.home"
    )
