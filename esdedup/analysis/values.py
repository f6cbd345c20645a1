"""The values in slots: numbers with units, dates, names, words; and whether two of them mean the same.

A number may have more than one reading (`1.234` is 1234 in German). Two values differ only if no reading of one is a
reading of the other or a rounding of it, in any unit that both can be converted to.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from esdedup.analysis.word_meanings import ORDINAL_ENDINGS, UNCLEAR_UNITS, lexicon, units

NUMBER, QUANTITY, DATE, NAME, WORDS, NOTHING = "number", "quantity", "date", "name", "words", "nothing"

_MONEY = "money"
_CURRENCIES = "$€£¥₹₽"
_ROUNDED = 0.07
"""A rounded number is off by at most this share."""
_ABOUT = 0.02
"""What is said to be about a number may be any of a range of this share."""

_TEN, _HUNDRED = 10, 100
_ROUND_SHARE = 4.0
"""A share in words stands for percentages that are off by half of this at most."""
_YEARS = (("calendar", 12.0), ("calendar", 120.0))
"""Years and decades, which may stand before their number: the years 1960, the decade of 1960."""
_JOINING = {"and", "und", "et", "y", "e", "ja", "и"}
"""Words inside numbers in words."""

_CACHED = 4096

_LONGEST = 20
"""Longer numbers are names: of accounts, of parts."""

_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\w+")
_SLASHED = re.compile(r"([1-9])/([2-5]|8|10)")
_SHARES = frozenset("½⅓⅔¼¾⅕")
_NUMBER = re.compile(r"[+\-−]?\d+(?:[.,'’٫٬]\d+)*")
_WITH_UNIT = re.compile(
    rf"(?<!\w)(?:[^\W\d]{{0,3}}(?P<money>[{_CURRENCIES}]))?(?P<number>[+\-−]?\d+(?:[.,'’٫٬]\d+)*)\s?(?P<unit>[^\W\d]+|%)?"
)
_ELIDED = re.compile(r"\w+['’](?=[^\W\d])")
_SPACED = re.compile(r"(?<!\d)\d{1,3}(?:\s\d{3})+(?!\d)")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|e|º|η)?")
_NTH = re.compile(rf"(\d{{1,4}})(?:{ORDINAL_ENDINGS})")
_FAR_EAST = re.compile(r"(?:(\d{1,4})年)?\s*(?:(\d{1,2})月)?\s*(?:(\d{1,2})日)?")
_BESIDE_DATES = re.compile("of|the|on|in|del?|de[nr]|dem|am|le|il|el|du|г|год|года|году|aastal?|a|o|у|в", re.IGNORECASE)
"""Words that stand within dates."""

_BEFORE_LETTERS = re.compile(r"(?<=\d)(?=[\u0400-\u04ff\u3040-\u9fff％])")
"""Where a number touches a unit that is written without a space."""
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_IN_FIGURES = re.compile(r"(\d{1,2})(?:([./-])(\d{1,2})\2|/(\d{1,2})[ -])(\d{4})")
_OF_YEAR = re.compile(r"(1[3-9]|2\d|3[01])/(1[0-2]|0?[1-9])")
"""A day and month, but no fraction."""
_DAY_IN_FIGURES = re.compile(r"(\d{1,2})[./](\d{1,2})\.?")
_MONTH_IN_FIGURES = re.compile(r"(0[1-9](?=[./])|(?:[1-9]|1[0-2])(?=/))[./](1\d{3}|20\d{2})")


class Value(NamedTuple):
    """A value as written, its type, and for numbers their readings with the value of the last digit."""

    text: str
    type: str
    readings: tuple[tuple[float, float], ...] = ()
    unit: str | None = None
    date: tuple[int | None, int | None, int | None] = (None, None, None)  # year, month, day


def read_value(text: str, before: str = "", behind: str = "") -> Value:
    """Return the value of a slot's filler between the words `before` and `behind`."""
    if before and text in _capitalised_cardinals():
        return Value(text, NAME)  # Otto
    if (
        _DIGIT.search(text) is None
        and text.strip() not in _SHARES
        and _numeric_words().isdisjoint(_WORD.findall(text.lower()))
    ):
        return _in_words(text, text.replace("%", " % ").split())
    spaced = _SPACED.sub(lambda match: re.sub(r"\s", "", match[0]), text).replace("%", " % ")
    words = _BEFORE_LETTERS.sub(" ", spaced).split()
    date = _read_date(text, before, behind)
    if date is not None:
        year, month, day = date
        alone = year is not None and month is None and day is None
        return Value(text, DATE, ((float(year or 0), 1.0),) if alone else (), date=date)
    quantity = _read_quantity(words, behind)
    if quantity is not None:
        readings, unit = quantity
        return Value(text, NUMBER if unit is None else QUANTITY, readings, unit)
    return _in_words(text, words)


