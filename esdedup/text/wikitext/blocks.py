"""Revisions of a page in blocks, so that only the new parts of a revision are cleaned.

A block is a run of whole paragraphs. It begins after an empty line, and ends with one or with the text. Its plain text
is the same as within the page. For that, nothing must be open at its end: no comment, tag, template, link, table,
section that may be dropped, or sentence that may go on after or in a displayed formula. All four passes have processed
the block and report this, so it is not a guess. If something is open, the block continues until it is closed or the
text ends.

So each pass finds the following block in the same state as the beginning of a page: at the beginning of a line, with a
block break to write before the next visible character.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import text_buffers, texts_from
from esdedup.columns.hashing import Bytes, Hashes, content_hashes, xxh64
from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.fast import ROOM, clean, read_only, rooms
from esdedup.text.wikitext.lookup import Numbers, Tables

_FIRST_ROOM = 64

# The state at the end of a block: whether anything visible precedes, or that the block does not end here.
_BEGIN, _WRITTEN, _OPEN = constant(0), constant(1), constant(2)


class Blocks(NamedTuple):
    """The blocks of n revisions of a page. A block's number says in which order the page first had it, from 0.

    `seen` (m,) are the numbers of the blocks of each revision, in order, and `seen_row` the revisions that contain
    them. `texts` (k,) are the plain texts of blocks that are new to the page, with their `number` and `row`. Blocks
    without visible text are left out. Joined, the texts are the text of the page: they begin with an empty line if
    visible text precedes.
    """

    seen: Numbers
    seen_row: Numbers
    texts: pa.LargeStringArray
    number: Numbers
    row: Numbers


class PageBlocks:
    """All blocks that a page has had: about 30 bytes for each different one."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._count = 0
        self._known: tuple[Numbers, Hashes, Numbers] = (
            np.full(2 * _FIRST_ROOM, -1, np.int64),
            np.empty(_FIRST_ROOM, np.uint64),
            np.empty(_FIRST_ROOM, np.int64),
        )

    def read(self, revisions: pa.LargeStringArray) -> Blocks:
        """Add the next revisions of the page."""
        data, offsets = text_buffers(revisions)
        slots, hashes, leaves, self._count, seen, seen_row, out, bounds, number, row = _read_blocks(
            read_only(data), read_only(offsets), *self._known, self._count, self._tables
        )
        self._known = slots, hashes, leaves
        return Blocks(seen, seen_row, texts_from(out, bounds), number, row)


