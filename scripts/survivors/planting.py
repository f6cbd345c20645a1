"""Clusters of copies: undamaged ones and damaged ones, older and newer ones, and which of them to keep.

A cluster is planted only if the choice is certain: a copy that nothing happened to, or the only one with a slight
fault among copies with grave ones, or the one that the policy names.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Literal

from scripts.survivors.damage import FAMILIES, Work
from scripts.survivors.odd import ALIKE, odd_text
from scripts.survivors.originals import JOINED, LANGUAGES, Original, Originals, sentences

_SOURCES = (
    "crawl-2019",
    "crawl-2023",
    "newspaper-scans",
    "pdf",
    "wiki-export",
    "mail-archive",
    "mirror.example",
    "feed",
)
_SLIGHT = (
    ("ocr", "letters"), ("doubled", "word"), ("run together", "words"), ("flattened", "accents"),
    ("stray signs", "replacement"), ("stray signs", "soft hyphens"), ("stray signs", "zero width"),
    ("markup", "entities"), ("flattened", "spelt out of order"),
)  # fmt: skip
"""Damage that, at strength 1, is one sign or word."""
_CUTS = ("cut end", "cut start")
_GRAVE = ("ocr", "cut end", "cut start", "doubled", "markup", "mojibake", "stray signs", "run together", "flattened")


@dataclass(frozen=True, slots=True)
class Copy:
    """A text of a cluster; `damage` names what was done to it, with the strength (1 to 3): `ocr: letters/2`."""

    id: str
    text: str
    source: str
    score: float | None
    updated: str | None
    damage: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Copies of one text. Those in `best` are equally good to keep under `policy`."""

    name: str
    kind: str
    copies: tuple[Copy, ...]
    best: frozenset[str]
    policy: str
    language: str
    original: str


@dataclass(slots=True)
class _Draft:
    text: str
    damage: tuple[str, ...] = ()
    best: bool = False
    score: float | None = None
    updated: str | None = None


@dataclass(slots=True)
class _Plan:
    original: Original
    drafts: list[_Draft]
    policy: str = "clean"


class _UnfitError(Exception):
    """The text has no place for the damage."""


