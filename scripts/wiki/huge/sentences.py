"""The sentences of a huge wiki, as words: those that stand alone, and copies that are edited."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from scripts.wiki.huge.planted import Plan, planted_at
from scripts.wiki.huge.words import DRAWS, Pool, below, mixed

IDENTICAL, EDITED, FIGURES, TEMPLATE, EXTENDED, SIGNS = range(6)
_KINDS = np.array([IDENTICAL] * 6 + [TEMPLATE] * 5 + [EDITED] * 3 + [FIGURES] * 3 + [EXTENDED] * 2 + [SIGNS], np.int64)
"""The kinds of clusters, as often as they are planted; the largest are templates, as in the Wikipedia."""
_TEMPLATES_FROM = 100
_TEMPLATE_LENGTH, _SHORTEST_COPIED = 190, 110
"""A template and a copy that is edited have at least so many characters, so that most stay near-duplicates."""

LENGTHS = np.fromstring(
    "75 79 83 87 91 94 98 102 106 110 113 117 121 125 129 134 138 143 147 152 158 164 170 176 184 192 200 211 224 240 "
    "263 306 590",
    np.int64,
    sep=" ",
)
"""Quantiles of the lengths of the 16,632 compared sentences of 106 articles of the English Wikipedia, in characters."""

CAPITAL, COMMA, NUMBER, WORD = 1 << 32, 1 << 33, 1 << 34, (1 << 32) - 1
"""A sentence is an array of words: the number of the word or the value of the number, and these flags."""
MOST_WORDS = 256
SHORT = 45
"""Characters of a sentence that is too short to be compared."""
_OTHER = 1 << 44
"""The sentences that a later month has instead are numbered from here."""


@numba.njit(cache=True, nogil=True)
def words_of(
    sentence: int, month: int, seed: int, plan: Plan, lexicon: Pool, drawn: npt.NDArray[np.int32],
    words: npt.NDArray[np.int64],
) -> int:  # fmt: skip
    """Write the words of a sentence to `words`, and return how many there are.

    With `month` above 0 it is the sentence that this month has instead. A sentence below 0 is too short to be compared.
    """
    if sentence < 0:
        return _random_words(sentence - _OTHER, seed, SHORT, lexicon, drawn, words)
    if month:
        return _random_words(sentence + month * _OTHER, seed, 75, lexicon, drawn, words)
    cluster, member, size = planted_at(sentence, plan)
    if cluster < 0:
        return _random_words(sentence, seed, 75, lexicon, drawn, words)
    chance = mixed(seed + 1, cluster)
    kind = TEMPLATE if size >= _TEMPLATES_FROM else _KINDS[below(chance, len(_KINDS))]
    least = _TEMPLATE_LENGTH if kind == TEMPLATE else _SHORTEST_COPIED if kind != IDENTICAL else 75
    count = _random_words(-1 - cluster, seed, least, lexicon, drawn, words)
    if kind == IDENTICAL or member == 0:
        return count
    chance = mixed(seed + 2 + member, cluster)
    at = 2 + below(chance, count - 3)
    chance = mixed(7, np.int64(chance >> np.uint64(1)))
    if kind == EDITED:
        words[at] = drawn[below(chance, DRAWS)] | words[at] & COMMA
    elif kind == FIGURES:
        words[2] = NUMBER | (1000 + below(chance, 1024))
    elif kind == TEMPLATE:
        words[1] = drawn[DRAWS // 2 + below(chance, DRAWS // 2)] | CAPITAL
        words[2] = NUMBER | (1000 + below(mixed(8, np.int64(chance >> np.uint64(1))), 1024))
    elif kind == EXTENDED:
        words[count] = words[count - 1]
        words[count - 1] = drawn[below(chance, DRAWS)]
        count += 1
    else:
        words[at] ^= COMMA
    return count


@numba.njit(cache=True, nogil=True)
def _random_words(
    number: int, seed: int, least: int, lexicon: Pool, drawn: npt.NDArray[np.int32], words: npt.NDArray[np.int64]
) -> int:
    state = mixed(seed, number)
    places = len(LENGTHS) - 1
    chance = below(state, places * 1024)
    low, part = LENGTHS[chance >> 10], chance & 1023
    length = max(low + (LENGTHS[(chance >> 10) + 1] - low) * part // 1024, least) if least > SHORT else least
    count = done = 0
    base = np.int64(state >> np.uint64(1))
    while True:
        chance = mixed(base, count)
        sort = np.int64(chance & np.uint64(127))
        if sort < 4 and count > 1:
            word = NUMBER | (1000 + below(chance, 1024))
            done += 5
        else:
            word = np.int64(drawn[below(chance, DRAWS)])
            if sort < 14 or not count:
                word |= CAPITAL
            done += lexicon.starts[(word & WORD) + 1] - lexicon.starts[word & WORD] + 1
        if sort > 119 and count:
            word |= COMMA
            done += 1
        words[count] = word
        count += 1
        if done > length - 8 or count == MOST_WORDS - 2:
            break
    # the last word is a common one of four letters and more, so that the full stop is none of an abbreviation
    words[count] = 140 + below(mixed(base, -1), 120)
    return count + 1


@numba.njit(cache=True, nogil=True)
def put(piece: int, pool: Pool, out: npt.NDArray[np.uint8], at: int) -> int:
    """Write a piece of a pool to `out`, and return where it ends."""
    for byte in pool.data[pool.starts[piece] : pool.starts[piece + 1]]:
        out[at] = byte
        at += 1
    return at


@numba.njit(cache=True, nogil=True)
def put_number(value: int, out: npt.NDArray[np.uint8], at: int) -> int:
    """Write a number in decimal digits to `out`, and return where it ends."""
    digits, rest = 1, value // 10
    while rest:
        digits, rest = digits + 1, rest // 10
    for place in range(at + digits - 1, at - 1, -1):
        out[place], value = 48 + value % 10, value // 10
    return at + digits


@numba.njit(cache=True, nogil=True)
def put_word(word: int, lexicon: Pool, out: npt.NDArray[np.uint8], at: int) -> int:
    """Write a word, or a number, without its comma."""
    if word & NUMBER:
        return put_number(word & WORD, out, at)
    begin = at
    at = put(word & WORD, lexicon, out, at)
    if word & CAPITAL:
        out[begin] -= 32
    return at


@numba.njit(cache=True, nogil=True)
def put_plain(words: npt.NDArray[np.int64], count: int, lexicon: Pool, out: npt.NDArray[np.uint8]) -> int:
    """Write a sentence as its readers see it, and return where it ends."""
    at = 0
    for place in range(count):
        at = put_word(words[place], lexicon, out, at)
        if words[place] & COMMA:
            out[at] = 44
            at += 1
        out[at] = 46 if place == count - 1 else 32
        at += 1
    return at
