"""The results of a scan as documents, and back into the tables of a private database: there, all stores read alike.

Documents are flat, each with the names and texts that a person wants to see beside it. Only what stands in pairs and
clusters is loaded, never the whole corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from esdedup.clustering.clusters import CLUSTER_TEXTS
from esdedup.columns.arrays import table_of_rows
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.store.classifying import FOUND, MEANINGS
from esdedup.store.elasticsearch.bulk import Action, put
from esdedup.store.elasticsearch.reading import Hits, Reader, Wanted, hashes, integers, signed
from esdedup.store.elasticsearch.rows import PAIR, POSITION_BITS, POSITION_MASK, one_signed, pair_table
from esdedup.store.ledger import SourceMark
from esdedup.store.naming import rank_members
from esdedup.store.schemas import CLASSIFIED

_ROWS = 20_000

Named = tuple[str, dict[str, Any]]
"""A document with its id."""


def actions(documents: Iterator[Named]) -> Iterator[Action]:
    """Documents as bulk actions."""
    return (put(identity, orjson.dumps(document)) for identity, document in documents)


def rank(db: Database, unit: str) -> None:
    """Make the table `members` of a database: every sentence in it, with its names."""
    rank_members(db, unit, "members", "SELECT DISTINCT hash FROM sentences")


def pair_documents(db: Database) -> Iterator[Named]:
    """The documents of the index `pairs`, of every pair in a database."""
    rows = db.stream(
        """
        SELECT p.a AS a_hash, p.b AS b_hash, least(one.id, two.id) AS a, greatest(one.id, two.id) AS b, p.jaccard,
            p.word_edit_distance, p.shared_tokens, c.cluster, coalesce(k.ignored, false) OR coalesce(l.ignored, false)
            AS ignored
        FROM pairs p JOIN members one ON one.hash = p.a AND one.turn = 1
        JOIN members two ON two.hash = p.b AND two.turn = 1
        LEFT JOIN cluster_texts c ON c.hash = p.a LEFT JOIN clusters k ON k.id = c.cluster
        LEFT JOIN cluster_texts d ON d.hash = p.b LEFT JOIN clusters l ON l.id = d.cluster
        """,
        rows=_ROWS,
    )
    for batch in rows:
        for row in batch.to_pylist():
            told = {**row, "a_hash": _signed(row["a_hash"]), "b_hash": _signed(row["b_hash"])}
            yield pair_identity(row["a_hash"], row["b_hash"]), told | {"cluster": _shown(row["cluster"])}


def pair_identity(a: int, b: int) -> str:
    """The id of a pair's document."""
    return f"{a:016x}{b:016x}"


def cluster_documents(db: Database) -> Iterator[Named]:
    """The documents of the index `clusters`, of every cluster in a database."""
    rows = db.stream(
        """
        SELECT k.*, face.id AS face, face.text, list_sort([one.id, two.id]) AS weakest, twins.ids AS twins
        FROM clusters k JOIN members face ON face.hash = k.representative AND face.turn = 1
        LEFT JOIN members one ON one.hash = k.weakest_a AND one.turn = 1
        LEFT JOIN members two ON two.hash = k.weakest_b AND two.turn = 1
        LEFT JOIN (SELECT hash, list_sort(list(id)) AS ids FROM members WHERE turn <= 2 GROUP BY hash) twins
            ON twins.hash = k.representative AND k.distinct_texts = 1
        """,
        rows=_ROWS,
    )
    for batch in rows:
        for row in batch.to_pylist():
            weakest = row["twins"] or [name for name in row["weakest"] if name is not None]
            yield (
                f"{row['id']:016x}",
                {
                    "id": _shown(row["id"]),
                    "size": row["size"],
                    "distinct": row["distinct_texts"],
                    **{name: row[name] for name in (*MEANINGS.names, *FOUND.names)},
                    "min_jaccard": row["min_jaccard"],
                    "weakest": weakest,
                    "representative": row["face"],
                    "text": row["text"],
                    "ignored": row["ignored"],
                    "farthest": row["farthest"],
                    "hash": _signed(row["id"]),
                    "weakest_a": _signed(row["weakest_a"]),
                    "weakest_b": _signed(row["weakest_b"]),
                    "representative_hash": _signed(row["representative"]),
                },
            )


