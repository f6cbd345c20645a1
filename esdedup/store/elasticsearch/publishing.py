"""Convert the results of a scan to documents, and back to the tables of a private database, which all stores share.

Documents are flat and contain the names and texts that a reader wants to see. Only sentences in pairs and clusters are
loaded, never the whole corpus.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.clustering.clusters import CLUSTER_TEXTS
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.store.cluster_kinds import FOUND, MEANINGS
from esdedup.store.elasticsearch.bulk import WRITTEN
from esdedup.store.elasticsearch.reading import Fields, Hits, Reader, signed
from esdedup.store.elasticsearch.rows import (
    OURS,
    PAIR,
    PAIR_FIELDS,
    POSITION_BITS,
    POSITION_MASK,
    table_of_hits,
    unique_hashes,
)
from esdedup.store.naming import rank_members
from esdedup.store.schemas import CLASSIFIED, PAIRS
from esdedup.store.shared_documents import MOST_SENTENCES, RELATED, note_documents, note_frames

MOST_NAMES = 1_000
"""Titles and documents that a cluster lists. It has the numbers of all of them beside."""

_ROWS = 20_000

EVERY = "true"
"""Chooses all documents."""

Named = tuple[str, str]
"""The id of a document, and the document as JSON."""


def documents(db: Database, kind: str, chosen: str = EVERY) -> Iterator[Named]:
    """Yield the documents of an index of results. `chosen` is SQL about their cluster `k`."""
    for query in _queries(db, kind, chosen):
        for batch in db.stream(query, rows=_ROWS):
            yield from zip(batch["identity"].to_pylist(), batch["document"].to_pylist(), strict=True)


def actions(db: Database, kind: str, chosen: str) -> Iterator[pa.LargeStringArray]:
    """Yield the same documents as texts for `Bulk.add_lines`, made by the database. `chosen` is SQL about their cluster
    `k`.
    """
    for query in _queries(db, kind, chosen):
        for batch in db.stream(f"SELECT {WRITTEN} AS lines FROM ({query})", rows=_ROWS):
            yield batch["lines"].cast(pa.large_string())


def is_large(db: Database) -> bool:
    """Whether the results do not fit in memory with their names: then only one query may run at a time."""
    return any(len(db.parts(hashes, db.count(f"SELECT {rows}"))) > 1 for _, hashes, rows in _KINDS.values())


def _queries(db: Database, kind: str, chosen: str) -> Iterator[str]:
    """Yield queries for the chosen documents of a kind, each for a part that fits in memory with its names."""
    make, hashes, rows = _KINDS[kind]
    for part in db.parts(hashes, db.count(f"SELECT {rows}")):
        yield make(db, f"{chosen} AND {part}")


def rank(db: Database, unit: str) -> None:
    """Make the tables `members` of a database, every sentence in it with its names, and `faces`: each text as its first
    occurrence, with its cluster.
    """
    rank_members(db, unit, "members", "SELECT DISTINCT hash FROM sentences", shared=True)
    db.execute(
        "CREATE OR REPLACE TABLE faces AS SELECT m.hash, m.id, k.id AS cluster, coalesce(k.ignored, false) AS ignored "
        "FROM members m LEFT JOIN cluster_texts c USING (hash) LEFT JOIN clusters k ON k.id = c.cluster "
        "WHERE m.turn = 1"
    )


def _signed(column: str) -> str:
    """Return SQL for a content hash as a signed number, as the server stores it."""
    return (
        f"CASE WHEN {column} >= 9223372036854775808 THEN ({column}::HUGEINT - 18446744073709551616)::BIGINT "
        f"ELSE {column}::BIGINT END"
    )


def _shown(column: str) -> str:
    """Return SQL for a content hash as a cluster's id shows it."""
    return f"lpad(lower(to_hex({column})), 16, '0')"


def _documents(identity: str, fields: Mapping[str, str], tables: str, chosen: str) -> str:
    """Return SQL for the chosen rows of joined tables as documents in JSON, each with its identity, without nulls."""
    columns = ", ".join(f"'{name}': {value}" for name, value in fields.items())
    document = f"json_merge_patch('{{}}', to_json({{{columns}}}))"
    return f"SELECT {identity} AS identity, {document}::VARCHAR AS document FROM {tables} WHERE {chosen}"


