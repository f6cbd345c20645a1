"""Match the records of one table, or of two: find candidates, compare their fields, learn, and decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Flags, Numbers, text_buffers
from esdedup.columns.hashing import content_hashes
from esdedup.matching.records.field_kinds import Levels, Shares
from esdedup.matching.records.learned import check_learned
from esdedup.matching.records.mixture import (
    Probabilities,
    Together,
    Told,
    Weights,
    common_partners,
    difference,
    learn,
    one_partner,
    probabilities,
    rarities,
)
from esdedup.matching.records.record_fields import Field, empty_field, exchange_names, fields_of
from esdedup.matching.records.related import related_apart, tells_apart
from esdedup.matching.records.same_columns import unite_again, united
from esdedup.matching.records.term_pairs import ALONE, TOGETHER, candidates, possible_pairs
from esdedup.matching.records.weak_links import without_contradictions

_BY_CHANCE = 100_000
_MANY = 300
"""From so many records of one column on, things that have something in common are a class of pairs of their own: what
is left out of one column, no other one says.
"""
_COHERENT = (0.8, 0.3)
"""Of what pairs are said to be by themselves, so much must be left when all are looked at together, of one table and of
two: partners of a record that are none of each other, or many partners of each, are not the same but alike.
"""
_STRICTNESS = (0.0, 4.0, 8.0, 12.0, 16.0, 20.0)
"""Then learn again, and take a pair for the same only if the logarithm of its odds is higher by so much."""
_ROUNDS_APART = 2
"""Rounds in which related things are learned: with more, their class becomes one of other differences."""
_BELIEVED = 0.3
_TOLD = 50.0
"""The logarithm of the odds of pairs that a person has judged."""
_OTHER_WEIGHTS = 0.1
"""Weights that would change by more with new records are worth another scan."""
_SEED = 1
_PARTED, _MISSING = "\x1f", "\x00"


class Known(NamedTuple):
    """Pairs of records a[i], b[i] of which a person has said whether they are the same."""

    a: Numbers
    b: Numbers
    same: Flags


@dataclass(frozen=True)
class Matched:
    """Candidates of records a[i] < b[i], with the levels of all fields and probabilities, and what was learned."""

    fields: list[Field]
    kinds: dict[str, str]  # of columns
    paired: dict[str, str]  # columns of the second table by those of the first that mean the same
    a: Numbers
    b: Numbers
    levels: Levels  # (pairs, fields), -1 where a value is missing
    rarity: Shares
    probability: Probabilities
    odds: Shares  # logarithms, of each pair by itself, whatever the others are
    weights: Weights
    threshold: float
    """The probability from which on the expected F1 is highest."""
    one_to_one: bool
    recall: float
    """Which share of the same records is estimated to be among the candidates."""
    outdated: bool
    """Whether these records would give other weights than those that were given."""

    @property
    def pairs(self) -> Numbers:
        """The candidates that are taken for the same."""
        return np.flatnonzero(self._taken[0])

    @property
    def left_out(self) -> int:
        """Pairs that are likely by themselves, and are not taken: because of another partner between two tables, or
        because they would bring records together that contradict each other.
        """
        return self._taken[1]

    @cached_property
    def _taken(self) -> tuple[Flags, int]:
        """Those that reach the threshold. Between two tables, they must also be likelier than all others of their
        records together, so that each record has one partner at most. Within one, no group holds two records that
        contradict each other.
        """
        likely = taken = self.probability >= self.threshold
        if self.one_to_one:
            likely = self.odds >= np.log(self.threshold / max(1e-9, 1 - self.threshold))
            of_a, of_b = (np.bincount(end, self.probability) for end in (self.a, self.b))
            taken = taken & (self.probability > of_a[self.a] + of_b[self.b] - 2 * self.probability)
        else:
            taken = without_contradictions(
                self.a, self.b, self.odds - self.weights.prior * np.log(2), self.probability, taken
            )
        return taken, int((likely & ~taken).sum())

    def learned(self) -> dict[str, Any]:
        """Return what later scans and questions need: `match_records` takes it."""
        return {
            "kinds": self.kinds, "paired": self.paired, "threshold": self.threshold, "recall": self.recall,
            "fields": [
                {"field": field.name, "kind": field.kind.name, "levels": list(field.kind.levels)}
                for field in self.fields
            ],
            "shares": self.weights.shares, "levels": self.weights.levels,
        }  # fmt: skip


def match_records(
    columns: Mapping[str, pa.Array],
    first_right: int | None,
    kinds: Mapping[str, str],
    *,
    paired: Mapping[str, str] | None = None,
    known: Known | None = None,
    learned: Mapping[str, Any] | None = None,
    threshold: float | None = None,
) -> Matched:
    """Match records. It takes some 100 bytes a field and candidate.

    Args:
        columns: Strings, null where a record has no value.
        first_right: The first record of the second of two tables without duplicates; without it, there is one table.
        kinds: Kinds of columns that are not to be guessed.
        paired: Columns of the second table by those of the first one that mean the same; others are guessed.
        known: Pairs whose answer is known. What is learned fits them.
        learned: What an earlier call learned: its kinds, weights and threshold are used again.
        threshold: The least probability of a pair.
    """
    order = _order(columns, first_right)
    records = len(order)
    if not possible_pairs(records, first_right):
        records, order, known = 0, order[:0], None
    columns = {name: column.take(pa.array(order)) for name, column in columns.items()}
    if learned is None:
        columns, paired = united(columns, first_right if records else None, paired or {}, kinds)
        fields, begun = fields_of(columns, kinds), None
    else:
        paired = learned["paired"]
        fields, begun = frozen_fields(columns, learned)
    back = np.argsort(order)
    found = candidates(fields, records, first_right, None if known is None else (back[known.a], back[known.b]))
    a, b = found.a, found.b
    levels = compared(fields, a, b)
    others = possible_pairs(records, first_right) - len(a) if records else 0
    chance = levels[:0]
    if others:
        chance = compared(fields, *_pairs_by_chance(records, first_right, a * records + b))
    rarity = rarities(fields, levels, a)
    together = partial(one_partner if first_right is not None else common_partners, a=a, b=b, records=records)
    told = None if known is None else _told(a * records + b, back, known, records)
    classes = 3 if first_right is None and records >= _MANY and len(columns) == 1 else 2
    teach = partial(learn, fields, levels, rarity, chance, others, together, told)
    weigh = partial(_weighed, levels=levels, rarity=rarity, together=together)
    if begun is None:
        taught = _coherent(fields, levels, weigh, teach, classes, _COHERENT[first_right is not None])
    else:
        taught = weigh(begun)
    weights, odds, probability = taught
    outdated = begun is not None and difference(begun, teach(len(begun.shares), begun, rounds=1)) > _OTHER_WEIGHTS
    if told is not None:
        probability[told.at], odds[told.at] = told.same, np.where(told.same > 0, _TOLD, -_TOLD)
    if threshold is None:
        threshold = best_threshold(probability) if learned is None else float(learned["threshold"])
    fields = [replace(field, number=field.number[back]) for field in fields]
    one, two = order[a], order[b]
    a, b = np.minimum(one, two), np.maximum(one, two)
    sort = np.lexsort((b, a))
    return Matched(
        fields, {field.column: field.column_kind for field in fields}, dict(paired), a[sort], b[sort], levels[sort],
        rarity[sort], probability[sort], odds[sort], weights, threshold, first_right is not None,
        _recall(found.by, probability), outdated,
    )  # fmt: skip


class _Weighed(NamedTuple):
    """Weights, and what they say of all candidates."""

    weights: Weights
    odds: Shares  # logarithms
    probability: Probabilities


def _weighed(weights: Weights, levels: Levels, rarity: Shares, together: Together) -> _Weighed:
    odds = weights.log_odds(levels, rarity)
    return _Weighed(weights, odds, together(odds))


def _coherent(
    fields: list[Field],
    levels: Levels,
    weigh: Callable[[Weights], _Weighed],
    teach: Callable[..., Weights],
    classes: int,
    least: float,
) -> _Weighed:
    """Return weights by which pairs that are likely by themselves are so together, too: `least` is the share that must
    be. Things that are only related have a class of their own, if there are such.
    """
    for strictness in _STRICTNESS:
        found = weigh(teach(classes, strictness=strictness))
        if float(found.probability.sum()) >= least * float(probabilities(found.odds).sum()):
            break
    begin = related_apart(fields, levels, found.probability, found.weights) if classes == 2 else None
    if begin is not None and tells_apart(fields, begin):
        parted = teach(len(begin.shares), begun=begin, strictness=strictness, rounds=_ROUNDS_APART)
        if tells_apart(fields, parted):
            return weigh(parted)
    return found


def _told(keys: Numbers, back: Numbers, known: Known, records: int) -> Told:
    one, two = back[known.a], back[known.b]
    wanted = np.minimum(one, two) * records + np.maximum(one, two)
    at = np.searchsorted(keys, wanted)
    there = keys[np.minimum(at, len(keys) - 1)] == wanted
    return Told(at[there], known.same[there].astype(np.float64))


def frozen_fields(columns: Mapping[str, pa.Array], learned: Mapping[str, Any]) -> tuple[list[Field], Weights]:
    """Return the fields that were learned, of other records, and their weights."""
    check_learned(learned)
    records = len(next(iter(columns.values()))) if columns else 0
    kinds, paired = learned["kinds"], learned["paired"]
    columns = {name: column for name, column in unite_again(columns, paired).items() if name in kinds}
    there = {field.name: field for field in fields_of(columns, kinds)}
    fields = [
        there.get(each["field"]) or empty_field(each["field"], each["kind"], records) for each in learned["fields"]
    ]
    levels = tuple(tuple(tuple(field) for field in fields_) for fields_ in learned["levels"])
    return fields, Weights(tuple(learned["shares"]), levels)


def _order(columns: Mapping[str, pa.Array], first_right: int | None) -> Numbers:
    """Return the records of each table in an order that does not depend on theirs: nothing else may, either."""
    texts = [pc.fill_null(pc.cast(columns[name], pa.large_string()), _MISSING) for name in sorted(columns)]
    hashes = content_hashes(*text_buffers(pc.binary_join_element_wise(*texts, pa.scalar(_PARTED, pa.large_string()))))
    side = np.arange(len(hashes)) >= (0 if first_right is None else first_right)
    return np.lexsort((hashes, side))


def compared(fields: list[Field], a: Numbers, b: Numbers) -> Levels:
    """Return how alike records a[i] and b[i] are, shape (pairs, fields)."""
    levels = np.empty((len(a), len(fields)), np.int8)
    for place, field in enumerate(fields):
        levels[:, place] = field.levels(a, b)
    exchange_names(fields, levels, a, b)
    return levels


def _pairs_by_chance(records: int, first_right: int | None, but: Numbers) -> tuple[Numbers, Numbers]:
    """Return pairs that are drawn by chance, but not those of the numbers `but`, which are in order."""
    draw = np.random.default_rng(_SEED)
    middle = 0 if first_right is None else first_right
    one = draw.integers(0, middle or records, _BY_CHANCE)
    two = draw.integers(middle, records, _BY_CHANCE)
    a, b = np.minimum(one, two), np.maximum(one, two)
    found = a * records + b
    known = but[np.minimum(np.searchsorted(but, found), max(0, len(but) - 1))] == found if len(but) else found < 0
    kept = (a != b) & ~known
    return a[kept], b[kept]


def best_threshold(probability: Probabilities) -> float:
    """Return the probability from which on pairs must be taken for the highest expected F1, which is half of that
    (Lipton, Elkan and Naryanaswamy 2014), but no lower than is believed.
    """
    if not len(probability):
        return _BELIEVED
    ordered = np.sort(probability)[::-1]
    expected = 2 * np.cumsum(ordered) / (np.arange(1, len(ordered) + 1) + ordered.sum())
    return max(_BELIEVED, float(expected.max()) / 2)


def _recall(by: npt.NDArray[np.int8] | None, probability: Probabilities) -> float:
    """Estimate which share of the same records are candidates, as animals are counted that are caught twice: by those
    that one way of finding them found of what the other one did (Chapman 1951).
    """
    if by is None:
        return 1.0
    one, two, both = (float(probability[(by & ways) == ways].sum()) for ways in (ALONE, TOGETHER, ALONE | TOGETHER))
    there = (one + 1) * (two + 1) / (both + 1) - 1
    return min(1.0, float(probability.sum()) / there) if there > 0 else 1.0