def member_documents(db: Database) -> Iterator[Named]:
    """The documents of the index `members`: every sentence of every cluster in a database."""
    rows = db.stream(
        """
        SELECT m.*, k.id AS cluster, k.size, k.distinct_texts AS distinct, k.min_jaccard, k.ignored,
            k.kind, k.kind_confidence, k.copies, m.hash = k.representative AND m.turn = 1 AS representative,
            d.source AS source_number, d.place, p.id AS parent, o.jaccard AS parent_jaccard, o.edits, o.copied,
            o.parent_document, o.parent_position
        FROM members m JOIN cluster_texts c USING (hash) JOIN clusters k ON k.id = c.cluster
        JOIN documents d ON d.number = m.number
        LEFT JOIN origins o ON o.document = m.number AND o.position = m.position
        LEFT JOIN members p ON p.number = o.parent_document AND p.position = o.parent_position
        """,
        rows=_ROWS,
    )
    for batch in rows:
        for row in batch.to_pylist():
            document, above, place = (row.pop(name) for name in ("number", "parent_document", "parent_position"))
            del row["turn"]
            number = document << POSITION_BITS | row["position"]
            yield (
                str(number),
                {
                    **row,
                    "cluster": _shown(row["cluster"]),
                    "cluster_hash": _signed(row["cluster"]),
                    "hash": _signed(row["hash"]),
                    "number": number,
                    "document_number": document,
                    "parent_number": None if above is None else above << POSITION_BITS | place,
                },
            )


def _shown(identity: int | None) -> str | None:
    return None if identity is None else f"{identity:016x}"


def _signed(value: int | None) -> int | None:
    return None if value is None else one_signed(value)


# -- loading ------------------------------------------------------------------------------------------------


_SENTENCE_FIELDS = (
    "hash", "source_number", "document", "title", "place", "position", "text", "revision", "timestamp", "contributor",
    "last_revision",
)  # fmt: skip
_SENTENCE = Wanted(fields=("document_number",), source=_SENTENCE_FIELDS)
_CLUSTER = Wanted(
    source=(
        "hash", "size", "distinct", "min_jaccard", "weakest_a", "weakest_b", "representative_hash", "farthest",
        "ignored", *MEANINGS.names, *FOUND.names,
    ),
)  # fmt: skip
_MEMBER = Wanted(fields=("hash", "cluster_hash"))
_ORIGIN = Wanted(source=("number", "cluster_hash", "parent_number", "parent_jaccard", "edits", "copied"))

_HAS_PARENT = {"exists": {"field": "copied"}}

_LARGE_PART = 4
"""Where more than one text in so many is wanted, reading all sentences is quicker than asking for them."""


