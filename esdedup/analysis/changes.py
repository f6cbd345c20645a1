"""What changed from one text of a cluster to another, in numbers: one row of `CHANGES` for each pair of texts.

Texts are compared slot by slot. Words that stand in another slot of the other text have *moved*. Of the rest, words
that only one side has are *more*. If both sides have different words of one form, and their spelling is not nearly the
same, these are in conflict: two numbers, years, dates, names, or other words. A conflict of one word with one word is a
*swap*.
"""

from __future__ import annotations

import numpy as np

from esdedup.analysis.align import Alignment
from esdedup.analysis.spelling import alike, are_initials, are_negated, is_short_for, is_within, same_letters
from esdedup.analysis.word_forms import NAME, NUMBER, PLAIN, SIGN, Classes, Measures, Words
from esdedup.analysis.word_meanings import (
    ARTICLE,
    DATED,
    FRACTION,
    FUNCTION,
    NEGATIVE,
    PRONOUN,
    SHARE,
    UNITS,
    YEAR,
    Meant,
)
from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.hashing import Offsets
from esdedup.columns.kernels import compiled

CHANGES = (
    "numbers",  # slots with a conflict of numbers that are neither years nor parts of dates
    "names",
    "words",
    "more numbers",  # slots with a number on one side only
    "more names",
    "more words",
    "number swaps",
    "name swaps",
    "word swaps",
    "exchanged numbers",  # slots from which a number has moved, and to which another one has
    "exchanged names",
    "exchanged words",
    "years",
    "dates",
    "opposites",  # words that exclude each other: one for the whole texts, and one for each slot with a negating prefix
    "negations",  # slots that are negated on one side only
    "spellings",  # slots in which nothing but spelling or endings differ
    "little swaps",  # slots with different words that say little
    "little more",  # slots with such words on one side only
    "added",  # words on one side only
    "moved",
    "slots",  # with words that have not moved
    "only moved",  # whether there is nothing else
    "length",  # words of the first text
    "changed",  # its words that differ and have not moved
    "names in common",  # without its first word
    "mere negations",  # slots that are negated on one side only, and differ in nothing else that says something
    "whole names",  # conflicts of names of two words or more
    "names at the beginning",  # conflicts of names in slots that begin a text
    "units",  # slots with other units
    "shares",  # conflicts of numbers of which one is a fraction in words, or a percentage where the other is not
    "shorter",  # words of the shorter text
    "unnamed subject",  # whether a text begins with a pronoun, or with an article and a common noun
)
(
    _CONFLICTS, _MORE, _SWAPS, _EXCHANGED, _YEARS, _DATES, _OPPOSITES, _NEGATIONS, _SPELLINGS, _LITTLE_SWAPS,
    _LITTLE_MORE, _ADDED, _MOVED, _SLOTS, _ONLY_MOVED, _LENGTH, _CHANGED, _NAMES_IN_COMMON, _MERE_NEGATIONS,
    _WHOLE_NAMES, _BEGINNING_NAMES, _UNITS, _SHARES, _SHORTER, _UNNAMED_SUBJECT,
) = (0, 3, 6, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32)  # fmt: skip

_LITTLE = FUNCTION | NEGATIVE
"""Roles of words that say little, or nothing but that something is not so."""

_MOST_WORDS = 512
"""So many words on each side that differ are compared."""


def changes(
    words: Words, known: Meant, clusters: Offsets, alignment: Alignment, one: Numbers, two: Numbers
) -> Measures:
    """Return the changes from texts `one` to texts `two` of the same clusters; shape (len(one), len(CHANGES)).

    The clusters and their alignment are given as for `align`.
    """
    out = np.zeros((len(one), len(CHANGES)), np.float64)
    owner = np.searchsorted(clusters, one, "right") - 1
    _compare_all(words, known, clusters, owner, alignment, one, two, out)
    return out


