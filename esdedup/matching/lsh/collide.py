"""Compare the texts of each group, and verify them by exact Jaccard, in one loop.

There is no list of candidates. A pair with several common tokens is in several groups; it is verified in the group of
its first common token. Cheap tests come first: lengths, then a sketch of the sets (Sandes et al. 2020, bitmap filter),
then a merge of the sorted sets that stops as soon as the threshold cannot be reached.

Hot tokens: in a group above the limit, each text is compared with a bounded number of others. These are the next ones
in the order of content hashes, and the next ones in the order of their other tokens, where similar texts are near each
other. A pair that also shares a token that is not hot is compared in that token's group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.matching.groups import Runs
from esdedup.matching.lsh.sketches import SketchedSets, Sketches, too_different
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signers.text_signer import Kinds
from esdedup.text.shingles import longest

HOT_LIMIT = 2000
"""A token with more distinct texts is hot: its texts are not all compared with each other."""

HOT_WINDOW = 64
"""Number of texts that each text of a hot group is compared with, in each of the two orders."""

Similarities = npt.NDArray[np.float64]


@compiled
def needed_overlap(size_a: int, size_b: int, threshold: float) -> int:
    """Return the smallest intersection with which sets of these sizes have Jaccard >= `threshold`."""
    total = size_a + size_b
    need = int(np.ceil(threshold * total / (1.0 + threshold)))
    while need > 0 and (need - 1) / (total - need + 1) >= threshold:
        need -= 1
    while need < total and need / (total - need) < threshold:
        need += 1
    return need


@compiled
def overlap(flat: Hashes, a: int, end_a: int, b: int, end_b: int, need: int) -> int:
    """Return the size of the intersection of two sorted sets, or -1 as soon as it cannot reach `need`."""
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
def jaccards(flat: Hashes, bounds: Offsets, kind: Kinds, a: Numbers, b: Numbers) -> Similarities:
    """Return the exact Jaccard of the texts a[i] and b[i], shape (pairs,); 0 if both are empty."""
    out = np.empty(len(a), np.float64)
    for index in range(len(a)):
        view = min(kind[a[index]], kind[b[index]]) * len(kind)
        one, two = view + a[index], view + b[index]
        common = overlap(flat, bounds[one], bounds[one + 1], bounds[two], bounds[two + 1], 0)
        union = bounds[one + 1] - bounds[one] + bounds[two + 1] - bounds[two] - common
        out[index] = common / max(union, 1)
    return out


@compiled
def first_column(a: int, b: int, kind: Kinds, width: int) -> int:
    """Return the first of the `width` columns in which two texts meet."""
    return 0 if kind[a] == kind[b] else (1 + min(kind[a], kind[b])) * width


@compiled
def shared_tokens(tokens: Tokens, kind: Kinds, width: int, a: Numbers, b: Numbers) -> Numbers:
    """Return the number of tokens that both texts a[i] and b[i] have where they meet, shape (pairs,). `tokens` has
    shape (n, columns).
    """
    out = np.zeros(len(a), np.int64)
    for index in range(len(a)):
        first = first_column(a[index], b[index], kind, width)
        for token in range(first, first + width):
            held = tokens[a[index], token]
            out[index] += held >= 0 and held == tokens[b[index], token]
    return out


@compiled
def verify_sets(
    a: int,
    b: int,
    flat: Hashes,
    bounds: Offsets,
    kind: Kinds,
    sketch: Sketches,
    starts: Offsets,
    threshold: float,
) -> float:
    """Return the exact Jaccard of two texts, or -1 below the threshold. Texts of two kinds meet in the lower one.

    If the sets are not held (`flat` is empty), return 0 unless the sizes and the sketches rule the pair out.
    """
    view = min(kind[a], kind[b]) * len(kind)
    a += view
    b += view
    size_a = bounds[a + 1] - bounds[a]
    size_b = bounds[b + 1] - bounds[b]
    if min(size_a, size_b) < threshold * max(size_a, size_b) - 1e-9:
        return -1.0
    need = needed_overlap(size_a, size_b, threshold)
    if too_different(sketch, starts[a], starts[a + 1], starts[b], starts[b + 1], size_a + size_b - 2 * need):
        return -1.0
    if len(flat) == 0:
        return 0.0
    common = overlap(flat, bounds[a], bounds[a + 1], bounds[b], bounds[b + 1], need)
    if common < 0:
        return -1.0
    return float(common / (size_a + size_b - common))


@compiled
def _found_before(
    a: int, b: int, column: int, first: int, last: int, tokens: Tokens, hot_tokens: Flags, in_hot: bool
) -> bool:
    """Return whether the pair belongs to another group: that of an earlier common token, or of one that is not hot.

    Only columns from `first` to `last` (exclusive) count.
    """
    for other in range(first, last):
        if other == column:
            if not in_hot:
                return False
        elif (
            tokens[a, other] >= 0
            and tokens[a, other] == tokens[b, other]
            and (other < column or not hot_tokens[a, other])
            and (in_hot or not hot_tokens[a, other])
        ):
            return True
    return False


class Colliding(NamedTuple):
    """What is known of each of n texts: `tokens` and whether they are hot, shape (n, columns); `group_id` (n,), the
    document or source that contains every copy of a text, or -1 if there are several or if it does not matter; and
    whether it is `stale` (n,).
    """

    tokens: Tokens
    hot_tokens: Flags
    group_id: Numbers
    stale: Flags


@compiled
def collide(
    runs: Runs, first: int, last: int, texts: Colliding, sets: SketchedSets, width: int, threshold: float, window: int
) -> tuple[Numbers, Similarities, int]:
    """Compare and verify the runs `first` to `last` (exclusive).

    Returns rows (a, b, shared tokens), shape (found, 3), their similarities, and the number of candidates. Two texts of
    one group_id are not candidates. Only pairs with a text that is stale are verified. A `threshold` of 0 keeps every
    candidate, with a similarity of -1. Without `sets.flat`, a pair that may reach it has a similarity of 0; see
    `verify_sets`. Texts of one kind meet in the first `width` columns; texts of two kinds meet in those of the lower
    kind.
    """
    starts, members, columns, order, leading, places = runs
    tokens, hot_tokens, group_id, stale = texts
    flat, bounds, kind, sketch, sketch_starts = sets
    found = 0
    candidates = 0
    rows = np.empty((1024, 3), np.int64)
    similarities = np.empty(1024, np.float64)
    wanted_at = np.empty(longest(starts), np.int64)
    for run in range(first, last):
        column = columns[run]
        begin = starts[run]
        count = starts[run + 1] - begin
        in_hot = order[run] > 0
        wanted = 0  # where stale texts are
        for at in range(count):
            if stale[members[begin + at]]:
                wanted_at[wanted] = at
                wanted += 1
        passed = 0
        for at in range(leading[run]):
            end = min(count, at + 1 + window) if in_hot else count
            every = passed < wanted and wanted_at[passed] == at
            passed += every
            # a stale text is compared with all that follow, any other one only with stale texts
            for step in range(at + 1, end) if every else range(passed, wanted):
                other = step if every else wanted_at[step]
                if other >= end:
                    break
                if order[run] == 2 and abs(places[begin + at] - places[begin + other]) <= window:
                    continue  # compared in the first order
                a = min(members[begin + at], members[begin + other])
                b = max(members[begin + at], members[begin + other])
                if group_id[a] >= 0 and group_id[a] == group_id[b]:
                    continue
                own = first_column(a, b, kind, width)
                if not own <= column < own + width:
                    continue
                if _found_before(a, b, column, own, own + width, tokens, hot_tokens, in_hot):
                    continue
                candidates += 1
                similarity = -1.0
                if threshold > 0:
                    similarity = verify_sets(a, b, flat, bounds, kind, sketch, sketch_starts, threshold)
                    if similarity < 0:
                        continue
                if found == len(rows):
                    rows, similarities = _twice(rows, similarities)
                rows[found, 0] = a
                rows[found, 1] = b
                rows[found, 2] = 0
                for token in range(own, own + width):
                    rows[found, 2] += tokens[a, token] >= 0 and tokens[a, token] == tokens[b, token]
                similarities[found] = similarity
                found += 1
    return rows[:found], similarities[:found], candidates


@compiled
def _twice(rows: Numbers, similarities: Similarities) -> tuple[Numbers, Similarities]:
    """Return the same columns with twice the room."""
    more_rows = np.empty((2 * len(rows), 3), np.int64)
    more_similarities = np.empty(2 * len(rows), np.float64)
    for row in range(len(rows)):
        for column in range(3):
            more_rows[row, column] = rows[row, column]
        more_similarities[row] = similarities[row]
    return more_rows, more_similarities
