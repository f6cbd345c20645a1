"""Whether words are spelled alike, in compiled code."""

from __future__ import annotations

import unicodedata

import numpy as np

from esdedup.analysis.word_forms import SIGN, Classes
from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled
from esdedup.columns.utf8 import decode

_LONGEST = 64
"""Letters that are compared."""

_FOLDED = 0x2000
"""Below, letters are compared without case and accents."""

_D, _I, _M, _N, _O, _S, _U = (ord(letter) for letter in "dimnosu")

_BASES = np.array(
    [ord(unicodedata.normalize("NFD", chr(code).lower())[0]) for code in range(_FOLDED)], np.int64
)  # fmt: skip


def spelled_alike(one: str, two: str) -> bool:
    """Return whether one of two runs of words is a form of the other, or a typo. Signs do not matter."""
    one, two = ("".join(filter(str.isalnum, text)) for text in (one, two))
    whole = np.frombuffer((one + two).encode(), np.uint8)
    middle = len(one.encode())
    return bool(alike(whole, 0, middle, middle, len(whole)))


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
    """Return whether one of two words is a form of the other, or a typo: they begin and end the same way, or at most a
    third of their letters differ. Case and accents do not matter.
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
    tail = 0
    while tail < shorter - same and one[ones - 1 - tail] == two[twos - 1 - tail]:
        tail += 1
    return 5 * (same + tail) >= 3 * size or 3 * _distance(one[same:ones], two[same:twos]) <= size


@compiled
def _negated(word: Numbers, other: Numbers) -> bool:
    """Return whether a word is the other one with `un`, `in`, `im`, `non` or `dis` before it."""
    more = len(word) - len(other)
    if more not in (2, 3) or len(other) < 4 or (word[more:] != other).any():
        return False
    first, second = word[0], word[1]
    if more == 2:
        return bool(first in (_U, _I) and (second == _N or (first == _I and second == _M)))
    third = word[2]
    return bool((first == _N and second == _O and third == _N) or (first == _D and second == _I and third == _S))


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
    """Return the edit distance of two words."""
    row = np.arange(len(two) + 1)
    for letter in one:
        above = row[0]
        row[0] += 1
        for place in range(len(two)):
            cost = above + (letter != two[place])
            above = row[place + 1]
            row[place + 1] = min(cost, above + 1, row[place] + 1)
    return int(row[-1])
