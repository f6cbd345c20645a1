"""How similar a text is to a question, from 0 to 1, as a reader judges it.

Half of it is the share of the question's grams that the text has (containment, Broder 1997): a question is often a part
of what it means. A quarter is the share of its words that the text has in the same order, and a quarter the Jaccard
index of the grams: of two texts that contain the question, the one with less besides comes first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import decode, text_buffers, text_column
from esdedup.columns.hashing import Bytes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.lookup.grams import Grams, grams_of, is_unspaced

Similarities = npt.NDArray[np.float64]
Spans = npt.NDArray[np.int64]

_SPACE = 0x20
_MOST_WORDS = 300
"""The order of so many words counts. What follows them does not, because comparing takes the product of the lengths."""


WEIGHTS = np.array([0.5, 0.25, 0.25])
"""Of containment, of words in order, and of the Jaccard index."""

_HALF_TYPED = np.array([2 / 3, 1 / 3, 0])
"""The same for a question that goes on: how long the text is says nothing."""


def similarities(question: str, forms: pa.LargeStringArray, *, half: bool = False) -> Similarities:
    """Return the similarity of each text to a question, all in search form. With `half`, words may be half typed."""
    shares: Similarities = parts(question, forms, half=half) @ (_HALF_TYPED if half else WEIGHTS)
    return shares


def parts(question: str, forms: pa.LargeStringArray, *, half: bool = False) -> Similarities:
    """Return what the similarity of each text consists of, shape (n, 3), in the order of `WEIGHTS`."""
    asked = text_column([question])
    grams, _ = grams_of(asked, half=half)
    data, bounds = text_buffers(pa.concat_arrays([asked, forms]))
    words, ends = _words(data, bounds)
    return _parts(grams, *grams_of(forms), data, words, ends, half)


@compiled
def _words(data: Bytes, offsets: Offsets) -> tuple[Spans, Offsets]:
    """Return where the words of texts in search form begin and end, shape (words, 2), and the words of each text.

    A sign of a script without spaces is a word.
    """
    texts = len(offsets) - 1
    out = np.empty((offsets[texts] - offsets[0] + texts, 2), np.int64)
    bounds = np.zeros(texts + 1, np.int64)
    total = 0
    for index in range(texts):
        at, end = offsets[index], offsets[index + 1]
        begin = at
        while at < end:
            code, after = decode(data, at, end)
            alone = is_unspaced(code)
            if (alone or code == _SPACE) and at > begin:
                out[total, 0], out[total, 1] = begin, at
                total += 1
            if alone:
                out[total, 0], out[total, 1] = at, after
                total += 1
            if alone or code == _SPACE:
                begin = after
            at = after
        if at > begin:
            out[total, 0], out[total, 1] = begin, at
            total += 1
        bounds[index + 1] = total
    return out[:total].copy(), bounds


@compiled
def _parts(
    grams: Grams, held: Grams, bounds: Offsets, data: Bytes, words: Spans, ends: Offsets, half: bool
) -> Similarities:
    found = np.zeros((len(bounds) - 1, 3))
    asked = words[: ends[1]][:_MOST_WORDS]
    for index in range(len(found)):
        theirs = held[bounds[index] : bounds[index + 1]]
        common = _common(grams, theirs)
        ordered = _ordered(data, asked, words[ends[index + 1] : ends[index + 2]][:_MOST_WORDS], half)
        found[index, 0] = common / max(1, len(grams))
        found[index, 1] = ordered / max(1, len(asked))
        found[index, 2] = common / max(1, len(grams) + len(theirs) - common)
    return found


@compiled
def _common(one: Grams, other: Grams) -> int:
    """Return how many grams two sorted sets share."""
    at = there = common = 0
    while at < len(one) and there < len(other):
        if one[at] < other[there]:
            at += 1
        elif one[at] > other[there]:
            there += 1
        else:
            common += 1
            at += 1
            there += 1
    return common


@compiled
def _ordered(data: Bytes, one: Spans, other: Spans, half: bool) -> int:
    """Return the length of the longest common subsequence of words. With `half`, a word also equals a longer one."""
    row = np.zeros(len(other) + 1, np.int64)
    for word in range(len(one)):
        before = 0
        for at in range(len(other)):
            above = row[at + 1]
            if _begins(data, other[at, 0], other[at, 1], one[word, 0], one[word, 1], half):
                row[at + 1] = before + 1
            else:
                row[at + 1] = max(above, row[at])
            before = above
    return int(row[-1])


@compiled
def _begins(data: Bytes, begin: int, end: int, first: int, last: int, half: bool) -> bool:
    """Whether the word from `begin` to `end` is the one from `first` to `last`, or, with `half`, begins with it."""
    length = last - first
    if end - begin < length or (not half and end - begin != length):
        return False
    same = 0
    while same < length and data[begin + same] == data[first + same]:
        same += 1
    return same == length
