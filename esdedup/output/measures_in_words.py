"""Measures in words. Pages show the words; the exact number stands beside them or in a title."""

from __future__ import annotations

_CONFIDENCE = ((0.95, "almost certain"), (0.8, "very likely"), (0.5, "likely"), (0.2, "possible"), (0.0, "doubtful"))
_LIKENESS = (
    (1.0, "nearly the same"),
    (0.9, "very like"),
    (0.7, "much like"),
    (0.5, "partly like"),
    (0.0, "a little like"),
)
"""From which value on a word is used. `docs/page.md` lists them."""


def confidence(share: float) -> str:
    """Return how sure something is, in words."""
    return _word(share, _CONFIDENCE)


def likeness(similarity: float) -> str:
    """Return how similar two texts are, in words."""
    return _word(similarity, _LIKENESS)


def hundredths(share: float) -> str:
    """Format a share of one with two digits. Only all is 1.00: the rest is rounded down."""
    return f"{int(round(share * 100, 4)) / 100:.2f}"


def _word(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    return next((word for least, word in steps if value >= least), steps[-1][1])
