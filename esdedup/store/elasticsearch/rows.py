"""Convert the rows of a run to documents of the indices, and back."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Hashes
from esdedup.errors import StoreError
from esdedup.lookup.text_blocks import squeezed
from esdedup.matching.engine import SIGNATURES
from esdedup.matching.groups import in_columns, token_lists, token_matrix
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signing import Signing
from esdedup.store.elasticsearch.bulk import Action, put
from esdedup.store.elasticsearch.reading import Fields, Hits, hashes, integers, signed
from esdedup.store.elasticsearch.search_words import extra_words
from esdedup.store.elasticsearch.token_words import texts_of_tokens, tokens_of_texts
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.schemas import DATES, SENTENCES
from esdedup.text.search_form import search_form

START_CHARS = 16
"""Characters in `start`. Eight more take two dozen bytes. With fewer, more texts begin alike, and are fetched to be
told apart.
"""


def searched_fields(texts: pa.LargeStringArray) -> list[dict[str, Any]]:
    """Return the fields by which each text is looked up. An index has no other that is computed."""
    starts = pc.utf8_slice_codeunits(squeezed(search_form(texts)), 0, START_CHARS).to_pylist()
    return [
        {"start": start} if extra is None else {"start": start, "forms": extra}
        for start, extra in zip(starts, extra_words(texts), strict=True)
    ]


POSITION_BITS = 32
"""A sentence number is the document number followed by this many bits for the position."""

POSITION_MASK = (1 << POSITION_BITS) - 1
"""Mask of the position in a sentence number."""

CHANGED = 0
"""The content of a document that others have changed: no text that is read again is the same."""

OURS = {"exists": {"field": "number"}}
"""Selects the sentences: somebody may have typed another document into their index."""

NAMED = Fields(source=True)
"""The fields that a row of `SENTENCES` needs: a whole sentence as it was written."""


def shown_id(checkpoint: SourceCheckpoint, key: str) -> str:
    """Return a document's id as shown in results."""
    return f"{checkpoint.name}/{key}" if checkpoint.qualified else key


def document_actions(checkpoint: SourceCheckpoint, documents: pa.Table, kept: Mapping[int, int]) -> Iterator[Action]:
    """Convert documents (`DOCUMENT_ROWS`) of one source to bulk actions. `kept` counts their stored sentences."""
    for row in documents.to_pylist():
        yield put(str(row["number"]), orjson.dumps(document(checkpoint, row, kept.get(row["number"], 0))))


def document(checkpoint: SourceCheckpoint, row: dict[str, Any], kept: int) -> dict[str, Any]:
    """Return one document of the index `documents`, of which `kept` sentences are stored."""
    return {
        "number": row["number"],
        "source_number": row["source"],
        "source": checkpoint.name,
        "qualified": checkpoint.qualified,
        "key": row["key"],
        "occurrence": 1,
        "id": shown_id(checkpoint, row["key"]),
        "title": row["title"],
        "content": one_signed(row["content"]),
        "sentences": row["sentences"],
        "kept": kept,
        "place": row["place"],
        "language": row["language"],
        "revision": row["revision"],
        "links": None if row["links"] is None else b64encode(row["links"]).decode(),
    }


def sentence_actions(
    checkpoint: SourceCheckpoint, signing: Signing, documents: pa.Table, sentences: pa.Table, *, lookup: bool
) -> Iterator[Action]:
    """Convert sentences (`SENTENCE_ROWS`) of these documents to bulk actions. Without `lookup`, leave out what it
    needs.
    """
    if not sentences.num_rows:
        return
    known = documents["number"].to_numpy()
    order = np.argsort(known)
    texts = sentences["text"].combine_chunks().cast(pa.large_string())
    owner = sentences["document"].to_numpy()
    at = order[np.searchsorted(known, owner, sorter=order)].tolist()
    keys, titles, places = (documents[name].to_pylist() for name in ("key", "title", "place"))
    names = [shown_id(checkpoint, key) for key in keys]
    positions = sentences["position"].to_pylist()
    ids = (owner.astype(np.int64) << POSITION_BITS | sentences["position"].to_numpy()).tolist()
    columns = zip(
        ids,
        at,
        owner.tolist(),
        positions,
        texts.to_pylist(),
        pc.binary_length(texts).to_pylist(),
        searched_fields(texts) if lookup else [{}] * len(texts),
        sentences["language"].to_pylist(),
        signed(sentences["hash"].to_numpy()).tolist(),
        texts_of_tokens(token_matrix(sentences["tokens"], signing.tokens)),
        *(sentences[name].to_pylist() for name in DATES),
        strict=True,
    )
    record = signing.unit == "record"
    dumps = orjson.dumps
    for number, place, owned, position, text, size, searched, language, hash_, held, *times in columns:
        name = names[place]
        fields = {
            "id": name if record else f"{name}:{position}",
            "source": checkpoint.name,
            "document": name,
            "title": titles[place],
            "position": position,
            "text": text,
            "language": language,
            **{name: time for name, time in zip(DATES, times, strict=True) if time is not None},
            **searched,
            "tokens": held,
            "bytes": size,
            "hash": hash_,
            "number": number,
            "document_number": owned,
            "source_number": checkpoint.number,
            "place": places[place],
        }
        yield b'{"index":{"_id":"%d"}}' % number, dumps(fields)


