"""What the representative of a cluster looks like, in numbers: one row of `LOOKS` for each cluster."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from esdedup.analysis.align import Alignment
from esdedup.analysis.word_forms import NAME, NUMBER, PLAIN, SIGN, Classes, Measures, Words
from esdedup.analysis.word_meanings import hashes_of
from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.hashing import Hashes, Offsets

LOOKS = (
    "words in it",
    "fixed",  # share of them that occur in every text
    "fixed names",  # the same for names, without the first word
    "fixed numbers",
    "begins apart",  # whether the first word is in a slot
    "citation",  # marks of citations, for each ten words
    "cites",  # whether there is a word that citations have, or an initial
    "numbered work",  # whether an ISBN or the like is given
    "imprint",  # whether it ends with a comma and a year
    "code",  # braces, equals signs and the like, for each ten words
    "listing",  # bars, bullets and the like, for each ten words; one more if a text ends with a semicolon
    "cut",  # whether some texts end with a comma, colon or semicolon, but not all
    "sentence",  # whether it begins with a capital and ends like a sentence
    "ended",  # whether it ends like a sentence
    "braced",  # whether it begins with a brace, as data do
    "author",  # whether it begins with a family name, a comma, a name and an initial
)

_CUES = (
    "isbn issn doi oclc pmid arxiv pp vol eds ed edn editor editors pages symposium publ press publishing "
    "publishers publications publication verlag books journal proceedings university retrieved accessed archived "
    "http https www cit ibid et al"
)


@cache
def _cues() -> Hashes:
    return hashes_of(_CUES.split())


@cache
def _numbers_of_works() -> Hashes:
    return hashes_of(["isbn", "issn", "doi", "oclc", "pmid", "arxiv"])


_CODE_SIGNS = np.array([ord(sign) for sign in "{}=<>\\/_|@#%^*~+"])
_FIRST_BYTE = 0xE3
"""Words of Chinese, Japanese and Korean begin with this byte or a higher one, and have no capitals."""

_TWO_BYTES = 0xC3
"""Letters of two bytes begin with this byte or a higher one."""

_ENDS = np.array([ord(sign) for sign in '.!?":。！？」）…։।॥؟۔។၊။።፧᠃'])
"""Signs that end a sentence, in any script."""

_LIST_SIGNS = np.array([ord(sign) for sign in "|·•∙‧※■□▪▫"])
_YEAR_DIGITS = 4


def looks(words: Words, form: Classes, clusters: Offsets, centres: Numbers, alignment: Alignment) -> Measures:
    """Return the looks of the representatives of m clusters, given as for `changes`; shape (m, len(LOOKS))."""
    if not len(words.begin):
        return np.zeros((len(centres), len(LOOKS)), np.float64)
    low, high = words.offsets[centres], words.offsets[centres + 1]
    owner = np.repeat(np.arange(len(centres)), high - low)
    at = np.arange(len(owner)) + np.repeat(low - np.cumsum(high - low) + high - low, high - low)

    def count(what: npt.NDArray[Any]) -> Measures:
        return np.asarray(np.bincount(owner, what, len(centres)), np.float64)

    def ending(signs: str) -> Numbers:
        """Count the texts of each cluster that end with one of the signs."""
        behind = at_most(words.offsets[1:] - 1, len(words.begin))
        ends = np.isin(words.sign[behind], [ord(sign) for sign in signs]) & (np.diff(words.offsets) > 0)
        return np.asarray(np.add.reduceat(ends, clusters[:-1], dtype=np.int64))

    form = form[at]
    spoken, fixed = form != SIGN, ~alignment.slotted[at] & (form != SIGN)
    total = np.maximum(count(spoken), 1)
    filled = high > low
    first, last = at_most(low, len(words.begin)), at_most(high - 1, len(words.begin))
    ends = np.isin(words.sign[last], _ENDS)
    begins_apart = np.zeros(len(centres), np.bool_)
    begins_apart[filled] = alignment.slotted[first[filled]]
    beyond = words.data[words.begin[first]] >= _FIRST_BYTE
    unfinished = ending(",:;")
    initial = _initials(words, at, high[owner])
    parted = np.isin(words.sign[at], _LIST_SIGNS) & ~spoken
    return np.column_stack(
        [
            count(spoken),
            count(fixed) / total,
            count(fixed & (form == NAME) & (at > low[owner])),
            count(fixed & (form == NUMBER)),
            begins_apart.astype(np.float64),
            10 * count(_citing(words, at, form, initial)) / total,
            count(initial | np.isin(words.hash[at], _cues())) > 0,
            count(np.isin(words.hash[at], _numbers_of_works())) > 0,
            _has_imprint(words, high).astype(np.float64),
            10 * count(np.isin(words.sign[at], _CODE_SIGNS) & ~spoken) / total,
            10 * count(parted) / total + (ending(";") > 0),
            (unfinished > 0) & (unfinished < np.diff(clusters)),
            filled & ((words.form[first] != PLAIN) | beyond) & ends,
            filled & ends,
            filled & (words.sign[first] == ord("{")),
            _begins_with_author(words, low, high),
        ]
    )


def at_most(places: Numbers, length: int) -> Numbers:
    """Limit indices so that they are valid even if there is nothing to index."""
    return np.clip(places, 0, length - 1)


def _citing(words: Words, at: Numbers, form: Classes, initial: Flags) -> Measures:
    """Return how strongly each of the words `at` suggests a citation: a cue, a year in brackets or at the end, an
    initial.
    """
    last = len(words.begin)
    behind, before = at_most(at + 1, last), at_most(at - 1, last)
    touching = np.where((words.begin[behind] == words.end[at]) & (behind != at), words.sign[behind], 0)
    size = words.end[at] - words.begin[at]
    year = (form == NUMBER) & (size == _YEAR_DIGITS)
    bracketed = (touching == ord(")")) | (words.sign[before] == ord("("))
    at_end = np.isin(touching, [ord("."), ord(";")])
    return np.select(
        [np.isin(words.hash[at], _cues()), initial, year & bracketed, year & at_end], [1.0, 0.7, 1.0, 0.7], 0.0
    )


def _initials(words: Words, at: Numbers, high: Numbers) -> Flags:
    """Return which of the words `at` are an initial: one capital with a full stop, a space, and more of the text, whose
    words end at `high`.
    """
    last = len(words.begin)
    here, stop, behind = (at_most(at + beyond, last) for beyond in (0, 1, 2))
    spaced = (at + 2 < high) & (words.begin[behind] > words.end[stop])
    return np.asarray((words.form[here] == NAME) & _one_letter(words, here) & (words.sign[stop] == ord(".")) & spaced)


def _begins_with_author(words: Words, low: Numbers, high: Numbers) -> Flags:
    """Return which of the texts, whose words are `low:high`, begin like `Miller, Anna B.` or `Miller, A.`"""
    family, comma, given = (at_most(low + place, len(words.begin)) for place in range(3))
    named = (words.form[family] == NAME) & (words.sign[comma] == ord(",")) & (words.form[given] == NAME)
    return np.asarray(named & (_initials(words, low + 2, high) | _initials(words, low + 3, high)))


def _one_letter(words: Words, at: Numbers) -> Flags:
    """Return which of the words `at` are one letter: one byte, or two that begin as those of one character do."""
    size = words.end[at] - words.begin[at]
    return np.asarray((size == 1) | ((size == 2) & (words.data[words.begin[at]] >= _TWO_BYTES)))


def _has_imprint(words: Words, high: Numbers) -> Flags:
    """Return whether texts, whose words end at `high`, end with a comma, a year and a full stop."""
    last = len(words.begin)
    comma, year, stop = (at_most(high - back, last) for back in (3, 2, 1))
    size = words.end[year] - words.begin[year]
    yearly = (words.form[year] == NUMBER) & (size == _YEAR_DIGITS)
    return np.asarray((words.sign[comma] == ord(",")) & yearly & (words.sign[stop] == ord(".")))
