"""What a reader would stumble over in a cleaned text: holes, markup, beginnings in the middle of a sentence.

Each counter is a rule of thumb, the same for every cleaner that is measured. A hole is one of these:

- brackets with nothing in them;
- a space before a comma or a full stop;
- an article before a mark of punctuation or a sign for something left out (`…`, `formula_1`);
- a preposition before such a sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

# Words that cannot end a phrase. German and Greek articles are pronouns too, so most of them are not here.
_ARTICLES = {
    "en": "a an the",
    "fr": "le les un une des du",
    "it": "il lo gli i un uno una del della dei degli",
    "es": "el los las un una",
    "de": "ein eine einen einem eines",
    "el": "οι",
}
_PREPOSITIONS = {
    "en": "of in by with to at from for on into between as that",
    "fr": "de à par avec dans en au aux et sur",
    "it": "di a da in con su per e",
    "es": "de a en con por para y",
    "de": "von mit zu in im aus bei nach und",
    "uk": "у в на з із до від та і й за по",
    "el": "με από για και στο στη στην σε του της των",
}

_SIGN = r"(?:…|formula_\d+)"
_BRACKETS = re.compile(r"\(\s*[,;:.]*\s*\)|\[\s*\]|（[、，\s]*）")
_SPACE = re.compile(r"\w [,.](?=\s|$)")
_MARKUP = re.compile(
    r"\[\[|\]\]|\{\{|\}\}|'''|''|<(?:/?[a-z]+[^<>]*|!--)>|\{\||\|\}|^=+[^=]+=+$|^[*#:;] |__[A-Z]+__|&[a-z]+;"
    r"|\b(?:align|style|class|colspan|rowspan|width)=",
    re.MULTILINE,
)


@cache
def _words_before(lang: str) -> re.Pattern[str]:
    articles, prepositions = (table.get(lang, "") for table in (_ARTICLES, _PREPOSITIONS))
    alone = rf"(?:{'|'.join(articles.split())})(?: ?{_SIGN}|[,.;:)])" if articles else "(?!)"
    before = rf"(?:{'|'.join(prepositions.split())}) {_SIGN}" if prepositions else "(?!)"
    return re.compile(rf"(?<![\w'’.-])(?:{alone}|{before})")


def is_hole(text: str, lang: str) -> bool:
    """Return whether something is missing in a text in the language of this code."""
    return any(pattern.search(text) for pattern in (_BRACKETS, _SPACE, _words_before(lang)))


def has_markup(text: str) -> bool:
    """Return whether markup of wikitext or HTML is left in a text."""
    return _MARKUP.search(text) is not None


def begins_small(text: str) -> bool:
    """Return whether the first letter or digit of a text is a small letter."""
    return next(filter(str.isalnum, text), "").islower()


def share(texts: Iterable[bool]) -> float:
    """Return the share of what is true, in percent."""
    found = list(texts)
    return 100 * sum(found) / max(1, len(found))
