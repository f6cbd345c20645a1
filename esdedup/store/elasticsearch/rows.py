"""Convert the rows of a run to documents of the indices, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, text_column
from esdedup.columns.hashing import Hashes
from esdedup.lookup.grams import UNSPACED
from esdedup.lookup.text_blocks import squeezed
from esdedup.matching.engine import SIGNATURES
from esdedup.matching.groups import in_columns, token_lists
from esdedup.store.elasticsearch.bulk import Action, put
from esdedup.store.elasticsearch.reading import Fields, Hits, hashes, integers, signed
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.schemas import DATES, SENTENCES
from esdedup.text.search_form import search_form

START_CHARS = 24
"""Characters in `start`. Eight more take a dozen bytes. With fewer, more texts begin alike, and are fetched to be told
apart.
"""

NO_WORDS = "-"
"""What stands in `folded` for a text of signs alone, which has none: so it is known that it was looked at."""

_UNSPACED = re.compile(f"[{UNSPACED}]+")


def computed_fields(texts: Sequence[str], *, lookup: bool = True) -> list[dict[str, Any]]:
    """Return the computed fields of each text. Without `lookup`, leave out what is only looked up."""
    column = text_column(texts)
    sizes = pc.binary_length(column).to_pylist()
    if not lookup:
        return [{"bytes": size} for size in sizes]
    forms = search_form(column)
    starts = pc.utf8_slice_codeunits(squeezed(forms), 0, START_CHARS).to_pylist()
    return [
        {"start": start, "folded": folded(form) or NO_WORDS, "bytes": size}
        for form, start, size in zip(forms.to_pylist(), starts, sizes, strict=True)
    ]


def folded(form: str) -> str:
    """Return the words of a search form, separated by spaces."""
    return form if form.isascii() else _UNSPACED.sub(_pairs, form).strip()


def _pairs(run: re.Match[str]) -> str:
    signs = run[0]
    pairs = [signs[at : at + 2] for at in range(len(signs) - 1)] or [signs]
    return f" {' '.join(pairs)} "


POSITION_BITS = 32
"""A sentence number is the document number followed by this many bits for the position."""

POSITION_MASK = (1 << POSITION_BITS) - 1
"""Mask of the position in a sentence number."""

CHANGED = 0
"""The content of a document that others have changed: no text that is read again is the same."""

OURS = {"exists": {"field": "number"}}
"""Selects the sentences: somebody may have typed another document into their index."""

NAMED = Fields(source=True)
"""The fields that a row of `SENTENCES` needs."""


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
    }


def sentence_actions(
    checkpoint: SourceCheckpoint, unit: str, documents: pa.Table, sentences: pa.Table, *, lookup: bool
) -> Iterator[Action]:
    """Convert sentences (`SENTENCE_ROWS`) of these documents to bulk actions. Without `lookup`, leave out what it
    needs.
    """
    if not sentences.num_rows:
        return
    numbers = documents["number"].to_numpy()
    order = np.argsort(numbers)
    owner = sentences["document"].to_numpy()
    at = order[np.searchsorted(numbers, owner, sorter=order)].tolist()
    keys, titles, places = (documents[name].to_pylist() for name in ("key", "title", "place"))
    names = [shown_id(checkpoint, key) for key in keys]
    positions = sentences["position"].to_pylist()
    ids = (owner.astype(np.int64) << POSITION_BITS | sentences["position"].to_numpy()).tolist()
    tokens = sentences["tokens"].to_pylist()
    texts = sentences["text"].to_pylist()
    columns = zip(
        ids,
        at,
        owner.tolist(),
        positions,
        texts,
        computed_fields(texts, lookup=lookup),
        sentences["language"].to_pylist(),
        signed(sentences["hash"].to_numpy()).tolist(),
        tokens,
        *(sentences[name].to_pylist() for name in DATES),
        strict=True,
    )
    record = unit == "record"
    dumps = orjson.dumps
    for number, place, owned, position, text, computed, language, hash_, held, *times in columns:
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
            **computed,
            "tokens": held,
            "hash": hash_,
            "number": number,
            "document_number": owned,
            "source_number": checkpoint.number,
            "place": places[place],
        }
        yield b'{"index":{"_id":"%d"}}' % number, dumps(fields)


WHOLE_SENTENCE = Fields(columns=("tokens",), source=True)
"""The fields that `whole_sentences` needs."""


def whole_sentences(hits: Hits) -> list[dict[str, Any]]:
    """Return sentences as they were written, including what the index keeps only in columns.

    One that somebody else has changed has no tokens. It gets none here, so that the next scan signs it again.
    """
    computed = computed_fields([hit["_source"]["text"] for hit in hits])
    return [{**hit["_source"], **own, **hit.get("fields", {})} for hit, own in zip(hits, computed, strict=True)]


def tokens_of(hits: Hits) -> tuple[Numbers, Numbers]:
    """Return the tokens of all hits, and how many each of them has."""
    held = [hit["fields"]["tokens"] for hit in hits]
    lengths = np.array([len(each) for each in held], np.int64)
    return np.array([token for each in held for token in each], np.int64), lengths


def token_column(hits: Hits, columns: int) -> pa.ListArray:
    """Return the tokens of hits as a column of lists. The index returns those of each hit in ascending order."""
    return token_lists(in_columns(*tokens_of(hits), columns))


def sentence_table(hits: Hits) -> pa.Table:
    """Convert hits of `NAMED` to rows of `SENTENCES`."""
    return table_of_hits(hits, SENTENCES, {})


_GROUP = {"documents": ("document_number",), "sources": ("source_number",)}


def signature_fields(across: str) -> Fields:
    """Return the fields that a row of `SIGNATURES` needs."""
    return Fields(columns=("hash", "bytes", "tokens", *_GROUP.get(across, ())))


def signature_table(hits: Hits, columns: int, group_ids: Numbers | None, across: str) -> pa.Table:
    """Convert hits with `signature_fields` to rows of `SIGNATURES`. `group_ids` are those of the sources, by number."""
    group_id = np.full(len(hits), -1, np.int64)
    if across == "documents":
        group_id = integers(hits, "document_number")
    elif across == "sources" and group_ids is not None:
        group_id = group_ids[integers(hits, "source_number")]
    return pa.table(
        [
            pa.array(hashes(integers(hits, "hash"))),
            pa.array(group_id),
            pa.array(integers(hits, "bytes").astype(np.int32)),
            token_column(hits, columns),
        ],
        schema=SIGNATURES,
    )


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
