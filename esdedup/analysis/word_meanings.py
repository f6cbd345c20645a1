"""What words mean without their text: numbers and ordinals in words, years, roles, opposites."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from esdedup.analysis.word_forms import APOSTROPHES, NAME, NUMBER, PLAIN, SIGN, Classes, Words, split_words
from esdedup.columns.arrays import Flags, Numbers, text_column
from esdedup.columns.hashing import Hashes
from esdedup.columns.kernels import kept

_YEAR_DIGITS = 4
_MOST_SIDES = 100
_ROMAN_LETTERS = tuple(map(ord, "IVX"))
_BEHIND_ROMAN = (*_ROMAN_LETTERS, *b"-.e", 0xC2, 0xC3, 0xD0, 0xD1)
"""Bytes behind the first letter of a number: others, and those with which its endings begin."""
_LONGEST_ROMAN = 12
"""Bytes of a Roman numeral with its ending."""
_DASHES = tuple(map(ord, "-‒–—/"))
FUNCTION, DATED, NEGATIVE, YEAR, PRONOUN, ARTICLE, SHARE, FRACTION = 1, 2, 4, 8, 16, 32, 64, 128
"""Roles of words, as bits."""

UNITS = 100_000
"""Axes of opposites from here on are what units measure."""

_CENTURY = 1200.0  # months
_DEGREE = ord("°")

UNCLEAR_UNITS = {"in", "second", "t", "min"}
"""Units that are also other words. After a number they are not units, unless they change with it."""

ORDINAL_ENDINGS = "st|nd|rd|th|er|ère|e|è|ème|º|ª|:[ae]|-?(?:й|я|го|му|е|х|та)|ο|ος|ου|η|ης|ην"
_NTH = re.compile(rf"(\d+)(?:{ORDINAL_ENDINGS})$")
"""An ordinal in figures."""

_ROMAN = re.compile(r"(X{0,3})(IX|IV|V?I{0,3})(?:[-.]?(?:e|er|è|ème|º|го|й|я|е))?$")
"""A number in Roman figures up to 39, as of centuries and kings."""

_DECADE = re.compile(r"(\d{3}0)s$")
"""A decade, which has the hash of its first year: it is written as 1960s, or as 1960's, which is two words."""

_NO_NAMES = (
    "a about after according all also although among an and another any are as at because before both but by during "
    "each either every few for from had has have he her here his how however if in into is it its many more most much "
    "my neither no nor not of on once one only or other our out over she since so some such than that the their them "
    "then there these they this those though through thus to two under until upon was we were what when where whether "
    "which while who with within without you your "
    "der die das ein eine es er sie im in nach bei auf le la les un une des il elle en dans à el los las una uno en "
    "il lo gli i un uno nel o os as um uma no na de het een"
)


class Meant(NamedTuple):
    """What is known of each word without its text: its hash (the same for `4th` and `fourth`), form, roles (bits), and
    the axis of an opposite with its side. `firsts` are the first words of texts that are no signs (or those of a later
    text).
    """

    hash: Hashes
    form: Classes
    roles: Classes
    axis: Numbers
    side: Numbers
    firsts: Numbers

    def of(self, begin: int, end: int, low: int, high: int) -> Meant:
        """Return what is known of the words `low:high`, those of the texts `begin:end`."""
        own = slice(low, high)
        return Meant(
            self.hash[own], self.form[own], self.roles[own], self.axis[own], self.side[own],
            self.firsts[begin:end] - low,
        )  # fmt: skip


class _Sides(NamedTuple):
    """Words that exclude each other: their hashes, sorted, with the axis and side of each."""

    hashes: Hashes
    axis: Numbers
    side: Numbers


class _Known(NamedTuple):
    figures: Hashes
    cardinals: Hashes
    spelled: Hashes  # numbers in words, sorted, and the hashes of their figures
    written: Hashes
    no_names: Hashes
    roles: tuple[tuple[int, Hashes], ...]
    opposites: _Sides
    units: _Sides  # what each measures is its axis
    degrees: _Sides  # letters behind the sign
    centuries: Hashes


