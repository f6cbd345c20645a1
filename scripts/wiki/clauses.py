"""Sentences about a subject, made of clauses.

The fixed text of a clause, and the text that joins two clauses, is short, and there are hundreds of them. So
independent sentences share few shingles, however many are made.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import chain
from operator import getitem

import numpy as np

from scripts.wiki.article_subjects import Names, Subject, subject_of
from scripts.wiki.english.grammar import Pattern, compiled, patterns, pool
from scripts.wiki.english.names import CHOICES

_JOINTS = ((", and ", "; "), ("; ", ", and "), (", while ", "; "), ("; ", ", while "), ("; ", "; "), (", and ", "; "))
"""Text between clauses, in turns."""

_USUAL = (1, 1, 1, 60, 60, 75, 75, 75, 75, 80, 80, 90, 95, 100, 105, 110, 115, 120, 130, 140, 150, 160, 190, 220, 250)
_COMPARED = 70
"""A single clause of this length is a sentence only if it is rare: shorter sentences are not compared."""
_LENGTHS = tuple(_USUAL[place % len(_USUAL)] for place in range(CHOICES))
"""Minimum lengths of sentences."""


def random_choices(random_numbers: random.Random) -> Iterator[int]:
    """Yield random indices into a pool, forever."""
    return chain.from_iterable(_blocks(random_numbers))


def _blocks(random_numbers: random.Random) -> Iterator[list[int]]:
    while True:
        bits = np.frombuffer(random_numbers.randbytes(4096), dtype="<u2")
        yield (bits % CHOICES).tolist()


@cache
def _patterns(kind: str, era: int, containing: str = "") -> tuple[Pattern, ...]:
    return patterns(kind, era, containing)


@cache
def _compiled(text: str, era: int) -> Pattern:
    return compiled(text, era)


class SentenceMaker:
    """Makes random sentences about a subject."""

    def __init__(self, random_numbers: random.Random) -> None:
        self._choices = random_choices(random_numbers)
        self.about(subject_of(next(self._choices)))

    def about(self, subject: Subject) -> None:
        """Make the following sentences about `subject`."""
        self._subject = subject
        self._patterns = _patterns(subject.kind, subject.era)

    def clauses(self, least: int, named: bool = False, first: bool = True) -> str:
        """Return joined clauses of at least `least` characters, without a full stop; less than one clause more.

        They begin in lower case, unless with a name. With `named` the first names the subject in full. If it is not
        the `first` of its sentence, it does not.
        """
        choices, subject, clauses = self._choices, self._subject, self._patterns
        naming = _patterns(subject.kind, subject.era, "@~^") if named else clauses
        pattern, slots, rare, line = naming[next(choices)]
        text = pattern % tuple(map(getitem, slots, choices))
        full = named or (first and next(choices) % 2)
        text = _with_names(text, subject.full if full else subject.short, subject.noun)
        if len(text) >= least and (rare or len(text) < _COMPARED):
            return text
        joints = _JOINTS[next(choices) % len(_JOINTS)]
        turn, told, single = 0, [line], True
        while single or len(text) < least:
            pattern, slots, _, other = clauses[next(choices)]
            if other in told:
                continue
            told.append(other)
            clause = pattern % tuple(map(getitem, slots, choices))
            text += joints[turn] + _with_names(clause, subject.short, subject.noun)
            turn, single = 1 - turn, False
        return text

    def sentence(self, least: int = 0, named: bool = False) -> str:
        """Return a sentence of `least` characters or slightly more; by default mostly of one to three clauses."""
        text = self.clauses(least or _LENGTHS[next(self._choices)], named)
        return text[0].upper() + text[1:] + "."

    def lines(self, kind: str) -> Iterator[str]:
        """Yield clauses of another kind, one by one, forever: rows of tables or questions."""
        choices, clauses = self._choices, _patterns(kind, 0)
        while True:
            pattern, slots, *_ = clauses[next(choices)]
            text = pattern % tuple(map(getitem, slots, choices))
            yield text[0].upper() + text[1:]

    def filled(self, text: str) -> str:
        """Return `text`, a line of the grammar, with words for the names in braces and for the subject."""
        pattern, slots, *_ = _compiled(text, self._subject.era)
        return _with_names(pattern % tuple(map(getitem, slots, self._choices)), self._subject.full, self._subject.noun)

    def lead(self) -> str:
        """Return the first sentence of an article, with the subject's name in bold."""
        pattern, slots, *_ = _patterns(f"lead {self._subject.kind}", self._subject.era)[next(self._choices)]
        full = self._subject.full
        bold = Names(f"'''{full.subject[0].upper()}{full.subject[1:]}'''", full.possessive, full.object)
        return _with_names(pattern % tuple(map(getitem, slots, self._choices)), bold, self._subject.noun) + "."

    def treatise(self, least: int) -> str:
        """Return the title of a work that is cited, of at least `least` characters and without a comma."""
        text, joint = self.word("treatise"), " with Notes on "
        while len(text) < least:
            text += joint + self.word("topic")
            joint = " and "
        return text

    def word(self, name: str) -> str:
        """Return a random word of a pool."""
        return pool(name, self._subject.era)[next(self._choices)]

    def phrase(self) -> str:
        """Return an adjective and a noun."""
        return self.word("site")

    def person(self) -> str:
        """Return a first and a family name."""
        return self.word("person")

    def place(self) -> str:
        """Return the name of a place."""
        return self.word("place")


def _with_names(text: str, names: Names, noun: str) -> str:
    return text.replace("@", names.subject).replace("~", names.possessive).replace("^", names.object).replace("§", noun)


def generate_sentences(count: int, seed: int) -> Iterator[str]:
    """Yield `count` unrelated sentences of 40 to 600 characters."""
    random_numbers = random.Random(f"sentences {seed}")
    maker = SentenceMaker(random_numbers)
    for _ in range(count):
        maker.about(subject_of(random_numbers.randrange(2**20)))
        yield maker.sentence()
