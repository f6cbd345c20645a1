"""Sign sentences again from the text that is stored with them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, text_buffers
from esdedup.columns.hashing import content_hashes
from esdedup.matching.groups import token_lists
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.store.elasticsearch.reading import Hits, signed
from esdedup.store.elasticsearch.rows import POSITION_BITS, computed_fields
from esdedup.text.segment import segment
from esdedup.text.splitting import Splitting


class Resigned(NamedTuple):
    """The sentences of some hits, by index. The last two have the same length."""

    changed: Numbers
    """With another text than was signed."""
    unfit: Numbers
    """Without a text that is compared."""
    kept: Numbers
    """Signed again."""
    documents: list[bytes]
    """These as they must be stored."""


def number_of(hit: dict[str, Any]) -> int | None:
    """Return the number of a sentence, which is its id; None for a document that is no sentence."""
    return int(hit["_id"]) if re.fullmatch("[0-9]{1,19}", hit["_id"]) else None


def sign_again(hits: Hits, signing: Signing, *, every: bool = False) -> Resigned:
    """Sign the sentences whose text does not fit what is stored with it, or `every` one.

    Hits need the column `bytes`, which only sentences have that esdedup wrote.
    """
    rows = [hit["_source"] for hit in hits]
    found = segment([str(row.get("text") or "") for row in rows], Splitting("record", signing.lang))
    by_row = dict(zip(found.document.tolist(), found.texts.to_pylist(), strict=True))
    texts = pa.array([by_row.get(at, "") for at in range(len(rows))], pa.large_string())
    hashes = signed(content_hashes(*text_buffers(texts)))
    same = np.array([row.get("hash") for row in rows], object) == hashes
    written = np.array(["bytes" in hit.get("fields", {}) for hit in hits])
    wrong = np.flatnonzero(~same | ~written | every)
    signer = TextSigner(signing)
    kept = wrong[_comparable(signer, texts.take(pa.array(wrong)))]
    chosen = texts.take(pa.array(kept))
    tokens = token_lists(signer.tokens(signer.views(chosen))).to_pylist() if len(kept) else []
    documents = []
    listed = chosen.to_pylist()
    for at, text, held, computed in zip(kept.tolist(), listed, tokens, computed_fields(listed), strict=True):
        number = int(hits[at]["_id"])
        own = {"text": text, "hash": int(hashes[at]), "tokens": held, "number": number}
        document = rows[at] | own | computed | {"document_number": number >> POSITION_BITS}
        documents.append(orjson.dumps(document))
    return Resigned(kept[~same[kept]], np.setdiff1d(wrong, kept), kept, documents)


def _comparable(signer: TextSigner, texts: pa.LargeStringArray) -> npt.NDArray[np.bool_]:
    """Return which texts are compared: those within the bounds of length that have a shingle."""
    low, high = signer.bounds(texts)
    length = pc.utf8_length(texts).to_numpy()
    fitting: npt.NDArray[np.bool_] = (length >= low) & (length <= high)
    fitting[fitting] = signer.views(texts.filter(pa.array(fitting))).worded
    return fitting
