"""Texts that stand inside longer ones: all of them, found by an inverted list of rare shingles.

A set of n shingles of which at least a share S stands in another one has, among any n - ceil(S n) + k of its shingles,
k that stand there (prefix filter: Chaudhuri et al. 2006; with k > 1: Wang et al. 2012). The rarest ones are listed; the
shingles of the other texts are looked up and counted. Only texts with k of them are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.matching.exact.prefixes import Counts, Small, count_shingles
from esdedup.matching.lsh.collide import Similarities
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing

R = TypeVar("R")

_COUNTERS = 1 << 22
_LISTED_BITS = 1 << 25
_SHINGLE_BYTES = 16  # of a text that is looked for: the shingle, and its place in a list
_SLACK = 1e-9
TEXTS_AT_ONCE = 5_000
"""Texts of a batch."""

MEMORY_SHARE = 4
"""What part of the memory of a command is the budget."""
_COMMON = 4
"""Listed shingles that two texts must have in common to be compared (k), unless the shorter one has fewer."""

Matches = tuple[Numbers, Similarities, Numbers]
Batches = Callable[[], Iterator[pa.LargeStringArray]]


class Contained(NamedTuple):
    """For each text, the longest other text that has enough of its shingles, -1 for none; and their share of it."""

    outer: Numbers
    share: Similarities

    def outermost(self, inner: int) -> Numbers:
        """Return for each of the first `inner` texts the text that contains it, if that one stays; otherwise -1.

        What contains a text may stand in a longer one itself, which need not contain the text. So longer texts are
        decided first: a text goes if what contains it stays.
        """
        goes = np.zeros(inner, np.bool_)
        ends, steps = self.outer[:inner], 0
        while (ends >= 0).any():
            steps += 1
            goes[ends >= 0] = steps % 2 == 1
            within = (ends >= 0) & (ends < inner)
            ends = np.where(within, self.outer[np.clip(ends, 0, max(inner - 1, 0))], -1)
        return np.where(goes, self.outer[:inner], -1)


def find_contained(
    batches: Batches, signing: Signing, texts: int, inner: int, share: float, budget: int, threads: int
) -> Contained:
    """Find the texts of which at least `share` of the shingles stand in a text with more shingles.

    Only the first `inner` of all `texts` may be contained. `batches` returns the same texts in the same order each
    time it is called. About `budget` bytes are used; the texts are read once for each part of them that fits.
    """
    return _find(batches, signing, texts, inner, share, budget, threads, outward=False)


def find_containing(
    batches: Batches, signing: Signing, texts: int, inner: int, share: float, budget: int, threads: int
) -> tuple[Numbers, Similarities]:
    """Find the texts that have at least `share` of the shingles of one of the first `inner` texts, however long.

    Return for each other text the one of which it has the largest share, of several the longest, -1 for none; and that
    share. The arguments are those of `find_contained`.
    """
    found = _find(batches, signing, texts, inner, share, budget, threads, outward=True)
    return found.outer[inner:], found.share[inner:]


def _find(
    batches: Batches,
    signing: Signing,
    texts: int,
    inner: int,
    share: float,
    budget: int,
    threads: int,
    *,
    outward: bool,
) -> Contained:
    """Find what contains the first texts or, `outward`, which of the first texts each text contains."""
    signer = TextSigner(signing)
    found = Contained(np.full(texts, -1), np.zeros(texts))
    most = np.zeros(texts, np.int64)  # shingles of the outer text or, outward, of the inner one
    kinds = [signer.kind(batch) for batch in _first(batches, inner)]
    kind = np.concatenate([np.empty(0, np.int8), *kinds])
    for shingling in dict.fromkeys(signer.inside):
        chosen = np.isin(kind, [at for at, each in enumerate(signer.inside) if each == shingling])
        if chosen.any():
            with ThreadPoolExecutor(threads) as pool:
                _Search(batches, partial(signer.sets_by, shingling=shingling), share, pool, threads, outward).find(
                    chosen, budget // _SHINGLE_BYTES, found, most
                )
    return found


def _first(batches: Batches, texts: int) -> Iterator[pa.LargeStringArray]:
    """Yield the first texts, in the same batches."""
    for batch in batches():
        if texts > 0:
            yield batch.slice(0, texts)
        texts -= len(batch)


@dataclass(frozen=True)
class _Search:
    """A search for contained texts by shingles of one kind."""

    batches: Batches
    sets: Callable[[pa.LargeStringArray], tuple[Hashes, Offsets]]
    share: float
    pool: ThreadPoolExecutor
    threads: int
    outward: bool

    def find(self, chosen: Flags, shingles: int, found: Contained, most: Numbers) -> None:
        """Find what contains the `chosen` texts, in parts of them with about so many shingles."""
        counts = np.zeros(_COUNTERS, np.uint16)
        for _, (flat, _) in self._each(self.sets):
            list(
                self.pool.map(
                    lambda part, held=flat: count_shingles(held, counts, part, self.threads), range(self.threads)
                )
            )
        for numbers, texts in self._parts(chosen, shingles):
            flat, bounds = self.sets(texts)
            lists = _by_token(*_listed(flat, bounds, counts, self.share))

            known = partial(_look_up, *lists, flat, bounds, self.share, self.outward)

            def look_up(batch: pa.LargeStringArray, find: Callable[..., Matches] = known) -> Matches:
                return find(*self.sets(batch))

            for first, (outer, share, size) in self._each(look_up):
                if self.outward:
                    at = first + np.arange(len(outer))
                    closer = (share > found.share[at]) | ((share == found.share[at]) & (size > most[at]))
                    better = np.flatnonzero((outer >= 0) & closer)
                    at = at[better]
                    found.outer[at], found.share[at], most[at] = numbers[outer[better]], share[better], size[better]
                    continue
                better = np.flatnonzero(size > most[numbers])  # of equally long ones, the first
                at = numbers[better]
                found.outer[at], found.share[at], most[at] = first + outer[better], share[better], size[better]

    def _each(self, work: Callable[[pa.LargeStringArray], R]) -> Iterator[tuple[int, R]]:
        """Yield the number of the first text of each batch, and what `work` makes of the batch, on all threads."""
        first = 0
        batches = self.batches()
        while held := list(islice(batches, self.threads)):
            for batch, done in zip(held, self.pool.map(work, held), strict=True):
                yield first, done
                first += len(batch)

    def _parts(self, chosen: Flags, shingles: int) -> Iterator[tuple[Numbers, pa.LargeStringArray]]:
        """Yield the numbers of chosen texts, and these texts."""
        held: list[pa.LargeStringArray] = []
        size, begin, end = 0, 0, 0
        for batch in _first(self.batches, len(chosen)):
            part = batch.filter(pa.array(chosen[end : end + len(batch)]))
            end += len(batch)
            held.append(part)
            size += part.nbytes
            if size >= shingles or end == len(chosen):
                yield begin + np.flatnonzero(chosen[begin:end]), pa.concat_arrays(held)
                held, size, begin = [], 0, end


def _by_token(tokens: Hashes, owners: Small) -> tuple[Hashes, Small, Hashes]:
    """Return the listed shingles and their owners in order, and a bitmap of the low bits of these shingles."""
    order = np.argsort(tokens, kind="stable")
    tokens = tokens[order]
    bits = np.zeros(_LISTED_BITS, np.bool_)
    bits[tokens & np.uint64(_LISTED_BITS - 1)] = True
    return tokens, owners[order], np.packbits(bits, bitorder="little").view(np.uint64)


@compiled
def _listed(flat: Hashes, bounds: Offsets, counts: Counts, share: float) -> tuple[Hashes, Small]:
    """Return the rarest shingles of each set, and the number of the set."""
    mask = np.uint64(len(counts) - 1)
    tokens = np.empty(len(flat), np.uint64)
    owners = np.empty(len(flat), np.int32)
    total = 0
    for number in range(len(bounds) - 1):
        begin, size = bounds[number], bounds[number + 1] - bounds[number]
        if size == 0:
            continue
        enough = np.int64(np.ceil(share * size - _SLACK))
        wanted = size - enough + min(_COMMON, enough)
        rarity = np.empty(size, np.int64)
        for at in range(size):
            rarity[at] = counts[flat[begin + at] & mask]
        order = np.argsort(rarity, kind="mergesort")
        for at in range(min(wanted, size)):
            tokens[total] = flat[begin + order[at]]
            owners[total] = number
            total += 1
    return tokens[:total], owners[:total]


@compiled
def _common(one: Hashes, a: int, end_a: int, two: Hashes, b: int, end_b: int) -> int:
    """Return the size of the intersection of two sorted sets."""
    common = 0
    while a < end_a and b < end_b:
        if one[a] == two[b]:
            common += 1
            a += 1
            b += 1
        elif one[a] < two[b]:
            a += 1
        else:
            b += 1
    return common


@compiled
def _look_up(
    tokens: Hashes,
    owners: Small,
    bits: Hashes,
    flat: Hashes,
    bounds: Offsets,
    share: float,
    outward: bool,
    others: Hashes,
    other_bounds: Offsets,
) -> Matches:
    """Compare each of the other texts with those that have a listed shingle in common with it.

    Return for each text the longest other one that contains it, its share there, and that text's number of shingles;
    -1, 0 and 0 without one. Or, `outward`, for each other text the one that it contains most of, the share of that, and
    its number of shingles.
    """
    texts = len(bounds) - 1
    rows = len(other_bounds) - 1 if outward else texts
    match, found, most = np.full(rows, -1, np.int64), np.zeros(rows), np.zeros(rows, np.int64)
    seen, shared = np.full(texts, -1, np.int64), np.zeros(texts, np.int64)
    mask = np.uint64(64 * len(bits) - 1)
    for other in range(len(other_bounds) - 1):
        begin, end = other_bounds[other], other_bounds[other + 1]
        for at in range(begin, end):
            bit = others[at] & mask
            if not (bits[bit >> np.uint64(6)] >> (bit & np.uint64(63))) & np.uint64(1):
                continue
            index = np.searchsorted(tokens, others[at])
            while index < len(tokens) and tokens[index] == others[at]:
                text = owners[index]
                index += 1
                if seen[text] != other:
                    seen[text], shared[text] = other, 0
                shared[text] += 1
                size = bounds[text + 1] - bounds[text]
                if shared[text] != min(_COMMON, np.int64(np.ceil(share * size - _SLACK))):
                    continue
                row, length = (other, size) if outward else (text, end - begin)
                if not outward and (length <= size or length <= most[row]):
                    continue
                common = _common(flat, bounds[text], bounds[text + 1], others, begin, end)
                if common < share * size - _SLACK:
                    continue
                if outward and (common / size, size) <= (found[row], most[row]):
                    continue
                match[row] = text if outward else other
                found[row] = common / size
                most[row] = length
    return match, found, most
