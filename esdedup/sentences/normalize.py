"""What `--normalize` does to a text before it is shingled; what is stored and shown stays as it was.

`none` leaves it; `lower` folds to lower case; `words` keeps the lower-case words, separated by spaces;
`stem` reduces each of those words to its Snowball stem in the language of `--lang`.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pyarrow as pa
import Stemmer

from esdedup.errors import SettingsError
from esdedup.flat import text_column
from esdedup.sentences.words import find_words, joined


def normalize(column: pa.LargeStringArray, how: str, lang: str) -> pa.LargeStringArray:
    """The texts as they are shingled; `SettingsError` if `stem` does not know the language."""
    if how == "none" or len(column) == 0:
        return column
    lower = text_column(joined(column).lower().split("\n"))
    if how == "lower":
        return lower
    words, offsets = find_words(lower)
    if how == "stem":
        words = _stemmer(lang).stemWords(words)
    return text_column([" ".join(words[begin:end]) for begin, end in pairwise(offsets)])


def stems(words: list[str], lang: str) -> list[str]:
    """The Snowball stems of lower-case words; the words themselves where Snowball does not know the language."""
    try:
        stemmer = _stemmer(lang)
    except SettingsError:
        return words
    return list(stemmer.stemWords(words))


@cache
def _stemmer(lang: str) -> Any:
    try:
        return Stemmer.Stemmer(lang.split("-")[0].split("_")[0])
    except KeyError:
        known = ", ".join(Stemmer.algorithms())
        raise SettingsError(f"normalize stem does not know the language {lang!r}; it knows {known}") from None
