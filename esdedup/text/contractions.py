"""Expand English contractions: `don't` becomes `do not`, with any kind of apostrophe.

Ahmed 2022 ("Near Duplicate Detection", section 2.2) expands a list of 67 words; these are rules for the same words and
similar ones. An ending is expanded after any word, but `'s` only where it cannot be a genitive: `it's` is `it is`, but
`the king's` stays, and loses its apostrophe with the rest of the punctuation.
"""

from __future__ import annotations

from functools import lru_cache

import regex

_WORD = regex.compile(r"['’]?\p{L}+(?:['’]\p{L}+)+|['’]\p{L}+")

_WHOLE = {
    "ain't": "is not",
    "can't": "can not",
    "let's": "let us",
    "shan't": "shall not",
    "won't": "will not",
    "y'all": "you all",
    "'em": "them",
    "'tis": "it is",
    "'twas": "it was",
}
_ENDINGS = {"n't": "not", "'d": "would", "'ll": "will", "'m": "am", "'re": "are", "'ve": "have"}
_IS_BEHIND = frozenset("he here how it she that there this what when where who why".split())  # noqa: SIM905


def expand_contractions(text: str) -> str:
    """Return the text, which is in lower case, with its contractions expanded."""
    return text if "'" not in text and "’" not in text else str(_WORD.sub(_expanded, text))


def _expanded(match: regex.Match[str]) -> str:
    return _expand(match[0].replace("’", "'"))


@lru_cache(maxsize=10_000)
def _expand(word: str) -> str:
    """Expand one word with its apostrophes, starting at its end, as in `shouldn't've`."""
    if word in _WHOLE:
        return _WHOLE[word]
    if word.startswith("'"):
        return f"'{_expand(word[1:])}"  # a quotation begins
    if word.endswith("'s") and word[:-2] in _IS_BEHIND:
        return f"{word[:-2]} is"
    for ending, expanded in _ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending):
            return f"{_expand(word[: -len(ending)])} {expanded}"
    return word
