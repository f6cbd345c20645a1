"""Word edit distance of pairs: Levenshtein over Unicode words, in one compiled call for a whole column.

Every distinct word of the column becomes one character, so that rapidfuzz compares plain strings.
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
from esdedup.matching.lsh.collide import Similarities
from esdedup.text.words import find_words


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
"""Bytes of the texts of pairs that are compared together. Their words need some forty times as much."""


def word_edit_distances(texts: pa.LargeStringArray, a: Numbers, b: Numbers, threads: int = 1) -> Distances:
    """Return the number of words to insert, delete or replace to turn text a[i] into text b[i]; shape (pairs,)."""
    if not len(a):
        return np.empty(0, np.int32)
    sizes = np.diff(text_buffers(texts)[1])
    cuts = run_starts(np.cumsum(sizes[a] + sizes[b]) // _BYTES_AT_ONCE)
    return np.concatenate(
        [_distances(texts, a[begin:end], b[begin:end], threads) for begin, end in pairwise([*cuts.tolist(), len(a)])]
    )


def _distances(texts: pa.LargeStringArray, a: Numbers, b: Numbers, threads: int) -> Distances:
    used, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    words, offsets = find_words(texts.take(pa.array(used)))
    coded = pa.array(words, pa.large_string()).dictionary_encode()
    half = len(a)
    if len(coded.dictionary) > _CHARACTERS:
        # more distinct words than characters: compare fewer texts at once, and finally the words themselves
        if half > 1:
            middle = half // 2
            return np.concatenate(
                [
                    _distances(texts, a[:middle], b[:middle], threads),
                    _distances(texts, a[middle:], b[middle:], threads),
                ]
            )
        left, right = (words[offsets[place] : offsets[place + 1]] for place in places)
        return np.array([Levenshtein.distance(left, right)], np.int32)
    codes = coded.indices.to_numpy(zero_copy_only=False).astype("<u4") + np.uint32(_FIRST_CHARACTER)
    line = codes.tobytes().decode("utf-32-le")
    spelled = [line[begin:end] for begin, end in pairwise(offsets)]
    return np.asarray(
        process.cpdist(
            [spelled[place] for place in places[:half]],
            [spelled[place] for place in places[half:]],
            scorer=Levenshtein.distance,
            dtype=np.int32,
            workers=threads,
        )
    )
