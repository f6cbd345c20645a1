"""How the texts of a cluster differ from its representative, in numbers: one row of `DIFFERENCES` for each cluster.

Texts are compared slot by slot. Words that only one side has are *extra*. If both sides have different words of the
same form, and their spelling is not nearly the same, these are in *conflict*. A conflict of one word with one word is a
*swap*.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from esdedup.analysis.align import Alignment
from esdedup.analysis.word_forms import NAME, NUMBER, PLAIN, SIGN, Classes, Measures, Words, split_words
from esdedup.columns.arrays import Flags, Numbers, text_column
from esdedup.columns.hashing import Bytes, Hashes, Offsets
from esdedup.columns.kernels import compiled

DIFFERENCES = (
    "number conflicts",  # between a text and the representative; like all of these, an average over the texts
    "name conflicts",
    "word conflicts",
    "number extras",
    "name extras",
    "word extras",
    "swaps",
    "figure swaps",  # swaps of numbers
    "negations",  # on one side only
)
_CONFLICTS, _EXTRAS, _SWAPS, _FIGURE_SWAPS, _NEGATIONS = 0, 3, 6, 7, 8

_MOST = 3.0
"""More changes of one kind in one text count as this many."""

_FIGURES = (
    "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion "
    "dozen half first second third fourth fifth sixth seventh eighth ninth tenth twice thrice "
    "january february march april june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday "
    "north south east west northeast northwest southeast southwest northern southern eastern western"
)
_NEGATIVES = (
    "not never no cannot without neither nor isn't wasn't aren't weren't doesn't don't didn't can't couldn't won't"
)
_NO_NAMES = (
    "a about according after all also although among an and another any are as at because before both but by during "
    "each either every few for from had has have he her here his how however if in into is it its many more most much "
    "my neither no nor not of on once one only or other our out over she since so some such than that the their them "
    "then there these they this those though through thus to two under until upon was we were what when where whether "
    "which while who with within without you your "
    "der die das ein eine es er sie im in nach bei auf le la les un une des il elle en dans à el los las una uno en "
    "il lo gli i un uno nel o os as um uma no na de het een"
)


def differences(words: Words, form: Classes, clusters: Offsets, centres: Numbers, alignment: Alignment) -> Measures:
    """Return the differences in m clusters, given as for `align`, with `facts` as forms; shape (m,
    len(DIFFERENCES)).
    """
    out = np.zeros((len(centres), len(DIFFERENCES)), np.float64)
    _compare_all(
        words.hash, form, form != SIGN, is_one_of(words, _NEGATIVES), words.data, words.begin, words.end,
        clusters, centres, alignment.slots, alignment.fillers, alignment.first, alignment.last, out,
    )  # fmt: skip
    return out


def facts(words: Words) -> Classes:
    """Return the words' forms. Number words, dates and directions count as numbers. A leading article is not a name."""
    form = words.form.copy()
    form[is_one_of(words, _FIGURES) & (form != SIGN)] = NUMBER
    spoken = np.flatnonzero(form != SIGN)
    firsts = np.searchsorted(spoken, words.offsets[:-1])
    firsts = np.unique(spoken[firsts[firsts < len(spoken)]])
    form[firsts[(form[firsts] == NAME) & is_one_of(words, _NO_NAMES)[firsts]]] = PLAIN
    return form


def is_one_of(words: Words, listed: str) -> Flags:
    """Return which words are in a list of words, ignoring case."""
    return np.isin(words.hash, _hashes(listed))


@cache
def _hashes(listed: str) -> Hashes:
    return split_words(text_column([listed])).hash


@compiled
def _compare_all(
    hashes: Hashes,
    form: Classes,
    spoken: Flags,
    negative: Flags,
    data: Bytes,
    begin: Numbers,
    end: Numbers,
    clusters: Offsets,
    centres: Numbers,
    slots: Offsets,
    fillers: Offsets,
    first: Numbers,
    last: Numbers,
    out: Measures,
) -> None:
    counts = np.zeros(len(out[0]) if len(out) else 0, np.float64)
    for cluster in range(len(centres)):
        text, after, centre = clusters[cluster], clusters[cluster + 1], centres[cluster]
        for other in range(text, after):
            if other == centre:
                continue
            counts[:] = 0
            for slot in range(slots[cluster], slots[cluster + 1]):
                mine, theirs = fillers[slot] + centre - text, fillers[slot] + other - text
                a, a_end, b, b_end = first[mine], last[mine], first[theirs], last[theirs]
                if _same_letters(data, begin, end, form, a, a_end, b, b_end):
                    continue
                alone = _count(spoken, a, a_end) == 1 and _count(spoken, b, b_end) == 1
                for sort, kind in enumerate((NUMBER, NAME, PLAIN)):
                    left = _unshared(hashes, form, kind, a, a_end, b, b_end)
                    right = _unshared(hashes, form, kind, b, b_end, a, a_end)
                    if (left < 0) != (right < 0):
                        counts[_EXTRAS + sort] += 1
                    elif left >= 0 and (
                        kind == NUMBER or not _alike(data, begin[left], end[left], begin[right], end[right])
                    ):
                        counts[_CONFLICTS + sort] += 1
                        counts[_SWAPS] += alone
                        counts[_FIGURE_SWAPS] += alone and kind == NUMBER
                counts[_NEGATIONS] += _count(negative, a, a_end) != _count(negative, b, b_end)
            for sort in range(len(counts)):
                out[cluster, sort] += min(counts[sort], _MOST) / (after - text - 1)


@compiled
def _count(flags: Flags, a: int, a_end: int) -> int:
    """Count the marked words among `a:a_end`."""
    count = 0
    for word in range(a, a_end):
        count += flags[word]
    return count


@compiled
def _same_letters(
    data: Bytes, begin: Numbers, end: Numbers, form: Classes, a: int, a_end: int, b: int, b_end: int
) -> bool:
    """Return whether two runs of words differ only in signs, spaces and case."""
    at = begin[a] if a < a_end else 0
    for word in range(b, b_end):
        if form[word] == SIGN:
            continue
        for place in range(begin[word], end[word]):
            while a < a_end and (form[a] == SIGN or at == end[a]):
                a += 1
                at = begin[a] if a < a_end else 0
            if a == a_end or (data[at] | 32) != (data[place] | 32):
                return False
            at += 1
    while a < a_end and (form[a] == SIGN or at == end[a]):
        a += 1
        at = begin[a] if a < a_end else 0
    return a == a_end


@compiled
def _unshared(hashes: Hashes, form: Classes, kind: int, a: int, a_end: int, b: int, b_end: int) -> int:
    """Return the first of the words `a:a_end` of this form that is not among `b:b_end`, or -1."""
    for word in range(a, a_end):
        if form[word] != kind:
            continue
        shared = False
        for place in range(b, b_end):
            shared = shared or hashes[place] == hashes[word]
        if not shared:
            return word
    return -1


@compiled
def _alike(data: Bytes, a: int, a_end: int, b: int, b_end: int) -> bool:
    """Return whether two words begin and end so similarly that one is a form of the other, or a typo."""
    size = max(a_end - a, b_end - b)
    same = 0
    while a < a_end and b < b_end and (data[a] | 32) == (data[b] | 32):
        a, b, same = a + 1, b + 1, same + 1
    while a < a_end and b < b_end and (data[a_end - 1] | 32) == (data[b_end - 1] | 32):
        a_end, b_end, same = a_end - 1, b_end - 1, same + 1
    return 5 * same >= 3 * size and size >= 3
