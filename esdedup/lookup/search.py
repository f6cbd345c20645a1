"""Search a lookup: the texts that share most with another one, and those that begin in a certain way.

Texts are first ranked by the grams that they share with the question, each weighted by how rare it is (the inverse
document frequency of Spärck Jones 1972, as in BM25). The rarest are counted first, up to `_MOST_PLACES` places of grams
in texts, so that no question costs more than a few hundredths of a second. The most common ones, which stand in two
thirds of all places but tell little, are not counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Numbers, decode, text_buffers, text_column
from esdedup.columns.hashing import Bytes, Hashes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.lookup.grams import Grams, grams_of, is_unspaced
from esdedup.lookup.text_blocks import GROUP, Block, Scores, keys_of, texts_of
from esdedup.lookup.text_blocks import Spans as Lists

Similarities = npt.NDArray[np.float64]
Spans = npt.NDArray[np.int64]

_SPACE = 0x20
_MOST_PLACES = 2**24
_COUNTED = 15 / 16  # of the weight of all grams
_LEAST = 100
"""So many of the best are returned, however little they share."""
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


class Found(NamedTuple):
    """Texts that were found, each once, and how many others are as much like the question but were left out."""

    hashes: Hashes
    texts: pa.LargeStringArray
    left_out: int = 0

    def joined(self, other: Found) -> Found:
        """Return the texts of both, each once, by hash."""
        hashes = np.concatenate([self.hashes, other.hashes])
        _, first = np.unique(hashes, return_index=True)
        texts = pa.concat_arrays([self.texts, other.texts]).take(pa.array(first))
        return Found(hashes[first], texts, self.left_out)


NOTHING = Found(np.empty(0, np.uint64), pa.nulls(0, pa.large_string()))  # pa.array would import pandas


class Lookup:
    """An open lookup. It may be used by several threads at once."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._size = sum(map(len, blocks))

    def alike(self, grams: Grams, most: int, enough: float) -> Found:
        """Return the texts with at least `enough` (0 to 1) of the weight of the grams that are counted, and in any case
        the best few, but at most `most`: best first, then by hash.
        """
        spans = [block.spans(grams) for block in self._blocks]
        held = sum((each.held for each in spans), np.zeros(len(grams), np.int64))
        rarest = np.argsort(held, kind="stable")[np.count_nonzero(held == 0) :]
        if not len(rarest):
            return NOTHING
        weights = np.log1p(self._size / held[rarest]).astype(np.float32)
        before = np.cumsum(weights) - weights
        counted = (np.cumsum(held[rarest]) <= _MOST_PLACES) & (before < _COUNTED * weights.sum())
        counted[0] = True
        rarest, weights = rarest[counted], weights[counted]
        kept = _Kept(most, np.float32(enough * weights.sum()))
        for number, (block, each) in enumerate(zip(self._blocks, spans, strict=True)):
            scores = block.scores(Lists(*(column[rarest] for column in each)), weights)
            kept.take(number, scores, block.hashes)
        return self._texts(kept.blocks, kept.rows, kept.left_out())

    def beginning(self, squeezed: str, most: int) -> Found:
        """Return the first `most` texts, in their order, whose search form without spaces begins like this."""
        low = squeezed.encode()
        begins, ends = self._first_not_before(low, low + b"\xff")
        counts = np.minimum(ends - begins, most)
        blocks = np.repeat(np.arange(len(counts)), counts)
        rows = np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts)
        found = self._texts(blocks, rows, 0)
        keys = keys_of(found.texts)
        order = np.array(sorted(range(len(keys)), key=lambda at: (keys[at], found.hashes[at])), np.int64)[:most]
        left_out = int((ends - begins).sum()) - len(order)
        return Found(found.hashes[order], found.texts.take(pa.array(order)), left_out)

    def _first_not_before(self, *bounds: bytes) -> Numbers:
        """Return the first text of each block that does not come before each bound, shape (bounds, blocks).

        It is in one group, but where many texts begin alike: these are halved first.
        """
        low, high = (
            np.array([block.around(bound) for bound in bounds for block in self._blocks], np.int64).reshape(-1, 2).T
        )
        place = np.arange(len(low))
        block, bound = place % len(self._blocks), place // len(self._blocks)
        while (wide := np.flatnonzero(high - low > GROUP)).size:
            middle = (low + high)[wide] // 2
            keys = keys_of(self._texts(block[wide], middle, 0).texts)
            before = np.array([key < bounds[at] for key, at in zip(keys, bound[wide].tolist(), strict=True)])
            low[wide[before]], high[wide[~before]] = middle[before] + 1, middle[~before]
        ends = np.cumsum(high - low)
        every = np.repeat(place, high - low)
        keys = keys_of(self._texts(block[every], np.arange(len(every)) + (high - ends)[every], 0).texts)
        spans = zip(bound.tolist(), (ends - high + low).tolist(), ends.tolist(), strict=True)
        firsts = [bisect_left(keys, bounds[at], *span) for at, *span in spans]
        return (high - ends + np.array(firsts, np.int64)).reshape(len(bounds), -1)

    def _texts(self, blocks: Numbers, rows: Numbers, left_out: int) -> Found:
        """Return texts, in the order given."""
        hashes = np.empty(len(rows), np.uint64)
        for number in np.unique(blocks).tolist():
            at = blocks == number
            hashes[at] = self._blocks[number].hashes[rows[at]]
        return Found(hashes, texts_of(self._blocks, blocks, rows), left_out)


class _Kept:
    """The texts with the highest scores so far: those that reach enough, and in any case a few."""

    def __init__(self, most: int, enough: np.float32) -> None:
        self._most, self._enough = most, enough
        self._reached = 0
        self._scores, self._hashes = np.empty(0, np.float32), np.empty(0, np.uint64)
        self.blocks, self.rows = np.empty(0, np.int64), np.empty(0, np.int64)

    def take(self, number: int, scores: Scores, hashes: Hashes) -> None:
        """Take the scores of the texts of a block."""
        self._reached += int(np.count_nonzero(scores >= self._enough))
        lowest = np.float32(0)
        if len(self._scores) == self._most:
            lowest = self._scores[-1]
        elif len(self._scores) >= _LEAST:
            lowest = min(self._enough, self._scores[-1])
        better = np.flatnonzero((scores >= lowest) & (scores > 0))
        if len(better) > self._most:
            lowest = np.partition(scores[better], -self._most)[-self._most]
            better = better[scores[better] >= lowest]
        every, named = np.append(self._scores, scores[better]), np.append(self._hashes, hashes[better])
        count = min(self._most, max(_LEAST, int(np.count_nonzero(every >= self._enough))))
        order = np.lexsort((named.view(np.int64), -every))[:count]  # signed, as on a server
        self._scores, self._hashes = every[order], named[order]
        self.blocks = np.append(self.blocks, np.full(len(better), number))[order]
        self.rows = np.append(self.rows, better)[order]

    def left_out(self) -> int:
        """How many texts reach enough, but are not among the best."""
        return self._reached - int(np.count_nonzero(self._scores >= self._enough))