class Extract:
    """Fills the tables of the database `db` from the indices `names`."""

    def __init__(self, db: Database, reader: Reader, names: dict[str, str], marks: Sequence[SourceMark]) -> None:
        self.db = db
        self._reader = reader
        self._names = names
        rows = [(mark.number, mark.name, mark.qualified, mark.history) for mark in marks]
        self.db.insert("sources", table_of_rows(rows, _SOURCES))

    def load_results(self) -> None:
        """All pairs, all clusters and their texts."""
        for hits in self._reader.read_all(self._names["pairs"], PAIR):
            self._add_pairs(hits)
        for hits in self._reader.read_all(self._names["clusters"], _CLUSTER):
            self._add_clusters(hits)
        for hits in self._reader.read_all(self._names["members"], _MEMBER):
            self._add_cluster_texts(hits)
        self._each_text_once()
        for hits in self._reader.read_all(self._names["members"], _ORIGIN, _HAS_PARENT):
            self._add_origins(hits)

    def load_clusters(self, ids: Hashes, *, brief: bool = False) -> None:
        """These clusters and their texts, without pairs; in `brief`, only those that the clusters themselves name."""
        for hits in self._reader.look_up(self._names["clusters"], "hash", signed(ids), _CLUSTER):
            self._add_clusters(hits)
        if brief:
            self.db.execute(
                "INSERT INTO cluster_texts SELECT DISTINCT hash, id FROM (SELECT id, "
                "unnest([representative, weakest_a, weakest_b]) AS hash FROM clusters) WHERE hash IS NOT NULL"
            )
            return
        for hits in self._reader.look_up(self._names["members"], "cluster_hash", signed(ids), _MEMBER):
            self._add_cluster_texts(hits)
        self._each_text_once()
        for hits in self._reader.look_up(self._names["members"], "cluster_hash", signed(ids), _ORIGIN, _HAS_PARENT):
            self._add_origins(hits)

    def load_results_since(self, number: int) -> None:
        """Pairs and clusters of the texts of sentences from this number on, and all sentences that they name."""
        query = {"range": {"number": {"gte": number}}}
        found = [np.empty(0, np.uint64)]
        for hits in self._reader.read_all(self._names["sentences"], Wanted(fields=("hash",)), query):
            found.append(hashes(integers(hits, "hash")))
        texts = np.unique(np.concatenate(found))
        for hits in self._reader.first_of_each(self._names["members"], "hash", signed(texts), _MEMBER):
            self._add_cluster_texts(hits)
        ids = self.db.arrays("SELECT DISTINCT cluster FROM cluster_texts")["cluster"]
        for hits in self._reader.look_up(self._names["clusters"], "hash", signed(ids), _CLUSTER):
            self._add_clusters(hits)
        self.load_pairs_of(texts)
        self.load_sentences()

    def load_pairs_of(self, texts: Hashes) -> None:
        """The pairs with one of these texts."""
        for end in ("a_hash", "b_hash"):
            for hits in self._reader.look_up(self._names["pairs"], end, signed(texts), PAIR):
                self._add_pairs(hits)
        self.db.execute("CREATE TABLE once AS SELECT DISTINCT * FROM pairs")
        self.db.execute("DROP TABLE pairs; ALTER TABLE once RENAME TO pairs")

    def load_sentences(self, more: Hashes | None = None) -> None:
        """Every sentence of a text that stands in a pair or a cluster, or is asked for besides, with the names of its
        document."""
        texts = self.db.arrays(
            "SELECT hash FROM cluster_texts UNION SELECT a FROM pairs UNION SELECT b FROM pairs ORDER BY hash"
        )["hash"]
        self._load_sentences_of(texts if more is None else np.union1d(texts, more))

    def _load_sentences_of(self, texts: Hashes) -> None:
        """Every sentence of these texts, with the names of its document."""
        index = self._names["sentences"]
        if len(texts) * _LARGE_PART > self._reader.count(index):
            pages: Iterable[Hits] = self._reader.read_all(index, _SENTENCE)
        else:
            pages = self._reader.look_up(index, "hash", signed(texts), _SENTENCE)
        self.db.create("shown", _SHOWN.empty_table(), temporary=True)
        for hits in pages:
            self._add_sentences(hits, texts)
        self.db.execute(_ADD_SENTENCES)

    def _add_pairs(self, hits: Hits) -> None:
        if hits:
            self.db.insert("pairs", pair_table(hits))

    def _add_clusters(self, hits: Hits) -> None:
        """Clusters as `_CLUSTER` has them."""
        rows = [hit["_source"] for hit in hits]
        if rows:
            columns = [
                _unsigned([row[_CLUSTER_COLUMNS[name]] for row in rows])
                if name in _HASHES
                else pa.array([row[_CLUSTER_COLUMNS[name]] for row in rows], kind)
                for name, kind in zip(CLASSIFIED.names, CLASSIFIED.types, strict=True)
            ]
            self.db.insert("clusters", pa.table(columns, CLASSIFIED))

    def _add_cluster_texts(self, hits: Hits) -> None:
        """Texts of clusters, from their members; a text may come more than once."""
        if hits:
            columns = [_unsigned([hit["fields"][name][0] for hit in hits]) for name in ("hash", "cluster_hash")]
            self.db.insert("cluster_texts", pa.table(columns, CLUSTER_TEXTS))

    def _add_sentences(self, hits: Hits, texts: Hashes) -> None:
        if not hits:
            return
        found = hashes(np.array([hit["_source"]["hash"] for hit in hits], np.int64))
        at = np.searchsorted(texts, found)
        held = (at < len(texts)) & (texts[np.minimum(at, len(texts) - 1)] == found)
        chosen = [hit for hit, keep in zip(hits, held, strict=True) if keep]
        if chosen:
            rows = [hit["_source"] for hit in chosen]
            columns: dict[str, Any] = {name: [row[name] for row in rows] for name in _SENTENCE_FIELDS[1:]}
            columns |= {"hash": found[held], "number": integers(chosen, "document_number")}
            kinds = zip(_SHOWN.names, _SHOWN.types, strict=True)
            self.db.insert("shown", pa.table([pa.array(columns[name], kind) for name, kind in kinds], _SHOWN))

    def _add_origins(self, hits: Hits) -> None:
        if not hits:
            return
        rows = [hit["_source"] for hit in hits]
        columns: dict[str, Any] = {name: [row[told] for row in rows] for name, told in _ORIGIN_COLUMNS.items()}
        columns["cluster"] = _unsigned([row["cluster_hash"] for row in rows])
        for name in ("number", "parent_number"):
            numbers, before = np.array([row[name] for row in rows], np.int64), name.removesuffix("number")
            columns[f"{before}document"] = numbers >> POSITION_BITS
            columns[f"{before}position"] = numbers & POSITION_MASK
        self.db.insert("origins", pa.table(columns))

    def _each_text_once(self) -> None:
        self.db.execute("CREATE TABLE once AS SELECT DISTINCT hash, cluster FROM cluster_texts")
        self.db.execute("DROP TABLE cluster_texts; ALTER TABLE once RENAME TO cluster_texts")