def meant(words: Words) -> Meant:
    """Return what words mean. Number words and dates count as numbers. A leading article is not a name."""
    known = _known()
    form = words.form.copy()
    spoken = np.append(np.flatnonzero(form != SIGN), len(form))
    firsts = spoken[np.searchsorted(spoken, words.offsets[:-1])]
    begins = np.unique(firsts[firsts < len(form)])
    named = (form == NAME) & are_in(words.hash, known.cardinals)
    named[begins] = False
    form[are_in(words.hash, known.figures) & (form != SIGN) & ~named] = NUMBER  # not Otto, or a place called Due
    form[begins[(form[begins] == NAME) & are_in(words.hash[begins], known.no_names)]] = PLAIN
    roles = np.zeros(len(form), np.uint8)
    for role, hashes in known.roles:
        roles[are_in(words.hash, hashes)] |= role
    roles[_elided(words)] |= FUNCTION
    shares = np.flatnonzero(roles & SHARE)
    roles[shares[shares > 0] - 1] |= SHARE  # the number before, too
    years = _are_years(words, form)
    roles[years] |= YEAR
    at, found = _places_in(words.hash, known.opposites.hashes)
    axis, side = np.where(found, known.opposites.axis[at], 0), known.opposites.side[at]
    counted = np.append(SIGN, form)[:-1] == NUMBER
    degree = np.append(0, words.sign)[:-1] == _DEGREE
    for measured, before in ((known.units, counted), (known.degrees, degree)):
        at, found = _places_in(words.hash, measured.hashes)
        behind = np.flatnonzero(found & before)
        axis[behind], side[behind] = measured.axis[at[behind]], measured.side[at[behind]]
    form[behind] = PLAIN  # the letters of degrees are no names
    hashes = _as_figures(words, form, years)
    hashes[named] = words.hash[named]
    return Meant(hashes, form, roles, axis, side, firsts)


def _elided(words: Words) -> Numbers:
    """Return the words that an apostrophe joins to the next one: those of l'eau, but not that of John's."""
    signs = np.flatnonzero(np.isin(words.sign[1:-1], APOSTROPHES)) + 1
    joined = (words.end[signs - 1] == words.begin[signs]) & (words.end[signs] == words.begin[signs + 1])
    return np.asarray(signs[joined & (words.sign[signs - 1] == 0) & (words.sign[signs + 1] == 0)] - 1)


def _as_figures(words: Words, form: Classes, years: Flags) -> Hashes:
    """Return the hashes of words. Numbers in words, ordinals and decades have those of their figures, and the forms of
    a month one of their own.
    """
    known = _known()
    hashes = words.hash.copy()
    at, found = _places_in(hashes, known.spelled)
    hashes = np.where(found, known.written[at], hashes)
    last = words.data[np.maximum(words.end, 1) - 1]
    ending = np.flatnonzero((form == NUMBER) & (words.end - words.begin >= 2) & ((last > ord("9")) | (last < ord("0"))))
    spelled = [bytes(words.data[words.begin[word] : words.end[word]]).decode() for word in ending.tolist()]
    figures = [
        (word, match[1])
        for word, text in zip(ending.tolist(), spelled, strict=True)
        if (match := _NTH.match(text) or _DECADE.match(text))
    ]
    figures += _whole_years(words, form, years)
    figures += _roman(words, form)
    if figures:
        hashes[[word for word, _ in figures]] = split_words(text_column([figure for _, figure in figures])).hash
    return hashes