@compiled
def _compare_all(
    words: Words, known: Meant, clusters: Offsets, owner: Numbers, alignment: Alignment, one: Numbers, two: Numbers,
    out: Measures,
) -> None:  # fmt: skip
    data, offsets, begin, end = words.data, words.offsets, words.begin, words.end
    hashes, form, roles, firsts = known.hash, known.form, known.roles, known.firsts
    slots, fillers, first, last = alignment.slots, alignment.fillers, alignment.first, alignment.last
    left, right = np.empty(_MOST_WORDS, np.int64), np.empty(_MOST_WORDS, np.int64)
    left_slot, right_slot = np.empty(_MOST_WORDS, np.int64), np.empty(_MOST_WORDS, np.int64)
    left_moved, right_moved = np.empty(_MOST_WORDS, np.bool_), np.empty(_MOST_WORDS, np.bool_)
    for pair in range(len(one)):
        row, cluster = out[pair], owner[pair]
        base = clusters[cluster]
        lefts = rights = 0
        for slot in range(slots[cluster], slots[cluster + 1]):
            mine, theirs = fillers[slot] + one[pair] - base, fillers[slot] + two[pair] - base
            a, a_end, b, b_end = first[mine], last[mine], first[theirs], last[theirs]
            if same_letters(data, begin, end, form, a, a_end, b, b_end):
                continue
            lefts = _unshared(known, a, a_end, b, b_end, slot, left, left_slot, lefts)
            rights = _unshared(known, b, b_end, a, a_end, slot, right, right_slot, rights)
        left_moved[:lefts] = False
        right_moved[:rights] = False
        moved = 0
        for here in range(lefts):
            for there in range(rights):
                if hashes[left[here]] == hashes[right[there]] and not right_moved[there]:
                    left_moved[here] = right_moved[there] = True
                    moved += 1
                    break
        row[_ONLY_MOVED] = moved > 0 and moved == lefts and moved == rights
        for word in range(offsets[one[pair]], offsets[one[pair] + 1]):
            row[_LENGTH] += form[word] != SIGN
            row[_NAMES_IN_COMMON] += form[word] == NAME and word > offsets[one[pair]]
        row[_SHORTER] = min(row[_LENGTH], (form[offsets[two[pair]] : offsets[two[pair] + 1]] != SIGN).sum())
        for here in range(lefts):
            row[_NAMES_IN_COMMON] -= form[left[here]] == NAME and left[here] > offsets[one[pair]]
        row[_CHANGED] = lefts - moved
        row[_OPPOSITES] = _are_opposites(known, left[:lefts], left_moved[:lefts], right[:rights], right_moved[:rights])
        row[_UNNAMED_SUBJECT] = _is_unnamed(known, firsts[one[pair]], offsets[one[pair] + 1]) or _is_unnamed(
            known, firsts[two[pair]], offsets[two[pair] + 1]
        )
        here = there = 0
        while here < lefts or there < rights:
            slot = left_slot[here] if here < lefts else right_slot[there]
            if there < rights:
                slot = min(slot, right_slot[there])
            until, till = here, there
            while until < lefts and left_slot[until] == slot:
                until += 1
            while till < rights and right_slot[till] == slot:
                till += 1
            mine = fillers[slot] + one[pair] - base
            dated = _is_dated(roles, first[mine] - 1, last[mine], offsets[one[pair]], offsets[one[pair] + 1])
            begins = here < until and left[here] == firsts[one[pair]]
            begins = begins or (there < till and right[there] == firsts[two[pair]])
            _compare_slot(
                words, known, left[here:until], left_moved[here:until], right[there:till], right_moved[there:till],
                dated, begins, row,
            )  # fmt: skip
            here, there = until, till


@compiled
def _is_dated(roles: Classes, before: int, behind: int, low: int, high: int) -> bool:
    """Return whether the word before or behind a slot is a month or a day."""
    return (before >= low and roles[before] & DATED > 0) or (behind < high and roles[behind] & DATED > 0)


