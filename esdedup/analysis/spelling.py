"""Whether words are spelled alike, in compiled code."""

from __future__ import annotations

import re
import unicodedata

import numpy as np

from esdedup.analysis.word_forms import SIGN, Classes
from esdedup.columns.arrays import Numbers, decode
from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled

_NUMBERS = re.compile(r"\d+\w*")

_LONGEST = 64
"""Letters that are compared."""

_VOWELS = tuple(map(ord, "aeiouy"))

_SHORT = 3
"""Letters of an initial or a contraction, at most."""

_ENDING = 4
"""Letters of an ending, at most."""

_FOLDED = 0x2000
"""Below, letters are compared without case and accents."""

_S = ord("s")

_NEGATING = np.array(
    [
        [ord(letter) for letter in prefix.ljust(3, chr(0))]
        for prefix in ["un", "in", "im", "il", "ir", "on", "не", "ни", "non", "dis", "des"]
    ],
    np.int64,
)
"""Prefixes that negate what follows."""

_BASES = np.array(
    [ord(unicodedata.normalize("NFD", chr(code).lower())[0]) for code in range(_FOLDED)], np.int64
)  # fmt: skip


def spelled_alike(one: str, two: str) -> bool:
    """Return whether one of two runs of words is a form of the other, its initials, or a typo. Signs do not matter."""
    named = ["".join(word[0] for word in text.split() if word[0].isupper()) for text in (one, two)]
    one, two = ("".join(filter(str.isalnum, text)) for text in (one, two))
    if (len(named[1]) > 1 and one == named[1]) or (len(named[0]) > 1 and two == named[0]):
        return True
    whole = np.frombuffer((one + two).encode(), np.uint8)
    middle = len(one.encode())
    if (
        named[0]
        and named[1]
        and (is_short_for(whole, 0, middle, middle, len(whole)) or is_short_for(whole, middle, len(whole), 0, middle))
    ):
        return True
    return bool(alike(whole, 0, middle, middle, len(whole)))


def same_time(one: str, two: str) -> bool:
    """Return whether the only numbers of two texts are a year and its decade: 1971, the early 70s."""
    numbers = [_NUMBERS.findall(text) for text in (one, two)]
    if [len(some) for some in numbers] != [1, 1]:
        return False
    whole = np.frombuffer("".join(numbers[0] + numbers[1]).encode(), np.uint8)
    middle = len(numbers[0][0].encode())
    return bool(is_within(whole, 0, middle, middle, len(whole)) or is_within(whole, middle, len(whole), 0, middle))