def _in_words(text: str, words: list[str]) -> Value:
    """Return the value of a text that is neither a number nor a date."""
    if not words:
        return Value(text, NOTHING)
    return Value(text, NAME if any(word[:1].isupper() for word in words) else WORDS)


@cache
def _capitalised_cardinals() -> frozenset[str]:
    known = lexicon()
    return frozenset(word.capitalize() for word in known.numbers if word not in known.ordinals)


@cache
def _numeric_words() -> frozenset[str]:
    """Return words of which any number or date without a digit has one."""
    known = lexicon()
    listed = (known.months, known.numbers, known.ordinals, known.scales, known.fractions)
    return frozenset(part for words in listed for word in words for part in _WORD.findall(word))


def same_value(one: Value, two: Value) -> bool:
    """Return whether two values may both be true of one thing. Different types may not, unless one is empty."""
    if NOTHING in (one.type, two.type):
        return True
    if one.type == two.type == DATE:
        return all(a is None or b is None or a == b for a, b in zip(one.date, two.date, strict=True))
    if not (one.readings and two.readings) and _has_digit(one) and _has_digit(two):
        one, two = _loosened(one) or one, _loosened(two) or two
    if DATE in (one.type, two.type) and (_is_day(one, two) or _is_day(two, one)):
        return True
    if one.readings and two.readings:
        (dimension, factor), (other, scale) = _dimension(one), _dimension(two)
        if dimension == other == _MONEY and one.unit != two.unit:
            return True  # the exchange rate is unknown
        if dimension and other and dimension != other:
            return False
        if _is_decade(one, two) or _is_decade(two, one):
            return True
        base, other_base = (_zero(one), _zero(two)) if dimension == other else (0.0, 0.0)
        return any(
            _rounds_to((a - base) * factor, digit * factor, (b - other_base) * scale, last * scale)
            for a, digit in one.readings
            for b, last in two.readings
        )
    return _folded(one.text) == _folded(two.text)


def _has_digit(value: Value) -> bool:
    return value.type != NOTHING and _DIGIT.search(value.text) is not None


@lru_cache(_CACHED)
def _loosened(value: Value) -> Value | None:
    """Return the only number in figures of a text in which nothing else says something; None if there is none."""
    if value.readings:
        return value
    text = _SPACED.sub(lambda match: re.sub(r"\s", "", match[0]), value.text)
    found = list(_WITH_UNIT.finditer(text))
    if len(found) != 1:
        return None
    money = found[0]["money"] or ""
    rest = [_bare(word) for word in _ELIDED.sub(" ", text[: found[0].start()] + " " + text[found[0].end() :]).split()]
    if not all(word in lexicon().function or word == "" for word in rest):
        return None
    read = _read_quantity([*rest, money + found[0]["number"], *filter(None, [found[0]["unit"]])], "")
    return None if read is None else Value(value.text, QUANTITY, *read)


def _is_day(figures: Value, date: Value) -> bool:
    """Return whether one value is the day and month of the other one: 28.10, 28 October."""
    match = _DAY_IN_FIGURES.fullmatch(figures.text.strip())
    return match is not None and date.date[1:] == (int(match[2]), int(match[1]))


def _is_decade(year: Value, tens: Value) -> bool:
    """Return whether one value is the first year of a decade, and the other one its tens in words: 1920, twenty."""
    (first, _), (second, _) = year.readings[0], tens.readings[0]
    spelled = _DIGIT.search(tens.text) is None
    return spelled and second >= _TEN and second % _TEN == 0 and 1000 <= first < 2100 and first % _HUNDRED == second


def difference(one: Value, two: Value) -> float | None:
    """Return the second number minus the first, in the unit of the first; None if these are not numbers.

    If a number has two readings, as 3.856 has, the two readings nearest to each other are used.
    """
    if not one.readings or not two.readings:
        return None
    (dimension, factor), (other, scale) = _dimension(one), _dimension(two)
    same = dimension == other
    ratio, base, other_base = (scale / factor, _zero(one), _zero(two)) if same else (1.0, 0.0, 0.0)
    apart = [(theirs - other_base) * ratio + base - ours for ours, _ in one.readings for theirs, _ in two.readings]
    return min(apart, key=abs)


@cache
def _units() -> dict[str, tuple[str, float]]:
    """Return what each unit or currency measures, and its factor."""
    return units() | dict.fromkeys(_CURRENCIES, (_MONEY, 1.0))


