"""Slots that hold whole values: a slot takes in the fixed words and slots beside it that belong to its date, number or
name.

The texts of a cluster may agree in a part of a value: in the month of a date, in the unit of a number, in a family
name. An alignment leaves such a part outside the slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from esdedup.analysis.values import DATE, NUMBER, QUANTITY, Value, is_unit, read_value
from esdedup.analysis.word_forms import NAME, SIGN, ListedWords, Words
from esdedup.analysis.word_forms import NUMBER as FIGURE
from esdedup.analysis.word_meanings import DATED, Meant, are_in, hashes_of
from esdedup.columns.hashing import Hashes

Filled = list[tuple[int, int]]
"""The words `first:last` that fill a slot in each text, the representative last."""

_DEGREE = ord("°")
_UNIT_SIGNS = (ord("%"), _DEGREE)
"""Signs with which a unit begins."""

_READ = 20
"""Number of texts that decide whether a slot grows."""

_REACH = 4
"""Number of words on each side that may belong to a date."""

_MOST_NAMES = 2
"""Number of words on each side that may belong to a name."""


class ValueWords(NamedTuple):
    """Which words may be a part of a date, and which of a name."""

    dates: list[bool]
    names: list[bool]
    far_east: list[bool]  # the signs of years, months and days, which stand behind their numbers


@cache
def _far_east() -> Hashes:
    return hashes_of("年月日")


def value_words(words: Words, known: Meant) -> ValueWords:
    """Return which words belong to dates and names. The first word of a text may have its capital from there."""
    names = known.form == NAME
    begins = words.offsets[:-1][np.diff(words.offsets) > 0]
    names[begins] = False
    far_east = are_in(words.hash, _far_east())
    # 20.6.1991
    figures = known.form == FIGURE
    parting = np.isin(words.sign, [ord(sign) for sign in "./-"])
    parting[1:-1] &= figures[:-2] & figures[2:] & (words.begin[2:] - words.end[:-2] == 1)
    dated = (known.roles & DATED > 0) | far_east | parting
    return ValueWords(dated.tolist(), names.tolist(), far_east.tolist())


def grown(words: ListedWords, flags: ValueWords, ends: tuple[int, int], slots: Sequence[Filled]) -> Iterator[Filled]:
    """Yield the slots of a cluster, whose representative has the words `ends[0]:ends[1]`, as whole values."""
    left, place = ends[0], 0
    while place < len(slots):
        slot, place = _grown(words, flags, (left, ends[1]), slots, place)
        yield slot
        left = slot[-1][1]


def _grown(
    words: ListedWords, flags: ValueWords, ends: tuple[int, int], slots: Sequence[Filled], place: int
) -> tuple[Filled, int]:
    """Return the slot at `place` as a whole value, and the place of the next slot that is not in it."""
    slot = slots[place]
    first, last = slot[-1]
    low, high = max(ends[0], first - _REACH), min(ends[1], last + _REACH)
    if any(flags.dates[low:high]):
        for before in range(first - low, -1, -1):
            for steps in range(_REACH, -1, -1):
                found, following = _extended(slots, place, before, steps, ends[1])
                if found is not None and (before or steps) and _is_date(words, flags, found):
                    return found, following
    limit = slots[place + 1][-1][0] if place + 1 < len(slots) else ends[1]
    if last < limit and (words.form[last] != SIGN or words.sign[last] in _UNIT_SIGNS):
        reach = 2 if words.sign[last] == _DEGREE else limit - last  # C or F may be the next slot
        for steps in (2, 1):
            found, following = _extended(slots, place, 0, min(steps, reach), ends[1])
            if found is not None and _is_quantity(words, slot, found):
                return found, following
    return _whole_name(words, flags.names, (ends[0], limit), slot), place + 1


def _extended(slots: Sequence[Filled], place: int, before: int, steps: int, end: int) -> tuple[Filled | None, int]:
    """Return a slot with `before` more words before it and `steps` more words or slots behind it, and the place of the
    next slot; None beyond the end of the text.
    """
    found = [(first - before, last) for first, last in slots[place]]
    place += 1
    for _ in range(steps):
        last = found[-1][1]
        if place < len(slots) and slots[place][-1][0] == last:
            found = [(first, other) for (first, _), (_, other) in zip(found, slots[place], strict=True)]
            place += 1
        elif last < end:
            found = [(first, last + 1) for first, last in found]
        else:
            return None, place
    return found, place


def _is_date(words: ListedWords, flags: ValueWords, slot: Filled) -> bool:
    """Return whether a slot holds dates with a month (or `年`), and begins and ends with parts of them."""
    first, last = slot[-1]
    if last - first < 2 or not all(flags.dates[word] or words.form[word] == FIGURE for word in (first, last - 1)):
        return False
    far = flags.far_east[last - 1]
    return _all(words, slot, lambda value: value.type == DATE and (far or value.date[1] is not None))


def _is_quantity(words: ListedWords, bare: Filled, slot: Filled) -> bool:
    """Return whether a slot holds numbers, with a unit or scale behind them that the `bare` slot lacks."""
    (_, last), (_, end) = bare[-1], slot[-1]
    if words.form[end - 1] == SIGN and words.sign[end - 1] not in _UNIT_SIGNS:
        return False
    if not is_unit(_text(words, last, end)):
        return False
    return _all(words, bare, lambda value: bool(value.readings)) and _all(
        words, slot, lambda value: value.type in (NUMBER, QUANTITY)
    )


def _all(words: ListedWords, slot: Filled, holds: Callable[[Value], bool]) -> bool:
    """Return whether something holds for the values of the first texts, of which none may be empty."""
    return all(first < last and holds(read_value(_text(words, first, last))) for first, last in slot[:_READ])


def _whole_name(words: ListedWords, named: list[bool], ends: tuple[int, int], slot: Filled) -> Filled:
    """Return a slot with the words of a name beside it, if it holds nothing but names. German nouns count as names."""
    if not all(first < last and all(form == NAME for form in words.form[first:last]) for first, last in slot[:_READ]):
        return slot
    before = behind = 0
    first, last = slot[-1]
    while before < _MOST_NAMES and first - before > ends[0] and named[first - before - 1]:
        before += 1
    while behind < _MOST_NAMES and last + behind < ends[1] and named[last + behind]:
        behind += 1
    return [(low - before, high + behind) for low, high in slot]


def _text(words: ListedWords, first: int, last: int) -> str:
    return words.text(words.begin[first], words.end[last - 1])
