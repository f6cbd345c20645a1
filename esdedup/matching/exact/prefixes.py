"""Kernels of the exact join: every pair at or above a threshold, by prefix, position and length filters.

The shingles of every text are put into one order, rarest first. Two sets of which at least `o` members are the same
share one of the first `size - o + 1` (Chaudhuri et al. 2006, Bayardo et al. 2007), so only those become postings, and
the place of the first one they share bounds what can still follow (Xiao et al. 2008). A shingle that one text alone
has becomes no posting: it takes its place in the order and meets nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.matching.lsh.collide import Similarities, Sketches, distance, needed_overlap, verify_sets
from esdedup.text.shingles import longest

Counts = npt.NDArray[np.uint8]
Small = npt.NDArray[np.int32]

LEVELS = 9
"""Classes of rarity: 0 for a shingle of one text, then by powers of two."""

_MOST = 255
_SLACK = 1e-9


@compiled
def count_shingles(flat: Hashes, counts: Counts, part: int, parts: int) -> None:
    """Add the shingles of sets to counters (a power of two of them) that stay at their most.

    A shingle has the counter that its low bits name: shingles that share one seem commoner than they are. This call
    counts those of `part` alone, so that threads never write to the same counter.
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
    """Postings of texts that are numbered from `first`: token, number, size of the set, place in the order.

    Of each set, sorted by hash, as many shingles as it may have before the first one that it shares with a set no
    larger; by rarity, then hash.
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
    """The number of binary digits of `count` - 1, which is 1 to 255."""
    level = 0
    rest = count - 1
    while rest > 0:
        level += 1
        rest >>= 1
    return level


@compiled
def group_ends(tokens: Hashes) -> Numbers:
    """Where runs of equal tokens end: shape (groups,)."""
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
    """Pairs that may reach the threshold into `rows` (room, 2), a < b, from `member` of `group` up to group `last`.

    Members of a group stand by size. Returns how many rows were written, and the group and member to go on with:
    before it begins with a member, there must be room for all that member's pairs. A pair may be met in several groups.
    """
    found = 0
    index_share = 2.0 * threshold / (1.0 + threshold)
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
                if sketch.shape[1] > 0 and distance(sketch, one, two) > size + other - 2 * need:
                    continue
                rows[found, 0] = min(one, two)
                rows[found, 1] = max(one, two)
                found += 1
        group += 1
        member = 0
    return found, group, 0


@compiled
def similarities(
    a: Numbers, b: Numbers, flat: Hashes, bounds: Offsets, sketch: Sketches, threshold: float
) -> Similarities:
    """Exact Jaccard of each pair of sets a[i], b[i], or -1 below the threshold: shape (pairs,)."""
    out = np.empty(len(a), np.float64)
    for pair in range(len(a)):
        out[pair] = verify_sets(a[pair], b[pair], flat, bounds, sketch, threshold)
    return out
