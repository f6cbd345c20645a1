"""Match the records of one table, or of two: find candidates, compare their fields, learn, and decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, text_buffers
from esdedup.columns.hashing import content_hashes
from esdedup.matching.records.field_kinds import Levels, Shares
from esdedup.matching.records.mixture import (
    Probabilities,
    Weights,
    common_partners,
    learn,
    one_partner,
    rarities,
)
from esdedup.matching.records.record_fields import Field, exchange_names, fields_of
from esdedup.matching.records.term_pairs import candidates, possible_pairs

_BY_CHANCE = 100_000
_MANY = 300
"""From so many records of one table on, things that have something in common are a class of pairs of their own."""
_BELIEVED = 0.3
_SEED = 1
_PARTED, _MISSING = "\x1f", "\x00"


@dataclass(frozen=True)
class Matched:
    """Candidates of records a[i] < b[i], with the levels of all fields and probabilities, and what was learned."""

    fields: list[Field]
    a: Numbers
    b: Numbers
    levels: Levels  # (pairs, fields), -1 where a value is missing
    rarity: Shares
    probability: Probabilities
    weights: Weights
    threshold: float
    """The probability from which on the expected F1 is highest."""
    one_to_one: bool

    @property
    def pairs(self) -> Numbers:
        """The candidates that reach the threshold. Between two tables, they must also be likelier than all others of
        their records together, so that each record has one partner at most.
        """
        taken = self.probability >= self.threshold
        if self.one_to_one:
            of_a, of_b = (np.bincount(end, self.probability) for end in (self.a, self.b))
            taken &= self.probability > of_a[self.a] + of_b[self.b] - 2 * self.probability
        return np.flatnonzero(taken)


def match_records(columns: Mapping[str, pa.Array], first_right: int | None, kinds: Mapping[str, str]) -> Matched:
    """Match records whose `columns` are strings. Those from `first_right` on are of the second of two tables without
    duplicates; without it, there is one table. `kinds` names the kinds of columns that are not to be guessed.

    It takes some 100 bytes a field and candidate.
    """
    order = _order(columns, first_right)
    records = len(order)
    if not possible_pairs(records, first_right):
        records, order = 0, order[:0]
    fields = fields_of({name: column.take(pa.array(order)) for name, column in columns.items()}, kinds)
    a, b = candidates(fields, records, first_right)
    levels = _compared(fields, a, b)
    others = possible_pairs(records, first_right) - len(a) if records else 0
    chance = levels[:0]
    if others:
        chance = _compared(fields, *_pairs_by_chance(records, first_right, a * records + b))
    rarity = rarities(fields, levels, a)
    known = one_partner if first_right is not None else common_partners
    together = partial(known, a=a, b=b, records=records)
    weights = learn(
        fields, levels, rarity, chance, others, together, 2 if first_right is not None or records < _MANY else 3
    )
    probability = together(weights.log_odds(levels, rarity))
    back = np.argsort(order)
    fields = [replace(field, number=field.number[back]) for field in fields]
    one, two = order[a], order[b]
    a, b = np.minimum(one, two), np.maximum(one, two)
    sort = np.lexsort((b, a))
    return Matched(
        fields, a[sort], b[sort], levels[sort], rarity[sort], probability[sort], weights, best_threshold(probability),
        first_right is not None,
    )  # fmt: skip


def _order(columns: Mapping[str, pa.Array], first_right: int | None) -> Numbers:
    """Return the records of each table in an order that does not depend on theirs: nothing else may, either."""
    texts = [pc.fill_null(pc.cast(column, pa.large_string()), _MISSING) for column in columns.values()]
    hashes = content_hashes(*text_buffers(pc.binary_join_element_wise(*texts, pa.scalar(_PARTED, pa.large_string()))))
    side = np.arange(len(hashes)) >= (0 if first_right is None else first_right)
    return np.lexsort((hashes, side))


def _compared(fields: list[Field], a: Numbers, b: Numbers) -> Levels:
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
    """Return the probability from which on pairs must be taken for the highest expected F1, but no lower than is
    believed.
    """
    if not len(probability):
        return _BELIEVED
    ordered = np.sort(probability)[::-1]
    expected = 2 * np.cumsum(ordered) / (np.arange(1, len(ordered) + 1) + ordered.sum())
    return max(_BELIEVED, float(ordered[int(np.argmax(expected))]))
