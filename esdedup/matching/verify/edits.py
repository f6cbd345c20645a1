"""Word edit distance of pairs: Levenshtein over Unicode words, in one compiled call for a whole column.

Every text is split once, and every distinct word of the column becomes one character, so that rapidfuzz compares plain
strings.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from esdedup.columns.arrays import Numbers, run_starts, text_buffers
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.matching.lsh.collide import Similarities
from esdedup.text.words import word_hashes


def in_parts(threads: int, rows: int, work: Callable[[int, int], object]) -> None:
    """Run `work` on ranges of `rows` rows, on this many threads."""
    cuts = np.linspace(0, rows, (4 * threads if threads > 1 else 1) + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, cuts[:-1], cuts[1:]):
            pass


def measured(threads: int, measure: Callable[[Numbers, Numbers], Similarities], a: Numbers, b: Numbers) -> Similarities:
    """Return a kernel's measure of the pairs a[i], b[i], shape (pairs,)."""
    out = np.empty(len(a), np.float64)

    def part(begin: int, end: int) -> None:
        out[begin:end] = measure(a[begin:end], b[begin:end])

    in_parts(threads, len(a), part)
    return out


Distances = npt.NDArray[np.int32]

_FIRST_CHARACTER = 0x10000  # after the surrogates
_CHARACTERS = 0x110000 - _FIRST_CHARACTER
_BYTES_AT_ONCE = 2**20
"""Bytes of the texts that are split into words together. Their words need some forty times as much."""
_PAIRS_AT_ONCE = 2**16


def word_edit_distances(texts: pa.LargeStringArray, a: Numbers, b: Numbers, threads: int = 1) -> Distances:
    """Return the number of words to insert, delete or replace to turn text a[i] into text b[i]; shape (pairs,)."""
    if not len(a):
        return np.empty(0, np.int32)
    used, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    ends = np.cumsum(np.diff(text_buffers(texts)[1])[used])
    cuts = [*run_starts(ends // _BYTES_AT_ONCE).tolist(), len(used)]
    parts = [word_hashes(texts.take(pa.array(used[begin:end]))) for begin, end in pairwise(cuts)]
    words = np.concatenate([part for part, _ in parts])
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(bounds) for _, bounds in parts]))])
    return _distances(words, offsets, places[: len(a)], places[len(a) :], threads)


def _distances(words: Hashes, offsets: Offsets, a: Numbers, b: Numbers, threads: int) -> Distances:
    coded = pa.array(words).dictionary_encode()
    if len(coded.dictionary) > _CHARACTERS:
        return _of_many_words(words, offsets, a, b, threads)
    codes = coded.indices.to_numpy(zero_copy_only=False).astype("<u4") + np.uint32(_FIRST_CHARACTER)
    line = codes.tobytes().decode("utf-32-le")
    spelled = [line[begin:end] for begin, end in pairwise(offsets.tolist())]
    cuts = [*range(0, len(a), _PAIRS_AT_ONCE), len(a)]
    found = [
        process.cpdist(
            [spelled[place] for place in a[begin:end].tolist()],
            [spelled[place] for place in b[begin:end].tolist()],
            scorer=Levenshtein.distance,
            dtype=np.int32,
            workers=threads,
        )
        for begin, end in pairwise(cuts)
    ]
    return np.concatenate(found)


def _of_many_words(words: Hashes, offsets: Offsets, a: Numbers, b: Numbers, threads: int) -> Distances:
    """Compare fewer texts at once: there are more distinct words than characters. In the end, compare the words."""
    if len(a) == 1:
        left, right = (words[offsets[place] : offsets[place + 1]].tolist() for place in (a[0], b[0]))
        return np.array([Levenshtein.distance(left, right)], np.int32)
    middle = len(a) // 2
    halves = []
    for half in (slice(None, middle), slice(middle, None)):
        used, places = np.unique(np.concatenate([a[half], b[half]]), return_inverse=True)
        lengths = np.diff(offsets)[used]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(bounds[-1]) + np.repeat(offsets[used] - bounds[:-1], lengths)
        one, two = places.reshape(2, -1)
        halves.append(_distances(words[within], bounds, one, two, threads))
    return np.concatenate(halves)
