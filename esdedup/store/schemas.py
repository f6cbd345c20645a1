"""Every table of a store, declared once, and whether a store was made with what is asked for.

Texts are named by their content hashes, documents by numbers that the caller gives out in the order of reading. The
tables of DuckDB are made from the schemas here; the fields of indices and a few tables with keys are in `mappings/`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pyarrow as pa

from esdedup.clustering.clusters import CLUSTER_TEXTS, CLUSTERS
from esdedup.columns.database import Database
from esdedup.errors import StoreSettingsError, StoreVersionError
from esdedup.matching.signing import HASH_SCHEME, Signing
from esdedup.store.classifying import FOUND, MEANINGS

SCHEMA_VERSION = 5

START_CHARS = 64
"""Characters of a text that are kept apart, to find it by how it begins."""

DOCUMENT_ROWS: pa.Schema = pa.schema(
    [
        ("number", pa.int32()),
        ("source", pa.int32()),
        ("key", pa.string()),  # the id as the source has it
        ("title", pa.string()),
        ("content", pa.uint64()),  # hash of the text as read
        ("sentences", pa.int32()),  # units before any filter
        ("place", pa.int64()),  # record, row or page of the source, from 1
    ]
)
_DOCUMENTS: pa.Schema = DOCUMENT_ROWS.insert(3, pa.field("occurrence", pa.int32()))  # more than 1: the id is repeated

_DATES = [
    ("revision", pa.int64()),  # the first in time that has the sentence, and the last
    ("timestamp", pa.string()),
    ("contributor", pa.string()),  # who saved it: a name, or an address
    ("last_revision", pa.int64()),
    ("last_timestamp", pa.string()),
    ("last_contributor", pa.string()),
]
DATES = [name for name, _ in _DATES]
"""What is known about the revisions that have a sentence."""

SEEN: pa.Schema = pa.schema([("document", pa.int32()), ("position", pa.int32()), *_DATES])
"""What of a sentence is known only where its page ends."""


def sentence_rows(tokens: int) -> pa.Schema:
    """One row a sentence that is kept."""
    return pa.schema(
        [
            ("document", pa.int32()),
            ("position", pa.int32()),
            ("hash", pa.uint64()),
            ("text", pa.large_string()),
            ("tokens", pa.list_(pa.int64(), tokens)),
            *_DATES,
        ]
    )


SENTENCES: pa.Schema = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("document", pa.string()),
        ("title", pa.string()),
        ("position", pa.int32()),
        ("text", pa.large_string()),
        ("revision", pa.int64()),
        ("timestamp", pa.string()),
        ("hash", pa.uint64()),
    ]
)
"""Sentences with their names, as answers show them."""

PAIRS: pa.Schema = pa.schema(
    [
        ("a", pa.uint64()),
        ("b", pa.uint64()),
        ("jaccard", pa.float64()),
        ("word_edit_distance", pa.int32()),
        ("shared_tokens", pa.int32()),
    ]
)

CLASSIFIED: pa.Schema = pa.schema([*CLUSTERS, *MEANINGS, *FOUND])
"""Clusters with what they mean, which is null where they were not classified."""

ORIGINS: pa.Schema = pa.schema(
    [
        ("cluster", pa.uint64()),
        ("document", pa.int32()),
        ("position", pa.int32()),
        ("parent_document", pa.int32()),
        ("parent_position", pa.int32()),
        ("jaccard", pa.float64()),
        ("edits", pa.int32()),  # word edit distance
        ("copied", pa.bool_()),  # from another page
    ]
)
"""Of a sentence of a cluster, the most similar one that stood somewhere before it."""

MEMBERSHIPS: pa.Schema = pa.schema(
    [
        ("hash", pa.uint64()),
        ("cluster", pa.uint64()),  # null for a text that has pairs, all of whose partners are in other stars
        ("kind", pa.string()),  # of the cluster
        ("source", pa.int32()),  # number: sources of one name share one
        ("file", pa.int32()),  # number of its checkpoint in the ledger
        ("document", pa.int32()),
        ("place", pa.int64()),
        ("position", pa.int32()),
        ("id", pa.string()),
        ("length", pa.int32()),  # characters
    ]
)


def create_tables(db: Database, tokens: int) -> None:
    """Make all tables of a store whose sentences have so many tokens, empty."""
    held = pa.list_(pa.int64(), tokens)
    tables = {
        "documents": _DOCUMENTS,
        "sentences": sentence_rows(tokens),
        "seen": SEEN,  # until the reading is committed
        # lookups, one row a token and one row a text; sorted in runs, so that few blocks are read for a question
        "postings": pa.schema([("token", pa.int64()), ("hash", pa.uint64())]),
        # the first 8 bytes of the case-folded text, big-endian; and its first `START_CHARS` as they are
        "starts": pa.schema([("key", pa.uint64()), ("start", pa.string()), ("hash", pa.uint64())]),
        # texts whose sentences have changed since the last scan, and whether that scan had any
        "stale": pa.schema([("hash", pa.uint64()), ("existed", pa.bool_()), ("tokens", held)]),
        "pairs": PAIRS,
        "clusters": CLASSIFIED,
        "cluster_texts": CLUSTER_TEXTS,
        "origins": ORIGINS,
    }
    for name, schema in tables.items():
        db.create(name, schema.empty_table())
    db.execute(mapping_text("embedded.sql"))


@cache
def mapping_text(name: str) -> str:
    """The text of `mappings/NAME`: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "mappings" / name
    return (inside if inside.exists() else package.parent / "mappings" / name).read_text("utf-8")


def check_readable(address: str, version: int, scheme: int) -> None:
    """`StoreVersionError` for a schema or tokens that this version does not read."""
    again = "index again with --fresh"
    if version > SCHEMA_VERSION:
        raise StoreVersionError(
            f"{address}: written with schema {version}, this esdedup reads up to {SCHEMA_VERSION}; upgrade it"
        )
    if version < SCHEMA_VERSION:
        raise StoreVersionError(f"{address}: written with schema {version}, this is {SCHEMA_VERSION}; {again}")
    if scheme != HASH_SCHEME:
        raise StoreVersionError(
            f"{address}: tokens of hash scheme {scheme}, this esdedup makes scheme {HASH_SCHEME}; {again}"
        )


def check_same(address: str, stored: Signing, asked: Signing) -> None:
    """`StoreSettingsError`, naming both values, where the signing settings differ."""
    ours, theirs = asked.described(), stored.described()
    for name in [*ours, *theirs]:
        if ours.get(name) != theirs.get(name):
            raise StoreSettingsError(
                f"{address}: the store has {name} {theirs.get(name, 'unset')}, you ask for {ours.get(name, 'unset')}; "
                "leave the option out, name another --store, or begin again with --fresh"
            )
