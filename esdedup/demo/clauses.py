"""Sentences made of clauses, and clauses made of frames and words.

The fixed text of a frame, and the text that joins two clauses, is always shorter than a shingle. So independent
sentences share almost no shingles, however many are made.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import chain
from operator import getitem

import numpy as np

from esdedup.demo.vocabulary import (
    ADJECTIVES,
    CHOICES,
    NOUNS,
    NUMBERS,
    PEOPLE,
    PLACES,
    VERBS,
    YEARS,
    pool,
    with_article,
)

_NOUNS, _KINDS = pool(NOUNS), pool(ADJECTIVES)
_ONE_KIND = pool(with_article(ADJECTIVES))

_SLOTS: dict[str, tuple[str, tuple[tuple[str, ...], ...]]] = {
    "thing": ("%s %s", (_KINDS, _NOUNS)),
    "noun": ("%s", (_NOUNS,)),
    "kind": ("%s", (_KINDS,)),
    "a_thing": ("%s %s", (_ONE_KIND, _NOUNS)),
    "a_noun": ("%s", (pool(with_article(NOUNS)),)),
    "a_kind": ("%s", (_ONE_KIND,)),
    "did": ("%s", (pool(VERBS),)),
    "place": ("%s", (PLACES,)),
    "person": ("%s", (PEOPLE,)),
    "year": ("%s", (pool(YEARS),)),
    "number": ("%s", (pool(NUMBERS),)),
}
_TITLE = "@"
"""Placeholder for the subject of a sentence until the sentence is complete."""

# `title` is the subject of the sentence.
_FRAMES = tuple(
    line.strip()
    for line in """
    {person} {did} the {thing} of {place}
    {person} {did} {a_thing} and {number} {noun} deeds
    {person} of {place} {did} {thing} and {thing}
    {person} had {did} its {noun} by {year}
    {person}, {a_kind} {noun}, {did} it
    {person} {did} her {thing} in {place}
    {person} and {person} {did} one {thing}
    {person} {did} {title} with {a_thing}
    {title} {did} its {thing} in {year}
    {title} {did} {number} {noun} and {noun} works
    {title} was {did} by {person}
    {title} had {number} {thing} lots
    {title} is {kind} and {did} by {a_thing}
    {title} and {place} {did} the {thing}
    {place} {did} its {thing} near {place}
    {place} {did} {person} for {a_thing}
    {place} and its {thing} were {did} in {year}
    {place} had {a_thing}, {a_noun} and {a_noun}
    {a_thing} {did} the {noun} of {person}
    {a_thing} and {a_thing} {did} {place}
    {a_kind} and {kind} {noun} {did} {number} men
    {a_thing} from {place} was {did}
    {a_noun} of {noun} {did} {title} in {year}
    the {thing} {did} {number} {thing} men
    the {thing} of {title} was {kind}
    the {thing} near {place} {did} {person}
    the {thing} was {did} in {year} by {person}
    the {noun} and {noun} of {place} are {kind}
    the {kind} and {kind} {noun} was {did}
    the {noun} {did} {thing} and {noun} for {place}
    {number} {thing} men {did} the {noun}
    {number} {noun} and {noun} men were {did}
    {number} of the {thing} {noun} men {did} {place}
    {kind} {noun} and {thing} {did} the {noun}
    {kind}, {kind} and {kind}, it {did} {person}
    its {thing} {did} {a_noun} of {place}
    its {kind} {noun} and {noun} were {did}
    its {noun} was {did} with {thing} and {noun}
    her {thing} {did} the {noun} in {year}
    his {thing} and his {noun} {did} {place}
    his {noun} had {did} {number} {noun} owners
    one {thing} {did} {place} from {year}
    one {noun} of the {thing} was {did}
    some {thing} men {did} {title} by {noun}
    some {kind} {noun} was {did} at {place}
    each {noun} {did} an old {noun} and {a_thing}
    each {thing} had {number} {noun} seats
    no {thing} {did} the {kind} {noun}
    no {noun} was {did} at {place} till {year}
    both {noun} and {noun} {did} {person}
    both {thing} and {place} were {kind}
    in {year} the {thing} {did} {place}
    in {year} {person} {did} {a_thing}
    in {year} its {noun} was {did} by {noun}
    in {place} the {noun} {did} {thing} and {noun}
    in {place} {person} {did} {number} {noun} sheets
    by {year} {a_thing} had {did} {title}
    by {year} {place} was {kind} and {kind}
    near {place} {a_noun} {did} {thing} and {noun}
    near its {thing} {a_noun} was {did}
    at {place} {person} {did} the {kind} {noun}
    at the {thing} {number} {noun} men were {did}
    for {person} the {noun} was {a_thing}
    from {place} the {thing} {did} {noun} and {noun}
    from {year} on, {place} {did} {a_noun}
    with {noun} and {noun}, {person} {did} {place}
    """.strip().splitlines()
)
_JOINTS = pool((", and ", ", and ", ", but ", ", but ", "; ", "; ", ", yet ", ", so ", " as ", " till ", ": "))

_USUAL = (1, 60, 75, 75, 75, 80, 80, 90, 95, 100, 105, 110, 115, 120, 130, 140, 150, 160, 170, 190, 210, 240, 280, 400)
_LENGTHS = tuple(_USUAL[place % len(_USUAL)] for place in range(CHOICES))
"""Minimum lengths of sentences."""

_Frame = tuple[str, tuple[tuple[str, ...], ...]]
_SLOT = re.compile(r"\{(\w+)\}")


def _compiled(frame: str) -> _Frame:
    frame = frame.replace("{title}", _TITLE)
    pools = [part for name in _SLOT.findall(frame) for part in _SLOTS[name][1]]
    return _SLOT.sub(lambda slot: _SLOTS[slot[1]][0], frame), tuple(pools)


_PATTERNS = [_compiled(frame) for frame in _FRAMES]
_COMPILED = tuple(_PATTERNS[place % len(_PATTERNS)] for place in range(CHOICES))


def _random_choices(random_numbers: random.Random) -> Iterator[list[int]]:
    """Yield random indices into a pool, some at a time, forever."""
    while True:
        bits = np.frombuffer(random_numbers.randbytes(4096), dtype="<u2")
        yield (bits % CHOICES).tolist()


class SentenceMaker:
    """Makes random sentences about `title`."""

    def __init__(self, random_numbers: random.Random, title: str = "It") -> None:
        self._choices = chain.from_iterable(_random_choices(random_numbers))
        self._title = title

    def about(self, title: str) -> None:
        """Make the following sentences about `title`."""
        self._title = title

    def clause(self) -> str:
        """Return forty to ninety characters, without a full stop, in lower case unless they begin with a name."""
        return self.clauses(1)

    def clauses(self, least: int) -> str:
        """Return joined clauses of at least `least` characters, less than one clause more."""
        choices = self._choices
        pattern, slots = _COMPILED[next(choices)]
        text = pattern % tuple(map(getitem, slots, choices))
        while len(text) < least:
            pattern, slots = _COMPILED[next(choices)]
            text += _JOINTS[next(choices)] + pattern % tuple(map(getitem, slots, choices))
        return text.replace(_TITLE, self._title)

    def sentence(self, least: int = 0) -> str:
        """Return a sentence of `least` characters or slightly more; by default mostly of one to three clauses."""
        text = self.clauses(least or _LENGTHS[next(self._choices)])
        return text[0].upper() + text[1:] + "."

    def phrase(self) -> str:
        """Return an adjective and a noun."""
        return f"{_KINDS[next(self._choices)]} {_NOUNS[next(self._choices)]}"

    def person(self) -> str:
        """Return a first and a family name."""
        return PEOPLE[next(self._choices)]

    def place(self) -> str:
        """Return the name of a place."""
        return PLACES[next(self._choices)]


def generate_sentences(count: int, seed: int) -> Iterator[str]:
    """Yield `count` unrelated sentences of 40 to 600 characters."""
    maker = SentenceMaker(random.Random(f"sentences {seed}"))
    for _ in range(count):
        maker.about(maker.place())
        yield maker.sentence()
