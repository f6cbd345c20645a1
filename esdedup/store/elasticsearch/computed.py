"""The fields of a sentence that are computed from its text: for search as you type, and its length.

`folded` has the words of the search form of the text; of scripts without spaces, each pair of signs is a word. `start`
and `head` have the beginning of the search form without spaces: one can be searched, and one sorted by.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow.compute as pc

from esdedup.columns.arrays import text_column
from esdedup.lookup.grams import UNSPACED
from esdedup.lookup.text_blocks import squeezed
from esdedup.text.search_form import search_form

START_CHARS = 32
"""Characters in `start` and `head`. With 64, a sentence takes 7 percent more disk; with fewer, more texts begin alike,
and have to be fetched to be told apart.
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
    heads = pc.utf8_slice_codeunits(squeezed(forms), 0, START_CHARS).to_pylist()
    return [
        {"start": head, "head": head, "folded": folded(form) or NO_WORDS, "bytes": size}
        for form, head, size in zip(forms.to_pylist(), heads, sizes, strict=True)
    ]


def folded(form: str) -> str:
    """Return the words of a search form, separated by spaces."""
    return form if form.isascii() else _UNSPACED.sub(_pairs, form).strip()


def _pairs(run: re.Match[str]) -> str:
    signs = run[0]
    pairs = [signs[at : at + 2] for at in range(len(signs) - 1)] or [signs]
    return f" {' '.join(pairs)} "
