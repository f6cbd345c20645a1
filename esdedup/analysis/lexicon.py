"""Words that decide whether two texts state different facts: months, numbers, negatives, opposites; in nine languages.

The languages are read together, because a text may quote another language, and what is a month in one is rarely a word
of another.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypeVar

T = TypeVar("T")

SCALES = (1e2, 1e3, 1e6, 1e9, 1e12)
_TENS = (30, 40, 50, 60, 70, 80, 90)


class Lexicon(NamedTuple):
    """The words of all languages, in lower case."""

    months: dict[str, int]  # 1 to 12
    weekdays: frozenset[str]
    numbers: dict[str, int]
    ordinals: dict[str, int]
    scales: dict[str, float]
    negatives: frozenset[str]
    function: frozenset[str]
    opposites: dict[str, tuple[int, int]]  # the number of an axis, from 1, and the side on it


@cache
def lexicon() -> Lexicon:
    """Return the lexicon."""
    text = files("esdedup.analysis").joinpath("lexicon.toml").read_text("utf-8")
    languages = list(tomllib.loads(text).values())
    numbered = (*range(21), *_TENS)
    axes = [line.split("|") for words in languages for line in words["opposites"].strip().splitlines()]
    opposites: dict[str, tuple[int, int]] = {}
    for axis, sides in enumerate(axes, 1):
        for side, words in enumerate(sides):
            for word in words.split():
                opposites.setdefault(word, (axis, side))
    return Lexicon(
        dict(_valued(languages, "months", range(1, 13))),
        frozenset(word for words in languages for word in words["weekdays"].split()),
        dict(_valued(languages, "numbers", numbered)),
        dict(_valued(languages, "ordinals", range(1, 21))),
        dict(_valued(languages, "scales", SCALES)),
        frozenset(word for words in languages for word in words["negatives"].split()),
        frozenset(word for words in languages for word in words["function"].split()),
        opposites,
    )


def _valued(languages: list[dict[str, str]], name: str, values: Sequence[T]) -> Iterator[tuple[str, T]]:
    """Yield words with the value of their place in a list."""
    for words in languages:
        for forms, value in zip(words[name].split(), values, strict=False):
            for form in forms.split("|"):
                if form != "_":  # no word of this value
                    yield form, value
