"""Blocks of a lookup: up to 65,536 texts, sorted by their search form without spaces, and the lists of their grams.

A list has the numbers of the texts with one gram, of 16 bits each. A block is two Arrow batches, which are read where
they lie: memory-mapped, without copying. What a file says is not trusted: a number that is wrong finds a wrong text, or
none, but never reads outside of its block.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, text_buffers
from esdedup.columns.hashing import Hashes
from esdedup.columns.kernels import compiled
from esdedup.lookup.grams import Grams, grams_of
from esdedup.text.search_form import search_form

TEXTS: pa.Schema = pa.schema([("hash", pa.uint64()), ("text", pa.large_string())])
LISTS: pa.Schema = pa.schema([("gram", pa.uint32()), ("texts", pa.list_(pa.uint16()))])

MOST_TEXTS = 2**16
MOST_BYTES = 2**24
"""A block is closed when it has so many texts, or bytes of text: a byte has at most one gram."""

Scores = npt.NDArray[np.float32]


def squeezed(forms: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return search forms without spaces: the order of texts, and what is compared of a beginning."""
    return pc.replace_substring(forms, " ", "")


def keys_of(texts: pa.LargeStringArray) -> list[bytes]:
    """Return the squeezed search forms of texts, which sort as the texts of a block do."""
    return squeezed(search_form(texts)).cast(pa.large_binary()).to_pylist()  # type: ignore[no-any-return]


def make_block(texts: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return texts, of `TEXTS`, as a block: the same sorted, and the lists of their grams, of `LISTS`."""
    forms = search_form(texts["text"])
    order = pc.sort_indices(squeezed(forms))
    grams, bounds = grams_of(forms.take(order))
    keys = grams.astype(np.uint64) << np.uint64(16)
    keys |= np.repeat(np.arange(len(texts), dtype=np.uint64), np.diff(bounds))
    keys.sort()
    grams = (keys >> np.uint64(16)).astype(np.uint32)
    first = np.flatnonzero(np.concatenate((np.ones(min(1, len(grams)), np.bool_), grams[1:] != grams[:-1])))
    ends = np.append(first, len(grams)).astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(ends), pa.array((keys & np.uint64(0xFFFF)).astype(np.uint16)))
    return texts.take(order), pa.record_batch([pa.array(grams[first]), lists], schema=LISTS)


class Spans(NamedTuple):
    """Where the lists of some grams lie in a block, each of shape (grams,)."""

    begins: Numbers
    ends: Numbers


class Block:
    """A block that was read. Raises `ValueError` if its batches contradict themselves."""

    def __init__(self, texts: pa.RecordBatch, lists: pa.RecordBatch) -> None:
        if len(texts) > MOST_TEXTS or any(column.null_count for column in (*texts.columns, *lists.columns)):
            raise ValueError("a block of a lookup has too many texts, or none where one must be")
        data, offsets = text_buffers(texts["text"])
        held = lists["texts"]
        self._values = held.values.to_numpy()
        self._ends = held.offsets.to_numpy().astype(np.int64)
        for bounds, size in ((offsets, len(data)), (self._ends, len(self._values))):
            if len(bounds) and (bounds[0] < 0 or bounds[-1] > size or (bounds[1:] < bounds[:-1]).any()):
                raise ValueError("a block of a lookup has offsets that cannot be")
        self.hashes: Hashes = texts["hash"].to_numpy()
        self._living: Numbers | None = None  # without those that are gone, if any are
        self._texts = texts["text"]
        self._grams: Grams = lists["gram"].to_numpy()

    def __len__(self) -> int:
        return len(self.hashes)

    def only(self, rows: Numbers) -> Block:
        """Return the block as if it had these of its texts alone."""
        part = copy.copy(self)
        part.hashes, part._living = self.hashes[rows], rows
        return part

    def texts(self, rows: Numbers) -> pa.LargeStringArray:
        """Return the texts with these numbers."""
        return self._texts.take(pa.array(rows if self._living is None else self._living[rows]))

    def rows(self) -> pa.RecordBatch:
        """Return all texts, as `TEXTS`."""
        return pa.record_batch([pa.array(self.hashes), self.texts(np.arange(len(self)))], schema=TEXTS)

    def spans(self, grams: Grams) -> Spans:
        """Return where the lists of grams are; they are empty for those that no text has."""
        if not len(self._grams):
            return Spans(np.zeros(len(grams), np.int64), np.zeros(len(grams), np.int64))
        at = np.minimum(np.searchsorted(self._grams, grams), len(self._grams) - 1)
        begins = self._ends[at]
        return Spans(begins, np.where(self._grams[at] == grams, self._ends[at + 1], begins))

    def scores(self, spans: Spans, weights: Scores) -> Scores:
        """Return, for each text, the sum of the weights of the grams that it has."""
        scores = _scores(self._values, spans.begins, spans.ends, weights)
        return scores[: len(self)] if self._living is None else scores[self._living]


def without(blocks: Sequence[Block], gone: Hashes) -> list[Block]:
    """Return blocks as if they did not have the texts with these hashes."""
    if not len(gone):
        return list(blocks)
    living = np.isin(np.concatenate([np.empty(0, np.uint64), *(block.hashes for block in blocks)]), gone, invert=True)
    parts = np.split(living, np.cumsum(list(map(len, blocks)))[:-1])
    return [block.only(np.flatnonzero(part)) for block, part in zip(blocks, parts, strict=True)]


@compiled
def _scores(values: npt.NDArray[np.uint16], begins: Numbers, ends: Numbers, weights: Scores) -> Scores:
    scores = np.zeros(MOST_TEXTS, np.float32)
    for gram in range(len(weights)):
        weight = weights[gram]
        for at in range(begins[gram], ends[gram]):
            scores[values[at]] += weight
    return scores


def in_blocks(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Cut texts, of `TEXTS`, into batches that fit in a block."""
    table = pa.Table.from_batches(batches, TEXTS).combine_chunks()
    cut, begin = [], 0
    if not table.num_rows:
        return []
    rows = table.to_batches()[0]
    _, offsets = text_buffers(rows["text"])
    while begin < len(rows):
        full = int(np.searchsorted(offsets, offsets[begin] + MOST_BYTES, "right")) - 1
        end = min(max(full, begin + 1), begin + MOST_TEXTS, len(rows))
        cut.append(rows.slice(begin, end - begin))
        begin = end
    return cut
