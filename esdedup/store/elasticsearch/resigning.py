"""Sign sentences again from the text that is stored with them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Flags, Numbers, text_buffers, text_column
from esdedup.columns.hashing import content_hashes
from esdedup.matching.groups import NO_TOKEN
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.store.elasticsearch.own_fields import LOOKUP
from esdedup.store.elasticsearch.reading import Hits, signed
from esdedup.store.elasticsearch.rows import POSITION_BITS, searched_fields
from esdedup.store.elasticsearch.token_words import texts_of_tokens
from esdedup.text.segment import segment
from esdedup.text.splitting import Splitting


class Resigned(NamedTuple):
    """The sentences of some hits, by index."""

    changed: Numbers
    """With another text than was signed."""
    unfit: Numbers
    """Without a text that is compared."""
    wrong: Flags
    """Not stored as they must be, shape (hits,)."""
    documents: list[bytes]
    """As they must be stored; empty for those that are unfit."""


def number_of(hit: dict[str, Any]) -> int | None:
    """Return the number of a sentence, which is its id; None for a document that is no sentence."""
    return int(hit["_id"]) if re.fullmatch("[0-9]{1,19}", hit["_id"]) else None


def sign_again(hits: Hits, signing: Signing, *, lookup: bool = False) -> Resigned:
    """Sign the sentences of hits, which are whole, from their texts. Those that can be looked up, or with `lookup` all,
    get what is looked up too.
    """
    rows = [hit["_source"] for hit in hits]
    found = segment([str(row.get("text") or "") for row in rows], Splitting("record", signing.lang))
    by_row = dict(zip(found.document.tolist(), found.texts.to_pylist(), strict=True))
    texts = text_column([by_row.get(at, "") for at in range(len(rows))])
    hashes = signed(content_hashes(*text_buffers(texts)))
    signer = TextSigner(signing)
    fits = _comparable(signer, texts)
    tokens = np.full((len(rows), signing.tokens), NO_TOKEN, np.int64)
    if fits.any():
        tokens[fits] = signer.tokens(signer.views(texts.filter(pa.array(fits))))
    looked_up = [lookup or "start" in row for row in rows]
    searched = searched_fields(texts) if any(looked_up) else [{}] * len(rows)
    changed = fits.copy()
    wrong = np.ones(len(rows), np.bool_)
    documents = []
    for at, (row, held, more) in enumerate(zip(rows, texts_of_tokens(tokens), searched, strict=True)):
        number, text, value = int(hits[at]["_id"]), by_row.get(at, ""), int(hashes[at])
        changed[at] &= row.get("hash") != value
        others = {name: each for name, each in row.items() if name not in LOOKUP}
        kept = others | {
            "text": text, "hash": value, "tokens": held, "bytes": len(text.encode()), "number": number,
            "document_number": number >> POSITION_BITS, **(more if looked_up[at] else {}),
        }  # fmt: skip
        wrong[at] = kept != row
        documents.append(orjson.dumps(kept) if fits[at] else b"")
    return Resigned(np.flatnonzero(changed), np.flatnonzero(~fits), wrong, documents)


def _comparable(signer: TextSigner, texts: pa.LargeStringArray) -> Flags:
    """Return which texts are compared: those within the bounds of length that have a shingle."""
    low, high = signer.bounds(texts)
    length = pc.utf8_length(texts).to_numpy()
    fitting: Flags = (length >= low) & (length <= high)
    fitting[fitting] = signer.views(texts.filter(pa.array(fitting))).worded
    return fitting
