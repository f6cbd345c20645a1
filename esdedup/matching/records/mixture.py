"""Probabilities that pairs of records are the same, learned without labels.

As in Fellegi and Sunter (1969), levels of fields are independent within each class of pairs, and classes are learned by
expectation maximisation (Winkler 1988; Enamorado and others, fastLink, 2019). Beyond these, what is known of all pairs
together counts: between two tables without duplicates a record has one partner at most, and within one table the
partners of a record are partners of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from esdedup.columns.arrays import Numbers
from esdedup.columns.kernels import compiled
from esdedup.matching.records.field_kinds import Levels, Shares
from esdedup.matching.records.record_fields import Field

Probabilities = npt.NDArray[np.float64]
Together: TypeAlias = Callable[[Shares], Probabilities]

_ROUNDS = 100
_CLOSE = 1e-3  # two rounds that differ by less are the last
_ADDED = 0.01  # pairs added to each level, so that none has the probability 0
_SUPPOSED = 2
"""Pairs of each class that are supposed before anything is learned, so that few records teach nothing wild."""
_SUPPOSED_SHARES = (10, 0, 1)
"""The same for the classes, of which the second may be missing."""
_RARITY = 0.5
"""How much of the logarithm counts by which agreement on a rare value is less likely by chance."""
_LIKELY = 0.02
"""Pairs below have no influence on others."""
_LEAST = 1e-12
_TOLD = 20
"""A pair that a person has judged counts as so many."""


class Told(NamedTuple):
    """Candidates, by their places, of which it is known whether they are the same: 1 or 0."""

    at: Numbers
    same: Probabilities


@dataclass(frozen=True)
class Weights:
    """What was learned: the share of each class among all pairs, and of each level in each field within it.

    The last class is that of the same thing. Those before are of different ones; with three classes, the second one is
    of things that have something in common.
    """

    shares: tuple[float, ...]
    levels: tuple[tuple[tuple[float, ...], ...], ...]  # by class and field

    @property
    def prior(self) -> float:
        """How likely any two records are the same, as a logarithm of the odds to the base of 2."""
        return float(np.log2(self.shares[-1] / sum(self.shares[:-1])))

    def parts(self, levels: Levels) -> tuple[float, list[float]]:
        """Return what the odds of one pair with these `levels` (fields,) are made of, as logarithms to the base of 2:
        those without a look at it, and the match weight of each field, 0 where a value is missing.

        Of two classes of different things, a level counts by how likely the pair is of each, and the first part is what
        is left of the odds.
        """
        likely = _likelihoods(self, levels[None])
        apart = _normalized(likely[:-1])[:, 0]
        weights = []
        for field, level in enumerate(levels.tolist()):
            other = sum(part * held[field][level] for part, held in zip(apart, self.levels, strict=False))
            weights.append(0.0 if level < 0 else float(np.log2(self.levels[-1][field][level] / other)))
        return float(_log_odds(likely)[0] / np.log(2)) - sum(weights), weights

    def log_odds(self, levels: Levels, rarity: Shares) -> Shares:
        """Return the logarithms of the odds that pairs are the same."""
        patterns, of = _patterns(levels, [len(each) for each in self.levels[0]])
        return _log_odds(_likelihoods(self, patterns))[of] + rarity


def _likelihoods(weights: Weights, levels: Levels) -> Shares:
    """Return the logarithms of the likelihoods of pairs with these levels, by class."""
    found = np.zeros((len(weights.shares), len(levels))) + np.log(weights.shares)[:, None]
    for likely, fields in zip(found, weights.levels, strict=True):
        for field, each in enumerate(fields):
            likely += np.append(np.log(each), 0.0)[levels[:, field]]  # the last is for missing values
    return found


def _log_odds(likely: Shares) -> Shares:
    highest = likely[:-1].max(0)
    found: Shares = likely[-1] - highest - np.log(np.exp(likely[:-1] - highest).sum(0))
    return found


def rarities(fields: Sequence[Field], levels: Levels, a: Numbers) -> Shares:
    """Return what is added to the logarithm of the odds of pairs, as values on which they agree are rare or common."""
    found = np.zeros(len(a))
    for place, field in enumerate(fields):
        if field.kind.weighs_rarity:
            others = np.maximum(field.counts - 1, 0.5)
            share = others / others.sum()
            equal = levels[:, place] == len(field.kind.levels) - 1
            found[equal] += _RARITY * (np.log((share**2).sum()) - np.log(share[field.number[a[equal]]]))
    return found


def learn(
    fields: Sequence[Field],
    levels: Levels,
    rarity: Shares,
    chance: Levels,
    others: int,
    together: Together,
    told: Told | None,
    classes: int,
    begun: Weights | None = None,
    strictness: float = 0.0,
    rounds: int = _ROUNDS,
) -> Weights:
    """Learn from candidates with these `levels` (pairs, fields), and from pairs by `chance` that stand for all
    `others`, which are not among them. Pairs with the same levels are counted as one where that is the same.

    `together` makes of log odds probabilities that hold for all pairs at once; those that are `told` are known, and
    count more. `strictness` is taken from the log odds meanwhile. Learning may begin with weights that have `begun`.
    """
    sizes = [len(field.kind.levels) for field in fields]
    patterns, pattern = _patterns(levels, sizes)
    seen, seen_pattern = _patterns(chance, sizes)
    with_pattern = np.bincount(pattern, minlength=len(patterns))
    by_chance = np.bincount(seen_pattern, minlength=len(seen)) * (others / max(1, len(chance)))
    supposed = _begun(sizes, levels[:0], classes).levels if begun is None else begun.levels
    weights = begun or _begun(sizes, chance if len(chance) else levels, classes)
    counts_as = np.ones(len(pattern))
    if told is not None:
        counts_as[told.at] = _TOLD
        with_pattern = np.bincount(pattern, counts_as, len(patterns))
    for _ in range(rounds):
        likely = _likelihoods(weights, patterns)
        same = together(_log_odds(likely)[pattern] + rarity - strictness)
        if told is not None:
            same[told.at] = told.same
        of_patterns = np.bincount(pattern, same * counts_as, len(patterns))
        members = np.vstack([_normalized(likely[:-1]) * (with_pattern - of_patterns), of_patterns])
        outside = _normalized(_likelihoods(weights, seen)[:-1]) * by_chance
        sums = members.sum(1)
        sums[:-1] += outside.sum(1)
        sums += _SUPPOSED_SHARES[:1] + _SUPPOSED_SHARES[-classes + 1 :]
        learned = []
        for number, held in enumerate(members):
            counts = [
                _counted(patterns[:, field], held, size) + _SUPPOSED * np.array(supposed[number][field])
                for field, size in enumerate(sizes)
            ]
            if number < classes - 1:
                for field, size in enumerate(sizes):
                    counts[field] += _counted(seen[:, field], outside[number], size)
            learned.append(tuple(tuple((each / each.sum()).tolist()) for each in counts))
        shares = np.maximum(sums / max(1, sums.sum()), _LEAST)
        before, weights = weights, Weights(tuple((shares / shares.sum()).tolist()), tuple(learned))
        if difference(before, weights) < _CLOSE:
            break
    return weights


def _patterns(levels: Levels, sizes: Sequence[int]) -> tuple[Levels, Numbers]:
    """Return the different rows of levels, and the number of each row."""
    keys = np.zeros(len(levels), np.int64)
    for field, size in enumerate(sizes):  # a number of its own for each row, or of those that are there so far
        if int(keys.max(initial=0)) > 2**62 // (size + 1):
            keys = np.unique(keys, return_inverse=True)[1]
        keys = keys * (size + 1) + levels[:, field] + 1
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    return levels[first], of


def _begun(sizes: Sequence[int], levels: Levels, classes: int) -> Weights:
    """Begin with what is found by chance, with mostly equal values, and with something between the two."""
    chance: list[Shares] = []
    for field, size in enumerate(sizes):
        counted = _counted(levels[:, field], np.ones(len(levels)), size) + 0.5 * np.geomspace(1, 0.01, size)
        chance.append(counted / counted.sum())
    equal = [np.append(np.full(size - 1, 0.1 / (size - 1)), 0.9) for size in sizes]
    between = [np.sqrt(one * two) for one, two in zip(chance, equal, strict=True)]
    begun = [chance, [np.asarray(each / each.sum(), np.float64) for each in between], equal]
    held = begun if classes == len(begun) else [chance, equal]
    shares = (0.6, 0.3, 0.1) if classes == len(begun) else (0.9, 0.1)
    return Weights(shares, tuple(tuple(tuple(each.tolist()) for each in fields) for fields in held))


def _counted(levels: Levels, members: Shares, size: int) -> Shares:
    return np.asarray(np.bincount(levels + 1, weights=members, minlength=size + 1)[1:] + _ADDED, np.float64)


def _normalized(likely: Shares) -> Shares:
    found = np.exp(likely - likely.max(0))
    return np.asarray(found / found.sum(0), np.float64)


def difference(one: Weights, two: Weights) -> float:
    """Return by how much the share of a level differs most."""
    differences = (
        abs(a - b)
        for fields, others in zip(one.levels, two.levels, strict=True)
        for levels, other in zip(fields, others, strict=True)
        for a, b in zip(levels, other, strict=True)
    )
    return max(differences, default=0.0)


def probabilities(log_odds: Shares) -> Probabilities:
    """Return the probabilities with these logarithms of the odds."""
    found: Probabilities = 1 / (1 + np.exp(-np.clip(log_odds, -50, 50)))
    return found


def one_partner(log_odds: Shares, a: Numbers, b: Numbers, records: int) -> Probabilities:
    """Return probabilities if each record has one partner at most: those of all its pairs add up to 1 at most."""
    odds = np.exp(np.minimum(log_odds, 50))
    of_a, of_b = np.bincount(a, odds, records), np.bincount(b, odds, records)
    found: Probabilities = odds / (1 + of_a[a] + of_b[b] - odds)
    return found


def common_partners(log_odds: Shares, a: Numbers, b: Numbers, records: int) -> Probabilities:
    """Return probabilities if partners of a record are partners of each other: a pair is as likely as the two records
    have their likely partners in common.
    """
    found = probabilities(log_odds)
    likely = np.flatnonzero(found > _LIKELY)
    one, two, share = a[likely], b[likely], found[likely]
    ends, others = np.concatenate([one, two]), np.concatenate([two, one])
    order = np.lexsort((others, ends))
    bounds = np.searchsorted(ends[order], np.arange(records + 1))
    found[likely] = _common(one, two, share, bounds, others[order], np.concatenate([share, share])[order])
    return found


@compiled
def _common(one: Numbers, two: Numbers, share: Shares, bounds: Numbers, others: Numbers, shares: Shares) -> Shares:
    """Return for each pair its share, or the Jaccard similarity of the weighted partners of both if that is less."""
    out = np.empty(len(one))
    for pair in range(len(one)):
        x, end_x = bounds[one[pair]], bounds[one[pair] + 1]
        y, end_y = bounds[two[pair]], bounds[two[pair] + 1]
        least = 2.0 * share[pair]  # each is a partner of itself, and of the other
        most = 2.0
        while x < end_x or y < end_y:
            if y == end_y or (x < end_x and others[x] < others[y]):
                most += 0.0 if others[x] == two[pair] else shares[x]
                x += 1
            elif x == end_x or others[y] < others[x]:
                most += 0.0 if others[y] == one[pair] else shares[y]
                y += 1
            else:
                least += min(shares[x], shares[y])
                most += max(shares[x], shares[y])
                x += 1
                y += 1
        out[pair] = min(share[pair], least / most)
    return out
