"""Candidates into pairs: collide the texts of each group and verify by exact Jaccard, in one loop.

No list of candidates is ever made. A pair that shares several tokens is met in several groups and judged
in one, that of its first shared token. The order of the tests is by cost: lengths, a sketch of the sets
(Sandes et al. 2020, bitmap filter), then a merge of the sorted sets that ends as soon as the threshold
is out of reach.

Hot tokens: in a group above the limit each text meets a bounded number of others: those that follow it in
the order of content hashes, and those that follow it in the order of their other tokens, which stand near
because they are alike. A pair that also shares a token that is not hot is left to that token's group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esdedup.compiled import compiled
from esdedup.hashing import Hashes, Offsets
from esdedup.pairs.groups import Flags, Numbers
from esdedup.signers.minhash import Tokens

HOT_LIMIT = 2000
"""Distinct texts a token may have before its group is no longer compared all with all."""

HOT_REACH = 64
"""Texts that each text of a hot group is compared with, in each of the two orders."""

SKETCH_WORDS = 8

Sketches = npt.NDArray[np.uint64]
Similarities = npt.NDArray[np.float64]


class Found(NamedTuple):
    """Verified pairs as columns, text numbers `a` < `b`, and the number of candidates they come from."""

    a: Numbers
    b: Numbers
    jaccard: Similarities
    shared: Numbers
    candidates: int


@compiled
def sketches(flat: Hashes, bounds: Offsets) -> Sketches:
    """A bitmap of 512 bits for each set, shape (n, 8): one bit for each shingle."""
    out = np.zeros((len(bounds) - 1, SKETCH_WORDS), np.uint64)
    for index in range(len(bounds) - 1):
        for at in range(bounds[index], bounds[index + 1]):
            bit = flat[at] & np.uint64(64 * SKETCH_WORDS - 1)
            out[index, bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
    return out


@compiled
def _ones(word: np.uint64) -> np.uint64:
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def needed_overlap(size_a: int, size_b: int, threshold: float) -> int:
    """The least intersection with which sets of these sizes have Jaccard >= `threshold`."""
    total = size_a + size_b
    need = int(np.ceil(threshold * total / (1.0 + threshold)))
    while need > 0 and (need - 1) / (total - need + 1) >= threshold:
        need -= 1
    while need < total and need / (total - need) < threshold:
        need += 1
    return need


@compiled
def overlap(flat: Hashes, a: int, end_a: int, b: int, end_b: int, need: int) -> int:
    """Size of the intersection of two sorted sets, or -1 as soon as it cannot reach `need`."""
    spare_a = end_a - a - need
    spare_b = end_b - b - need
    common = 0
    while a < end_a and b < end_b:
        left, right = flat[a], flat[b]
        if left == right:
            common += 1
            a += 1
            b += 1
        elif left < right:
            a += 1
            spare_a -= 1
            if spare_a < 0:
                return -1
        else:
            b += 1
            spare_b -= 1
            if spare_b < 0:
                return -1
    return common if common >= need else -1


@compiled
def _judge(
    a: int,
    b: int,
    flat: Hashes,
    bounds: Offsets,
    sketch: Sketches,
    threshold: float,
) -> float:
    """Exact Jaccard of two texts, or -1 below the threshold."""
    size_a = bounds[a + 1] - bounds[a]
    size_b = bounds[b + 1] - bounds[b]
    if min(size_a, size_b) < threshold * max(size_a, size_b) - 1e-9:
        return -1.0
    need = needed_overlap(size_a, size_b, threshold)
    apart = np.uint64(0)
    for word in range(SKETCH_WORDS):
        apart += _ones(sketch[a, word] ^ sketch[b, word])
    if np.int64(apart) > size_a + size_b - 2 * need:
        return -1.0
    common = overlap(flat, bounds[a], bounds[a + 1], bounds[b], bounds[b + 1], need)
    if common < 0:
        return -1.0
    return float(common / (size_a + size_b - common))


@compiled
def _met_before(a: int, b: int, column: int, tokens: Tokens, hot_tokens: Flags, in_hot: bool) -> bool:
    """Whether the pair belongs to another group: an earlier shared token, or any that is not hot."""
    for other in range(tokens.shape[1]):
        if other == column:
            if not in_hot:
                return False
        elif (
            tokens[a, other] == tokens[b, other]
            and (other < column or not hot_tokens[a, other])
            and (in_hot or not hot_tokens[a, other])
        ):
            return True
    return False


@compiled
def _orders(members: Numbers, column: int, tokens: Tokens) -> Numbers:
    """Positions of a hot group's members when they are sorted by their other tokens, nearest column first."""
    order = np.arange(len(members))
    width = tokens.shape[1]
    for step in range(width - 1, 0, -1):
        keys = np.empty(len(members), np.int64)
        for index in range(len(members)):
            keys[index] = tokens[members[order[index]], (column + step) % width]
        order = order[np.argsort(keys, kind="mergesort")]
    return order


