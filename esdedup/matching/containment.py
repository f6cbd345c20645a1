"""Texts that stand inside longer ones: all of them, found by an inverted list of rare shingles.

A set of n shingles of which at least a share S stands in another one has, among any n - ceil(S n) + k of its shingles,
k that stand there (prefix filter: Chaudhuri et al. 2006; with k > 1: Wang et al. 2012). The rarest ones are listed; the
shingles of the other texts are looked up and counted. Only texts with k of them are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.matching.exact.prefixes import Counts, Small, count_shingles
from esdedup.matching.lsh.collide import Similarities
from esdedup.matching.signers.text_signer import Kinds, Sets, TextSigner
from esdedup.matching.signing import Signing

_COUNTERS = 1 << 22
_SLACK = 1e-9
TEXTS_AT_ONCE = 5_000
"""Texts of a batch."""

MEMORY_SHARE = 4
"""What part of the memory of a command is the budget."""
_COMMON = 4
"""Listed shingles that two texts must have in common to be compared (k), unless the shorter one has fewer."""

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


def find_contained(batches: Batches, signing: Signing, texts: int, inner: int, share: float, budget: int) -> Contained:
    """Find the texts of which at least `share` of the shingles stand in a text with more shingles.

    Only the first `inner` of all `texts` may be contained. `batches` returns the same texts in the same order each
    time it is called. About `budget` bytes are used; the texts
    are read once for each part of them that fits.
    """
    signer = TextSigner(signing, 0)  # with every view, any two texts can be compared
    counts = np.zeros(_COUNTERS, np.uint16)
    for batch in batches():
        count_shingles(signer.sets(signer.views(batch)).flat, counts, 0, 1)
    outer, found = np.full(texts, -1), np.zeros(texts)
    most = np.zeros(texts, np.int64)  # shingles of the outer text
    first = 0
    for held in _parts(batches, signer, inner, budget // 16):
        lists = _by_token(*_listed(held.flat, held.bounds, len(held.kind), counts, share), held.kind)
        at = 0
        for batch in batches():
            sets = signer.sets(signer.views(batch))
            for only_own_kind, (tokens, owners) in enumerate(lists):
                _look_up(
                    tokens, owners, only_own_kind, held.flat, held.bounds, held.kind, first, sets.flat, sets.bounds,
                    sets.kind, at, share, outer, found, most,
                )  # fmt: skip
            at += len(batch)
        first += len(held.kind)
    return Contained(outer, found)


def _by_token(tokens: Hashes, owners: Small, kind: Kinds) -> list[tuple[Hashes, Small]]:
    """Return the listed shingles in order: those of each text's own kind, and those for others of a shorter kind.

    Apart, because texts that are not of the shorter kind need not look at the second ones, which are long lists.
    """
    own = kind[owners % len(kind)] == owners // len(kind)
    found = []
    for some in (np.flatnonzero(own), np.flatnonzero(~own)):
        order = some[np.argsort(tokens[some], kind="stable")]
        found.append((tokens[order], owners[order]))
    return found


def _parts(batches: Batches, signer: TextSigner, texts: int, shingles: int) -> Iterator[Sets]:
    """Yield the sets of the first `texts` texts, in parts with about this many shingles."""
    held: list[pa.LargeStringArray] = []
    size = 0
    for batch in batches():
        batch, texts = batch.slice(0, texts), max(0, texts - len(batch))
        held.append(batch)
        size += batch.nbytes * len(signer.kinds)
        if size >= shingles:
            yield signer.sets(signer.views(pa.concat_arrays(held)))
            held, size = [], 0
    if sum(map(len, held)):
        yield signer.sets(signer.views(pa.concat_arrays(held)))


@compiled
def _listed(flat: Hashes, bounds: Offsets, texts: int, counts: Counts, share: float) -> tuple[Hashes, Small]:
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
    tokens: Hashes, owners: Small, only_own_kind: int, flat: Hashes, bounds: Offsets, kind: Kinds, first: int,
    others: Hashes, other_bounds: Offsets, other_kind: Kinds, other_first: int, share: float, outer: Numbers,
    found: Similarities, most: Numbers,
) -> None:  # fmt: skip
    """Compare each of the other texts with the listed ones that have a listed shingle in common with it."""
    texts, count = len(kind), len(other_kind)
    seen = np.full(len(bounds) - 1, -1, np.int64)
    shared = np.zeros(len(bounds) - 1, np.int64)
    for place in range(len(other_bounds) - 1):
        view, other = place // count, place % count
        begin, end = other_bounds[place], other_bounds[place + 1]
        if other_kind[other] < view or (only_own_kind and other_kind[other] != view) or len(tokens) == 0:
            continue
        for at in range(begin, end):
            index = np.searchsorted(tokens, others[at])
            while index < len(tokens) and tokens[index] == others[at]:
                number = owners[index]
                index += 1
                text = number % texts
                if number // texts != view or min(kind[text], other_kind[other]) != view:
                    continue
                if seen[number] != place:
                    seen[number], shared[number] = place, 0
                shared[number] += 1
                size = bounds[number + 1] - bounds[number]
                if shared[number] != min(_COMMON, np.int64(np.ceil(share * size - _SLACK))):
                    continue
                # in the longest text; of equal ones, in the first
                if end - begin <= size or end - begin <= most[first + text]:
                    continue
                common = _common(flat, bounds[number], bounds[number + 1], others, begin, end)
                if common >= share * size - _SLACK:
                    outer[first + text] = other_first + other
                    found[first + text] = common / size
                    most[first + text] = end - begin
