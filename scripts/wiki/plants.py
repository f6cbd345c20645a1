"""Planted clusters: sentences of all kinds, planned for one district of articles at a time.

A cluster is planted near or loose. A change in a sentence changes the shingles that include that position. So the
similarity of its versions depends on the length of the sentence. Near versions share 89 % or more of their shingles,
loose ones less than 75 %, and none are in between, where a threshold would decide.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, zip_longest

from scripts.wiki.article_subjects import Subject, board_of
from scripts.wiki.clauses import SentenceMaker
from scripts.wiki.english.grammar import lines

PLANTS = {
    "template": 3,
    "identical": 12,
    "copyediting": 8,
    "drift": 8,
    "references": 5,
    "other": 3,
    "siblings": 2,
    "drift in other facts": 6,
    "update": 4,
}
"""Number of planted clusters of each sort in a district. Siblings are a template, and an update is drift."""

_FACTS = ("date", "quantity", "negation")
"""Other facts in which planted contradictions differ, in turns."""

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")

_REACH = 11
"""Number of shingles that begin before a position and include it: the characters of a shingle minus one."""
_NEAR = 17
"""Shingles of a sentence for each one that changes: a Jaccard similarity of (17 - 1) / (17 + 1) or more."""
_LOOSE = (2.8, 5.0)
_SHORTEST, _LONGEST = 80, 590
_LONGEST_TITLE = 22
_LOOSE_SHARE = 0.15
_AT_END = 0.75
"""Share of edits and contradictions at the end of a sentence, where it is similar enough with fewer clauses."""

_STALE_BEHIND = 31
"""So many articles behind one with an update, one still says what it said before."""

_THINGS = ("town", "building", "bridge", "school")
"""Kinds of subjects that copy-edited sentences are about."""
_IN_GROUPS = ("town", "town", "scholar", "artist", "building", "bridge", "company", "club", "school")
"""Kinds of subjects that belong to districts, leagues and the like."""


@dataclass(frozen=True, slots=True)
class Plant:
    """Sentences of one planted cluster: `members` are indices of articles in the district, texts, and the fillers of
    the slots of a template. In an `update`, one article says two texts one after the other, and another one may still
    say the first.
    """

    kind: str
    members: tuple[tuple[int, str, tuple[str, ...]], ...]
    update: bool = False


class Planter:
    """Plans the planted clusters of one district, whose articles have these `subjects`."""

    def __init__(self, random_numbers: random.Random, subjects: Sequence[Subject]) -> None:
        self._random = random_numbers
        self._subjects = subjects
        self._maker = SentenceMaker(random_numbers)
        self._facts_in_turn = cycle(_FACTS)

    def plan(self) -> list[Plant]:
        """Return all planted clusters, sort by sort."""
        makers: dict[str, Callable[[], Plant]] = {
            "template": self._template,
            "identical": self._identical,
            "copyediting": self._copyediting,
            "drift": self._drift,
            "references": self._references,
            "other": self._other,
            "siblings": self._siblings,
            "drift in other facts": self._drift_in_other_facts,
            "update": self._update,
        }
        return [makers[sort]() for sort, count in PLANTS.items() for _ in range(count)]

    # -- the kinds ------------------------------------------------------------------------------------------

    def _template(self) -> Plant:
        """The same sentence about several articles, with other facts."""
        articles = self._group(min(3 + int(self._random.expovariate(0.1)), 40))
        subjects = [self._subjects[article] for article in articles]
        kind, numbers = subjects[0].kind, self._some("n", len(articles))
        slots = [[subject.full.subject for subject in subjects], numbers]
        if self._random.random() < _LOOSE_SHARE:
            begin, has, and_, noun_end, board = self._line(f"census {kind}")
            slots.append(self._some("count", len(articles)))
            fixed = [f"{_capital(begin)} ", f" {has} ", f" {and_} ", f" {noun_end}; "]
            changed = sum(_longest(slot) + _REACH for slot in slots)
            least, most = _loose(changed)
        else:
            begin, end, board = self._line(f"boilerplate {kind}")
            slots[0] = list(map(_capital, slots[0]))
            fixed = ["", f" {begin}; "]
            changed = _longest(slots[0]) + _longest(numbers) + 1
            least, most = _near(changed)
            least, most = least - len(end) - 3, most - len(end) - 3
        self._maker.about(board_of(board))
        used = sum(map(len, fixed)) + sum(map(_longest, slots))
        more = self._clauses(least - used, most - used)
        fixed[-1] += f"{more}." if len(slots) > 2 else f"{more}; {end} "
        texts = _filled(fixed if len(slots) > 2 else [*fixed, "."], slots)
        return Plant("template", tuple(zip(articles, texts, zip(*slots, strict=True), strict=True)))

    def _identical(self) -> Plant:
        """The same sentence, word for word."""
        articles = self._about_one(2 + min(int(self._random.expovariate(0.7)), 4))
        text = self._maker.sentence(self._random.randrange(_SHORTEST, 260), named=True)
        return self._plant("identical", articles, [text] * len(articles))

    def _copyediting(self) -> Plant:
        """The same sentence with another spelling, or with another word for the same."""
        articles = self._about_one(2 + (self._random.random() < 0.4), _THINGS)
        before, versions, after = self._line("edit end" if self._random.random() < _AT_END else "edit")
        choices = versions.split(", ")
        chosen = [choices[place % len(choices)] for place in range(len(articles))]
        return self._versions("copyediting", articles, before, chosen, after + ".")

    def _drift(self) -> Plant:
        """The same statement about the same subject, with facts that cannot all be true."""
        articles = self._about_one(2 + (self._random.random() < 0.25))
        kind = f"drift {self._subjects[articles[0]].kind}"
        if self._random.random() < _LOOSE_SHARE:
            return self._plant("drift", articles, self._facts(kind, len(articles)))
        fact, name = self._line(kind)
        at_end = name == "person" or self._random.random() < _AT_END
        after = "." if at_end else f"; {self._maker.clauses(1, first=False)}."
        return self._versions("drift", articles, fact + " ", self._some(name, len(articles)), after)

    def _drift_in_other_facts(self) -> Plant:
        """The same statement with another date or quantity, or once with "not"."""
        fact = next(self._facts_in_turn)
        articles = self._about_one(2, _THINGS)
        if fact == "negation":
            before, versions, after = self._line("drift negation")
            return self._versions("drift", articles, before, versions.split(", "), f"{after}.")
        before, name = self._line(f"drift {fact}")
        return self._versions("drift", articles, f"{before} ", self._some(name, 2), ".")

    def _update(self) -> Plant:
        """A statement of one article, and what it says later."""
        (article,) = self._about_one(1)
        before, name = self._line(f"drift {self._subjects[article].kind}")
        plant = self._versions("drift", [article] * 2, f"{before} ", self._some(name, 2), ".")
        (_, old, cells), _ = plant.members
        still = (article + _STALE_BEHIND) % len(self._subjects)
        return replace(plant, members=(*plant.members, (still, old, cells)), update=True)

    def _siblings(self) -> Plant:
        """Sentences of one article in the same words, about several things."""
        count = self._random.randrange(3, len(_ORDINALS) + 1)
        articles = self._about_one(1, _THINGS) * count
        phrase, unit, *quantity = self._line("sibling")
        slots = [list(_ORDINALS[:count]), self._some("n", count)]
        least, most = _near(sum(map(_longest, slots)) + _REACH + len("The  "))
        used = sum(map(_longest, slots)) + len(f"The  {phrase}  {unit}; .")
        more = self._clauses(least - used, most - used)
        texts = _filled(["The ", f" {phrase} ", f" {unit}; {more}."], slots)
        cells = slots[0], [f"{number} {unit}" for number in slots[1]] if quantity else slots[1]
        return Plant("template", tuple(zip(articles, texts, zip(*cells, strict=True), strict=True)))

    def _facts(self, kind: str, count: int) -> list[str]:
        """Return loose versions of a sentence with three facts."""
        while True:
            facts = [self._maker.filled(line).split("|") for line in lines(kind)]
            slots = [self._some(name, count) for _, name in facts]
            begin = _capital(self._maker.clauses(30, named=True))
            texts = _filled([f"{begin}; {facts[0][0]} ", *(f"; {fact} " for fact, _ in facts[1:]), "."], slots)
            least, most = _loose(sum(_longest(slot) + _REACH for slot in slots) - _REACH)
            if all(least <= len(text) <= most for text in texts):
                return texts

    def _references(self) -> Plant:
        """The same work, cited in another style."""
        articles = self._articles(2 + (self._random.random() < 0.4))
        maker = self._maker
        year, place = maker.word("year"), maker.place()
        styles = self._random.sample((f", {year}.", f" ({year}).", f"; {year}.", f" {year}."), len(articles))
        begin = f"{maker.person()} and {maker.person()}: "
        series = self._random.choice(("Proceedings", "Publications", "Journal"))
        imprint = f", {series} of the University of {place}, {maker.place()} University Press"
        title = maker.treatise(_near(_longest(styles))[0] - len(begin + imprint))
        return self._plant("references", articles, [begin + title + imprint + style for style in styles])

    def _other(self) -> Plant:
        """Two statements that are similar by chance: one was cut where its sentence continued."""
        articles = self._about_one(2)
        (before,) = self._line("cut")
        return self._versions("other", articles, before, [" by:", f" in {self._maker.word('year')}."], "")

    # -- what they share ------------------------------------------------------------------------------------------

    def _plant(self, kind: str, articles: Sequence[int], texts: Sequence[str]) -> Plant:
        return Plant(kind, tuple((article, text, ()) for article, text in zip(articles, texts, strict=True)))

    def _versions(self, kind: str, articles: Sequence[int], before: str, versions: Sequence[str], after: str) -> Plant:
        """Return near versions of a sentence about the subject, with `before` and `after` in its last clause."""
        prefix = _common(versions)
        suffix = _common([version[prefix:][::-1] for version in versions])
        changed = _longest(versions) - prefix - suffix + min(_REACH, suffix + len(after))
        least, most = _near(changed)
        used = len(before) + _longest(versions) + len(after) + 2
        begin = _capital(self._clauses(least - used, most - used, named=True))
        return self._plant(kind, articles, [f"{begin}; {before}{version}{after}" for version in versions])

    def _clauses(self, least: int, most: int, named: bool = False) -> str:
        """Return clauses of so many characters."""
        while True:
            text = self._maker.clauses(least, named, first=named)
            if len(text) <= most:
                return text

    def _line(self, heading: str) -> list[str]:
        """Return the parts of one of the lines below a heading."""
        return self._maker.filled(self._random.choice(lines(heading))).split("|")

    def _articles(self, count: int, kinds: Sequence[str] = ()) -> list[int]:
        """Return some articles; the first is about a subject of one of these kinds."""
        numbers = range(len(self._subjects))
        first = self._random.choice([number for number in numbers if not kinds or self._subjects[number].kind in kinds])
        others = self._random.sample([number for number in numbers if number != first], count - 1)
        return [first, *others]

    def _about_one(self, count: int, kinds: Sequence[str] = ()) -> list[int]:
        """Return some articles, and make the next clauses about the subject of the first."""
        articles = self._articles(count, kinds)
        self._maker.about(self._subjects[articles[0]])
        return articles

    def _group(self, count: int) -> list[int]:
        """Return articles about subjects of one kind, with titles that leave room for the rest of a sentence."""
        groups: dict[str, list[int]] = {kind: [] for kind in _IN_GROUPS}
        for number, subject in enumerate(self._subjects):
            if subject.kind in groups and len(subject.title) <= _LONGEST_TITLE:
                groups[subject.kind].append(number)
        count = min(count, max(map(len, groups.values())))
        kind = self._random.choice([kind for kind in _IN_GROUPS if len(groups[kind]) >= count])
        return self._random.sample(groups[kind], count)

    def _some(self, name: str, count: int) -> list[str]:
        """Return different words of a pool, different days of one month, or different lengths."""
        if name == "date":
            days = self._random.sample(range(1, 29), count)
            month = f"{self._maker.word('month')} {self._maker.word('year')}"
            return [f"{day} {month}" for day in days]
        found: dict[str, None] = {}
        while len(found) < count:
            found[f"{self._maker.word('n')} metres" if name == "length" else self._maker.word(name)] = None
        return list(found)


def _near(changed: int) -> tuple[int, int]:
    """Return the least and the greatest length of near versions of which so many characters are changed."""
    return max(changed * _NEAR + _REACH, _SHORTEST), _LONGEST


def _loose(changed: int) -> tuple[int, int]:
    least, most = (int(changed * share) + _REACH for share in _LOOSE)
    return max(least, _SHORTEST), most


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _common(versions: Sequence[str]) -> int:
    """Return the number of characters with which all versions begin."""
    return next(place for place, signs in enumerate(zip_longest(*versions)) if len(set(signs)) > 1)


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
