"""What the generated articles are about: towns, people, bridges, works and others, each with its names."""

from __future__ import annotations

from dataclasses import dataclass

from scripts.wiki.english.grammar import ERAS, pool
from scripts.wiki.english.names import CHOICES, FIRST_NAMES, is_woman, name_of


@dataclass(frozen=True, slots=True)
class Names:
    """How a clause names its subject: as subject, possessive and object."""

    subject: str
    possessive: str
    object: str


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of an article: `kind` has clauses of its own, `noun` is what a reader would call it."""

    kind: str
    title: str
    noun: str
    era: int
    full: Names
    short: Names


_CYCLE = (
    *("town", "scholar", "building", "town", "artist", "town", "river", "town", "company", "town"),
    *("bridge", "town", "scholar", "club", "town", "work", "building", "artist", "railway", "town"),
    *("town", "school", "town", "scholar", "building", "town", "artist", "town", "town", "town"),
    *("town", "artist", "scholar", "town", "building", "town", "company", "town", "town", "bridge"),
)
"""Kinds of subjects of articles that follow each other."""

_NOUNS = {
    "town": ("town", "village", "town", "village", "parish"),
    "building": ("church", "abbey", "castle", "palace", "chapel", "manor", "priory", "cathedral"),
    "bridge": ("bridge", "viaduct", "bridge", "aqueduct"),
    "river": ("river",),
    "scholar": pool("scientist"),
    "artist": pool("artist"),
    "company": ("company",),
    "club": ("club",),
    "railway": ("railway", "line"),
    "work": ("novel", "play", "opera"),
    "school": ("university", "college", "academy", "school"),
}
KINDS = tuple(_NOUNS)

_TITLES = {
    "town": ("{name}",),
    "river": ("{name} River", "River {name}"),
    "company": ("{name} Brothers", "{name} Company", "{name} and Sons", "{name} Works"),
    "club": ("{name} Rovers", "{name} United", "{name} Athletic", "{name} Wanderers", "{name} City"),
    "work": ("The {one} {two} of {name}", "A {one} {two} in {name}", "The {two}s of {name}", "Letters from {name}"),
    "school": ("{noun} of {name}", "{name} {noun}"),
}
_LATE = ("club", "railway", "company")
_SHORT_LIVED = ("scholar", "artist", "work")
_PEOPLE = ("scholar", "artist")


def kind_of(number: int) -> str:
    """Return the kind of subject of the article with this number."""
    return _CYCLE[number % len(_CYCLE)]


def subject_of(number: int, kind: str = "") -> Subject:
    """Return the subject of the article with this number, or what it would be if it were of another kind.

    Other numbers have other titles.
    """
    kind = kind or kind_of(number)
    name = name_of(number)
    place = (number * 2_654_435_761 >> 7) % CHOICES  # spreads neighbours over the pools
    noun = _one(_NOUNS[kind], place >> 4)
    era = 2 + place % (len(ERAS) - 2) if kind in _SHORT_LIVED else int(kind in _LATE)
    if kind in _PEOPLE:
        first = _one(FIRST_NAMES, place)
        title = f"{first} {name}"
        short = Names("she", "her", "her") if is_woman(first) else Names("he", "his", "him")
        return Subject(kind, title, noun, era, _named(title), short)
    pattern = _one(_TITLES.get(kind, ("{name} {noun}",)), place)
    title = pattern.format(name=name, noun=noun.title(), one=pool("Plain")[place], two=pool("Image")[place])
    with_article = kind in ("river", "railway") or title.startswith(noun.title())
    full = f"the {title}" if with_article else title
    return Subject(kind, title, noun, era, _named(full), _named(f"the {noun}"))


def board_of(noun: str) -> Subject:
    """Return a district, league or the like, to which the subjects of several articles belong."""
    names = _named(f"the {noun}")
    return Subject("body", noun, noun, 0, names, names)


def _named(name: str) -> Names:
    return Names(name, name + ("'" if name[-1] == "s" else "'s"), name)


def _one(choices: tuple[str, ...], place: int) -> str:
    return choices[place % len(choices)]
