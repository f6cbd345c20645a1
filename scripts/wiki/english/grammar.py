"""The grammar of the generated English: words and clauses, read from the text files beside this one.

A *pool* is the words that may stand for a name. A *pattern* is a clause with names in braces.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from scripts.wiki.english.names import CHOICES, FAMILIES, FIRST_NAMES, PEOPLE, PLACES, RIVERS
from scripts.wiki.english.word_files import sections, word_lists

ERAS = ((1820, 2020), (1870, 2015), (1810, 1870), (1850, 1910), (1890, 1950), (1940, 2000))
"""First and last years of what an article tells: long for places, later for clubs and companies, short for people."""

_DATED = ("year", "years_to", "years_and")
_SLOT = re.compile(r"\{([\w:]+)\}")
_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_VOWEL = re.compile(r"[aeio]|u(?!ni|se)|hour")
_EXPANSIONS = 16
"""Patterns made of each clause of the file, with other choices."""
_RARE = 50
"""Bits of choice in a clause that may be a sentence of its own."""

Item = TypeVar("Item")

Pool = tuple[str, ...]


class Pattern(NamedTuple):
    """A clause: a text with `%s` in it, the pool of each, whether it is rarely the same twice, and the line of the
    grammar that it was made of.
    """

    text: str
    pools: tuple[Pool, ...]
    rare: bool
    line: str


def pool(name: str, era: int = 0) -> Pool:
    """Return the `CHOICES` words for a name; with `a:` before it, each after "a" or "an"."""
    return _pool(name, era if name in _DATED else 0)


@cache
def _pool(name: str, era: int) -> Pool:
    random_numbers = random.Random(f"pool {name} {era}")
    if name in _DATED:
        return _sized(_years(name, ERAS[era], random_numbers))
    if name.startswith("a:"):
        return tuple(map(with_article, pool(name[2:])))
    if name.istitle():
        return tuple(word.capitalize() for word in pool(name.lower()))
    if name in _MADE:
        return _MADE[name]
    words = _words()[name]
    if not any(map(_SLOT.search, words)):
        return _sized(words)
    return tuple(_filled(random_numbers.choice(words), random_numbers) for _ in range(CHOICES))


def lines(kind: str) -> list[str]:
    """Return the lines below a heading of the file of clauses, as they are."""
    return _clauses()[kind]


def patterns(kind: str, era: int = 0, containing: str = "") -> tuple[Pattern, ...]:
    """Return `CHOICES` clauses about a kind of subject; only those that contain one of these signs, if any are given.

    `@` is the subject, `~` its possessive, `^` the subject as an object, and `§` its noun.
    """
    texts = _texts(kind)
    return _sized([compiled(text, era, line) for text, line in texts if _contains(text, containing)])


def _contains(text: str, signs: str) -> bool:
    return not signs or any(sign in text for sign in signs)


def compiled(text: str, era: int = 0, line: str = "") -> Pattern:
    """Return a text with names in braces as a pattern."""
    names = _SLOT.findall(text)
    pools = tuple(pool(name, era) for name in names)
    return Pattern(_SLOT.sub("%s", text), pools, sum(map(_bits, names)) >= _RARE, line)


@cache
def _texts(kind: str) -> tuple[tuple[str, str], ...]:
    """Return the clauses about a kind of subject, each with the line that it was made of."""
    random_numbers = random.Random(f"clauses {kind}")
    expanded = [(_expanded(line, random_numbers), line) for line in _clauses()[kind] for _ in range(_EXPANSIONS)]
    random_numbers.shuffle(expanded)
    return tuple(expanded)


def _expanded(line: str, random_numbers: random.Random) -> str:
    """Return a line with its choices made, down to names that stand for plain words."""

    def chosen(name: re.Match[str]) -> str:
        article, _, plain = name[1].rpartition(":")
        choices = _clauses()[plain] if plain.isupper() else _words().get(plain, [])
        if not plain.isupper() and not any(map(_SLOT.search, choices)):
            return name[0]
        text = _expanded(random_numbers.choice(choices), random_numbers)
        if not article:
            return text
        return "{a:" + text[1:] if text[0] == "{" else with_article(text)

    line = _CHOICE.sub(lambda choice: random_numbers.choice(choice[1].split("|")), line)
    return _SLOT.sub(chosen, line)


def with_article(words: str) -> str:
    """Return words after "a" or "an"."""
    return ("an " if _VOWEL.match(words) else "a ") + words


def _filled(text: str, random_numbers: random.Random) -> str:
    return _SLOT.sub(lambda name: random_numbers.choice(pool(name[1])), text)


@cache
def _bits(name: str) -> float:
    """Return the bits of choice in a name's words."""
    return math.log2(len(set(pool(name))))


def _years(name: str, era: tuple[int, int], random_numbers: random.Random) -> list[str]:
    first, last = era
    if name == "year":
        return [str(year) for year in range(first, last)]
    between = name.removeprefix("years_")
    begins = (random_numbers.randrange(first, last - 12) for _ in range(CHOICES))
    return [f"{year} {between} {year + random_numbers.randrange(2, 12)}" for year in begins]


def _sized(choices: Sequence[Item]) -> tuple[Item, ...]:
    """Return the choices over and over, to the size of a pool."""
    return tuple(choices[place % len(choices)] for place in range(CHOICES))


@cache
def _words() -> dict[str, list[str]]:
    return word_lists("words.txt")


@cache
def _clauses() -> dict[str, list[str]]:
    return sections("clauses.txt")


_MADE: dict[str, Pool] = {
    "place": PLACES,
    "person": PEOPLE,
    "family": FAMILIES,
    "first_name": _sized(FIRST_NAMES),
    "river_name": RIVERS,
    "river": tuple(f"the {name}" for name in RIVERS),
    "n": _sized([f"{number:,}" for number in range(41, 9980, 7)]),
    "count": _sized([str(number) for number in range(12, 480)]),
    "day": _sized([str(day) for day in range(1, 29)]),
    "km": _sized([f"{length} km" for length in range(2, 60)]),
    "height": _sized([f"{length} metres" for length in range(70, 990, 3)]),
    "metres": _sized([f"{length} metres" for length in range(9, 160)]),
}
