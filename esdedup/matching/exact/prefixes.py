"""Kernels of the exact join: every pair at or above a threshold, by prefix, position and length filters.

The shingles of every text are sorted by rarity, rarest first. Two sets with at least `o` common members share one of
the first `size - o + 1` (Chaudhuri et al. 2006, Bayardo et al. 2007), so only these become postings. The position of
the first common one limits how many can follow (Xiao et al. 2008). A shingle of only one text keeps its position in the
order, but gets no posting.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.matching.lsh.collide import Similarities, needed_overlap, verify_sets
from esdedup.matching.lsh.sketches import Sketches, too_different
from esdedup.matching.signers.text_signer import Kinds
from esdedup.text.shingles import longest

Counts = npt.NDArray[np.uint16]
Small = npt.NDArray[np.int32]

LEVELS = 17
"""Classes of rarity: 0 for a shingle of one text, then by powers of two."""

_MOST = 65_535
_SLACK = 1e-9


@compiled
def count_shingles(flat: Hashes, counts: Counts, part: int, parts: int) -> None:
    """Add the shingles of sets to saturating counters; their number is a power of two.

    The low bits of a shingle select its counter, so shingles that share one look more common than they are. A call
    counts only the shingles of `part`, so threads never write to the same counter.
    """
    mask = np.uint64(len(counts) - 1)
    for at in range(len(flat)):
        counter = flat[at] & mask
        if np.int64(counter >> np.uint64(6)) % parts == part and counts[counter] < _MOST:
            counts[counter] += 1


@compiled
def prefixes(
    flat: Hashes, bounds: Offsets, counts: Counts, threshold: float, first: int
) -> tuple[Hashes, Small, Small, Small]:
    """Return postings of texts numbered from `first`: token, number, size of the set, position in the order.

    For each set: all shingles that may precede the first one that it shares with a set of at most its size, sorted by
    rarity, then by hash.
    """
    texts = len(bounds) - 1
    mask = np.uint64(len(counts) - 1)
    tokens = np.empty(bounds[texts] - bounds[0], np.uint64)
    numbers = np.empty(len(tokens), np.int32)
    sizes = np.empty(len(tokens), np.int32)
    places = np.empty(len(tokens), np.int32)
    ordered = np.empty(longest(bounds), np.uint64)
    starts = np.empty(LEVELS + 1, np.int64)
    total = 0
    for text in range(texts):
        begin, size = bounds[text], bounds[text + 1] - bounds[text]
        starts[:] = 0
        for at in range(size):
            starts[_level(counts[flat[begin + at] & mask]) + 1] += 1
        for level in range(LEVELS):
            starts[level + 1] += starts[level]
        unique = starts[1]
        for at in range(size):
            level = _level(counts[flat[begin + at] & mask])
            ordered[starts[level]] = flat[begin + at]
            starts[level] += 1
        for place in range(unique, size - np.int64(np.ceil(threshold * size - _SLACK)) + 1):
            if place >= size:
                break
            tokens[total] = ordered[place]
            numbers[total] = first + text
            sizes[total] = size
            places[total] = place
            total += 1
    return tokens[:total], numbers[:total], sizes[:total], places[:total]


@compiled
def _level(count: int) -> int:
    """Return the number of binary digits of `count` - 1, where `count` is 1 to 65,535."""
    level = 0
    rest = count - 1
    while rest > 0:
        level += 1
        rest >>= 1
    return level


@compiled
def group_ends(tokens: Hashes) -> Numbers:
    """Return where runs of equal tokens end, shape (groups,)."""
    ends = np.empty(len(tokens), np.int64)
    groups = 0
    for at in range(len(tokens)):
        if at + 1 == len(tokens) or tokens[at + 1] != tokens[at]:
            ends[groups] = at + 1
            groups += 1
    return ends[:groups]


@compiled
def join(
    ends: Numbers,
    group: int,
    member: int,
    last: int,
    numbers: Small,
    sizes: Small,
    places: Small,
    sketch: Sketches,
    threshold: float,
    rows: Small,
) -> tuple[int, int, int]:
    """Write pairs that may reach the threshold to `rows` (room, 2), a < b, from `member` of `group` to group `last`.

    Members of a group are sorted by size. Returns the number of rows written, and the group and member to continue
    with. There must be room for all pairs of a member before it starts. A pair may be found in several groups.
    """
    found = 0
    index_share = 2.0 * threshold / (1.0 + threshold)
    words, bits = sketch.shape[1], sketch.reshape(-1)
    while group < last:
        begin = ends[group - 1] if group > 0 else 0
        for large in range(max(begin + 1, member), ends[group]):
            if found + (large - begin) > len(rows):
                return found, group, large
            size = int(sizes[large])
            least = threshold * size - _SLACK
            for small in range(large - 1, begin - 1, -1):
                other = int(sizes[small])
                if other < least:
                    break
                if places[small] > other - np.int64(np.ceil(index_share * other - _SLACK)):
                    continue
                need = needed_overlap(size, other, threshold)
                if min(size - places[large], other - places[small]) < need:
                    continue
                one, two = numbers[large], numbers[small]
                at, to = one * words, two * words
                if too_different(bits, at, at + words, to, to + words, size + other - 2 * need):
                    continue
                rows[found, 0] = min(one, two)
                rows[found, 1] = max(one, two)
                found += 1
        group += 1
        member = 0
    return found, group, 0


@compiled
def similarities(
    a: Numbers,
    b: Numbers,
    flat: Hashes,
    bounds: Offsets,
    kind: Kinds,
    sketch: Sketches,
    starts: Offsets,
    threshold: float,
) -> Similarities:
    """Return the exact Jaccard of each pair of texts a[i], b[i], or -1 below the threshold; shape (pairs,)."""
    out = np.empty(len(a), np.float64)
    for pair in range(len(a)):
        out[pair] = verify_sets(a[pair], b[pair], flat, bounds, kind, sketch, starts, threshold)
    return out
