"""Kinds of fields: how values are written alike, when a column is of a kind, and how alike two values are.

How alike is said in levels, as by Fellegi and Sunter (A theory for record linkage, 1969) and the Splink project: the
highest is equality, the lowest is no likeness.
"""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import OSA, JaroWinkler
from rapidfuzz.process import cpdist

from esdedup.matching.records.nicknames import nicknamed

Levels = npt.NDArray[np.int8]
Shares = npt.NDArray[np.float64]
Values: TypeAlias = Sequence[str]
Cosines: TypeAlias = Callable[[], Shares]
"""Returns the cosines of the words of value pairs, rare words weighed more, shape (pairs,)."""

_NO_LETTERS = re.compile(r"[^\w]+|_+")
_DAY_OF_YEAR = re.compile(r"(?:1[5-9]|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])(?:[T ].*)?")
_DAY_FIRST = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-]((?:\d\d){1,2})")
_NUMBER = re.compile(r"[-+]?[$€£]?\s*\d[\d, ]*(?:\.\d+)?\s*[%€]?")
_BEGINNING = 0.66
"""By Jaro and Winkler, a text is more similar to its beginning."""
_CODE = re.compile(r"\b(?=\w*\d)(?=\w*[^\W\d_])\w{5,}\b")
_PHONE_DIGITS = 10  # the last ones: before them stands the code of a country
_UNPARTED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Letters of scripts that put no space between words: two in a row are taken for one."""
_TOKEN = re.compile(r"[^\W_]+(?:[-/.][^\W_]+)*")


def plain(text: str) -> str:
    """Return a text in small letters without accents."""
    text = unicodedata.normalize("NFKD", text.casefold())
    return text if text.isascii() else "".join(sign for sign in text if not unicodedata.combining(sign))


def words_of(text: str) -> str:
    """Return a text in small letters, with single spaces instead of punctuation."""
    return _NO_LETTERS.sub(" ", plain(text)).strip()


class Kind(ABC):
    """A kind of fields."""

    name: ClassVar[str]
    levels: ClassVar[tuple[str, ...]]
    """What each level means, the lowest first; the highest is that of equal values."""
    has_words: ClassVar[bool] = False
    """Whether the words of a value are compared as well."""
    is_key: ClassVar[bool] = True
    """Whether records with the same value may be the same."""
    has_parts: ClassVar[bool] = False
    """Whether beginnings and ends of values are keys, too."""
    weighs_rarity: ClassVar[bool] = True
    """Whether agreement on a rare value says more."""

    parts: ClassVar[tuple[Kind, ...]] = ()
    """What is compared instead, if values are `parted`."""

    @staticmethod
    def shaped(value: str) -> str:
        """Return a value as it is compared; empty if it has nothing to compare."""
        return words_of(value)

    @staticmethod
    def parted(value: str) -> tuple[str, ...]:
        """Return the parts of a value that is `shaped`."""
        return (value,)

    @abstractmethod
    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """Return the levels of pairs of different values."""


def _similar(one: Values, two: Values) -> Shares:
    found: Shares = cpdist(one, two, scorer=JaroWinkler.similarity, dtype=np.float64)
    return found


def _edits(one: Values, two: Values, most: int) -> npt.NDArray[np.int64]:
    """Return how many letters are other, missing or exchanged, up to one more than `most`."""
    found: npt.NDArray[np.int64] = cpdist(one, two, scorer=OSA.distance, score_cutoff=most, dtype=np.int64)
    return found


def _each(test: Callable[[str, str], bool], one: Values, two: Values) -> npt.NDArray[np.bool_]:
    return np.fromiter((test(a, b) for a, b in zip(one, two, strict=True)), np.bool_, len(one))


class Email(Kind):
    """An address of e-mail."""

    name = "email"
    levels = ("other", "alike", "same name, other host", "equal")
    has_parts = True

    @staticmethod
    def shaped(value: str) -> str:
        """See `Kind`."""
        return value.casefold()

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """See `Kind`."""
        names = _each(lambda a, b: a.partition("@")[0] == b.partition("@")[0], one, two)
        return np.where(names, 2, np.where(_similar(one, two) >= 0.9, 1, 0))


class Date(Kind):
    """A date: year, month and day as digits."""

    name = "date"
    levels = ("other", "same year, or two digits differ", "one digit differs, or day and month exchanged", "equal")
    has_parts = True

    @staticmethod
    def shaped(value: str) -> str:
        """See `Kind`."""
        if match := _DAY_FIRST.match(value):
            return f"{match[3]}{int(match[2]):02}{int(match[1]):02}"
        return re.sub(r"\D", "", value)[:8]

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """See `Kind`."""
        edits = _edits(one, two, 2)
        digits = [np.array(values, "U8").view("U1").reshape(-1, 8) for values in (one, two)]
        same = [
            (digits[0][:, here] == digits[1][:, there]).all(1)
            for here, there in ((slice(4), slice(4)), (slice(4, 6), slice(6, 8)), (slice(6, 8), slice(4, 6)))
        ]
        return np.where((edits <= 1) | np.logical_and.reduce(same), 2, np.where(same[0] | (edits <= 2), 1, 0))


class Code(Kind):
    """A code of letters and digits, such as a postcode or an account."""

    name = "code"
    levels = ("other", "one sign differs", "equal")
    has_parts = True

    @staticmethod
    def shaped(value: str) -> str:
        """See `Kind`."""
        return words_of(value).replace(" ", "")

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """See `Kind`."""
        levels = (_edits(one, two, 1) <= 1).astype(np.int8)
        for pair in np.flatnonzero(levels).tolist():
            levels[pair] = min(len(one[pair]), len(two[pair])) >= 3
        return levels


class Phone(Code):
    """A number of a telephone, by its last ten digits."""

    name = "phone"

    @staticmethod
    def shaped(value: str) -> str:
        """See `Kind`."""
        return Code.shaped(value)[-_PHONE_DIGITS:]


class Number(Kind):
    """A number: an amount, a price, a length."""

    name = "number"
    levels = ("other", "within 15 %", "within 2 %", "equal")
    weighs_rarity = False

    @staticmethod
    def shaped(value: str) -> str:
        """See `Kind`."""
        value = re.sub(r"[$€£%,\s]", "", value)
        try:
            return repr(float(value)) if value else ""
        except ValueError:
            return ""

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """See `Kind`."""
        a, b = np.array(one, np.float64), np.array(two, np.float64)
        away = np.abs(a - b) / np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-9)
        return np.where(away <= 0.02, 2, np.where(away <= 0.15, 1, 0))


class Category(Kind):
    """One of a few values that stand in very many records."""

    name = "category"
    levels = ("other", "equal")

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """See `Kind`."""
        return np.zeros(len(one), np.int8)


class Name(Kind):
    """A name of a person, a place or a thing."""

    name = "name"
    levels = (
        "other",
        "a little alike",
        "alike, or one begins with the other",
        "nearly equal, exchanged or a nickname",
        "equal",
    )
    has_words = has_parts = True

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """See `Kind`."""
        similar, cosine = _similar(one, two), cosines()
        begins = np.zeros(len(one), np.bool_)
        doubtful = np.flatnonzero((similar < 0.84) & (similar > _BEGINNING) & (cosine < 0.6))
        some = ([values[pair] for pair in doubtful.tolist()] for values in (one, two))
        begins[doubtful] = _each(lambda a, b: a.startswith(b) or b.startswith(a), *some)
        return np.select(
            [(similar >= 0.92) | (cosine >= 0.9) | nicknamed(one, two), (similar >= 0.84) | (cosine >= 0.6) | begins,
             (similar >= 0.75) | (cosine >= 0.3)],
            [3, 2, 1], 0,
        )  # fmt: skip


class Address(Kind):
    """Words and numbers, such as a street and a house."""

    name = "address"
    levels = ("other", "a little alike", "partly alike", "alike", "nearly equal", "equal")
    has_words = True

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """See `Kind`."""
        similar, cosine = _similar(one, two), cosines()
        return np.select(
            [
                (similar >= 0.95) | (cosine >= 0.9),
                (similar >= 0.88) | (cosine >= 0.7),
                (similar >= 0.8) | (cosine >= 0.4),
                cosine >= 0.2,
            ],
            [4, 3, 2, 1],
            0,
        )


class Words(Kind):
    """The words of free text."""

    name = "words"
    levels = ("other", "a tenth", "a fifth", "a third", "half", "two thirds", "nearly equal", "equal")
    has_words = True
    is_key = weighs_rarity = False

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """See `Kind`."""
        return np.searchsorted([0.1, 0.2, 0.3, 0.45, 0.6, 0.8], cosines(), side="right").astype(np.int8)


class Figures(Kind):
    """The numbers in free text."""

    name = "figures"
    levels = ("none in common", "some in common", "all of one in the other", "equal")
    is_key = weighs_rarity = False

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """See `Kind`."""
        return _common(one, two)[0]


class Codes(Kind):
    """The codes in free text, such as the numbers of models."""

    name = "codes"
    levels = ("none in common", "some in common, or alike", "all of one in the other", "equal")
    has_words = True
    is_key = False

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """See `Kind`."""
        found, ones, twos = _common(one, two)
        for pair in np.flatnonzero(found == 0).tolist():
            found[pair] = any(_one_has_other(a, b) for a in ones[pair] for b in twos[pair])
        return found


def _common(one: Values, two: Values) -> tuple[Levels, list[set[str]], list[set[str]]]:
    ones, twos = ([set(value.split()) for value in values] for values in (one, two))
    common = np.array([len(a & b) for a, b in zip(ones, twos, strict=True)])
    least = np.array([min(len(a), len(b)) for a, b in zip(ones, twos, strict=True)])
    return np.where(common == least, 2, common > 0).astype(np.int8), ones, twos


def _one_has_other(one: str, two: str) -> bool:
    short, long = sorted((one, two), key=len)
    return len(short) >= 5 and (long.startswith(short) or long.endswith(short))


class Text(Kind):
    """Free text. Its words, codes and figures are compared apart: they tell different things."""

    name = "text"
    levels = ()
    parts = (Words(), Codes(), Figures())

    @staticmethod
    def shaped(value: str) -> str:
        """See `Kind`."""
        return plain(value)

    def compare(self, one: Values, two: Values, cosines: Cosines) -> Levels | Shares:
        """Its parts are compared instead."""
        raise NotImplementedError

    @staticmethod
    def parted(value: str) -> tuple[str, ...]:
        """Return the words, codes and figures of a text that is `shaped`."""
        words, codes, figures = [], set(), set()
        for token in _TOKEN.findall(value):
            flat = re.sub(r"[-/.]", "", token)
            digits = sum(map(str.isdigit, flat))
            letters = len(flat) - digits
            if (digits and letters and len(flat) >= 4) or (digits >= 5 and not letters):
                codes.add(flat)
            elif digits:
                figures.add(token.strip("."))
            for part in filter(str.isalpha, re.split(r"[-/.]", token)):
                words += (
                    [part[at : at + 2] for at in range(max(1, len(part) - 1))] if _UNPARTED.search(part) else [part]
                )
        return " ".join(words), " ".join(sorted(codes)), " ".join(sorted(figures))


KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (Name(), Date(), Number(), Code(), Phone(), Email(), Address(), Text(), Category())
}
"""The kinds of columns, by name."""

_SOME, _MOSTLY, _NEARLY_ALL = 0.3, 0.7, 0.9
_FEW, _SOME_REPEATS, _REPEATS = 20, 3, 200


def guessed(values: Values, counts: npt.NDArray[np.int64], repeats: float) -> Kind:
    """Return the kind of a column from some of its different values, how often each stands there, and how often a value
    `repeats` on average.
    """

    def share(test: Callable[[str], object]) -> float:
        return float(np.average([bool(test(value)) for value in values], weights=counts))

    words = float(np.average([len(value.split()) for value in values], weights=counts))
    if share(lambda value: "@" in value and "." in value.rpartition("@")[2]) > _MOSTLY:
        return KINDS["email"]
    if share(lambda value: _DAY_OF_YEAR.fullmatch(value) or _DAY_FIRST.fullmatch(value)) > _MOSTLY:
        return KINDS["date"]
    if words < 4 and share(lambda value: 2 * _digits(value) >= max(1, sum(map(str.isalnum, value)))) > _MOSTLY:
        if share(_is_phone) > _MOSTLY:
            return KINDS["phone"]
        if share(_NUMBER.fullmatch) > _NEARLY_ALL:
            return KINDS["code" if share(lambda value: value.isdigit() and len(value) >= 4) > _MOSTLY else "number"]
        return KINDS["code"]
    if words < 1.5 and share(_digits) > _MOSTLY:
        return KINDS["code"]
    if words < 4 and repeats >= (_SOME_REPEATS if len(values) <= _FEW else _REPEATS):
        return KINDS["category"]
    if words > 7 or (words > 3 and share(_CODE.search) > _SOME):
        return KINDS["text"]
    if share(lambda value: _digits(value) and any(map(str.isalpha, value))) > 0.5:
        return KINDS["address"]
    return KINDS["name"]


def _is_phone(value: str) -> bool:
    """Whether it has the digits of a number of a telephone, and signs between them or a zero at the beginning."""
    return 7 <= _digits(value) <= 15 and (not value.isdigit() or (value[0] == "0" and len(value) >= 9))


def _digits(value: str) -> int:
    return sum(map(str.isdigit, value))