_NAMES = ("id", "source", "document", "title", "position", "text", "revision", "timestamp", "contributor")


def _pairs(db: Database, chosen: str) -> str:
    # the database must know how few these are: it holds the smaller side of a join in memory
    db.execute(f"CREATE OR REPLACE TEMP TABLE part AS SELECT * FROM pairs p WHERE {chosen}")
    fields = {
        "a_hash": _signed("p.a"), "b_hash": _signed("p.b"), "a": "least(one.id, two.id)",
        "b": "greatest(one.id, two.id)", "jaccard": "p.jaccard", "word_edit_distance": "p.word_edit_distance",
        "shared_tokens": "p.shared_tokens", "probability": "p.probability",
        "cluster": _shown("one.cluster"), "ignored": "one.ignored OR two.ignored",
    }  # fmt: skip
    tables = "part p JOIN faces one ON one.hash = p.a JOIN faces two ON two.hash = p.b"
    return _documents(f"{_shown('p.a')} || {_shown('p.b')}", fields, tables, EVERY)


def pair_identity(a: int, b: int) -> str:
    """Return the id of a pair's document."""
    return f"{a:016x}{b:016x}"


def _list_names(db: Database, chosen: str) -> None:
    """Make the table `held` of a database: the first titles and documents of each cluster, and how many it has.

    A list of limited length takes all its memory at once, a list of all names what it holds. So the former is for large
    clusters, of which there are few.
    """
    db.execute(
        "CREATE OR REPLACE TEMP TABLE held (cluster UBIGINT, titles VARCHAR[], title_count INTEGER, "
        "documents VARCHAR[], document_count INTEGER)"
    )
    for which, first in (
        ("<=", "list(DISTINCT {0}) FILTER ({0} IS NOT NULL)"),
        (">", f"min(DISTINCT {{0}}, {MOST_NAMES})"),
    ):
        titles, documents = (f"list_sort({first.format(name)})" for name in ("m.title", "m.document"))
        db.execute(
            f"INSERT INTO held SELECT k.id, {titles}, count(DISTINCT m.title), {documents}, "
            "count(DISTINCT m.document) FROM members m JOIN cluster_texts c USING (hash) "
            f"JOIN clusters k ON k.id = c.cluster WHERE k.size {which} {MOST_NAMES} AND {chosen} GROUP BY k.id"
        )


def _clusters(db: Database, chosen: str) -> str:
    _list_names(db, chosen)
    fields = {
        "id": _shown("k.id"), "size": "k.size", "distinct": "k.distinct_texts",
        **{name: f"k.{name}" for name in (*MEANINGS.names, *FOUND.names)},
        "min_jaccard": "k.min_jaccard",
        "weakest": "coalesce(twins.ids, list_filter(list_sort([one.id, two.id]), lambda name: name IS NOT NULL))",
        "representative": "face.id", "text": "face.text", "titles": "held.titles", "title_count": "held.title_count",
        "documents": "held.documents", "document_count": "held.document_count", "ignored": "k.ignored",
        "farthest": "k.farthest",
        "hash": _signed("k.id"), "weakest_a": _signed("k.weakest_a"), "weakest_b": _signed("k.weakest_b"),
        "representative_hash": _signed("k.representative"),
    }  # fmt: skip
    tables = f"""
        clusters k JOIN members face ON face.hash = k.representative AND face.turn = 1
        LEFT JOIN faces one ON one.hash = k.weakest_a LEFT JOIN faces two ON two.hash = k.weakest_b
        LEFT JOIN (
            SELECT hash, list_sort(list(id)) AS ids FROM members WHERE turn <= 2
            AND hash IN (SELECT k.representative FROM clusters k WHERE k.distinct_texts = 1 AND {chosen}) GROUP BY hash
        ) twins ON twins.hash = k.representative
        LEFT JOIN held ON held.cluster = k.id
    """
    return _documents(_shown("k.id"), fields, tables, chosen)