@compiled
def collide(
    starts: Numbers,
    members: Numbers,
    columns: Numbers,
    first: int,
    last: int,
    hot: Flags,
    tokens: Tokens,
    hot_tokens: Flags,
    home: Numbers,
    flat: Hashes,
    bounds: Offsets,
    sketch: Sketches,
    threshold: float,
    reach: int,
) -> tuple[Numbers, Numbers, Similarities, Numbers, int]:
    """Collide and verify groups `first` to `last` (exclusive); columns as in `Found`.

    `home` (n,) is the document or source that holds every copy of a text, -1 where several do or where it
    does not matter: two texts of one home are no candidates. A `threshold` of 0 keeps every candidate,
    with a similarity of -1.
    """
    room = 1024
    found = 0
    candidates = 0
    out_a = np.empty(room, np.int64)
    out_b = np.empty(room, np.int64)
    out_jaccard = np.empty(room, np.float64)
    out_shared = np.empty(room, np.int64)
    for group in range(first, last):
        column = columns[group]
        held = members[starts[group] : starts[group + 1]]
        count = len(held)
        passes = 2 if hot[group] else 1
        order = np.arange(count)
        place = order
        for turn in range(passes):
            if turn == 1:
                order = _orders(held, column, tokens)
            for at in range(count):
                end = min(count, at + 1 + reach) if hot[group] else count
                for other in range(at + 1, end):
                    one, two = order[at], order[other]
                    if turn == 1 and abs(place[one] - place[two]) <= reach:
                        continue
                    a, b = min(held[one], held[two]), max(held[one], held[two])
                    if home[a] >= 0 and home[a] == home[b]:
                        continue
                    if _met_before(a, b, column, tokens, hot_tokens, hot[group]):
                        continue
                    candidates += 1
                    similarity = -1.0
                    if threshold > 0:
                        similarity = _judge(a, b, flat, bounds, sketch, threshold)
                        if similarity < 0:
                            continue
                    if found == room:
                        room *= 2
                        out_a = _grown(out_a, room)
                        out_b = _grown(out_b, room)
                        out_shared = _grown(out_shared, room)
                        wider = np.empty(room, np.float64)
                        wider[:found] = out_jaccard
                        out_jaccard = wider
                    out_a[found] = a
                    out_b[found] = b
                    out_jaccard[found] = similarity
                    shared = 0
                    for token in range(tokens.shape[1]):
                        shared += tokens[a, token] == tokens[b, token]
                    out_shared[found] = shared
                    found += 1
    return (
        out_a[:found].copy(),
        out_b[:found].copy(),
        out_jaccard[:found].copy(),
        out_shared[:found].copy(),
        candidates,
    )


@compiled
def _grown(column: Numbers, room: int) -> Numbers:
    wider = np.empty(room, np.int64)
    wider[: len(column)] = column
    return wider