class WholeTexts:
    """All different revisions of a page, each as one block, for cleaners that cannot cut pages. Not cleaned."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def read(self, revisions: pa.LargeStringArray) -> Blocks:
        """Add the next revisions of the page."""
        before = len(self._known)
        hashes = content_hashes(*text_buffers(revisions)).tolist()
        seen = np.array([self._known.setdefault(key, len(self._known)) for key in hashes], np.int64)
        number, row = np.unique(seen, return_index=True)
        number, row = number[number >= before], row[number >= before]
        return Blocks(seen, np.arange(len(seen)), revisions.take(pa.array(row)), number, row)


@compiled
def _paragraph_end(text: Bytes, at: int, end: int) -> int:
    """Return the beginning of the first line after `at` that follows an empty line, is not empty and is not indented,
    as a displayed formula is inside a sentence; otherwise `end`.
    """
    i = at + 1
    while i < end:
        if text[i] != 10:
            i += 2  # finds one of two adjacent line breaks
        elif text[i - 1] != 10:
            i += 1
        else:
            while i < end and text[i] == 10:
                i += 1
            if i == end or text[i] != 58:
                return i
    return end


@compiled
def _surely_visible(byte: int) -> bool:
    """Return whether a line that begins with this byte is visible and not indented, whatever follows: with a letter, a
    digit, the sign of a heading, or most characters that are not ASCII.
    """
    return bool(
        (byte >= 97 and byte <= 122)
        or (byte >= 65 and byte <= 90)
        or (byte >= 48 and byte <= 57)
        or byte == 61
        or (byte > 0xC2 and byte != 0xE2 and byte != 0xEF)
    )


@compiled
def _find(slots: Numbers, hashes: Hashes, key: np.uint64) -> int:
    """Return the slot with the number of the block with this hash; or -1, and the slot for it."""
    mask = np.uint64(slots.size - 1)
    slot = key & mask
    while slots[slot] >= 0 and hashes[slots[slot]] != key:
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


@compiled
def _doubled(hashes: Hashes, leaves: Numbers) -> tuple[Numbers, Hashes, Numbers]:
    """Return the full columns with twice the room, and their slots."""
    count = hashes.size
    slots = np.full(4 * count, -1, np.int64)
    grown, left = np.empty(2 * count, np.uint64), np.empty(2 * count, np.int64)
    grown[:count], left[:count] = hashes, leaves
    for block in range(count):
        slots[_find(slots, grown, grown[block])] = block
    return slots, grown, left


@compiled
def _read_blocks(
    data: Bytes, offsets: Numbers, slots: Numbers, hashes: Hashes, leaves: Numbers, count: int, tables: Tables
) -> tuple[Numbers, Hashes, Numbers, int, Numbers, Numbers, Bytes, Numbers, Numbers, Numbers]:
    """Return the `Blocks` of revisions, after the columns of all blocks (slots, hashes and `leaves`) and their count.

    `leaves` is the state at the end of a block, or `_OPEN`.
    """
    rows = offsets.size - 1
    total, working = rooms(data, offsets)
    most = (offsets[rows] - offsets[0]) // 2 + rows  # a block has two bytes, unless it ends the text
    seen, seen_row = np.empty(most, np.int64), np.empty(most, np.int64)
    number, number_row = np.empty(most, np.int64), np.empty(most, np.int64)
    bounds = np.empty(most + 1, np.int64)
    bounds[0] = 0
    out = np.empty(total + ROOM * most, np.uint8)
    met, new = 0, 0
    for row in range(rows):
        at, end = offsets[row], offsets[row + 1]
        state = _BEGIN
        while at < end:
            block_end = _paragraph_end(data, at, end)
            while True:
                last = block_end == end  # anything open there is text
                unsure = not last and not _surely_visible(data[block_end])  # an indented line may follow
                key = xxh64(data, at, block_end) ^ np.uint64(4 * state + 2 * last + unsure)
                slot = _find(slots, hashes, key)
                block = slots[slot]
                if block < 0:
                    if count == hashes.size:
                        slots, hashes, leaves = _doubled(hashes, leaves)
                        slot = _find(slots, hashes, key)
                    block = count
                    slots[slot], hashes[block] = block, key
                    count += 1
                    begin = bounds[new]
                    if state == _WRITTEN:
                        out[begin] = out[begin + 1] = 10
                        begin += 2
                    written, opened, unended = clean(data, at, block_end, out, begin, working, tables)
                    if (opened and not last) or (unended and unsure):
                        leaves[block] = _OPEN
                    elif written == begin:
                        leaves[block] = state
                    else:
                        leaves[block] = _WRITTEN
                        number[new], number_row[new] = block, row
                        new += 1
                        bounds[new] = written
                if leaves[block] != _OPEN:
                    break
                # read twice as far each time, so that text with something unclosed is not read for each paragraph
                block_end = _paragraph_end(data, min(2 * block_end - at, end), end)
            seen[met], seen_row[met] = block, row
            met += 1
            state = leaves[block]
            at = block_end
    return (
        slots,
        hashes,
        leaves,
        count,
        seen[:met].copy(),
        seen_row[:met].copy(),
        out[: bounds[new]].copy(),
        bounds[: new + 1].copy(),
        number[:new].copy(),
        number_row[:new].copy(),
    )
