"""The schemas of all tables of a store, and checks that a store fits this version and the requested settings.

Texts are identified by their content hashes, and documents by numbers that the caller assigns in reading order. The
tables of DuckDB are made from these schemas. The index fields and a few tables with keys are in `mappings/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from esdedup.clustering.clusters import CLUSTER_TEXTS, CLUSTERS
from esdedup.errors import SettingsError, StoreSettingsError, StoreVersionError
from esdedup.matching.signers.protocol import SIGNERS
from esdedup.matching.signing import HASH_SCHEMES, Signing
from esdedup.matching.units import setting_in_words
from esdedup.store.cluster_kinds import FOUND, MEANINGS
from esdedup.text.detectors import CLD2

if TYPE_CHECKING:
    from esdedup.columns.database import Database

SCHEMA_VERSION = 12

DOCUMENT_ROWS: pa.Schema = pa.schema(
    [
        ("number", pa.int32()),
        ("source", pa.int32()),
        ("key", pa.string()),  # the id in the source
        ("title", pa.string()),
        ("content", pa.uint64()),  # hash of the text as read
        ("sentences", pa.int32()),  # units before any filter
        ("place", pa.int64()),  # record, row or page of the source, from 1
        ("language", pa.string()),  # code
        ("short", pa.int32()),  # units that were too short to be kept
        ("revision", pa.int64()),  # the newest one
        ("links", pa.binary()),  # a filter of what it names, see `esdedup.text.wikitext.linked`; null of plain text
    ]
)
KNOWN: pa.Schema = pa.schema(
    [
        ("key", pa.string()),
        ("content", pa.uint64()),
        ("units", pa.int32()),
        ("short", pa.int32()),
        ("kept", pa.int32()),
        ("revision", pa.int64()),
        ("timestamp", pa.string()),
        ("contributor", pa.string()),
    ]
)
"""Documents with what tells whether they have changed, and how many of their units were kept or too short."""

_DOCUMENTS: pa.Schema = DOCUMENT_ROWS.insert(3, pa.field("occurrence", pa.int32()))  # more than 1: the id is repeated

_DATES = [
    ("revision", pa.int64()),  # the first in time that has the sentence, and the last
    ("timestamp", pa.string()),
    ("contributor", pa.string()),  # who saved it: a name, or an IP address
    ("last_revision", pa.int64()),
    ("last_timestamp", pa.string()),
    ("last_contributor", pa.string()),
]
DATES = [name for name, _ in _DATES]
"""The columns that describe the revisions of a sentence."""

SEEN: pa.Schema = pa.schema([("document", pa.int32()), ("position", pa.int32()), *_DATES])
"""Columns of a sentence that are known only when its page ends."""


_TOKENS = pa.list_(pa.int64())  # see `esdedup.matching.groups.token_lists`

SENTENCE_ROWS: pa.Schema = pa.schema(
    [
        ("document", pa.int32()),
        ("position", pa.int32()),
        ("hash", pa.uint64()),
        ("text", pa.large_string()),
        ("language", pa.string()),  # of its document
        ("tokens", _TOKENS),
        *_DATES,
    ]
)
"""One row for each sentence that is kept."""


SHOWN: pa.Schema = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("document", pa.string()),
        ("title", pa.string()),
        ("position", pa.int32()),
        ("text", pa.large_string()),
        ("revision", pa.int64()),
        ("timestamp", pa.string()),
        ("language", pa.string()),
    ]
)
"""Sentences with their names, as results show them."""

SENTENCES: pa.Schema = SHOWN.append(pa.field("hash", pa.uint64()))
"""The same, with the content hash."""

PAIRS: pa.Schema = pa.schema(
    [
        ("a", pa.uint64()),
        ("b", pa.uint64()),
        ("jaccard", pa.float64()),
        ("word_edit_distance", pa.int32()),
        ("shared_tokens", pa.int32()),
        ("probability", pa.float64()),  # null if the matcher has none
    ]
)

CLASSIFIED: pa.Schema = pa.schema([*CLUSTERS, *MEANINGS, *FOUND])
"""Clusters with their meaning, which is null if they were not classified."""

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
"""For a sentence of a cluster, the most similar one that appeared earlier elsewhere."""

MEMBERSHIPS: pa.Schema = pa.schema(
    [
        ("hash", pa.uint64()),
        ("cluster", pa.uint64()),  # null for a text whose partners in pairs are all in other stars
        ("kind", pa.string()),  # of the cluster
        ("source", pa.int32()),  # number; sources with one name share it
        ("file", pa.int32()),  # number of its checkpoint in the ledger
        ("document", pa.int32()),
        ("place", pa.int64()),
        ("position", pa.int32()),
        ("id", pa.string()),
        ("length", pa.int32()),  # characters
    ]
)


TABLES: dict[str, pa.Schema] = {
    "documents": _DOCUMENTS,
    "sentences": SENTENCE_ROWS,
    "seen": SEEN,  # until the run is committed
    # texts whose sentences changed since the last scan, and whether that scan had any
    "stale": pa.schema([("hash", pa.uint64()), ("existed", pa.bool_()), ("tokens", _TOKENS)]),
    "pairs": PAIRS,
    "clusters": CLASSIFIED,
    "cluster_texts": CLUSTER_TEXTS,
    "origins": ORIGINS,
}
"""The tables of DuckDB without keys, by name."""

KEYED_TABLES = frozenset({"about", "sources"})
"""Those with keys, which `mappings/embedded.sql` declares."""


def create_tables(db: Database) -> None:
    """Create all tables of a store."""
    for name, schema in TABLES.items():
        db.create(name, schema.empty_table())
    db.execute(mapping_text("embedded.sql"))


@cache
def mapping_text(name: str) -> str:
    """Return the text of `mappings/NAME`: from the installed package, or from beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "mappings" / name
    return (inside if inside.exists() else package.parent / "mappings" / name).read_text("utf-8")


