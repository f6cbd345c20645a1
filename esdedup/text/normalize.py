"""What `--normalize` does to a text before it is shingled. The stored and shown text does not change.

`none` changes nothing. `fold` removes case, punctuation and the width of letters, `fold-accents` accents too
(`folding.py`). `lower` folds to lower
case. `words` keeps the lower-case words, separated by spaces. `stem` reduces each of these words to its Snowball stem
in the language of `--lang`; with `auto`, as English. `expanded` is for documents (Ahmed 2022, "Near Duplicate
Detection", section 2.2): lower case, English contractions expanded, punctuation and symbols removed (which joins the
parts around a hyphen, an apostrophe or a full stop inside a word), then stems.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pyarrow as pa
import regex
import Stemmer

from esdedup.columns.arrays import text_column
from esdedup.errors import SettingsError
from esdedup.text.contractions import expand_contractions
from esdedup.text.folding import fold
from esdedup.text.words import find_words, joined

_PARTING = regex.compile(r"[–—―…/\\]|-{2,}|\.{2,}")  # signs between words without a space
FOLDED = ("fold", "fold-accents")
"""The forms of `folding.py`."""

STEMMED = ("stem", "expanded")
"""The forms whose texts have stems."""

_SIGNS = regex.compile(r"[\p{P}\p{S}]+")


def normalize(column: pa.LargeStringArray, how: str, lang: str, scheme: int = 3) -> pa.LargeStringArray:
    """Return the texts as they are shingled, in a hash scheme.

    Raises `SettingsError` if there are no stems in the language.
    """
    if how == "none" or len(column) == 0:
        return column
    if how in FOLDED:
        return fold(column, accents=how == "fold-accents", scheme=scheme)
    lower = joined(column).lower()
    if how == "expanded":
        return text_column(_expanded(lower, lang).split("\n"))
    if how == "lower":
        return text_column(lower.split("\n"))
    words, offsets = find_words(text_column(lower.split("\n")))
    if how == "stem":
        words = _stemmer(lang).stemWords(words)
    return text_column([" ".join(words[begin:end]) for begin, end in pairwise(offsets)])


def _expanded(lower: str, lang: str) -> str:
    """Return the stems of the words of texts. Line feeds separate the texts."""
    stemmer = _stemmer(lang)
    texts = [text.split() for text in lower.split("\n")]
    # many tokens are repeated in a batch, so each is processed only once
    distinct = list({piece for text in texts for piece in text})
    whole = "\n".join(distinct)
    if _language(lang) in ("en", "eng"):
        whole = expand_contractions(whole)
    bare = [piece.split() for piece in _SIGNS.sub("", _PARTING.sub(" ", whole)).split("\n")]
    words = list({word for piece in bare for word in piece})
    stems = dict(zip(words, stemmer.stemWords(words), strict=True))
    forms = {piece: " ".join([stems[word] for word in its]) for piece, its in zip(distinct, bare, strict=False)}
    return "\n".join([" ".join(filter(None, map(forms.__getitem__, text))) for text in texts])


def stems(words: list[str], lang: str) -> list[str]:
    """Return the Snowball stems of lower-case words; the words themselves if Snowball does not know the language."""
    try:
        stemmer = _stemmer(lang)
    except SettingsError:
        return words
    return list(stemmer.stemWords(words))


@cache
def _stemmer(lang: str) -> Any:
    try:
        return Stemmer.Stemmer(_language(lang))
    except KeyError:
        known = ", ".join(Stemmer.algorithms())
        raise SettingsError(f"normalize with stems does not know the language {lang!r}; it knows {known}") from None


def _language(lang: str) -> str:
    return lang.split("-")[0].split("_")[0]
