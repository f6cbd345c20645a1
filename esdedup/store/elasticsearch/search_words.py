"""The words by which the server finds a sentence.

Its standard analyser makes words of `text`. Most are those of the search form (`esdedup.text.search_form`) already:
letters and digits of ASCII between spaces or signs. Those of all other words stand in `forms`, which the server adds to
the words of `text`. Words that the analyser would cut, as pairs of ideographs, are written in hexadecimal there.
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import text_buffers, texts_from
from esdedup.columns.hashing import Bytes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.lookup.grams import UNSPACED
from esdedup.text.search_form import search_form

_UNSPACED = re.compile(f"[{UNSPACED}]+")
_KINDS = np.zeros(256, np.uint8)
"""What a byte is: 0 of a word that needs a form, 1 a letter or digit of ASCII, 2 a sign that ends a word, 3 a space."""
_KINDS[[code for code in range(128) if chr(code).isalnum()]] = 1
_KINDS[[ord(sign) for sign in "!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~"]] = 2
_KINDS[[ord(sign) for sign in " \t\n\r"]] = 3


def extra_words(texts: pa.LargeStringArray) -> list[str | None]:
    """Return the words of each text that the analyser does not make of it; None if there are none."""
    forms = search_form(texts_from(*_uncommon(*text_buffers(texts), _KINDS)))
    return [_written(form) or None for form in forms.to_pylist()]


def _written(form: str) -> str:
    return form if form.isascii() else " ".join(map(word_of, folded(form).split()))


@compiled
def _uncommon(data: Bytes, offsets: Offsets, kinds: Bytes) -> tuple[Bytes, Offsets]:
    """Return the words of each text, as spaces separate them, but those of ASCII letters and digits alone. Signs at
    both ends do not matter.
    """
    texts = len(offsets) - 1
    out = np.empty(offsets[texts] - offsets[0] + texts, np.uint8)
    bounds = np.zeros(texts + 1, np.int64)
    total = 0
    for index in range(texts):
        at, end = offsets[index], offsets[index + 1]
        while at < end:
            while at < end and kinds[data[at]] >= 2:
                at += 1
            first = last = at  # the word ends after its last sign that is not one of those that end words
            plain = True
            inside = at
            while at < end and kinds[data[at]] != 3:
                if kinds[data[at]] != 2:
                    plain = plain and kinds[data[at]] == 1 and inside == at
                    inside = last = at + 1
                at += 1
            if not plain:
                out[total : total + last - first] = data[first:last]
                total += last - first
                out[total] = 0x20
                total += 1
        bounds[index + 1] = total
    return out[:total].copy(), bounds


def folded(form: str) -> str:
    """Return the words of a search form, separated by spaces: in scripts without spaces, pairs of letters."""
    return form if form.isascii() else _UNSPACED.sub(_pairs, form).strip()


def _pairs(run: re.Match[str]) -> str:
    signs = run[0]
    pairs = [signs[at : at + 2] for at in range(len(signs) - 1)] or [signs]
    return f" {' '.join(pairs)} "


def is_written(word: str) -> bool:
    """Whether the index holds a word of `folded` as it is."""
    if word.isascii():
        return True
    if _UNSPACED.search(word) or word != word.lower():
        return False
    return word.isalpha() or all(
        sign.isalpha() or sign.isdecimal() or unicodedata.category(sign)[0] == "M" for sign in word
    )


def word_of(word: str) -> str:
    """Return a word of `folded` as the index holds it."""
    return word if is_written(word) else "".join(f"{ord(sign):04x}" for sign in word)
