"""Slots that hold whole values: a slot takes in the fixed words beside it that belong to its date, number or name.

The texts of a cluster may agree in a part of a value: in the month of a date, in the unit of a number, in a family
name. An alignment leaves such a part outside the slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

from esdedup.analysis.values import DATE, NUMBER, QUANTITY, Value, is_unit, read_value
from esdedup.analysis.word_forms import NAME, SIGN, Words
from esdedup.analysis.word_forms import NUMBER as FIGURE
from esdedup.analysis.word_meanings import DATED, Meant, hashes_of
from esdedup.columns.arrays import Flags
from esdedup.columns.hashing import Hashes

Filled = list[tuple[int, int]]
"""The words `first:last` that fill a slot in each text, the representative last."""

_READ = 20
"""Number of texts that decide whether a slot grows."""

_REACH = 4
"""Number of words on each side that may belong to a date."""

_MOST_NAMES = 2
"""Number of words on each side that may belong to a name."""

_FAR_EAST = "年 月 日"


@cache
def _far_east() -> Hashes:
    return hashes_of(_FAR_EAST.split())


def value_words(words: Words, known: Meant) -> tuple[Flags, Flags]:
    """Return which words may be a part of a date, and which of a name."""
    dated = (known.roles & DATED > 0) | np.isin(words.hash, _far_east())
    return dated, known.form == NAME


def grown(words: Words, flags: tuple[Flags, Flags], ends: tuple[int, int], slots: Sequence[Filled]) -> Iterator[Filled]:
    """Yield the slots of a cluster, whose representative has the words `ends[0]:ends[1]`, as whole values."""
    left = ends[0]
    place = 0
    while place < len(slots):
        behind = list(slots[place + 1 :])
        slot, taken = _grown(words, flags, (left, ends[1]), slots[place], behind)
        yield slot
        left = slot[-1][1]
        place += 1 + taken


def _grown(
    words: Words, flags: tuple[Flags, Flags], ends: tuple[int, int], slot: Filled, behind: Sequence[Filled]
) -> tuple[Filled, int]:
    """Return a slot as a whole value, and how many slots behind it are in it."""
    first, last = slot[-1]
    dated, named = flags
    low, high = max(ends[0], first - _REACH), min(ends[1], last + _REACH)
    if dated[low:high].any():
        for before in range(first - low, -1, -1):
            for steps in range(_REACH, -1, -1):
                found, taken = _extended(slot, before, steps, ends[1], behind)
                if found is not None and (before or steps) and _is_date(words, dated, found):
                    return found, taken
    limit = behind[0][-1][0] if behind else ends[1]
    if last < limit and (words.form[last] != SIGN or words.sign[last] == ord("%")):
        for steps in (2, 1):
            found, taken = _extended(slot, 0, min(steps, limit - last), ends[1], behind)
            if found is not None and _is_quantity(words, slot, found):
                return found, taken
    return _whole_name(words, named, (ends[0], limit), slot), 0


def _extended(slot: Filled, before: int, steps: int, end: int, behind: Sequence[Filled]) -> tuple[Filled | None, int]:
    """Return a slot with `before` more words before it, and `steps` more words or slots behind it."""
    found = [(first - before, last) for first, last in slot]
    taken = 0
    for _ in range(steps):
        last = found[-1][1]
        if taken < len(behind) and behind[taken][-1][0] == last:
            found = [(first, other) for (first, _), (_, other) in zip(found, behind[taken], strict=True)]
            taken += 1
        elif last < end:
            found = [(first, last + 1) for first, last in found]
        else:
            return None, 0
    return found, taken


def _is_date(words: Words, dated: Flags, slot: Filled) -> bool:
    """Return whether a slot holds a date in every text, with a month, and begins and ends with parts of it."""
    first, last = slot[-1]
    if last - first < 2 or not all(dated[word] or words.form[word] == FIGURE for word in (first, last - 1)):
        return False
    far = bool(np.isin(words.hash[last - 1], _far_east()))
    return _all(words, slot, lambda value: value.type == DATE and (far or value.date[1] is not None))


def _is_quantity(words: Words, bare: Filled, slot: Filled) -> bool:
    """Return whether a slot holds a number in every text, and a unit or scale behind it."""
    (_, last), (_, end) = bare[-1], slot[-1]
    if words.form[end - 1] == SIGN and words.sign[end - 1] != ord("%"):
        return False
    if not is_unit(_text(words, last, end)):
        return False
    return _all(words, bare, lambda value: bool(value.readings)) and _all(
        words, slot, lambda value: value.type in (NUMBER, QUANTITY)
    )


def _all(words: Words, slot: Filled, holds: Callable[[Value], bool]) -> bool:
    return all(first < last and holds(read_value(_text(words, first, last))) for first, last in slot[:_READ])


def _whole_name(words: Words, named: Flags, ends: tuple[int, int], slot: Filled) -> Filled:
    """Return a slot with the words of a name beside it, if it holds nothing but names."""
    if not all(first < last and named[first:last].all() for first, last in slot[:_READ]):
        return slot
    before = behind = 0
    first, last = slot[-1]
    while before < _MOST_NAMES and first - before > ends[0] and named[first - before - 1]:
        before += 1
    while behind < _MOST_NAMES and last + behind < ends[1] and named[last + behind]:
        behind += 1
    return [(low - before, high + behind) for low, high in slot]


def _text(words: Words, first: int, last: int) -> str:
    return bytes(words.data[words.begin[first] : words.end[last - 1]]).decode()
