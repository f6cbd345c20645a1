"""In which language a text is, found by its letters (`esdedup.text.detectors`), and by what its source says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from esdedup.text.detectors import detector, installed
from esdedup.text.splitting import CODE, DEFAULT

_SAMPLED = 1000  # characters of a text that are looked at
_TELLING = 200  # bytes from which a text is believed against its source
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_CODES = {"iw": "he", "jw": "jv", "mo": "ro", "nb": "no", "in": "id", "ji": "yi"}
_NEAR = ({"bs", "hr", "sh", "sr"}, {"id", "ms"}, {"da", "nn", "no"})  # often taken for each other


def base_language(code: str) -> str:
    """Return the language of a code such as `de-AT`, without the rest; nothing if it is not a code."""
    return _spelled(code.replace("_", "-").partition("-")[0].lower()) if re.fullmatch(CODE, code) else ""


def detect(texts: Iterable[str], expected: str = "", by: str = "") -> list[str]:
    """Return the language of each text as an ISO 639 code, told `by` a detector (by default the best one here).

    The first 1,000 characters decide. Where they are not enough, the language is English. With `expected`, what the
    source says, it is that, unless 200 bytes or more are certainly in another language.
    """
    by = by or installed()
    expected = base_language(expected)
    if not expected:
        return [_detect(text, by) or DEFAULT for text in texts]
    if expected not in _known(by):
        return [expected for _ in texts]
    near: set[str] = set().union(*(group for group in _NEAR if expected in group))
    found = (_detect(text, by) if _is_telling(text) else "" for text in texts)
    return [expected if code in near else code or expected for code in found]


def _detect(text: str, by: str) -> str:
    """Return the language of a text, or nothing if that is not certain."""
    sample = text[:_SAMPLED]
    if not sample.isprintable():
        sample = _UNFIT.sub(" ", sample)
    return _spelled(detector(by).tell(sample, _is_telling(sample)))


def other_languages(texts: Iterable[str]) -> list[float]:
    """Return how much of each text is in another language than most of it, in percent, as far as that is known."""
    best = detector(installed())
    return [best.others(_UNFIT.sub(" ", text)) for text in texts]


def _is_telling(text: str) -> bool:
    if text.isascii() or 4 * len(text) < _TELLING:
        return len(text) >= _TELLING
    return len(text) >= _TELLING or len(text.encode(errors="replace")) >= _TELLING


@lru_cache(1000)
def _spelled(code: str) -> str:
    code = code.partition("-")[0]
    return _CODES.get(code, code)


@cache
def _known(by: str) -> frozenset[str]:
    return frozenset(map(_spelled, detector(by).codes()))
