"""Search a lookup: the texts that share most with another one, and those that begin in a certain way.

Texts are first ranked by the grams that they share with the question, each weighted by how rare it is (the inverse
document frequency of Spärck Jones 1972, as in BM25). The rarest are counted first, up to `_MOST_PLACES` places of grams
in texts, so that no question costs more than a few hundredths of a second. The most common ones, which stand in two
thirds of all places but tell little, are not counted.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Numbers, decode, run_starts, text_buffers, text_column
from esdedup.columns.hashing import Bytes, Hashes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.lookup.gram_lists import MOST_TEXTS, Scores
from esdedup.lookup.grams import Grams, grams_of, is_unspaced
from esdedup.lookup.text_blocks import GROUP, keys_of, texts_of
from esdedup.lookup.text_segment import Segment
from esdedup.resources import available_cores

Similarities = npt.NDArray[np.float64]
Spans = npt.NDArray[np.int64]

_SPACE = 0x20
_MOST_PLACES = 2**21
_COUNTED = 15 / 16  # of the weight of all grams
_LEAST = 100
"""So many of the best are returned, however little they share."""
_BEGUN = (1, 4, 16, 64)
"""So many blocks are scored at first, one part after the other."""
_MANY_SEGMENTS = 4
"""With so many, each is scored by one thread: the second half of lists is found only through the first one."""
_TIES = 4
"""So many times the texts that are wanted are held, where scores are equal, before they are ordered by hash."""
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

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self._size = sum(map(len, segments))
        self._blocks = [block for segment in segments for block in segment.blocks]
        self._owners = [(segment, number) for segment in segments for number in range(len(segment.blocks))]

    def alike(self, grams: Grams, most: int, enough: float) -> Found:
        """Return the texts with at least `enough` (0 to 1) of the weight of the grams that are counted, and in any case
        the best few, but at most `most`: best first, then by hash.
        """
        spans = [segment.lists.spans(grams) for segment in self._segments]
        held = sum((each.held for each in spans), np.zeros(len(grams), np.int64))
        rarest = np.argsort(held, kind="stable")[np.count_nonzero(held == 0) :]
        if not len(rarest):
            return NOTHING
        weights = np.log1p(self._size / held[rarest]).astype(np.float32)
        before = np.cumsum(weights) - weights
        counted = (np.cumsum(held[rarest]) <= _MOST_PLACES) & (before < _COUNTED * weights.sum())
        counted[0] = True
        rarest, weights = rarest[counted], weights[counted]
        spans = [each.of(rarest) for each in spans]
        for segment, each in zip(self._segments, spans, strict=True):
            segment.lists.expect(each)
        kept = _Kept(most, np.float32(enough * weights.sum()), self._hashes)
        lock = threading.Lock()

        def take(number: int, blocks: range) -> None:
            scored = self._segments[number].scored(spans[number], weights, blocks, kept.least, kept.enough)
            with lock:
                kept.take(begins[number] + scored.texts, scored.scores, scored.reached)

        sizes = [len(segment.blocks) for segment in self._segments]
        begins = MOST_TEXTS * np.cumsum([0, *sizes])
        begun = 0
        for stop in _BEGUN:  # each part says better what is low
            take(0, range(begun, min(stop, sizes[0])))
            begun = min(stop, sizes[0])
        pieces = 1 if len(sizes) >= _MANY_SEGMENTS else available_cores()
        parts = [
            (number, range(first, stop))
            for number, size in enumerate(sizes)
            for first, stop in pairwise(np.linspace(0 if number else begun, size, pieces + 1).astype(int).tolist())
            if first < stop
        ]
        with ThreadPoolExecutor(max(1, min(available_cores(), len(parts)))) as pool:
            list(pool.map(lambda part: take(*part), parts))
        texts, hashes = kept.best()
        return Found(hashes, self._texts(texts), kept.left_out())

    def beginning(self, squeezed: str, most: int) -> Found:
        """Return the first `most` texts, in their order, whose search form without spaces begins like this."""
        low = squeezed.encode()
        begins, ends = self._first_not_before(low, low + b"\xff")
        there = np.flatnonzero(ends > begins)
        living = [self._living(block, int(begins[block]), int(ends[block])) for block in there.tolist()]
        shown = [rows[:most] for rows in living]
        found = np.concatenate([np.empty(0, np.int64), *shown])
        hashes, texts = self._hashes(found), self._texts(found)
        keys = keys_of(texts)
        order = np.array(sorted(range(len(keys)), key=lambda at: (keys[at], hashes[at])), np.int64)[:most]
        left_out = sum(map(len, living)) - len(order)
        return Found(hashes[order], texts.take(pa.array(order)), left_out)

    def _living(self, block: int, begin: int, end: int) -> Numbers:
        segment, number = self._owners[block]
        return block * MOST_TEXTS + segment.living(number, begin, end)

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
            keys = keys_of(self._texts(block[wide] * MOST_TEXTS + middle))
            before = np.array([key < bounds[at] for key, at in zip(keys, bound[wide].tolist(), strict=True)])
            low[wide[before]], high[wide[~before]] = middle[before] + 1, middle[~before]
        ends = np.cumsum(high - low)
        every = np.repeat(place, high - low)
        keys = keys_of(self._texts(block[every] * MOST_TEXTS + np.arange(len(every)) + (high - ends)[every]))
        spans = zip(bound.tolist(), (ends - high + low).tolist(), ends.tolist(), strict=True)
        firsts = [bisect_left(keys, bounds[at], *span) for at, *span in spans]
        return (high - ends + np.array(firsts, np.int64)).reshape(len(bounds), -1)

    def _texts(self, texts: Numbers) -> pa.LargeStringArray:
        return texts_of(self._blocks, texts // MOST_TEXTS, texts % MOST_TEXTS)

    def _hashes(self, texts: Numbers) -> Hashes:
        order = np.argsort(texts)
        owners, rows = np.divmod(texts[order], MOST_TEXTS)
        starts = run_starts(owners)
        found = [
            self._blocks[owner].hashes[rows[begin:end]]
            for owner, (begin, end) in zip(
                owners[starts].tolist(), pairwise(np.append(starts, len(rows)).tolist()), strict=True
            )
        ]
        hashes = np.empty(len(texts), np.uint64)
        hashes[order] = np.concatenate([hashes[:0], *found])
        return hashes


class _Kept:
    """The texts with the highest scores so far, by number: those that have enough, and in any case a few."""

    def __init__(self, most: int, enough: np.float32, hashes_of: Callable[[Numbers], Hashes]) -> None:
        self._most = most
        self._hashes_of = hashes_of
        self.enough = enough
        self.least = np.float32(0)
        """The lowest score of a text that would be kept."""
        self._reached = 0
        self._texts, self._scores = np.empty(0, np.int64), np.empty(0, np.float32)

    def take(self, texts: Numbers, scores: Scores, reached: int) -> None:
        """Take texts, with those whose scores are not below the least. So many of all texts have enough."""
        self._reached += reached
        if not len(texts):
            return
        self._texts, self._scores = np.append(self._texts, texts), np.append(self._scores, scores)
        if len(self._scores) >= (count := self._count()):
            lowest = np.partition(self._scores, -count)[-count]
            kept = self._scores >= lowest
            self._texts, self._scores = self._texts[kept], self._scores[kept]
            self.least = lowest if count == self._most else min(self.enough, lowest)
        if len(self._texts) > _TIES * self._most:
            self.best()

    def best(self) -> tuple[Numbers, Hashes]:
        """Return the best texts, those with equal scores by hash, and their hashes."""
        hashes = self._hashes_of(self._texts)
        order = np.lexsort((hashes.view(np.int64), -self._scores))[: self._count()]  # signed, as on a server
        self._texts, self._scores = self._texts[order], self._scores[order]
        return self._texts, hashes[order]

    def _count(self) -> int:
        return min(self._most, max(_LEAST, int(np.count_nonzero(self._scores >= self.enough))))

    def left_out(self) -> int:
        """How many texts have enough, but are not among the best."""
        return int(self._reached) - int(np.count_nonzero(self._scores >= self.enough))  # Python runs small kernels