def _whole_years(words: Words, form: Classes, years: Flags) -> list[tuple[int, str]]:
    """Return the years of which only the last one or two digits are written (`1942–43`), and their four digits."""
    short = np.flatnonzero((form == NUMBER) & (words.end - words.begin <= _YEAR_DIGITS // 2))
    short = short[(short >= 2) & np.isin(words.sign[short - 1], _DASHES)]
    text = np.searchsorted(words.offsets, short, "right")
    touching = (words.end[short - 2] == words.begin[short - 1]) & (words.end[short - 1] == words.begin[short])
    dashed = np.isin(words.sign[np.minimum(short + 1, len(form) - 1)], _DASHES)  # 2012-03-05 is not a range
    ended = ~dashed | (np.searchsorted(words.offsets, short + 1, "right") != text)
    begun = years[short - 2] & (text == np.searchsorted(words.offsets, short - 2, "right"))
    found = []
    for word in short[begun & touching & ended].tolist():
        year = int(bytes(words.data[words.begin[word - 2] : words.end[word - 2]]))
        last = bytes(words.data[words.begin[word] : words.end[word]])
        if last.isdigit():
            period = 10 ** len(last)
            found.append((word, f"{period * (year // period + (int(last) <= year % period)) + int(last)}"))
    return found


def _roman(words: Words, form: Classes) -> list[tuple[int, str]]:
    """Return the words that are numbers in Roman figures, which become numbers, and their figures. A single letter is
    one only behind a name, or beside a century.
    """
    first = words.data[words.begin] if len(words.begin) else words.begin
    size = words.end - words.begin
    some = np.flatnonzero((form == NAME) & np.isin(first, _ROMAN_LETTERS) & (size <= _LONGEST_ROMAN))
    second = words.data[np.minimum(words.begin[some] + 1, len(words.data) - 1)]
    some = some[(size[some] == 1) | np.isin(second, _BEHIND_ROMAN)]
    around = words.hash[np.clip(some[:, None] + (-1, 1), 0, len(form) - 1)]
    before, behind = are_in(around.ravel(), _known().centuries).reshape(-1, 2).T
    found = []
    for word, of_century in zip(some.tolist(), (before | behind).tolist(), strict=True):
        match = _ROMAN.match(bytes(words.data[words.begin[word] : words.end[word]]).decode())
        if match is None or not match[0]:
            continue
        if len(match[1] + match[2]) == 1 and not of_century and (word == 0 or form[word - 1] != NAME):
            continue
        ones = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX").index(match[2])
        found.append((word, str(10 * len(match[1]) + ones)))
    form[[word for word, _ in found]] = NUMBER
    return found


def _are_years(words: Words, form: Classes) -> Flags:
    """Return which words are numbers of four digits from 1000 to 2099."""
    yearly = np.flatnonzero((form == NUMBER) & (words.end - words.begin == _YEAR_DIGITS))
    digits = words.data[words.begin[yearly][:, None] + np.arange(_YEAR_DIGITS)]
    years = ((digits >= ord("0")) & (digits <= ord("9"))).all(1)
    years &= (digits[:, 0] == ord("1")) | ((digits[:, 0] == ord("2")) & (digits[:, 1] == ord("0")))
    out = np.zeros(len(form), np.bool_)
    out[yearly[years]] = True
    return out


@cache
def _known() -> _Known:
    all_words = lexicon()
    dated = [*all_words.months, *all_words.weekdays]
    measured = {name: number for number, name in enumerate(sorted({of for of, _ in units().values()}), UNITS)}
    sized = {name: (measured[of], round(1e9 * factor)) for name, (of, factor) in units().items()}
    sized = {name: unit for name, unit in sized.items() if name not in UNCLEAR_UNITS}
    degrees = _Sides(*_on_axes({name[1:]: unit for name, unit in sized.items() if name[0] == chr(_DEGREE)}))
    centuries = hashes_of(name for name, unit in units().items() if unit == ("calendar", _CENTURY))
    figures = {word: str(value) for word, value in {**all_words.ordinals, **all_words.numbers}.items()}
    figures |= {word: f"month{value}" for word, value in all_words.months.items()}
    spelled, written = (split_words(text_column(list(some))) for some in zip(*sorted(figures.items()), strict=True))
    single_words = np.flatnonzero(np.diff(spelled.offsets) == 1)
    numbers = spelled.hash[spelled.offsets[single_words]]
    by_hash = np.argsort(numbers)
    return _Known(
        hashes_of([*dated, *all_words.numbers, *all_words.ordinals, *all_words.scales, *all_words.fractions]),
        hashes_of(set(all_words.numbers) - set(all_words.ordinals)),
        numbers[by_hash], written.hash[single_words[by_hash]],
        hashes_of(_NO_NAMES.split()),
        (
            (FUNCTION, hashes_of(all_words.function)),
            (DATED, hashes_of(dated)),
            (NEGATIVE, hashes_of(all_words.negatives)),
            (PRONOUN, hashes_of(all_words.pronouns)),
            (ARTICLE, hashes_of(all_words.articles)),
            (SHARE, hashes_of(name for name, (of, _) in units().items() if of == "share")),
            (FRACTION, hashes_of(set(all_words.fractions) - set(all_words.ordinals))),
        ),
        _Sides(*_axes(crc32(_opposites_as_written().encode()))), _Sides(*_on_axes(sized)), degrees, centuries,
    )  # fmt: skip


def _on_axes(sides: Mapping[str, tuple[int, int]]) -> tuple[Hashes, Numbers, Numbers]:
    """Return the hashes of words, sorted, with the axis and side of each; of those that are one word here."""
    split = split_words(text_column(list(sides)))
    single = np.flatnonzero(np.diff(split.offsets) == 1)
    hashes, at = np.unique(split.hash[split.offsets[single]], return_index=True)
    of = np.array(list(sides.values()), np.int64)[single[at]]
    return hashes, of[:, 0].copy(), of[:, 1].copy()


_BITS_A_HASH = 16


def are_in(hashes: Hashes, listed: Hashes) -> Flags:
    """Return which hashes are among a few that are sorted. `np.isin` would sort them all."""
    return _places_in(hashes, listed)[1]


def _places_in(hashes: Hashes, listed: Hashes) -> tuple[Numbers, Flags]:
    """Return where hashes may stand among a few that are sorted, and whether they do. Most do not, as their last bits
    say: that takes a tenth of the time of a search.
    """
    last = np.uint64(2 ** (_BITS_A_HASH * len(listed)).bit_length() - 1)
    maybe, at = np.zeros(int(last) + 1, np.bool_), np.zeros(len(hashes), np.int64)
    maybe[listed & last] = True
    asked = np.flatnonzero(maybe[hashes & last])
    at[asked] = np.minimum(np.searchsorted(listed, hashes[asked]), len(listed) - 1)
    return at, np.asarray(listed[at] == hashes)


def hashes_of(listed: Iterable[str]) -> Hashes:
    """Return the hashes of words, sorted; of those that are one word here."""
    split = split_words(text_column(list(listed)))
    return np.unique(split.hash[split.offsets[:-1][np.diff(split.offsets) == 1]])


T = TypeVar("T")

FRACTIONS = (1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 10)
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
    about: frozenset[str]
    fractions: dict[str, float]
    pronouns: frozenset[str]
    articles: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """Return the lexicon."""
    text = files("esdedup.analysis").joinpath("lexicon.toml").read_text("utf-8")
    languages = list(tomllib.loads(text).values())
    numbered = (*range(21), *_TENS)
    return Lexicon(
        dict(_valued(languages, "months", range(1, 13))),
        frozenset(word for words in languages for word in words["weekdays"].split()),
        dict(_valued(languages, "numbers", numbered)),
        dict(_valued(languages, "ordinals", range(1, 21))),
        dict(_valued(languages, "scales", SCALES)),
        frozenset(word for words in languages for word in words["negatives"].split()),
        frozenset(
            word for words in languages for name in ("function", "adverbs", "about") for word in words[name].split()
        ),
        frozenset(word for words in languages for word in words["about"].split()),
        dict(_valued(languages, "fractions", FRACTIONS)),
        frozenset(word for words in languages for word in words["pronouns"].split()),
        frozenset(word for words in languages for word in words["articles"].split()),
    )


def are_opposites(one: str, two: str) -> bool:
    """Return whether two texts have words that exclude each other."""
    words = split_words(text_column([one, two]))
    known, parted = meant(words), words.offsets[1]
    axis, side = (known.axis[:parted], known.axis[parted:]), (known.side[:parted], known.side[parted:])
    same = (axis[0][:, None] == axis[1]) & (axis[0] > 0)[:, None]
    return bool((same & (side[0][:, None] != side[1])).any())


def excludes(text: str) -> bool:
    """Return whether a text has a word that excludes another one."""
    axis = meant(split_words(text_column([text]))).axis
    return bool(((axis > 0) & (axis < UNITS)).any())


def _opposites() -> dict[str, tuple[int, int]]:
    """Return the number of the axis, from 1, and the side of each word that excludes another one. An axis that has a
    word of an earlier one, in another language, is the same: `antes` is Spanish and Portuguese.
    """
    found: dict[str, tuple[int, int]] = {}
    lines = (line for axes in tomllib.loads(_opposites_as_written()).values() for line in axes.strip().splitlines())
    for number, line in enumerate(lines, 1):
        words = [side.split() for side in line.split("|")]
        axis = next((found[word][0] for side in words for word in side if word in found), number)
        for place, side in enumerate(words):
            known = (found[word][1] for word in side if word in found and found[word][0] == axis)
            at = next(known, place if axis == number else _MOST_SIDES * number + place)
            for word in side:
                found.setdefault(word, (axis, at))
    return found


@cache
def _opposites_as_written() -> str:
    return files("esdedup.analysis").joinpath("opposites.toml").read_text("utf-8")


@kept
def _axes(_: int) -> tuple[Hashes, Numbers, Numbers]:
    """Return the hashes of all words that exclude others, with axis and side, for a file with this checksum."""
    return _on_axes(_opposites())


@cache
def units() -> dict[str, tuple[str, float]]:
    """Return what each unit measures, and its factor. In names of more words, these are joined with underscores."""
    listed = tomllib.loads(files("esdedup.analysis").joinpath("units.toml").read_text("utf-8"))["units"]
    return {name: (unit["dimension"], unit["factor"]) for unit in listed for name in unit["names"].split()}


def _valued(languages: list[dict[str, str]], name: str, values: Sequence[T]) -> Iterator[tuple[str, T]]:
    """Yield words with the value of their place in a list."""
    for words in languages:
        for forms, value in zip(words[name].split(), values, strict=False):
            for form in forms.split("|"):
                if form != "_":  # no word of this value
                    yield form, value
