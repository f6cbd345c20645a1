"""Segments of a lookup: some blocks of texts, and the lists of their grams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.first_seen import among
from esdedup.columns.hashing import Bytes, Hashes
from esdedup.lookup.gram_lists import MOST_TEXTS, GramLists, Score, Scored, Scores, Spans
from esdedup.lookup.text_blocks import Block, DamagedLookupError

PLACES: pa.Schema = pa.schema([("segment", pa.uint32()), ("text", pa.uint32())])
"""Texts of a lookup: the number of their segment, and their own number in it."""


@dataclass(frozen=True)
class Segment:
    """A segment. `gone` has 1 for each text, by its number, that is not to be found; it is empty if all are."""

    blocks: Sequence[Block]
    lists: GramLists
    gone: Bytes

    def __len__(self) -> int:
        return sum(map(len, self.blocks)) - int(np.count_nonzero(self.gone))

    def scored(self, spans: Spans, weights: Scores, blocks: range, least: Score, enough: Score) -> Scored:
        """See `GramLists.scored`."""
        sizes = np.array(list(map(len, self.blocks)))
        return self.lists.scored(spans, weights, blocks, sizes, self.gone, least, enough)

    @property
    def hashes(self) -> list[Hashes]:
        """The hashes of all texts, by block."""
        return [block.hashes for block in self.blocks]

    def without(self, texts: Numbers) -> Segment:
        """Return the segment as if it did not have these texts."""
        gone = self.gone.copy() if len(self.gone) else np.zeros(len(self.blocks) * MOST_TEXTS, np.uint8)
        gone[texts] = 1
        return replace(self, gone=gone)

    def living(self, block: int, begin: int, end: int) -> Numbers:
        """Return the numbers, within their block, of the texts from one to another that are to be found."""
        if not len(self.gone):
            return np.arange(begin, end)
        low = block * MOST_TEXTS
        return begin + np.flatnonzero(self.gone[low + begin : low + end] == 0)

    def rows(self) -> list[pa.RecordBatch]:
        """Return the texts that are to be found, as batches of `TEXTS`."""
        return [block.rows(self.living(number, 0, len(block))) for number, block in enumerate(self.blocks)]


def places_of(segments: Sequence[Segment], known: Hashes, wanted: Hashes) -> pa.RecordBatch:
    """Return where texts stand, as `PLACES`, by hash. `known` are the hashes of all blocks, in their order."""
    found = np.flatnonzero(among(known, wanted))
    owners = [(number, block) for number, each in enumerate(segments) for block in range(len(each.blocks))]
    segment, number = np.array(owners, np.int64).reshape(-1, 2).T
    begins = np.cumsum([0, *(len(block) for each in segments for block in each.blocks)])
    block = np.searchsorted(begins, found, "right") - 1
    columns = [segment[block], number[block] * MOST_TEXTS + found - begins[block]]
    return pa.record_batch([pa.array(column.astype(np.uint32)) for column in columns], schema=PLACES)


def without(segments: Sequence[Segment], places: pa.RecordBatch) -> list[Segment]:
    """Return segments as if they did not have the texts at `PLACES`. Raise `DamagedLookupError` if there is no such."""
    left = list(segments)
    owners, texts = (column.to_numpy() for column in places.columns)
    for owner in np.unique(owners).tolist():
        own = texts[owners == owner]
        if owner >= len(left) or own.max() >= len(left[owner].blocks) * MOST_TEXTS:
            raise DamagedLookupError
        left[owner] = left[owner].without(own)
    return left
