"""Align the texts of a cluster with its representative: what is fixed, and what fills the slots.

Each text is aligned with the representative by the heaviest common subsequence of their words (signs weigh less). This
is exact except for common beginnings and ends. Texts that would need more than `_CELLS` cells are not aligned inside.
Words that some text does not match are a *slot*: a stretch of the representative, or a gap between two of its words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from esdedup.analysis.word_forms import SIGN, Classes, Words
from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.columns.kernels import compiled

_CELLS = 2**18
_WORD_WEIGHT, _SIGN_WEIGHT = 4, 1


class Alignment(NamedTuple):
    """The slots of m clusters. Those of cluster c are `slots[c]:slots[c + 1]`.

    In each text, the words `first[k]:last[k]` (of the words of all texts) fill slot s. k starts at `fillers[s]`, one
    for each text of the cluster in order. `slotted` says for each word whether it is in a slot.
    """

    slots: Offsets
    fillers: Offsets
    first: Numbers
    last: Numbers
    slotted: Flags

    def of(self, slots: range, low: int, high: int) -> Alignment:
        """Return the alignment of the cluster that has these slots and the words `low:high`."""
        fillers = self.fillers[slots.start : slots.stop + 1]
        some = slice(fillers[0], fillers[-1])
        return Alignment(
            np.array([0, len(slots)]), fillers - fillers[0], self.first[some] - low, self.last[some] - low,
            self.slotted[low:high],
        )  # fmt: skip


def align(words: Words, clusters: Offsets, centres: Numbers) -> Alignment:
    """Align the texts `clusters[c]:clusters[c + 1]` of each cluster with the text of its representative."""
    matches = np.full(len(words.begin), -1, np.int64)
    counts = _match_all(words.offsets, words.hash, words.form, clusters, centres, matches)
    sizes = np.diff(clusters)
    slots = np.concatenate(([0], np.cumsum(counts)))
    fillers = np.concatenate(([0], np.cumsum(np.repeat(sizes, counts))))
    first, last = np.empty(fillers[-1], np.int64), np.empty(fillers[-1], np.int64)
    slotted = np.zeros(len(words.begin), np.bool_)
    _fill_all(words.offsets, clusters, centres, matches, first, last, slotted)
    return Alignment(slots, fillers, first, last, slotted)


@compiled
def _match_all(
    offsets: Offsets, hashes: Hashes, form: Classes, clusters: Offsets, centres: Numbers, matches: Numbers
) -> Numbers:
    """Record the word of the representative that each word of a text matches. Return the number of slots of each
    cluster.
    """
    counts = np.zeros(len(centres), np.int64)
    scores = np.empty(_CELLS, np.int64)
    for cluster in range(len(centres)):
        centre = centres[cluster]
        a, a_end = offsets[centre], offsets[centre + 1]
        for text in range(clusters[cluster], clusters[cluster + 1]):
            _match(hashes, form, a, a_end, offsets[text], offsets[text + 1], scores, matches)
        cells = _covered(offsets, clusters[cluster], clusters[cluster + 1], centre, matches)
        inside = False
        for cell in range(len(cells)):
            if cells[cell] and not inside:
                counts[cluster] += 1
            inside = cells[cell]
    return counts


@compiled
def _match(
    hashes: Hashes, form: Classes, a: int, a_end: int, b: int, b_end: int, scores: Numbers, matches: Numbers
) -> None:
    """Match the words `b:b_end` with `a:a_end`."""
    while a < a_end and b < b_end and hashes[a] == hashes[b]:
        matches[b] = a
        a += 1
        b += 1
    while a < a_end and b < b_end and hashes[a_end - 1] == hashes[b_end - 1]:
        a_end -= 1
        b_end -= 1
        matches[b_end] = a_end
    rows, columns = a_end - a + 1, b_end - b + 1
    if rows * columns > _CELLS:
        return
    for cell in range(columns):
        scores[cell] = 0
    for row in range(1, rows):
        above, here = (row - 1) * columns, row * columns
        scores[here] = 0
        weight = _SIGN_WEIGHT if form[a + row - 1] == SIGN else _WORD_WEIGHT
        for column in range(1, columns):
            best = max(scores[above + column], scores[here + column - 1])
            if hashes[a + row - 1] == hashes[b + column - 1]:
                best = max(best, scores[above + column - 1] + weight)
            scores[here + column] = best
    row, column = rows - 1, columns - 1
    while row > 0 and column > 0:
        score = scores[row * columns + column]
        if score == scores[(row - 1) * columns + column]:
            row -= 1
        elif score == scores[row * columns + column - 1]:
            column -= 1
        else:
            row -= 1
            column -= 1
            matches[b + column] = a + row


@compiled
def _covered(offsets: Offsets, first: int, last: int, centre: int, matches: Numbers) -> Classes:
    """Return the cells of a representative that are in slots: before each of its words, each word, and
    after the last.
    """
    begin, end = offsets[centre], offsets[centre + 1]
    cells = np.zeros(2 * (end - begin) + 1, np.uint8)
    for text in range(first, last):
        before = begin - 1  # the word of the representative that was matched last
        skipped = False
        for word in range(offsets[text], offsets[text + 1] + 1):
            if word < offsets[text + 1]:
                if matches[word] < 0:
                    skipped = True
                    continue
                match = matches[word]
            else:
                match = end
            if skipped or match > before + 1:
                # from the gap before the first missing word to the gap after the last one, or only one gap
                low, high = 2 * (before + 1 - begin), 2 * (match - begin)
                if not skipped:
                    low, high = low + 1, high - 1
                for cell in range(low, high + 1):
                    cells[cell] = 1
            before, skipped = match, False
    for gap in range(2, len(cells) - 2, 2):  # adjacent slots in two texts are one slot
        if cells[gap - 1] and cells[gap + 1]:
            cells[gap] = 1
    return cells


@compiled
def _fill_all(
    offsets: Offsets,
    clusters: Offsets,
    centres: Numbers,
    matches: Numbers,
    first: Numbers,
    last: Numbers,
    slotted: Flags,
) -> None:
    """Write what fills each slot in each text."""
    out = 0
    for cluster in range(len(centres)):
        centre = centres[cluster]
        begin, end = offsets[centre], offsets[centre + 1]
        size = clusters[cluster + 1] - clusters[cluster]
        cells = _covered(offsets, clusters[cluster], clusters[cluster + 1], centre, matches)
        places = np.empty((size, end - begin), np.int64)  # of the representative's words in each text
        for row in range(size):
            text = clusters[cluster] + row
            for word in range(offsets[text], offsets[text + 1]):
                if matches[word] >= 0:
                    places[row, matches[word] - begin] = word
        cell = 0
        while cell < len(cells):
            if not cells[cell]:
                cell += 1
                continue
            low = cell
            while cell < len(cells) and cells[cell]:
                cell += 1
            before, behind = low // 2 - 1, cell // 2  # the fixed words around the slot
            for row in range(size):
                text = clusters[cluster] + row
                first[out] = offsets[text] if before < 0 else places[row, before] + 1
                last[out] = offsets[text + 1] if behind >= end - begin else places[row, behind]
                slotted[first[out] : last[out]] = True
                out += 1
