"""Invented names of places, rivers and people, made of parts that real names are made of."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from scripts.wiki.english.word_files import word_lists

_PARTS = word_lists("names.txt")
_CROWDED = re.compile(r"[^aeiouy]{4}|[aeiouy]{3}")
"""Four consonants or three vowels in a row: such names are left out."""

CHOICES = 2048
"""Entries of a pool: small enough to stay close to the processor."""


def _joined(endings: str, longest: int = 11) -> tuple[str, ...]:
    """Return every root with every ending, where the two go together."""
    names = (
        root + ending
        for root in _PARTS["root"]
        for ending in _PARTS[endings]
        if root[-1] != ending[0] and root[-2:] != ending[:2] and len(root + ending) <= longest
    )
    return tuple(dict.fromkeys(name.capitalize() for name in names if not _CROWDED.search(name)))


_NAMES = _joined("place_ending")
_STRIDE = 267_737
"""Prime, so that every name comes up; large, so that names that follow each other differ."""


def name_of(number: int) -> str:
    """An invented name of a place, which is a family name as well; other numbers have other names."""
    number, place = divmod(number, len(_NAMES))
    place = place * _STRIDE % len(_NAMES)
    name = _NAMES[place]
    while number:
        number, other = divmod(number - 1, len(_NAMES))
        place = (place + (other + 1) * _STRIDE) % len(_NAMES)
        name += f"-{_NAMES[place]}"
    return name


def _drawn(random_numbers: random.Random, choices: Sequence[str]) -> tuple[str, ...]:
    return tuple(random_numbers.choices(choices, k=CHOICES))


_FIXED = random.Random("names")

PLACES = _drawn(_FIXED, _NAMES)
RIVERS = _drawn(_FIXED, _joined("river_ending", 8))
FAMILIES = _drawn(_FIXED, _joined("family_ending", 9))
FIRST_NAMES = (*_PARTS["woman"], *_PARTS["man"])
PEOPLE = tuple(
    f"{first} {family}" for first, family in zip(_drawn(_FIXED, FIRST_NAMES), _drawn(_FIXED, FAMILIES), strict=True)
)


def is_woman(first_name: str) -> bool:
    """Return whether a first name is one of women."""
    return first_name in _PARTS["woman"]