@compiled
def same_letters(
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
def alike(data: Bytes, a: int, a_end: int, b: int, b_end: int) -> bool:
    """Return whether one of two words is a form of the other, or a typo: they begin the same way and have other
    endings, or one letter in four differs (in short words one in all). Case and accents do not matter.
    """
    one, two = np.empty(_LONGEST, np.int64), np.empty(_LONGEST, np.int64)
    ones, twos = _letters(data, a, a_end, one), _letters(data, b, b_end, two)
    size = max(ones, twos)
    if size < 3:
        return size == ones == twos and (one[:ones] == two[:twos]).all()
    if _negated(one[:ones], two[:twos]) or _negated(two[:twos], one[:ones]):
        return False
    same, shorter = 0, min(ones, twos)
    while same < shorter and one[same] == two[same]:
        same += 1
    if same > 3 and 5 * same >= 3 * size and size - same <= _ENDING:
        return True
    return _distance(one[same:ones], two[same:twos]) <= max(1, size // 4)


@compiled
def is_short_for(data: Bytes, a: int, a_end: int, b: int, b_end: int) -> bool:
    """Return whether the first word is an initial of the second one, or a contraction: J. for John, Ft. for Fort."""
    one, two = np.empty(_LONGEST, np.int64), np.empty(_LONGEST, np.int64)
    ones, twos = _letters(data, a, a_end, one), _letters(data, b, b_end, two)
    if not 0 < ones <= _SHORT < twos or one[0] != two[0]:
        return False
    if ones > 1 and (one[ones - 1] != two[twos - 1] or _has_vowel(one[:ones])):
        return False
    found = 0
    for place in range(twos):
        found += found < ones and one[found] == two[place]
    return found == ones


@compiled
def _has_vowel(letters: Numbers) -> bool:
    found = False
    for letter in letters:
        found = found or letter in _VOWELS
    return found


@compiled
def is_within(data: Bytes, a: int, a_end: int, b: int, b_end: int) -> bool:
    """Return whether the first word is a year in the decade that the second one names (1970s, 70s)."""
    year, a = _figures(data, a, a_end)
    decade, b = _figures(data, b, b_end)
    named = b == b_end - 1 and data[b] == _S and decade >= 20
    return named and a == a_end and 1000 <= year < 2100 and year // 10 * 10 in (decade, decade + year // 100 * 100)


@compiled
def _figures(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return the number that a word begins with, and where its figures end."""
    number = 0
    while at < end and ord("0") <= data[at] <= ord("9"):
        number = min(number * 10 + int(np.int64(data[at])) - ord("0"), 2**32)
        at += 1
    return number, at


@compiled
def are_initials(data: Bytes, begin: Numbers, end: Numbers, some: Numbers, others: Numbers) -> bool:
    """Return whether the letters of some words are the first letters of others: US, United States."""
    count = 0
    for word in some:
        at = begin[word]
        while at < end[word]:
            letter, at = decode(data, at, end[word])
            if count == len(others) or letter != decode(data, begin[others[count]], end[others[count]])[0]:
                return False
            count += 1
    return 1 < count == len(others)


@compiled
def are_negated(data: Bytes, a: int, a_end: int, b: int, b_end: int) -> bool:
    """Return whether one of two words is the other one with a prefix that negates: married, unmarried."""
    one, two = np.empty(_LONGEST, np.int64), np.empty(_LONGEST, np.int64)
    ones, twos = _letters(data, a, a_end, one), _letters(data, b, b_end, two)
    return _negated(one[:ones], two[:twos]) or _negated(two[:twos], one[:ones])


@compiled
def _negated(word: Numbers, other: Numbers) -> bool:
    """Return whether a word is the other one with a prefix that negates."""
    more = len(word) - len(other)
    if more not in (2, 3) or len(other) < 4 or (word[more:] != other).any():
        return False
    for place in range(len(_NEGATING)):
        prefix = _NEGATING[place]
        if (prefix[2] > 0) == (more == 3) and (word[:more] == prefix[:more]).all():
            return True
    return False


@compiled
def _letters(data: Bytes, at: int, end: int, out: Numbers) -> int:
    """Write the letters of a word without case and accents; return how many there are."""
    count = 0
    while at < end and count < len(out):
        code, at = decode(data, at, end)
        out[count] = _BASES[code] if code < _FOLDED else code
        count += 1
    return count


@compiled
def _distance(one: Numbers, two: Numbers) -> int:
    """Return the edit distance of two words; two letters in exchanged places are one edit."""
    rows = np.zeros((len(one) + 1, len(two) + 1), np.int64)
    rows[:, 0], rows[0] = np.arange(len(one) + 1), np.arange(len(two) + 1)
    for here in range(1, len(one) + 1):
        for there in range(1, len(two) + 1):
            kept = rows[here - 1, there - 1] + (one[here - 1] != two[there - 1])
            least = min(kept, rows[here - 1, there] + 1, rows[here, there - 1] + 1)
            if here > 1 and there > 1 and one[here - 1] == two[there - 2] and one[here - 2] == two[there - 1]:
                least = min(least, rows[here - 2, there - 2] + 1)
            rows[here, there] = least
    return int(rows[-1, -1])