def _members(_: Database, chosen: str) -> str:
    number = f"(m.number::BIGINT << {POSITION_BITS} | m.position)"
    fields = {
        **{name: f"m.{name}" for name in _NAMES},
        "language": "d.language", "cluster": _shown("k.id"), "size": "k.size", "distinct": "k.distinct_texts",
        "min_jaccard": "k.min_jaccard", "ignored": "k.ignored", "kind": "k.kind",
        "kind_confidence": "k.kind_confidence", "copies": "k.copies",
        "representative": "m.hash = k.representative AND m.turn = 1", "source_number": "d.source", "place": "d.place",
        "parent": "o.parent", "parent_jaccard": "o.jaccard", "edits": "o.edits", "copied": "o.copied",
        "cluster_hash": _signed("k.id"), "hash": _signed("m.hash"), "number": number, "document_number": "m.number",
        "parent_number": f"(o.parent_document::BIGINT << {POSITION_BITS} | o.parent_position)",
    }  # fmt: skip
    tables = """
        members m JOIN cluster_texts c USING (hash) JOIN clusters k ON k.id = c.cluster
        JOIN documents d ON d.number = m.number
        LEFT JOIN (
            SELECT o.*, p.id AS parent FROM origins o
            JOIN members p ON p.number = o.parent_document AND p.position = o.parent_position
        ) o ON o.document = m.number AND o.position = m.position
    """
    return _documents(f"{number}::VARCHAR", fields, tables, chosen)


_KINDS: dict[str, tuple[Callable[[Database, str], str], str, str]] = {
    "pairs": (_pairs, "p.a", "count(*) FROM pairs"),
    "clusters": (_clusters, "k.id", "3 * sum(size) FROM clusters"),
    "members": (_members, "m.hash", "sum(size) FROM clusters"),
}
"""For each kind its query, and what cuts it in parts: a column of hashes, and SQL for the number of rows to join."""

# -- loading ------------------------------------------------------------------------------------------------


_CLUSTER = {"id": "hash", "distinct_texts": "distinct", "representative": "representative_hash"}
_CLUSTER_TEXT = {"cluster": "cluster_hash"}
_ORIGIN = {"cluster": "cluster_hash", "jaccard": "parent_jaccard"}
_ORIGINS: pa.Schema = pa.schema(
    [
        ("cluster", pa.uint64()),
        ("number", pa.int64()),
        ("parent_number", pa.int64()),
        ("jaccard", pa.float64()),
        ("edits", pa.int32()),
        ("copied", pa.bool_()),
    ]
)
_SENTENCES: pa.Schema = pa.schema(
    [
        ("document_number", pa.int32()),
        ("source_number", pa.int32()),
        ("document", pa.string()),
        ("title", pa.string()),
        ("place", pa.int64()),
        ("position", pa.int32()),
        ("hash", pa.uint64()),
        ("text", pa.large_string()),
        ("language", pa.string()),
        ("revision", pa.int64()),
        ("timestamp", pa.string()),
        ("contributor", pa.string()),
        ("last_revision", pa.int64()),
    ]
)
_SENTENCE = Fields(source=tuple(_SENTENCES.names))
_STANDING: pa.Schema = pa.schema([("cluster", pa.uint64()), ("document_number", pa.int32()), ("size", pa.int64())])
_LINKS: pa.Schema = pa.schema([("number", pa.int64()), ("revision", pa.int64()), ("links", pa.binary())])
_FRAMES: pa.Schema = pa.schema([("frame_number", pa.int64())])
_MEMBER = Fields(columns=("hash", "cluster_hash"))
_HAS_PARENT = {"exists": {"field": "copied"}}

_LARGE_PART = 4
"""If more than one text in this many is wanted, reading all sentences is faster than looking them up."""

# split a document's shown id into the id in its source and the counter of repeats
_ADD_SENTENCES = """
INSERT INTO documents BY NAME SELECT DISTINCT document_number AS number, source_number AS source, title, place,
    language, regexp_replace(shown, '#([2-9]|[1-9][0-9]{1,8})$', '') AS key,
    coalesce(try_cast(regexp_extract(shown, '#([2-9]|[1-9][0-9]{1,8})$', 1) AS INTEGER), 1) AS occurrence
FROM (SELECT h.*, CASE WHEN qualified THEN substr(document, length(name) + 2) ELSE document END AS shown
    FROM incoming_sentences h JOIN sources s ON s.number = source_number)
    WHERE document_number NOT IN (SELECT number FROM documents);
INSERT INTO sentences BY NAME SELECT document_number AS document,
    * EXCLUDE (document_number, source_number, document, title, place) FROM incoming_sentences;
DROP TABLE incoming_sentences;
"""
_ADD_ORIGINS = f"""
INSERT INTO origins BY NAME SELECT * EXCLUDE (number, parent_number),
    number >> {POSITION_BITS} AS document, number & {POSITION_MASK} AS position,
    parent_number >> {POSITION_BITS} AS parent_document, parent_number & {POSITION_MASK} AS parent_position
FROM incoming_origins;
DROP TABLE incoming_origins;
"""


