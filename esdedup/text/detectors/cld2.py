"""Languages by Compact Language Detector 2, which looks at four letters at once."""

from __future__ import annotations

import pycld2

_MOSTLY = 60
"""Percent of a long text that must be in one language; of 2,758 paragraphs, none was wrong then."""

_UNKNOWN = "un"


def codes() -> frozenset[str]:
    """Return the languages that it knows."""
    return frozenset(code for _, code in pycld2.LANGUAGES)


def tell(text: str, telling: bool) -> str:
    """Return the language of a text, or nothing."""
    try:
        certain, _, found = pycld2.detect(text, bestEffort=not telling)
    except pycld2.error:  # characters that it does not take
        return ""
    _, code, percent, _ = found[0]
    # of a long text, the share of its letters says more
    accepted = percent >= _MOSTLY if telling else certain
    return code if accepted and code != _UNKNOWN and not code.startswith("xx") else ""


def others(text: str) -> float:
    """Return how much of a text is in another language than most of it, in percent."""
    try:
        _, _, languages = pycld2.detect(text, bestEffort=True)
    except pycld2.error:  # characters that it does not take
        return 0.0
    return float(sum(percent for _, code, percent, _ in languages[1:] if code != _UNKNOWN))