@compiled
def _compare_slot(
    words: Words, known: Meant, left: Numbers, left_moved: Flags, right: Numbers, right_moved: Flags, dated: bool,
    begins: bool, row: Measures,
) -> None:  # fmt: skip
    """Count the changes in one slot: unshared words of both sides, and which of them have moved."""
    data, begin, end, form, roles = words.data, words.begin, words.end, known.form, known.roles
    for sort, kind in enumerate((NUMBER, NAME, PLAIN)):
        gone, _ = _content(form, roles, left, left_moved, True, kind)
        come, _ = _content(form, roles, right, right_moved, True, kind)
        row[_EXCHANGED + sort] += gone > 0 and come > 0
        row[_MOVED] += gone
    lefts = len(left) - left_moved.sum()
    rights = len(right) - right_moved.sum()
    if lefts + rights == 0:
        return
    row[_SLOTS] += 1
    row[_UNITS] += _are_other_units(known, left, left_moved, right, right_moved)
    negated = _has(roles, left, left_moved, NEGATIVE) != _has(roles, right, right_moved, NEGATIVE)
    row[_NEGATIONS] += negated
    differs = False
    dated = dated or _has(roles, left, left_moved, DATED) or _has(roles, right, right_moved, DATED)
    said = False
    for sort, kind in enumerate((NUMBER, NAME, PLAIN)):
        gone, lost = _content(form, roles, left, left_moved, False, kind)
        come, found = _content(form, roles, right, right_moved, False, kind)
        said = said or gone + come > 0
        if gone > 0 and come > 0:
            if kind == NUMBER:
                a, a_end, b, b_end = begin[lost], end[lost], begin[found], end[found]
                same = is_within(data, a, a_end, b, b_end) or is_within(data, b, b_end, a, a_end)
            else:
                same = _are_alike(words, known, left, left_moved, right, right_moved, kind, gone == come)
            if kind == NAME and not same:
                same = _are_initials(words, known, left, left_moved, right, right_moved)
            if same:
                row[_SPELLINGS] += 1
                continue
            differs = True
            if kind == PLAIN:
                row[_OPPOSITES] += _are_negated(words, left, left_moved, right, right_moved)
            fractions = (roles[lost] | roles[found]) & FRACTION > 0
            row[_SHARES] += kind == NUMBER and (fractions or roles[lost] & SHARE != roles[found] & SHARE)
            if kind == NUMBER and dated:
                row[_DATES] += 1
            elif kind == NUMBER and roles[lost] & YEAR and roles[found] & YEAR:
                row[_YEARS] += 1
            else:
                row[_CONFLICTS + sort] += 1
            row[_SWAPS + sort] += lefts == 1 and rights == 1
            row[_WHOLE_NAMES] += kind == NAME and gone > 1 and come > 1
            row[_BEGINNING_NAMES] += kind == NAME and begins
        elif gone > 0 or come > 0:
            differs = True
            row[_MORE + sort] += 1
            row[_ADDED] += gone + come
    row[_MERE_NEGATIONS] += negated and not differs
    if not said:
        row[_LITTLE_SWAPS if lefts > 0 and rights > 0 else _LITTLE_MORE] += 1


@compiled
def _content(form: Classes, roles: Classes, some: Numbers, moved: Flags, wanted: bool, kind: int) -> tuple[int, int]:
    """Count the words of a form that say something, and have moved or have not; return the first of them, too. What
    merely negates is counted elsewhere.
    """
    count, first = 0, -1
    for place in range(len(some)):
        word = some[place]
        if moved[place] == wanted and form[word] == kind and not roles[word] & _LITTLE:
            if count == 0:
                first = word
            count += 1
    return count, first


