"""Sketches of shingle sets: bitmaps that bound how different two sets are (Sandes et al. 2020, bitmap filter).

A sketch has a bit for each shingle, chosen by its hash. It has 2 to 4 times as many bits as its set has shingles, so
that texts which are not similar nearly always fail, whatever their length. A wide sketch can be folded to a narrower
one.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import Hashes, Offsets, ones
from esdedup.columns.kernels import compiled
from esdedup.matching.signers.text_signer import Kinds, Sets, TextSigner

Sketches = npt.NDArray[np.uint64]

LEAST_WORDS = 8
"""The width of the sketch of a short text, in words of 64 bits."""

_WORD_SHINGLES = 32
_PARTS_A_THREAD = 4


class SketchedSets(NamedTuple):
    """The sets of n texts as in `Sets`, and a sketch of each: `sketch[starts[i]:starts[i + 1]]`. Without `flat`, only
    the sizes of the sets are known.
    """

    flat: Hashes
    bounds: Offsets
    kind: Kinds
    sketch: Sketches
    starts: Offsets

    def trimmed(self) -> SketchedSets:
        """Return these sets without empty kinds, if only one is left."""
        flat, bounds, kind = Sets(self.flat, self.bounds, self.kind).trimmed()
        return SketchedSets(flat, bounds, kind, self.sketch, sketch_starts(bounds))


@compiled
def sketch_starts(bounds: Offsets) -> Offsets:
    """Return where the sketch of each set begins, and where the last one ends. Each is a power of two words wide."""
    starts = np.zeros(len(bounds), np.int64)
    for index in range(len(bounds) - 1):
        size = bounds[index + 1] - bounds[index]
        words = LEAST_WORDS if size > 0 else 0
        while words * _WORD_SHINGLES < size:
            words *= 2
        starts[index + 1] = starts[index] + words
    return starts


@compiled
def sketches(flat: Hashes, bounds: Offsets, starts: Offsets) -> Sketches:
    """Return the sketch of each set, in words of 64 bits: one bit for each shingle."""
    out = np.zeros(starts[-1], np.uint64)
    for index in range(len(bounds) - 1):
        begin = starts[index]
        mask = np.uint64(64 * (starts[index + 1] - begin) - 1)
        for at in range(bounds[index], bounds[index + 1]):
            bit = flat[at] & mask
            out[begin + np.int64(bit >> np.uint64(6))] |= np.uint64(1) << (bit & np.uint64(63))
    return out


@compiled
def too_different(sketch: Sketches, a: int, end_a: int, b: int, end_b: int, most: int) -> bool:
    """Return whether more than `most` bits of two sketches differ: then more shingles are in only one of the sets."""
    if end_a - a > end_b - b:
        a, end_a, b, end_b = b, end_b, a, end_a
    width = end_a - a
    apart = 0
    for word in range(width):
        folded = sketch[b + word]
        for at in range(b + word + width, end_b, width):
            folded |= sketch[at]
        apart += int(ones(sketch[a + word] ^ folded))
        if apart > most:
            return True
    return False


def sketched_sets(
    signer: TextSigner, texts: pa.LargeStringArray, threads: int, *, sketches_only: bool = False
) -> SketchedSets:
    """Return the sets of texts, and their sketches. Parts of about equal size are made on all threads.

    With `sketches_only`, the shingles are dropped, and `flat` is empty.
    """
    offsets = text_buffers(texts)[1]
    cuts = np.searchsorted(offsets, np.linspace(offsets[0], offsets[-1], _PARTS_A_THREAD * threads + 1)[1:-1])
    edges = np.unique(np.concatenate(([0], cuts, [len(texts)]))).tolist()

    def part(edge: tuple[int, int]) -> tuple[Sets, Sketches, Offsets]:
        sets = signer.sets(signer.views(texts.slice(edge[0], edge[1] - edge[0])))
        starts = sketch_starts(sets.bounds)
        sketch = sketches(sets.flat, sets.bounds, starts)
        return sets._replace(flat=sets.flat[:0].copy()) if sketches_only else sets, sketch, starts

    with ThreadPoolExecutor(threads) as pool:
        return _united(list(pool.map(part, pairwise(edges))), len(signer.kinds))


def _united(parts: list[tuple[Sets, Sketches, Offsets]], kinds: int) -> SketchedSets:
    """Put the sets of parts of the texts together, so that those of one kind are adjacent."""
    flats, sketch, sizes = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)], [np.zeros(1, np.int64)]
    for each in range(kinds):
        for sets, held, starts in parts:
            first, last = each * len(sets.kind), (each + 1) * len(sets.kind)
            sizes.append(np.diff(sets.bounds[first : last + 1]))
            flats.append(sets.flat[sets.bounds[first] : sets.bounds[last]])
            sketch.append(held[starts[first] : starts[last]])
    bounds = np.cumsum(np.concatenate(sizes))
    kind = np.concatenate([np.empty(0, np.int8), *(sets.kind for sets, _, _ in parts)])
    return SketchedSets(np.concatenate(flats), bounds, kind, np.concatenate(sketch), sketch_starts(bounds))
