"""In which language a text is, found by its letters (CLD2)."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pycld2

DEFAULT = "en"
"""Language of texts of which nothing is known."""

AUTO = "auto"

_SAMPLED = 1000  # characters of a text that are looked at
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_CODES = {"iw": "he", "jw": "jv", "mo": "ro", "nb": "no", "in": "id", "ji": "yi", "zh-Hant": "zh"}
_UNKNOWN = "un"


def detect(texts: Iterable[str], expected: str = "") -> list[str]:
    """Return the language of each text as an ISO 639 code.

    The first 1,000 characters of a text decide. Where they are not enough, it is `expected`, or else English.
    """
    return [_detect(text) or expected or DEFAULT for text in texts]


def _detect(text: str) -> str:
    """Return the language of a text, or nothing if that is not certain."""
    sample = _UNFIT.sub(" ", text[:_SAMPLED])
    try:
        certain, _, found = pycld2.detect(sample, bestEffort=True)
    except pycld2.error:  # characters that it does not take
        return ""
    code = found[0][1]
    return _CODES.get(code, code) if certain and code != _UNKNOWN and not code.startswith("xx") else ""
