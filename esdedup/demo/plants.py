"""Planted clusters: sentences of the six kinds, planned for one district of articles at a time.

A cluster is planted near or loose. A change in a sentence changes the shingles that include that position. So the
similarity of its versions depends on the length of the sentence. Near versions share 89 % or more of their shingles,
loose ones less than 75 %, and none are in between, where a threshold would decide.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from esdedup.demo.clauses import SentenceMaker
from esdedup.demo.vocabulary import NUMBERS, VERBS, YEARS

KINDS = ("template", "identical", "copyediting", "drift", "references", "other")
PLANTS = {"template": 3, "identical": 12, "copyediting": 8, "drift": 8, "references": 5, "other": 3}
"""Number of planted clusters in a district."""

_REACH = 11
"""Number of shingles that begin before a position and include it: the characters of a shingle minus one."""
_NEAR = 17
"""Shingles of a sentence for each one that changes: a Jaccard similarity of (17 - 1) / (17 + 1) or more."""
_LOOSE = (2.8, 3.6)
_SHORTEST, _LONGEST = 80, 590
_LOOSE_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Plant:
    """Sentences of one planted cluster: `members` are indices of articles in the district, texts, and the fillers of
    the slots of a template.
    """

    kind: str
    members: tuple[tuple[int, str, tuple[str, ...]], ...]


class Planter:
    """Plans the planted clusters of one district, whose articles have `titles`."""

    def __init__(self, random_numbers: random.Random, titles: Sequence[str]) -> None:
        self._random = random_numbers
        self._titles = titles
        self._maker = SentenceMaker(random_numbers)

    def plan(self) -> list[Plant]:
        """Return all planted clusters, kind by kind."""
        makers: dict[str, Callable[[], Plant]] = {
            "template": self._template,
            "identical": self._identical,
            "copyediting": self._copyediting,
            "drift": self._drift,
            "references": self._references,
            "other": self._other,
        }
        return [makers[kind]() for kind in KINDS for _ in range(PLANTS[kind])]

    # -- the six kinds ------------------------------------------------------------------------------------------

    def _template(self) -> Plant:
        """The same sentence about several articles, with other facts."""
        articles = self._articles(min(3 + int(self._random.expovariate(0.1)), 40))
        titles = [self._titles[article] for article in articles]
        slots = [titles, self._some(NUMBERS, len(articles))]
        loose = self._random.random() < _LOOSE_SHARE
        self._about_something()
        person = self._maker.person()
        if loose:
            slots.append([self._maker.phrase() for _ in articles])
            fixed = ["", " had ", " men and a ", f" of {person}; "]
        else:
            fixed = ["", " had ", f" men in the {self._maker.phrase()} of {person}; "]
        changed = _longest(slots[0]) + sum(_longest(slot) + _REACH for slot in slots[1:])
        texts = _filled([*fixed[:-1], self._grown(fixed[-1], changed, loose)], slots)
        return Plant("template", tuple(zip(articles, texts, zip(*slots, strict=True), strict=True)))

    def _identical(self) -> Plant:
        """The same sentence, word for word."""
        articles = self._articles(2 + min(int(self._random.expovariate(0.7)), 4))
        self._about_something()
        text = self._maker.sentence(self._random.randrange(_SHORTEST, 260))
        return self._plant("identical", articles, [text] * len(articles))

    def _copyediting(self) -> Plant:
        """The same sentence in other words, or with other commas."""
        articles = self._articles(2 + (self._random.random() < 0.4))
        subject = self._about_something()
        begin, end = "", ""
        versions, fixed = self._random.choice(_EDITS)
        slot = self._some(versions, len(articles))
        if fixed == "begin":
            end = f"{subject} {self._random.choice(VERBS)} the {self._maker.phrase()}; "
            changed = _longest(slot)
        else:
            begin = self._maker.sentence(self._random.randrange(60, 120))[:-1]
            end = fixed.format(did=self._random.choice(VERBS), person=self._maker.person())
            changed = _longest(slot) + _REACH
        return self._plant("copyediting", articles, _filled([begin, self._grown(end, changed, before=begin)], [slot]))

    def _drift(self) -> Plant:
        """The same statement about the same subject, with facts that cannot all be true."""
        articles = self._articles(2 + (self._random.random() < 0.25))
        subject = self._about_something()
        count = len(articles)
        if self._random.random() < _LOOSE_SHARE:
            slots = [self._some(YEARS, count), self._some(NUMBERS, count), [self._maker.person() for _ in articles]]
            fixed = [f"{subject} was built in ", " with ", " rooms by ", "; "]
            changed = sum(_longest(slot) + _REACH for slot in slots)
            return self._plant("drift", articles, _filled([*fixed[:-1], self._grown(fixed[-1], changed, True)], slots))
        fact = self._random.randrange(4)
        begin = f"{subject} {self._random.choice(VERBS)} the {self._maker.phrase()}"
        if fact == 3:
            slot = self._some(YEARS, count)
            text = self._grown(f"{begin}; ", 6)[:-1]
            return self._plant("drift", articles, _filled([text + "; it closed in ", "."], [slot]))
        slot = [self._some(YEARS, count), self._some(NUMBERS, count), [self._maker.person() for _ in articles]][fact]
        around = ((", built in ", "; "), (" with ", " men; "), (" of ", "; "))[fact]
        begin += around[0]
        end = self._grown(around[1], _longest(slot) + _REACH, before=begin)
        return self._plant("drift", articles, _filled([begin, end], [slot]))

    def _references(self) -> Plant:
        """The same work, cited in another style."""
        articles = self._articles(2 + (self._random.random() < 0.4))
        self._about_something()
        one, two = self._maker.person(), self._maker.person()
        imprint = f", {self._maker.place()} Press, {self._maker.place()}"
        year = self._random.choice(YEARS)
        opening = self._random.choice(("On the", "The", "Of the", "One", "Her")) + f" {self._maker.phrase()}: "
        if self._random.random() < 0.5:
            slot = self._some((" and ", ", ", " & ", "; "), len(articles))
            title = self._grown(f"{two}: {opening}", _longest(slot) + _REACH, before=one + imprint)[:-1]
            texts = _filled([one, f"{title}{imprint}, {year}."], [slot])
        else:
            pages = self._random.choice(NUMBERS)
            slot = self._some((f", {year}.", f" ({year}).", f", {year}, {pages} leaves."), len(articles))
            title = self._grown(f"{one} and {two}: {opening}", _longest(slot), before=imprint)[:-1]
            texts = _filled([title + imprint, ""], [slot])
        return self._plant("references", articles, texts)

    def _other(self) -> Plant:
        """Two statements that are similar by chance: one was cut where its sentence continued."""
        articles = self._articles(2)
        subject = self._about_something()
        noun = self._maker.phrase().split(" ")[1]
        endings = [f" by {noun}:", f" in {self._random.choice(YEARS)}."]
        stem = self._grown(f"{subject} {self._random.choice(VERBS)} it; ", _longest(endings))[:-1]
        return self._plant("other", articles, _filled([stem, ""], [endings]))

    # -- what they share ------------------------------------------------------------------------------------------

    def _plant(self, kind: str, articles: Sequence[int], texts: Sequence[str]) -> Plant:
        return Plant(kind, tuple((article, text, ()) for article, text in zip(articles, texts, strict=True)))

    def _articles(self, count: int) -> list[int]:
        return self._random.sample(range(len(self._titles)), count)

    def _some(self, choices: Sequence[str], count: int) -> list[str]:
        return self._random.sample(choices, count)

    def _about_something(self) -> str:
        subject = self._maker.place()
        self._maker.about(subject)
        return subject

    def _grown(self, begin: str, changed: int, loose: bool = False, before: str = "") -> str:
        """Return `begin` and more clauses, so that a sentence with `before` is as similar as near or loose ones must
        be.
        """
        least = int(changed * (_LOOSE[0] if loose else _NEAR)) + _REACH - len(before)
        most = int(changed * _LOOSE[1]) + _REACH - len(before) if loose else _LONGEST - len(before) - 40
        least = max(least, _SHORTEST)
        while True:
            text = begin + self._maker.clauses(least - len(begin)) + "."
            if len(text) <= max(most, least + 8):
                return text


_EDITS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("", "Today, ", "Indeed, ", "At last, "), "begin"),
    ((", ", ", and ", " and ", "; "), "{person} {did} it; "),
    ((", often ", ", usually ", ", mostly ", ", "), "{did} by {person}; "),
    ((", near to ", ", near ", ", close to "), "{person}; "),
    ((", also ", ", later ", ", then "), "{did} by {person}; "),
)
"""Different ways to say the same, and what follows them: frames of fixed text, as short as those of any sentence."""


def _longest(versions: Sequence[str]) -> int:
    return max(map(len, versions))


def _filled(fixed: Sequence[str], slots: Sequence[Sequence[str]]) -> list[str]:
    """Return one text for each version: the fixed parts, with the version's own fillers between them."""
    texts = []
    for version in zip(*slots, strict=True):
        parts = [fixed[0]]
        for filling, part in zip(version, fixed[1:], strict=True):
            parts += (filling, part)
        texts.append("".join(parts))
    return texts