def check_readable(address: str, version: int, scheme: int) -> None:
    """Raise `StoreVersionError` for a schema or tokens that this version cannot read."""
    again = "index again with --fresh"
    if version > SCHEMA_VERSION:
        raise StoreVersionError(
            f"{address}: written with schema {version}, but this esdedup reads up to {SCHEMA_VERSION}; upgrade esdedup"
        )
    if version < SCHEMA_VERSION:
        raise StoreVersionError(
            f"{address}: written with schema {version}, but this esdedup uses {SCHEMA_VERSION}; {again}"
        )
    if scheme not in HASH_SCHEMES:
        raise StoreVersionError(
            f"{address}: tokens of hash scheme {scheme}, but this esdedup uses {HASH_SCHEMES[-1]}; {again}"
        )


def saved_signing(address: str, saved: Mapping[str, Any]) -> Signing:
    """Return the frozen settings of a store from their saved form.

    Raise `StoreVersionError` for a signer that this version does not have, and `SettingsError` if they are not valid.
    """
    signer = saved.get(SIGNERS.option, SIGNERS.names[0])
    if signer not in SIGNERS.names:
        raise StoreVersionError(
            f"{address}: signed by the signer {signer!r}, which this esdedup does not have; "
            "use the esdedup that made the store, or index again with --fresh"
        )
    templates = saved.get("templates")
    if isinstance(templates, str) and not templates.startswith("{"):  # a path: what a store names is not read
        raise SettingsError("templates is not what esdedup saves of them")
    # stores of text scheme 1, hash scheme 2 and CLD2 do not name them
    return Signing.of(**{"text_scheme": 1, "hash_scheme": 2, "languages": CLD2, **saved})


def check_same(address: str, stored: Signing, asked: Signing, *, reference: bool = False) -> None:
    """Raise `StoreSettingsError` with both values if the signing settings differ. A `reference` is only read."""
    if (found := difference(stored, asked)) is not None:
        name, theirs, ours = found
        advice = "or use a reference made with it" if reference else "use another --store, or start again with --fresh"
        raise StoreSettingsError(
            f"{address}: the store has {name} {theirs}, you requested {ours}; omit the option, {advice}"
        )


def difference(one: Signing, other: Signing) -> tuple[str, str, str] | None:
    """Return the first setting that differs, and both values in words."""
    first, second = ({SIGNERS.option: each.signer.name, **each.described()} for each in (one, other))
    for name in [*second, *first]:
        if first.get(name) != second.get(name):
            return name, setting_in_words(first.get(name, "unset")), setting_in_words(second.get(name, "unset"))
    return None
