"""The functions of the exact scan: count shingles, post prefixes, find pairs of postings."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from esdedup.columns.hashing import Hashes
from esdedup.matching.engine import MatchContext
from esdedup.matching.exact.prefixes import Counts, Small, count_shingles, group_ends, join, prefixes
from esdedup.matching.lsh.sketches import LEAST_WORDS, Sketches, sketches
from esdedup.matching.signers.text_signer import Kinds, Sets

_ROOM = 1 << 18  # pairs that a thread writes before they are passed on


@dataclass(frozen=True)
class Rarity:
    """The number of texts with each shingle, in counters selected by the low bits of its hash, and a sketch of each
    text.
    """

    counts: Counts
    sketch: Sketches  # of each set, shape (kinds * texts, words); see `esdedup.matching.signers.text_signer.Sets`
    kind: Kinds  # of each text

    @classmethod
    def begin(cls, texts: int, kinds: int, budget: int) -> Rarity:
        """Start with empty counters. Their number, and the width of the sketches, are as large as the budget allows."""
        words = LEAST_WORDS
        while words and words * 8 * kinds * texts > budget // 2:
            words //= 2
        counters = 1 << max(16, min(30, (budget // 8).bit_length() - 1))
        sketch = np.zeros((kinds * texts, words), np.uint64)
        return cls(np.zeros(counters, np.uint16), sketch, np.zeros(texts, np.int8))

    def united(self, other: Rarity) -> Rarity:
        """Return the sum of two counts of different texts."""
        counts = np.minimum(self.counts.astype(np.uint32) + other.counts, 65_535).astype(np.uint16)
        return Rarity(counts, self.sketch | other.sketch, self.kind | other.kind)


def count_texts(context: MatchContext, rarity: Rarity, first: int, texts: pa.LargeStringArray) -> None:
    """Count the shingles of texts, and sketch them."""
    with ThreadPoolExecutor(context.threads) as pool:
        for sets in _sets(context, texts, pool):
            list(pool.map(lambda part, held=sets.flat: _count(context, rarity, held, part), range(context.threads)))
            count = len(sets.kind)
            rarity.kind[first : first + count] = sets.kind
            if words := rarity.sketch.shape[1]:
                made = sketches(sets.flat, sets.bounds, words * np.arange(len(sets.bounds))).reshape(-1, words)
                for each in range(len(context.signer.kinds)):
                    begin = each * len(rarity.kind) + first
                    rarity.sketch[begin : begin + count] = made[each * count : (each + 1) * count]
            first += count


def _count(context: MatchContext, rarity: Rarity, flat: Hashes, part: int) -> None:
    count_shingles(flat, rarity.counts, part, context.threads)


def post_prefixes(context: MatchContext, rarity: Rarity, first: int, texts: pa.LargeStringArray) -> Iterator[pa.Table]:
    """Yield the rarest shingles of each text: all that may precede the first one that it shares."""
    with ThreadPoolExecutor(context.threads) as pool:
        sets = _sets(context, texts, pool)
        starts = first + np.cumsum([0, *(len(held.kind) for held in sets)])

        def part(held: Sets, start: int) -> pa.Table:
            tables, count = [], len(held.kind)
            for each in range(len(context.signer.kinds)):
                # shingles of different lengths are never equal, so the sets of one text may be posted side by side
                bounds = held.bounds[each * count : (each + 1) * count + 1]
                number = each * len(rarity.kind) + int(start)
                columns = prefixes(held.flat, bounds, rarity.counts, context.rule.jaccard, number)
                tables.append(pa.table(dict(zip(("token", "number", "size", "place"), columns, strict=True))))
            return pa.concat_tables(tables)

        yield from pool.map(part, sets, starts)


def meet_postings(context: MatchContext, rarity: Rarity, postings: pa.Table) -> Iterator[pa.Table]:
    """Yield the pairs of texts that share a posting and may reach the threshold."""
    tokens, numbers, sizes, places = (postings[name].to_numpy() for name in ("token", "number", "size", "place"))
    ends = group_ends(tokens)
    widest = int(np.diff(ends, prepend=0).max())
    cuts = np.searchsorted(ends, np.linspace(0, len(tokens), context.threads + 1)[1:-1])
    edges = [0, *(int(cut) for cut in cuts), len(ends)]
    room = max(_ROOM, widest)

    def step(begin: int, member: int, end: int) -> tuple[pa.Table, int, int]:
        rows = np.empty((room, 2), np.int32)
        count, begin, member = join(
            ends, begin, member, end, numbers, sizes, places, rarity.sketch, context.rule.jaccard, rows
        )
        return _texts_of(rows[:count], rarity.kind), begin, member

    with ThreadPoolExecutor(context.threads) as pool:
        left = [(begin, 0, end) for begin, end in pairwise(edges) if begin < end]
        while left:
            done = list(pool.map(lambda at: step(*at), left))
            yield from (found for found, _, _ in done)
            ends_left = ((begin, member, end) for (_, begin, member), (_, _, end) in zip(done, left, strict=True))
            left = [at for at in ends_left if at[0] < at[2]]


def _texts_of(found: Small, kind: Kinds) -> pa.Table:
    """Return pairs of sets as pairs of texts: only those of the kind in which the two texts meet."""
    view, texts = np.divmod(found, len(kind))
    meet = kind[texts].min(axis=1) == view[:, 0]
    return pa.table({"a": texts[meet, 0], "b": texts[meet, 1]})


def _sets(context: MatchContext, texts: pa.LargeStringArray, pool: ThreadPoolExecutor) -> list[Sets]:
    """Return the shingle sets of texts in order, a slice for each thread."""
    cuts = np.linspace(0, len(texts), context.threads + 1).astype(int)
    slices = [texts.slice(begin, end - begin) for begin, end in pairwise(cuts)]
    return list(pool.map(lambda part: context.signer.sets(context.signer.views(part)), slices))