_SOURCES: pa.Schema = pa.schema(
    [("number", pa.int32()), ("name", pa.string()), ("qualified", pa.bool_()), ("history", pa.bool_())]
)
_ORIGIN_COLUMNS = {"jaccard": "parent_jaccard", "edits": "edits", "copied": "copied"}
_CLUSTER_COLUMNS = {
    "id": "hash", "size": "size", "distinct_texts": "distinct", "min_jaccard": "min_jaccard", "weakest_a": "weakest_a",
    "weakest_b": "weakest_b", "representative": "representative_hash", "farthest": "farthest", "ignored": "ignored",
} | {name: name for name in (*MEANINGS.names, *FOUND.names)}  # fmt: skip
_HASHES = ("id", "weakest_a", "weakest_b", "representative")
_SHOWN: pa.Schema = pa.schema(
    [
        ("number", pa.int32()),
        ("source_number", pa.int32()),
        ("document", pa.string()),
        ("title", pa.string()),
        ("place", pa.int64()),
        ("position", pa.int32()),
        ("hash", pa.uint64()),
        ("text", pa.large_string()),
        ("revision", pa.int64()),
        ("timestamp", pa.string()),
        ("contributor", pa.string()),
        ("last_revision", pa.int64()),
    ]
)
# the id of a document is that of its source again, and which one with that id it is
_ADD_SENTENCES = """
INSERT INTO documents BY NAME SELECT DISTINCT number, source_number AS source, title, place,
    regexp_replace(shown, '#[0-9]+$', '') AS key,
    coalesce(try_cast(regexp_extract(shown, '#([0-9]+)$', 1) AS INTEGER), 1) AS occurrence
FROM (SELECT h.*, CASE WHEN qualified THEN substr(document, length(name) + 2) ELSE document END AS shown
    FROM shown h JOIN sources s ON s.number = source_number);
INSERT INTO sentences BY NAME SELECT number AS document, * EXCLUDE (number, source_number, document, title, place)
FROM shown;
DROP TABLE shown;
"""


def _unsigned(values: list[int | None]) -> pa.Array:
    """Content hashes from signed numbers."""
    missing = np.array([value is None for value in values], np.bool_)
    numbers = np.array([value or 0 for value in values], np.int64).view(np.uint64)
    return pa.array(numbers, mask=missing)