@compiled
def _are_alike(
    words: Words, known: Meant, left: Numbers, left_moved: Flags, right: Numbers, right_moved: Flags, kind: int,
    each: bool,
) -> bool:  # fmt: skip
    """Return whether the words of a form of both sides are spelled alike: `each` of them, or the first ones."""
    data, begin, end, form, roles = words.data, words.begin, words.end, known.form, known.roles
    ones = left[(form[left] == kind) & ~left_moved & (roles[left] & _LITTLE == 0)]
    twos = right[(form[right] == kind) & ~right_moved & (roles[right] & _LITTLE == 0)]
    for place in range(len(ones) if each else 1):
        a, a_end, b, b_end = begin[ones[place]], end[ones[place]], begin[twos[place]], end[twos[place]]
        short = kind == NAME and (is_short_for(data, a, a_end, b, b_end) or is_short_for(data, b, b_end, a, a_end))
        if not short and not alike(data, a, a_end, b, b_end):
            return False
    return True


@compiled
def _are_initials(
    words: Words, known: Meant, left: Numbers, left_moved: Flags, right: Numbers, right_moved: Flags
) -> bool:
    """Return whether the names of one side are the initials of those of the other."""
    data, begin, end, form, roles = words.data, words.begin, words.end, known.form, known.roles
    ones = left[(form[left] == NAME) & ~left_moved & (roles[left] & FUNCTION == 0)]
    twos = right[(form[right] == NAME) & ~right_moved & (roles[right] & FUNCTION == 0)]
    return are_initials(data, begin, end, ones, twos) or are_initials(data, begin, end, twos, ones)


@compiled
def _are_negated(words: Words, left: Numbers, left_moved: Flags, right: Numbers, right_moved: Flags) -> bool:
    """Return whether a word of one side is a word of the other one with a prefix that negates."""
    data, begin, end = words.data, words.begin, words.end
    for one in left[~left_moved]:
        for two in right[~right_moved]:
            if are_negated(data, begin[one], end[one], begin[two], end[two]):
                return True
    return False


@compiled
def _has(roles: Classes, some: Numbers, moved: Flags, role: int) -> bool:
    found = False
    for place in range(len(some)):
        found = found or (not moved[place] and roles[some[place]] & role > 0)
    return found


@compiled
def _are_opposites(known: Meant, left: Numbers, left_moved: Flags, right: Numbers, right_moved: Flags) -> bool:
    """Return whether words of two sides exclude each other."""
    axis, side = known.axis, known.side
    for here in range(len(left)):
        one = left[here]
        if left_moved[here] or not 0 < axis[one] < UNITS:
            continue
        for there in range(len(right)):
            two = right[there]
            if not right_moved[there] and axis[one] == axis[two] and side[one] != side[two]:
                return True
    return False


@compiled
def _are_other_units(known: Meant, left: Numbers, left_moved: Flags, right: Numbers, right_moved: Flags) -> bool:
    """Return whether two sides have different units, of one sort or of two."""
    axis, side = known.axis, known.side
    for one in left[~left_moved]:
        for two in right[~right_moved]:
            other = axis[one] != axis[two] or side[one] != side[two]
            if axis[one] >= UNITS and axis[two] >= UNITS and other:
                return True
    return False


@compiled
def _is_unnamed(known: Meant, begin: int, end: int) -> bool:
    """Return whether the text with the words `begin:end` begins with a pronoun, or with an article and a word that is
    no name.
    """
    if begin >= end:
        return False
    following = begin + 1 < end and known.form[begin + 1] == PLAIN
    return known.roles[begin] & PRONOUN > 0 or (known.roles[begin] & ARTICLE > 0 and following)


@compiled
def _unshared(
    known: Meant, a: int, a_end: int, b: int, b_end: int, slot: int, out: Numbers, out_slot: Numbers, count: int
) -> int:
    """Add the words `a:a_end` that are not among `b:b_end`, and return how many there are now."""
    hashes, form = known.hash, known.form
    for word in range(a, a_end):
        if form[word] == SIGN or count == len(out):
            continue
        shared = False
        for place in range(b, b_end):
            shared = shared or hashes[place] == hashes[word]
        if not shared:
            out[count], out_slot[count] = word, slot
            count += 1
    return count