def is_unit(text: str) -> bool:
    """Return whether the words behind a number are a unit or a scale, and nothing else."""
    words = [_bare(word) for word in text.split()]
    if words and lexicon().scales.get(words[0], 0) > _HUNDRED:
        words = words[1:]
    return not words or (words[0] not in UNCLEAR_UNITS and "_".join(words) in _units())


def _dimension(value: Value) -> tuple[str, float]:
    """Return what the unit of a value measures, and its factor; without a unit, no dimension."""
    return _units().get(value.unit or "", ("", 1.0))


def _zero(value: Value) -> float:
    """Return what 0 of the first unit of its sort is in the unit of a value: 32 °F is 0 °C."""
    return 32.0 if value.unit == "°f" else 0.0


def _rounds_to(a: float, digit: float, b: float, last: float) -> bool:
    """Return whether two numbers are equal, or the one with the coarser last digit is a rounding of the other."""
    apart = abs(a - b)
    return apart <= 1e-9 * max(abs(a), abs(b)) or (
        apart <= max(digit, last) / 2 * (1 + 1e-9) and apart <= _ROUNDED * max(abs(a), abs(b))
    )


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _read_date(text: str, before: str, behind: str) -> tuple[int | None, int | None, int | None] | None:
    """Return year, month and day as far as they are given; None if the text is not a date."""
    iso = _ISO.fullmatch(text.strip())
    if iso:
        return _if_real(int(iso[1]), int(iso[2]), int(iso[3]))
    figures = _IN_FIGURES.fullmatch(text.strip().removesuffix("г.").strip())
    if figures:
        return _if_real(int(figures[5]), int(figures[3] or figures[4]), int(figures[1]))
    if of_year := _OF_YEAR.fullmatch(text.strip()):
        return _if_real(None, int(of_year[2]), int(of_year[1]))
    if month_alone := _MONTH_IN_FIGURES.fullmatch(text.strip()):
        return int(month_alone[2]), int(month_alone[1]), None
    far = _FAR_EAST.fullmatch(text.strip())
    if far and any(far.groups()):
        return _if_real(*(int(part) if part else None for part in far.groups()))
    year = month = day = None
    months = lexicon().months
    words = _WORD.findall(text)
    for word in words:
        if _YEAR.fullmatch(word) and year is None:
            year = int(word)
        elif word.lower() in months and month is None and (word[0].isupper() or len(words) > 1):
            month = months[word.lower()]
        elif (match := _DAY.fullmatch(word)) and 1 <= int(match[1]) <= 31 and day is None:
            day = int(match[1])
        elif not _BESIDE_DATES.fullmatch(word):
            return None
    near = any(word.lower() in months for word in (before, behind))
    return _if_real(year, month, day) if year or month or (day and near) else None


def _if_real(year: int | None, month: int | None, day: int | None) -> tuple[int | None, int | None, int | None] | None:
    """Return the date if it exists in the calendar."""
    try:
        datetime.date(year or 2000, month or 1, day or 1)
    except ValueError:
        return None
    return year, month, day


def _read_quantity(words: list[str], behind: str) -> tuple[tuple[tuple[float, float], ...], str | None] | None:
    """Return the readings of a number with the value of its last digit, and its unit; None if this is not a number."""
    scales = lexicon().scales
    if (share := _read_fraction(words)) is not None:
        return ((100 * share, _ROUND_SHARE),), "%"
    about = False
    while len(words) > 1 and (_bare(words[0]) in lexicon().function or _units().get(_bare(words[0])) in _YEARS):
        about = about or _bare(words[0]) in lexicon().about
        words = words[1:]
    if len(words) == 1 and words[0].lower() in scales:
        return ((scales[words[0].lower()], 1.0),), None
    words = _joined_words(words)
    readings = _read_number(words[0])
    if readings is None:
        return None
    rest = [_bare(word) for word in words[1:]]
    if rest and scales.get(rest[0], 0) > _HUNDRED:  # behind figures, `cent` is money
        scale = scales[rest.pop(0)]
        readings = tuple((value * scale, digit * scale) for value, digit in readings)
    if about:
        near = 10.0 if _YEAR.fullmatch(words[0]) else 0.0  # which may be years
        readings = tuple((value, max(digit, near or _ABOUT * abs(value))) for value, digit in readings)
    beside = rest or [word for word in [_bare(behind)] if word not in UNCLEAR_UNITS]
    joined = "_".join(beside[:2])
    unit = joined if joined in _units() else beside[0] if beside and beside[0] in _units() else None
    if rest and unit is None:
        return None
    sign = words[0].lstrip('+-−("')[:1]
    return readings, sign if unit is None and sign in tuple(_CURRENCIES) else unit