class _Planter:
    def __init__(self, rng: random.Random, originals: Originals) -> None:
        self.rng = rng
        self.originals = originals

    def of_family(self, family: str) -> _Plan:
        """One or two copies without damage, and others with damage of a family, some of them with more."""
        original = self.originals.take(self.rng)
        return self._against(original, lambda: self._damaged(original, (family,), 0.25))

    def several(self) -> _Plan:
        """Each damaged copy has two or three sorts of damage."""
        original = self.originals.take(self.rng)
        return self._against(original, lambda: self._damaged(original, FAMILIES, 1))

    def odd(self, kind: str) -> _Plan:
        """A text that looks damaged and is not, beside copies with damage that looks otherwise."""
        original = odd_text(kind, self.rng, self.originals)
        others = [family for family in FAMILIES if family not in ALIKE[kind]]
        return self._against(original, lambda: self._damaged(original, others, 0.2))

    def slight(self, grave: tuple[str, ...]) -> _Plan:
        """No copy is without damage: one has a slight fault, the others have grave ones."""
        original = self.originals.take(self.rng)
        cuts = grave == _CUTS
        return self._least(original, _SLIGHT, lambda: self._damaged(original, grave, 0.2, 2 if cuts else 3), not cuts)

    def scans(self) -> _Plan:
        """Independent scans of one page, with faults in different places; one is by far the best."""
        original = self.originals.take(self.rng)
        return self._least(original, _SLIGHT[:1], lambda: self._damaged(original, ("ocr",), 0.5, 2, named="letters"))

    def _least(
        self, original: Original, slight: Sequence[tuple[str, str]], damaged: Callable[[], _Draft], far: bool = True
    ) -> _Plan:
        """One copy with a slight fault; the others are damaged, and if `far`, at least four times as much."""
        for family, name in self.rng.sample(slight, len(slight)):
            text = FAMILIES[family][name](original.text, Work(self.rng, original.language, 1))
            if text != original.text:
                break
        else:
            raise _UnfitError
        drafts, least = [_Draft(text, (f"{family}: {name}/1",), best=True)], 4 * far * _distance(text, original.text)
        for _ in range(self.rng.randrange(2, 6)):
            drafts.append(damaged())
            if _distance(drafts[-1].text, original.text) < least:
                raise _UnfitError
        return _Plan(original, drafts)

    def newest(self) -> _Plan:
        """Versions of one text: later ones have other figures, sentences more or sentences fewer."""
        original = self.originals.take(self.rng)
        versions = [original.text]
        for _ in range(self.rng.randrange(1, 4)):
            versions.append(self._revised(versions[-1], original.language))
        day = datetime(2009, 1, 1) + timedelta(minutes=self.rng.randrange(7_000_000))
        drafts = []
        for number, version in enumerate(versions):
            drafts.append(_Draft(version, best=number == len(versions) - 1, updated=self._date(day)))
            day += timedelta(days=self.rng.choice([2, 3, 40, 700]), minutes=self.rng.randrange(1440))
        if self.rng.random() < 0.3:  # the day is earlier where it is written, the instant is later
            late = datetime(2020, 5, 1, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
            drafts[-1].updated = late.isoformat()
            drafts[-2].updated = "2020-05-02T01:00:00+00:00"
            del drafts[:-2]
        if self.rng.random() < 0.4:
            drafts.append(_Draft(self.rng.choice(versions[:-1])))
        if self.rng.random() < 0.3:
            drafts.append(self._damaged(Original(versions[0], original.language), FAMILIES, 0))
            drafts[-1].updated = drafts[0].updated
        return _Plan(Original(versions[-1], original.language), drafts, "newest:updated")

    def best_score(self) -> _Plan:
        """The copy with the highest score is without damage; others may be, too."""
        original = self.originals.take(self.rng)
        plan = self._against(original, lambda: self._damaged(original, FAMILIES, 0), mirrors=False)
        if self.rng.random() < 0.5:
            plan.drafts.append(_Draft(self._revised(original.text, original.language)))
        step, score = self.rng.choice([0.001, 0.1, 2.0, 9.5]), self.rng.choice([0.9, 9.0, 99.5, -0.5])
        for number, draft in enumerate(plan.drafts):
            draft.best = number == 0
            if number == 0 or self.rng.random() < 0.8:
                draft.score = round(score - number * step, 4)
        return _Plan(plan.original, plan.drafts, "best:score")

    # -- copies -------------------------------------------------------------------------------------------------

    def _against(self, original: Original, damaged: Callable[[], _Draft], *, mirrors: bool = True) -> _Plan:
        drafts = [_Draft(original.text, best=True)]
        for _ in range(self.rng.choice([1, 1, 2, 2, 3, 4])):
            drafts.append(damaged())
        if mirrors and self.rng.random() < 0.4:  # a copy of a copy: what is in most of them is not always right
            mirrored = self.rng.choice(drafts)
            drafts += [replace(mirrored) for _ in range(self.rng.randrange(1, max(2, 6 - len(drafts))))]
        return _Plan(original, drafts)

    def _damaged(
        self, original: Original, families: Iterable[str], more: float, weakest: int = 1, named: str = ""
    ) -> _Draft:
        """Return a copy with damage of one of the families, and perhaps with more, of another where there is one."""
        text, done = original.text, list[str]()
        choices, wanted = list(families), 1 + (self.rng.random() < more)
        for _ in range(40):
            family = self.rng.choice(choices)
            name = named if named and not done else self.rng.choice(list(FAMILIES[family]))
            strength = self.rng.randrange(weakest, 4)
            made = FAMILIES[family][name](text, Work(self.rng, original.language, strength))
            if made in (text, original.text) or f"{family}: {name}" in (each[:-2] for each in done):
                continue
            text = made
            done.append(f"{family}: {name}/{strength}")
            if len(done) == wanted:
                return _Draft(text, tuple(done))
            choices = choices if named or len(choices) > 1 else list(_GRAVE)
        raise _UnfitError

    def _revised(self, text: str, language: str) -> str:
        """Return a later version: another figure, a sentence more, or both."""
        made = text
        if (figures := list(re.finditer(r"(?<![\d.,])\d{3,}(?![\d.,:])", text))) and self.rng.random() < 0.6:
            figure = self.rng.choice(figures)
            made = text[: figure.start()] + str(int(figure[0]) + self.rng.randrange(1, 9)) + text[figure.end() :]
        if language in LANGUAGES and (made == text or self.rng.random() < 0.3):
            made += ("" if language in JOINED else " ") + sentences(language, 5, self.rng)[0]
        if made == text:
            raise _UnfitError
        return made

    def _date(self, day: datetime) -> str:
        forms = ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S+02:00", "%Y-%m-%dT%H:%M")
        return day.strftime(self.rng.choice((*forms, "%Y-%m-%dT%H:%M:%S.250Z")))


KINDS: dict[str, Callable[[_Planter], _Plan]] = {
    **{family: partial(_Planter.of_family, family=family) for family in FAMILIES},
    "several": _Planter.several,
    "all damaged": partial(_Planter.slight, grave=_GRAVE),
    "slight or cut": partial(_Planter.slight, grave=_CUTS),
    "scans": _Planter.scans,
    "newest": _Planter.newest,
    "score": _Planter.best_score,
    **{f"odd: {kind}": partial(_Planter.odd, kind=kind) for kind in ALIKE},
}


def clusters(count: int, seed: int, data: Path | None) -> list[Cluster]:
    """Return clusters of all kinds in turns; with `data`, most of them are of real prose."""
    originals = Originals(data, seed)
    made = []
    for number in range(count):
        kind = list(KINDS)[number % len(KINDS)]
        name = f"{kind.replace(': ', '-').replace(' ', '-')}-{number // len(KINDS):04d}"
        made.append(_cluster(name, kind, random.Random(f"{seed} {name}"), originals))
    return made


def part(name: str) -> Literal["building", "judging"]:
    """Return what a cluster is for: a third of them, chosen by their names, is only for judging."""
    return "judging" if int(hashlib.sha256(name.encode()).hexdigest(), 16) % 3 == 0 else "building"


def _distance(one: str, two: str) -> int:
    """Return the number of shingles that only one of two texts has."""
    return len({one[at : at + 8] for at in range(len(one))} ^ {two[at : at + 8] for at in range(len(two))})


def _cluster(name: str, kind: str, rng: random.Random, originals: Originals) -> Cluster:
    planter = _Planter(rng, originals)
    for _ in range(100):
        try:
            plan = KINDS[kind](planter)
            break
        except _UnfitError:
            continue
    else:
        raise RuntimeError(f"{name}: no text fits")
    if plan.policy == "clean":  # scores and dates say nothing about damage
        dated, scored = rng.random() < 0.6, rng.random() < 0.6
        for draft in plan.drafts:
            if dated and rng.random() < 0.8:
                draft.updated = planter._date(datetime(2012, 1, 1) + timedelta(minutes=rng.randrange(6_000_000)))
            if scored and rng.random() < 0.8:
                draft.score = round(rng.random(), 3)
    rng.shuffle(plan.drafts)
    copies = tuple(
        Copy(f"{name}-{letter}", draft.text, rng.choice(_SOURCES), draft.score, draft.updated, draft.damage)
        for letter, draft in zip("abcdefgh", plan.drafts, strict=False)
    )
    best = frozenset(copy.id for copy, draft in zip(copies, plan.drafts, strict=True) if draft.best)
    return Cluster(name, kind, copies, best, plan.policy, plan.original.language, plan.original.text)
