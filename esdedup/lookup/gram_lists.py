"""The lists of a lookup: which texts of a segment have a gram.

A segment has up to `MOST_BLOCKS` blocks. The texts of the block `b` are numbered from `b * MOST_TEXTS` on. A list has
the numbers of the texts with one gram, as steps from one to the next, most of which fit in a byte. The lists are an
Arrow batch, which is read where it lies: memory-mapped, without copying. What a file says is not trusted: a number that
is wrong finds a wrong text, or none, but never reads outside of the lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Numbers, text_buffers
from esdedup.columns.digits import by_digits
from esdedup.columns.hashing import Bytes, Hashes
from esdedup.columns.kernels import compiled
from esdedup.lookup.grams import Grams, gram_keys

MOST_TEXTS = 2**16
MOST_BLOCKS = 2**4
"""Lists of larger segments take longer to join, and a killed update loses more. Of smaller ones there are more to ask,
each of which costs a few reads from memory for each gram.
"""

LISTS: pa.Schema = pa.schema([("gram", pa.uint32()), ("texts", pa.uint32()), ("steps", pa.large_binary())])

Score: TypeAlias = np.float32
Scores = npt.NDArray[Score]

_TEXT_BITS = 16
_STEP = 2**24 - 1
"""Steps have fewer bits; those of a damaged file have no more either, so no sum of them overflows."""
_PLACE_BITS = 31
_PLACE = np.uint64(2**_PLACE_BITS - 1)
_END = 2**62  # comes after all texts


def make_lists(forms: pa.LargeStringArray) -> pa.RecordBatch:
    """Return the lists, of `LISTS`, of up to `MOST_TEXTS` texts in search form, which are numbered from 0 on."""
    return _as_batch(*_listed(gram_keys(forms)))


def joined(lists: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the lists of the blocks of a segment, in their order, as lists of the segment."""
    if len(lists) == 1:
        return lists[0]
    grams, held = (np.concatenate([batch[name].to_numpy() for batch in lists]) for name in ("gram", "texts"))
    read = [text_buffers(batch["steps"]) for batch in lists]
    steps = np.concatenate([data[bounds[0] : bounds[-1]] for data, bounds in read])
    sizes = np.concatenate([np.diff(bounds) for _, bounds in read])
    blocks = np.repeat(np.arange(len(lists), dtype=np.uint8), list(map(len, lists)))
    del read
    keys = by_digits(grams.astype(np.uint64) << np.uint64(_PLACE_BITS) | np.arange(len(grams), dtype=np.uint64), 31)
    return _as_batch(*_joined(keys, blocks, held, steps, np.append(0, np.cumsum(sizes))))


def _as_batch(grams: Grams, held: Grams, steps: Bytes, bounds: Numbers) -> pa.RecordBatch:
    listed = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(grams), [None, pa.py_buffer(bounds), pa.py_buffer(steps)]
    )
    return pa.record_batch([pa.array(grams), pa.array(held), listed], schema=LISTS)


@compiled
def _listed(keys: Hashes) -> tuple[Grams, Grams, Bytes, Numbers]:
    """Return the grams of sorted keys (the gram, and 16 bits of the number of its text), how many texts have each, the
    steps between their numbers, seven bits a byte, the highest first, and where those of each gram begin and end. A
    byte with more to come has the eighth bit.
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
    return grams, held, steps[:total].copy(), bounds


@compiled
def _put(steps: Bytes, total: int, step: int) -> int:
    for shift in (14, 7):
        if step >> shift:
            steps[total] = step >> shift & 127 | 128
            total += 1
    steps[total] = step & 127
    return total + 1


@compiled
def _joined(
    keys: Hashes, blocks: Bytes, held: Grams, steps: Bytes, bounds: Numbers
) -> tuple[Grams, Grams, Bytes, Numbers]:
    """Join lists by sorted keys (the gram, and 31 bits of the place of a list). Return what `_listed` does."""
    lists = 0
    for at in range(len(keys)):
        lists += at == 0 or keys[at] >> np.uint64(_PLACE_BITS) != keys[at - 1] >> np.uint64(_PLACE_BITS)
    grams, sums = np.empty(lists, np.uint32), np.zeros(lists, np.uint32)
    out, ends = np.empty(len(steps) + 2 * len(keys), np.uint8), np.zeros(lists + 1, np.int64)
    lists = total = 0
    last = -1
    for at in range(len(keys)):
        if at == 0 or keys[at] >> np.uint64(_PLACE_BITS) != keys[at - 1] >> np.uint64(_PLACE_BITS):
            grams[lists] = keys[at] >> np.uint64(_PLACE_BITS)
            lists += 1
            last = -1
        which = np.int64(keys[at] & _PLACE)
        place, text = _next(steps, bounds[which], bounds[which + 1], -1)
        text += int(blocks[which]) << _TEXT_BITS
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
    return grams, sums, out[:total].copy(), ends


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


class GramLists:
    """The lists of a segment that were read. Raises `ValueError` if they contradict themselves."""

    def __init__(self, lists: pa.RecordBatch) -> None:
        lists.validate()
        check_complete(*lists.columns)
        self._grams: Grams = lists["gram"].to_numpy()
        self._held: Grams = lists["texts"].to_numpy()
        self._steps, self._bounds = text_buffers(lists["steps"])

    def spans(self, grams: Grams) -> Spans:
        """Return where the lists of grams are; they are empty for those that no text has."""
        return Spans(*_spans(self._grams, self._held, self._bounds, len(self._steps), grams))

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
        return Scored(
            *_scored(self._steps, *spans[:2], weights, blocks.start, sizes[: blocks.stop], gone, least, enough)
        )


def check_complete(*columns: pa.Array) -> None:
    """Raise `ValueError` if a value is missing."""
    if any(column.null_count for column in columns):
        raise ValueError("a block of a lookup has none where one must be")


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
    scores, touched = np.zeros(MOST_TEXTS, np.float32), np.empty(MOST_TEXTS + 1, np.int64)
    most = (len(sizes) - first) * MOST_TEXTS
    texts, kept = np.empty(most, np.int64), np.empty(most, np.float32)
    total = reached = 0
    for block in range(first, len(sizes)):  # the scores of one fit in the cache of a processor
        low, count = block << _TEXT_BITS, 0
        for gram in range(len(begins)):
            place, number, weight = at[gram], text[gram], weights[gram]
            while number < low + MOST_TEXTS:
                touched[count] = number - low
                count += scores[number - low] == 0
                scores[number - low] += weight
                place, number = _next(steps, place, ends[gram], number)
            at[gram], text[gram] = place, number
        for row in touched[:count]:
            score = scores[row]
            scores[row] = 0
            if score < min(least, enough) or row >= sizes[block] or (len(gone) and gone[low + row]):
                continue
            reached += score >= enough
            if score >= least:
                texts[total], kept[total] = low + row, score
                total += 1
    return texts[:total].copy(), kept[:total].copy(), reached
