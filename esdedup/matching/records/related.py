"""Different things that have much in common, such as persons of one household: a class of pairs of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from esdedup.columns.arrays import Flags, Numbers
from esdedup.matching.records.field_kinds import Levels
from esdedup.matching.records.mixture import Probabilities, Weights
from esdedup.matching.records.record_fields import Field

_NO_KEYS = {"address", "category", "number"}
_LEAST_FIELDS = 2
"""So many fields tell apart what is related from what is the same."""
_LEAST_PAIRS = 3
_LIKELY, _OFTEN, _SELDOM = 0.5, 0.75, 0.4
_ADDED = 0.01


def related_apart(
    fields: Sequence[Field], levels: Levels, probability: Probabilities, weights: Weights
) -> Weights | None:
    """Return weights to begin with, of three classes: pairs by chance, pairs that seem to be the same though two of
    their fields differ that name a thing, and others that do. None if there are too few of either.
    """
    keys = _keys(fields)
    much = np.array([_much(fields[key]) for key in keys], np.int8)
    differing = ((levels[:, keys] >= 0) & (levels[:, keys] <= much)).sum(1) >= _LEAST_FIELDS
    same = probability > _LIKELY
    related, rest = same & differing, same & ~differing
    if min(related.sum(), rest.sum()) < _LEAST_PAIRS:
        return None
    share = weights.shares[-1] * float(related.sum() / same.sum())
    held = tuple(_levels(fields, levels, chosen) for chosen in (related, rest))
    return Weights((weights.shares[0], share, weights.shares[-1] - share), (weights.levels[0], *held))


def tells_apart(fields: Sequence[Field], weights: Weights) -> bool:
    """Return whether the second of three classes is one of different things: fields that name a thing nearly always
    differ there, and seldom in the third one, while another field is nearly always equal.
    """
    related, same = weights.levels[1], weights.levels[2]
    telling = [
        key
        for key in _keys(fields).tolist()
        for end in [_much(fields[key]) + 1]
        if sum(related[key][:end]) >= _OFTEN and sum(same[key][:end]) <= _SELDOM
    ]
    shared = [place for place, shares in enumerate(related) if shares[-1] >= _OFTEN]
    numbered = any(fields[key].kind.name != "name" for key in telling)  # names alone may be exchanged, or of a move
    return len(telling) >= _LEAST_FIELDS and numbered and bool(shared)


def _keys(fields: Sequence[Field]) -> Numbers:
    keys = [at for at, field in enumerate(fields) if field.kind.is_key and field.kind.name not in _NO_KEYS]
    return np.array(keys, np.int64)


def _much(field: Field) -> int:
    """Return the highest level of values that differ in more than a detail."""
    return (len(field.kind.levels) - 1) // 2


def _levels(fields: Sequence[Field], levels: Levels, chosen: Flags) -> tuple[tuple[float, ...], ...]:
    found = []
    for place, field in enumerate(fields):
        counts = np.bincount(levels[chosen, place] + 1, minlength=len(field.kind.levels) + 1)[1:] + _ADDED
        found.append(tuple((counts / counts.sum()).tolist()))
    return tuple(found)
