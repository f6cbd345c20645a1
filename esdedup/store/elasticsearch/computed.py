"""The fields of a sentence that are computed from its text: for search as you type, and its length.

`grams` has the grams of the text (see `esdedup.lookup.grams`) as words of six signs. `start` and `head` have the
beginning of its search form without spaces: one can be searched, and one sorted by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import text_column, texts_from
from esdedup.columns.hashing import Bytes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.lookup.grams import Grams, grams_of
from esdedup.lookup.text_blocks import squeezed
from esdedup.store.schemas import START_CHARS
from esdedup.text.search_form import search_form

NO_GRAMS = "-"
"""What stands in `grams` for a text of signs alone, which has none: so it is known that it was looked at."""

_WORD = 6
_SIGNS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~", np.uint8)


def computed_fields(texts: Sequence[str], *, lookup: bool = True) -> list[dict[str, Any]]:
    """Return the computed fields of each text. Without `lookup`, leave out what is only looked up."""
    column = text_column(texts)
    sizes = pc.binary_length(column).to_pylist()
    if not lookup:
        return [{"bytes": size} for size in sizes]
    forms = search_form(column)
    heads = pc.utf8_slice_codeunits(squeezed(forms), 0, START_CHARS).to_pylist()
    words = as_words(*grams_of(forms)).to_pylist()
    return [
        {"start": head, "head": head, "grams": held or NO_GRAMS, "bytes": size}
        for head, held, size in zip(heads, words, sizes, strict=True)
    ]


def as_words(grams: Grams, bounds: Offsets) -> pa.LargeStringArray:
    """Return the grams of each text as words, separated by spaces."""
    return texts_from(*_as_words(grams, bounds, _SIGNS))


@compiled
def _as_words(grams: Grams, bounds: Offsets, signs: Bytes) -> tuple[Bytes, Offsets]:
    out = np.empty(len(grams) * (_WORD + 1), np.uint8)
    ends = np.zeros(len(bounds), np.int64)
    at = 0
    for text in range(len(bounds) - 1):
        for index in range(bounds[text], bounds[text + 1]):
            gram = np.int64(grams[index])
            for _ in range(_WORD):
                out[at] = signs[gram & 63]
                gram >>= 6
                at += 1
            if index + 1 < bounds[text + 1]:
                out[at] = 0x20
                at += 1
        ends[text + 1] = at
    return out[:at].copy(), ends