def _read_fraction(words: list[str]) -> float | None:
    """Return the share that words name: `a third`, `two thirds of`, `3/4`, `½`; None if they name none."""
    known = lexicon()
    spoken = [part for word in words for part in _bare(word).split("-") if part and part not in known.articles]
    while spoken and spoken[-1] in known.function:
        spoken.pop()
    if len(spoken) == 1 and len(spoken[0]) == 1 and spoken[0] in _SHARES:
        return unicodedata.numeric(spoken[0])
    if len(spoken) == 1 and (parts := _SLASHED.fullmatch(spoken[0])) and int(parts[1]) < int(parts[2]):
        return int(parts[1]) / int(parts[2])
    if not spoken or len(spoken) > 2 or spoken[-1] not in known.fractions:
        return None
    alone = len(spoken) == 1 and (spoken[0] not in known.ordinals or len(words) > 1)
    count = 1 if alone else known.numbers.get(spoken[0]) if len(spoken) == 2 else None
    return None if count is None else count * known.fractions[spoken[-1]]


def _joined_words(words: list[str]) -> list[str]:
    """Return the words, with a number in words at their beginning (`two hundred and forty-five`) in figures."""
    numbers, scales = lexicon().numbers, lexicon().scales
    whole = below = largest = 0.0  # `below` is what the next scale multiplies
    parts = end = 0
    for place, word in enumerate(words):
        spelled = _bare(word).split("-")
        if not all(part in numbers or part in scales or part in _JOINING for part in spelled):
            break
        for part in spelled:
            if part in scales:
                if scales[part] == _HUNDRED:
                    if below >= _HUNDRED:
                        return words
                    below = (below or 1) * _HUNDRED
                elif scales[part] > largest > 0:  # a thousand million
                    whole, below, largest = (whole + below) * scales[part], 0, scales[part]
                else:
                    whole, below, largest = whole + (below or 1) * scales[part], 0, scales[part]
            elif part in numbers:
                tens = below % _HUNDRED
                if tens and (tens % 10 or tens < 20 or numbers[part] >= 10):
                    return words
                below += numbers[part]
            parts += part not in _JOINING
        if spelled[-1] not in _JOINING:
            end = place + 1
    return words if parts < 2 else [f"{whole + below:.0f}", *words[end:]]


def _bare(word: str) -> str:
    return word.strip(".,;:()").lower()


@cache
def _spelled_numbers() -> dict[str, float]:
    return {**lexicon().ordinals, **lexicon().numbers}


def _read_number(word: str) -> tuple[tuple[float, float], ...] | None:
    bare = word.strip('$€£¥.,;:()"').rstrip("+")
    if (spelled := _spelled_numbers().get(bare.lower())) is not None:
        return ((float(spelled), 1.0),)
    if nth := _NTH.fullmatch(bare):
        return ((float(nth[1]), 1.0),)
    if not _NUMBER.fullmatch(bare) or len(bare) > _LONGEST:
        return None
    sign = -1.0 if bare[0] in "-−" else 1.0
    parts = re.split(r"[^\d]", bare.lstrip("+-−"))
    signs = re.findall(r"[^\d]", bare.lstrip("+-−"))
    whole = "".join(parts)
    if not signs:
        return ((sign * float(whole), 1.0 if _YEAR.fullmatch(whole) else _last_digit(whole)),)
    readings = []
    grouped = all(len(part) == 3 for part in parts[1:]) and 1 <= len(parts[0]) <= 3 and parts[0] != "0"
    indian = len(parts[-1]) == 3 and all(len(part) == 2 for part in parts[1:-1]) and set(signs) == {","}
    if (grouped or indian) and len(set(signs)) == 1:
        readings.append((sign * float(whole), _last_digit(whole)))
    # a comma before three digits separates thousands if it can; a point may separate decimals
    decimal = signs[-1] in ".٫" or (signs[-1] == "," and len(parts[-1]) != 3)
    if decimal and signs.count(signs[-1]) == 1:
        places = len(parts[-1])
        readings.append((sign * float(f"{''.join(parts[:-1])}.{parts[-1]}"), 10.0**-places))
    return tuple(readings) or None


def _last_digit(whole: str) -> float:
    """Return the value of the last significant digit: two or more zeros at the end may be rounding."""
    zeros = len(whole) - len(whole.rstrip("0"))
    return float(10**zeros) if 2 <= zeros < len(whole) else 1.0