class Extract:
    """Fills the tables of the database `db` from the indices `names`."""

    def __init__(self, db: Database, reader: Reader, names: dict[str, str]) -> None:
        self.db = db
        self._reader = reader
        self._names = names

    def _add(self, table: str, pages: Iterable[Hits], schema: pa.Schema, named: Mapping[str, str]) -> None:
        """Add hits as rows of a schema. A field may have another name in the index."""
        for hits in pages:
            if hits:
                self.db.insert(table, table_of_hits(hits, schema, named))

    def _add_members(self, pages: Callable[[Fields, dict[str, Any] | None], Iterable[Hits]]) -> None:
        """Add the texts of clusters and the places of their sentences, from pages of members."""
        self._add("cluster_texts", pages(_MEMBER, None), CLUSTER_TEXTS, _CLUSTER_TEXT)
        self._each_once("cluster_texts")
        self.db.create("incoming_origins", _ORIGINS.empty_table(), temporary=True)
        self._add("incoming_origins", pages(Fields(source=True), _HAS_PARENT), _ORIGINS, _ORIGIN)
        self.db.execute(_ADD_ORIGINS)

    def _each_once(self, table: str) -> None:
        self.db.execute(f"CREATE TABLE once AS SELECT DISTINCT * FROM {table}")
        self.db.execute(f"DROP TABLE {table}; ALTER TABLE once RENAME TO {table}")

    def load_results(self) -> None:
        """Load all pairs, all clusters and their texts."""
        read = self._reader.read_all
        self._add("pairs", read(self._names["pairs"], PAIR), PAIRS, PAIR_FIELDS)
        clusters = read(self._names["clusters"], Fields(source=True))
        self._add("clusters", clusters, CLASSIFIED, _CLUSTER)
        self._add_members(partial(read, self._names["members"]))

    def load_clusters(self, ids: Hashes, *, brief: bool = False) -> None:
        """Load these clusters and their texts, without pairs. With `brief`, only texts that the clusters refer to."""
        self._load_clusters(ids)
        if brief:
            self.db.execute(
                "INSERT INTO cluster_texts SELECT DISTINCT hash, id FROM (SELECT id, "
                "unnest([representative, weakest_a, weakest_b]) AS hash FROM clusters) WHERE hash IS NOT NULL"
            )
        else:
            self._add_members(partial(self._reader.look_up, self._names["members"], "cluster_hash", signed(ids)))

    def _load_clusters(self, ids: Hashes) -> None:
        fields = Fields(source=True)
        clusters = self._reader.look_up(self._names["clusters"], "hash", signed(ids), fields)
        self._add("clusters", clusters, CLASSIFIED, _CLUSTER)

    def load_links(self) -> None:
        """Load what is known of the documents that were loaded with their sentences."""
        numbers = self.db.arrays("SELECT number FROM documents")["number"].astype(np.int64)
        fields = Fields(source=("number", "revision", "links"))
        for hits in self._reader.look_up(self._names["documents"], "number", numbers, fields):
            told = [hit["_source"] for hit in hits]
            links = [None if one.get("links") is None else b64decode(one["links"]) for one in told]
            columns = [[one["number"] for one in told], [one.get("revision") for one in told], links]
            rows = pa.table([pa.array(*column) for column in zip(columns, _LINKS.types, strict=True)], _LINKS)
            self.db.create("told", rows, temporary=True)
            self.db.execute(
                "UPDATE documents SET revision = t.revision, links = t.links FROM told t "
                "WHERE t.number = documents.number; DROP TABLE told"
            )

    def note_old_clusters(self, ids: Hashes) -> None:
        """Note what depends on these clusters, which are not loaded, because they are made again."""
        read = partial(self._reader.look_up, fields=Fields(source=("cluster_hash", "document_number", "size")))
        self.db.create("old_members", _STANDING.empty_table(), temporary=True)
        self._add("old_members", read(self._names["members"], "cluster_hash", signed(ids)), _STANDING, _CLUSTER_TEXT)
        few = f"size <= {MOST_SENTENCES}"
        note_documents(self.db, f"SELECT cluster, document_number AS document FROM old_members WHERE {few}")
        self.db.create("old_frames", _FRAMES.empty_table(), temporary=True)
        fields = Fields(source=("frame_number",))
        pages = self._reader.look_up(self._names["clusters"], "hash", signed(ids), fields)
        self._add("old_frames", pages, _FRAMES, {})
        note_frames(self.db, "SELECT frame_number FROM old_frames")

    def load_related(self, old: Hashes) -> None:
        """Load the clusters that depend on what was noted, and all clusters that these depend on, with sentences, but
        for the `old` ones.
        """
        touched = "SELECT one FROM touched UNION SELECT two FROM touched"
        self._load_others(old, "members", "document_number", touched)
        self._load_others(old, "clusters", "frame_number", "SELECT frame_number FROM touched_frames")
        self.load_sentences()
        judged = f"SELECT id FROM clusters SEMI JOIN touched_frames USING (frame_number) UNION ({RELATED})"
        texts = f"SELECT hash FROM cluster_texts WHERE cluster IN ({judged})"
        documents = f"SELECT document FROM sentences WHERE hash IN ({texts})"
        self._load_others(old, "members", "document_number", documents)
        self.load_sentences()

    def _load_others(self, old: Hashes, index: str, field: str, values: str) -> None:
        """Load the clusters for which a field of an index has one of the values of a query, but for those that are
        there and the `old` ones.
        """
        asked = sorted({value for (value,) in self.db.rows(values)})
        name = "cluster_hash" if index == "members" else "hash"
        pages = self._reader.look_up(self._names[index], field, asked, Fields(columns=(name,)))
        here = self.db.arrays("SELECT id FROM clusters")["id"]
        self.load_clusters(np.setdiff1d(unique_hashes(pages, name), np.union1d(here, old)))

    def load_results_since(self, number: int) -> None:
        """Load pairs and clusters of the texts of sentences from this number on, and all sentences in them."""
        query = {"range": {"number": {"gte": number}}}
        pages = self._reader.read_all(self._names["sentences"], Fields(columns=("hash",)), query)
        texts = unique_hashes(pages, "hash")
        members = self._reader.first_of_each(self._names["members"], "hash", signed(texts), _MEMBER)
        self._add("cluster_texts", members, CLUSTER_TEXTS, _CLUSTER_TEXT)
        self._load_clusters(self.db.arrays("SELECT DISTINCT cluster FROM cluster_texts")["cluster"])
        self.load_pairs_of(texts)
        self.load_sentences()

    def load_pairs_of(self, texts: Hashes) -> None:
        """Load the pairs with one of these texts."""
        for end in ("a_hash", "b_hash"):
            pages = self._reader.look_up(self._names["pairs"], end, signed(texts), PAIR)
            self._add("pairs", pages, PAIRS, PAIR_FIELDS)
        self._each_once("pairs")

    def load_sentences(self, more: Hashes | None = None) -> None:
        """Load every sentence of a text in a pair, in a cluster or in `more`, with the names of its document, unless
        it was loaded before.
        """
        texts = self.db.arrays(
            "SELECT hash FROM cluster_texts UNION SELECT a FROM pairs UNION SELECT b FROM pairs ORDER BY hash"
        )["hash"]
        held = self.db.arrays("SELECT DISTINCT hash FROM sentences")["hash"]
        wanted = np.setdiff1d(texts if more is None else np.union1d(texts, more), held)
        index, asked = self._names["sentences"], signed(wanted)
        if len(asked) * _LARGE_PART > self._reader.count(index):
            chosen = set(asked.tolist())
            every = self._reader.read_all(index, _SENTENCE, OURS)
            pages: Iterable[Hits] = ([hit for hit in hits if hit["_source"]["hash"] in chosen] for hits in every)
        else:
            pages = self._reader.look_up(index, "hash", asked, _SENTENCE)
        self.db.create("incoming_sentences", _SENTENCES.empty_table(), temporary=True)
        self._add("incoming_sentences", pages, _SENTENCES, {})
        self.db.execute(_ADD_SENTENCES)