_DAMAGED = "others have changed sentences of this store; any command that writes to it mends them, such as esdedup scan"


def token_rows(hits: Hits, columns: int) -> Tokens:
    """Return the tokens of sentences. Raise `StoreError` if others have damaged some."""
    if hits and "fields" in hits[0]:  # an index of an earlier version holds numbers
        held = [hit["fields"]["tokens"] for hit in hits]
        lengths = np.array([len(each) for each in held], np.int64)
        return in_columns(np.array([token for each in held for token in each], np.int64), lengths, columns)
    tokens, sound = tokens_of_texts([hit["_source"].get("tokens") for hit in hits], columns)
    if not sound.all():
        raise StoreError(_DAMAGED)
    return tokens


def sentence_table(hits: Hits) -> pa.Table:
    """Convert hits of `NAMED` to rows of `SENTENCES`."""
    return table_of_hits(hits, SENTENCES, {})


_GROUP = {"documents": "document_number", "sources": "source_number"}


def signature_fields(across: str, *, earlier: bool) -> Fields:
    """Return the fields that a row of `SIGNATURES` needs. An index of an `earlier` version has tokens in a column."""
    names = ["hash", "bytes", "tokens", *([_GROUP[across]] if across in _GROUP else [])]
    return Fields(names) if earlier else Fields(source=names)


def signature_table(hits: Hits, columns: int, group_ids: Numbers | None, across: str) -> pa.Table:
    """Convert hits with `signature_fields` to rows of `SIGNATURES`. `group_ids` are those of the sources, by number."""
    group_id = np.full(len(hits), -1, np.int64)
    if across in _GROUP:
        group_id = numbers(hits, _GROUP[across])
        if across == "sources" and group_ids is not None:
            group_id = group_ids[group_id]
    return pa.table(
        [
            pa.array(hashes(numbers(hits, "hash"))),
            pa.array(group_id),
            pa.array(numbers(hits, "bytes").astype(np.int32)),
            token_lists(token_rows(hits, columns)),
        ],
        schema=SIGNATURES,
    )


def numbers(hits: Hits, field: str) -> Numbers:
    """Return a field with one whole number in every document, from columns or from the documents. Raise `StoreError` if
    one has none.
    """
    if hits and "fields" in hits[0]:
        return integers(hits, field)
    try:
        return np.fromiter((hit["_source"][field] for hit in hits), np.int64, len(hits))
    except (KeyError, TypeError) as error:
        raise StoreError(_DAMAGED) from error


PAIR_FIELDS = {"a": "a_hash", "b": "b_hash"}
"""The index fields of the columns of `PAIRS`."""


PAIR = Fields(source=True)


def table_of_hits(hits: Hits, schema: pa.Schema, named: Mapping[str, str]) -> pa.Table:
    """Convert hits to rows of a schema. `named` maps columns to index fields with another name.

    Unsigned numbers are content hashes, which the server stores as signed numbers.
    """
    columns = []
    sources = [hit["_source"] for hit in hits] if hits and "_source" in hits[0] else []
    held = [hit.get("fields", {}) for hit in hits]
    for name, kind in zip(schema.names, schema.types, strict=True):
        field = named.get(name, name)
        if held and field in held[0]:
            values = [fields[field][0] for fields in held]
        else:
            values = [source.get(field) for source in sources]
        columns.append(pa.array(values, pa.int64()).view(kind) if kind == pa.uint64() else pa.array(values, kind))
    return pa.table(columns, schema)


def unique_hashes(pages: Iterable[Hits], field: str) -> Hashes:
    """Return the content hashes in a field of hits, each once."""
    return np.unique(np.concatenate([np.empty(0, np.uint64), *(hashes(integers(hits, field)) for hits in pages)]))


def one_signed(value: int) -> int:
    """Convert a content hash to a signed number, as the server stores it."""
    return value - 2**64 if value >= 2**63 else value
