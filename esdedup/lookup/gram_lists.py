"""The lists of a lookup: which texts of a segment have a gram.

The texts of the block `b` of a segment are numbered from `b * MOST_TEXTS` on. A list has the numbers of the texts with
one gram, as steps from one to the next, most of which fit in a byte. Lists are four files of numbers, which are read
where they lie. What a file says is not trusted: a number that is wrong finds a wrong text, or none, but never reads
outside of the lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.digits import by_digits
from esdedup.columns.hashing import Bytes, Hashes
from esdedup.columns.kernels import compiled
from esdedup.lookup.grams import Grams, gram_keys
from esdedup.lookup.mapped_file import MappedFile

MOST_TEXTS = 2**16

FILES: dict[str, npt.DTypeLike] = {"grams": np.uint32, "held": np.uint32, "ends": np.int64, "steps": np.uint8}
"""The endings of the files of lists, and what is in them."""

Score: TypeAlias = np.float32
Scores = npt.NDArray[Score]

_TEXT_BITS = 16
_STEP = 2**28 - 1
"""Steps have fewer bits; those of a damaged file have no more either, so no sum of them overflows."""
_PLACE_BITS = 31
_PLACE = np.uint64(2**_PLACE_BITS - 1)
_END = 2**62  # comes after all texts
_ROUNDED = np.float32(1.001)
"""More than sums of weights differ that are added in another order."""
_JOINED_AT_ONCE = 2**26  # bytes of steps


@dataclass(frozen=True)
class GramLists:
    """Lists: their grams, in order; how many texts each has; and its steps, which end where the next ones begin."""

    grams: Grams
    held: Grams
    ends: Numbers  # one more: where the first list begins
    steps: Bytes
    files: Mapping[str, MappedFile] = field(default_factory=dict)
    """Those that they are read from, by ending."""

    def __len__(self) -> int:
        return len(self.grams)

    @classmethod
    def read(cls, path: Path) -> GramLists:
        """Return the lists that were written to a path. Raise `OSError` or `ValueError` if these contradict
        themselves.
        """
        files = {ending: MappedFile(path.with_suffix(f".{ending}")) for ending in FILES}
        grams, held, ends, steps = (files[ending].array(kind) for ending, kind in FILES.items())
        lists = cls(grams, held, ends, steps, files)
        if not len(lists) == len(lists.held) == len(lists.ends) - 1:
            raise ValueError("lists of a lookup have too many grams, or ends")
        return lists

    @staticmethod
    def write(path: Path, parts: Iterator[GramLists]) -> None:
        """Write parts of lists, by gram, as one, to files with this path and their own endings."""
        with ExitStack() as stack:
            files = {ending: stack.enter_context(path.with_suffix(f".{ending}").open("wb")) for ending in FILES}
            np.zeros(1, np.int64).tofile(files["ends"])
            total = 0
            for part in parts:
                part.grams.tofile(files["grams"])
                part.held.tofile(files["held"])
                (total + part.ends[1:]).tofile(files["ends"])
                part.steps.tofile(files["steps"])
                total += len(part.steps)

    def between(self, low: int, high: int) -> GramLists:
        """Return the lists of grams from one to another, which is not among them. Raise `ValueError` if they contradict
        themselves.
        """
        bounds = np.array([low, high - 1], np.uint32)  # of another type, all grams would be converted
        begin, end = int(np.searchsorted(self.grams, bounds[0])), int(np.searchsorted(self.grams, bounds[1], "right"))
        for ending in ("grams", "held", "ends"):
            self._expect(ending, [(begin, end + 1)])
        ends = self.ends[begin : end + 1]
        if (np.diff(ends) <= 0).any() or ends[0] < 0 or ends[-1] > len(self.steps):
            raise ValueError("lists of a lookup end where they cannot")
        self._expect("steps", [(int(ends[0]), int(ends[-1]))])
        steps = self.steps[ends[0] : ends[-1]]
        return GramLists(self.grams[begin:end], self.held[begin:end], ends - ends[0], steps)

    def spans(self, grams: Grams) -> Spans:
        """Return where the lists of grams are; they are empty for those that no text has."""
        return Spans(*_spans(self.grams, self.held, self.ends, len(self.steps), grams))

    def expect(self, spans: Spans) -> None:
        """Begin to read lists that will be scored."""
        self._expect("steps", zip(spans.begins.tolist(), spans.ends.tolist(), strict=True))

    def _expect(self, ending: str, spans: Iterable[tuple[int, int]]) -> None:
        if ending in self.files:
            size = np.dtype(FILES[ending]).itemsize
            self.files[ending].expect((size * begin, size * end) for begin, end in spans)

    def scored(
        self, spans: Spans, weights: Scores, blocks: range, sizes: Numbers, gone: Bytes, least: Score, enough: Score
    ) -> Scored:
        """Score the texts of some blocks: the sum of the weights of the grams that each has.

        Args:
            spans: Where the lists of the grams are.
            weights: What each gram counts, more than 0, shape (grams,).
            blocks: The numbers of the blocks.
            sizes: How many texts each block of the segment has.
            gone: By number, 1 for each text that is not to be found; empty if there is none.
            least: The lowest score of a text that is returned.
            enough: The lowest score of one that is counted.
        """
        sizes = sizes[: blocks.stop]
        return Scored(*_scored(self.steps, *spans[:2], weights, blocks.start, sizes, gone, least, enough))


class Spans(NamedTuple):
    """Where the lists of some grams lie in a segment, and of how many texts; each of shape (grams,)."""

    begins: Numbers
    ends: Numbers
    held: Numbers

    def of(self, grams: Numbers) -> Spans:
        """Return those of some grams, by number."""
        return Spans(*(column[grams] for column in self))


class Scored(NamedTuple):
    """Texts of a segment, by number, with their scores, and how many have enough."""

    texts: Numbers
    scores: Scores
    reached: int


def make_lists(forms: pa.LargeStringArray) -> GramLists:
    """Return the lists of up to `MOST_TEXTS` texts in search form, which are numbered from 0 on."""
    return GramLists(*_listed(gram_keys(forms)))


def joined(lists: Sequence[GramLists], blocks: Sequence[int]) -> Iterator[GramLists]:
    """Yield parts, by gram, of the lists of several segments, which have so many `blocks`, as lists of one segment.

    Raise `ValueError` if lists contradict themselves.
    """
    firsts = MOST_TEXTS * np.cumsum([0, *blocks[:-1]])
    parts = 1 + sum(len(each.steps) for each in lists) // _JOINED_AT_ONCE
    for low, high in pairwise(2**32 * part // parts for part in range(parts + 1)):
        some = [each.between(low, high) for each in lists]
        grams, held, steps = (
            np.concatenate([getattr(each, name) for each in some]) for name in ("grams", "held", "steps")
        )
        places = np.arange(len(grams), dtype=np.uint64)
        keys = by_digits(grams.astype(np.uint64) << np.uint64(_PLACE_BITS) | places, _PLACE_BITS)
        ends = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(np.diff(each.ends) for each in some)]))
        yield GramLists(*_joined(keys, np.repeat(firsts, list(map(len, some))), held, steps, ends))
        for file in (file for each in lists for file in each.files.values()):
            file.forget()


@compiled
def _listed(keys: Hashes) -> tuple[Grams, Grams, Numbers, Bytes]:
    """Return lists of sorted keys: the gram, and 16 bits of the number of its text. A step takes seven bits of each
    byte, the highest first; a byte with more to come has the eighth bit.
    """
    lists = 0
    for at in range(len(keys)):
        lists += at == 0 or keys[at] >> np.uint64(_TEXT_BITS) != keys[at - 1] >> np.uint64(_TEXT_BITS)
    grams, held = np.empty(lists, np.uint32), np.zeros(lists, np.uint32)
    steps, bounds = np.empty(3 * len(keys), np.uint8), np.zeros(lists + 1, np.int64)
    lists = total = 0
    last = -1
    for at in range(len(keys)):
        key = keys[at]
        if at > 0 and key == keys[at - 1]:
            continue  # the text has the gram twice
        if at == 0 or key >> np.uint64(_TEXT_BITS) != keys[at - 1] >> np.uint64(_TEXT_BITS):
            grams[lists] = key >> np.uint64(_TEXT_BITS)
            lists += 1
            last = -1
        text = int(np.int64(key & np.uint64(0xFFFF)))
        total = _put(steps, total, text - last - 1)
        last = text
        held[lists - 1] += 1
        bounds[lists] = total
    return grams, held, bounds, steps[:total].copy()


@compiled
def _put(steps: Bytes, total: int, step: int) -> int:
    for shift in (21, 14, 7):
        if step >> shift:
            steps[total] = step >> shift & 127 | 128
            total += 1
    steps[total] = step & 127
    return total + 1


@compiled
def _joined(
    keys: Hashes, firsts: Numbers, held: Grams, steps: Bytes, bounds: Numbers
) -> tuple[Grams, Grams, Numbers, Bytes]:
    """Join lists by sorted keys: the gram, and 31 bits of the place of a list. `firsts` are the numbers of their first
    texts.
    """
    lists = 0
    for at in range(len(keys)):
        lists += at == 0 or keys[at] >> np.uint64(_PLACE_BITS) != keys[at - 1] >> np.uint64(_PLACE_BITS)
    grams, sums = np.empty(lists, np.uint32), np.zeros(lists, np.uint32)
    out, ends = np.empty(len(steps) + 3 * len(keys), np.uint8), np.zeros(lists + 1, np.int64)
    lists = total = 0
    last = -1
    for at in range(len(keys)):
        if at == 0 or keys[at] >> np.uint64(_PLACE_BITS) != keys[at - 1] >> np.uint64(_PLACE_BITS):
            grams[lists] = keys[at] >> np.uint64(_PLACE_BITS)
            lists += 1
            last = -1
        which = np.int64(keys[at] & _PLACE)
        place, text = _next(steps, bounds[which], bounds[which + 1], -1)
        text += firsts[which]
        total = _put(out, total, text - last - 1)
        last, step = text, 0
        for rest in range(place, bounds[which + 1]):
            byte = steps[rest]
            out[total] = byte
            total += 1
            step = step << 7 | int(byte & 127)
            if byte < 128:
                last += step + 1
                step = 0
        sums[lists - 1] += held[which]
        ends[lists] = total
    return grams, sums, ends, out[:total].copy()


@compiled
def _next(steps: Bytes, at: int, end: int, text: int) -> tuple[int, int]:
    """Return the place after the next step of a list, and the text to which it leads; `_END` after the last one."""
    step = 0
    while at < end:
        byte = int(steps[at])
        at += 1
        step = (step << 7 | byte & 127) & _STEP
        if byte < 128:
            return at, text + step + 1
    return at, _END


@compiled
def _spans(grams: Grams, held: Grams, bounds: Numbers, most: int, asked: Grams) -> tuple[Numbers, Numbers, Numbers]:
    """Find grams, which are hashes: each is near the place that its value says, so few pages of a file are read."""
    begins, ends, counts = (
        np.zeros(len(asked), np.int64),
        np.zeros(len(asked), np.int64),
        np.zeros(len(asked), np.int64),
    )
    size = len(grams)
    for number in range(len(asked)):
        gram = asked[number]
        low = int(np.int64(np.uint64(gram) * np.uint64(size) >> np.uint64(32)))
        high, width = low, 64
        while low > 0 and grams[low] >= gram:
            low = max(0, low - width)
            width *= 2
        width = 64
        while high < size and grams[high] < gram:
            high = min(size, high + width)
            width *= 2
        while low < high:
            middle = (low + high) // 2
            if grams[middle] < gram:
                low = middle + 1
            else:
                high = middle
        if low < size and grams[low] == gram:
            begins[number] = min(max(bounds[low], 0), most)
            ends[number] = min(max(bounds[low + 1], 0), most)
            counts[number] = held[low]
    return begins, ends, counts


@compiled
def _scored(
    steps: Bytes,
    begins: Numbers,
    ends: Numbers,
    weights: Scores,
    first: int,
    sizes: Numbers,
    gone: Bytes,
    least: Score,
    enough: Score,
) -> tuple[Numbers, Scores, int]:
    at, text = begins.copy(), np.full(len(begins), -1, np.int64)
    for gram in range(len(begins)):
        while text[gram] < first << _TEXT_BITS:
            at[gram], text[gram] = _next(steps, at[gram], ends[gram], text[gram])
    scores, touched = np.zeros(MOST_TEXTS, np.float32), np.empty(MOST_TEXTS + 1, np.uint16)
    most = (len(sizes) - first) * MOST_TEXTS
    texts, kept = np.empty(most, np.int64), np.empty(most, np.float32)
    total = reached = 0
    lowest, telling = min(least, enough), len(begins)
    rest = np.float32(0)
    while telling > 1 and (rest + weights[telling - 1]) * _ROUNDED < lowest:  # the others alone do not reach it
        telling -= 1
        rest += weights[telling]
    for block in range(first, len(sizes)):  # the scores of one fit in the cache of a processor
        low, count = block << _TEXT_BITS, 0
        for gram in range(telling):
            place, number, weight = at[gram], text[gram], weights[gram]
            while number < low + MOST_TEXTS:
                touched[count] = number - low
                count += scores[number - low] == 0
                scores[number - low] += weight
                place, number = _next(steps, place, ends[gram], number)
            at[gram], text[gram] = place, number
        for gram in range(telling, len(begins)):
            place, number, weight = at[gram], text[gram], weights[gram]
            while number < low + MOST_TEXTS:
                scores[number - low] += weight if scores[number - low] > 0 else np.float32(0)
                place, number = _next(steps, place, ends[gram], number)
            at[gram], text[gram] = place, number
        for row in touched[:count]:
            score = scores[row]
            scores[row] = 0
            if score < lowest or row >= sizes[block] or (len(gone) and gone[low + row]):
                continue
            reached += score >= enough
            if score >= least:
                texts[total], kept[total] = low + row, score
                total += 1
    return texts[:total].copy(), kept[:total].copy(), reached
