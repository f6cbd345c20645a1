"""Candidates: records that share a rare value or word, or two of their rarest ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esdedup.columns.arrays import Numbers
from esdedup.matching.records.record_fields import Field

_ALL_PAIRS = 500_000
"""Up to so many pairs all of them are compared."""
_RAREST = 10
"""Terms of a record that are taken two by two, of different fields or of one text."""
_SHARED, _SHARED_OF_MANY = 100, 30
"""Records that share a term, or two of them, and are still compared with each other: of few records and of many,"""
_PAIRS_ALONE, _PAIRS_TOGETHER, _LEAST_PAIRS = 4, 8, 1_000_000
"""as long as there are not more pairs than so many times the records, or than the last number if that is more. Then
fewer may share it.
"""
_RECORDS_AT_ONCE = 500_000
_PART = 4
"""Letters of a beginning or end of a value that is longer than _LONG."""
_LONG = 5


def possible_pairs(records: int, first_right: int | None) -> int:
    """Return how many pairs there are: of records on both sides, of which the right one begins at `first_right`; or of
    one table.
    """
    return records * (records - 1) // 2 if first_right is None else first_right * (records - first_right)


ALONE, TOGETHER = 1, 2
"""Bits that say how a candidate was found: by a rare term, or by two of the rarest."""
_WAYS = 4


class Candidates(NamedTuple):
    """Pairs of records a[i] < b[i], in order, and how each was found; None if they are all that there are."""

    a: Numbers
    b: Numbers
    by: npt.NDArray[np.int8] | None


def candidates(
    fields: Sequence[Field], records: int, first_right: int | None, also: tuple[Numbers, Numbers] | None = None
) -> Candidates:
    """Find candidates. The pairs `also` are some, too."""
    if possible_pairs(records, first_right) <= _ALL_PAIRS:
        return Candidates(*_all_pairs(records, first_right), None)
    record, term, field_of, terms = _terms(fields)
    holders = np.bincount(term, minlength=terms)
    shared = holders[term] > 1
    record, term = record[shared], term[shared]
    alone = _met(term, record, max(_LEAST_PAIRS, _PAIRS_ALONE * records), records, first_right)
    keys = [np.empty(0, np.int64)]
    order = np.lexsort((term, holders[term], record))
    record, term = record[order], term[order]
    start = np.flatnonzero(np.diff(record, prepend=-1))
    place = np.arange(len(record)) - np.repeat(start, np.diff(np.append(start, len(record))))
    rarest = np.full((records, _RAREST), -1, np.int64)
    among = place < _RAREST
    rarest[record[among], place[among]] = term[among]
    is_text = np.array([not field.kind.is_key for field in fields])
    parts = records // _RECORDS_AT_ONCE + 1
    for part in range(parts):  # of the rarer of two terms
        both, owner = [], []
        for first, second in combinations(range(_RAREST), 2):
            there = np.flatnonzero((rarest[:, second] >= 0) & (rarest[:, first] % parts == part))
            one, two = rarest[there, first], rarest[there, second]
            apart = (field_of[one] != field_of[two]) | is_text[field_of[one]]
            both.append((one * terms + two)[apart])
            owner.append(there[apart])
        most = max(_LEAST_PAIRS, _PAIRS_TOGETHER * records // parts)
        keys.append(_met(np.concatenate(both), np.concatenate(owner), most, records, first_right))
    one, two = (np.empty(0, np.int64),) * 2 if also is None else (np.minimum(*also), np.maximum(*also))
    ways = ((alone, ALONE), (_distinct(np.concatenate(keys)), TOGETHER), (one * records + two, 0))
    marked = np.sort(np.concatenate([found * _WAYS + way for found, way in ways]))
    found, way = np.divmod(marked, _WAYS)
    begun = np.flatnonzero(np.diff(found, prepend=-1))
    by = np.bitwise_or.reduceat(way, begun).astype(np.int8) if len(begun) else np.empty(0, np.int8)
    found = found[begun]
    return Candidates(found // records, found % records, by)


def _distinct(numbers: Numbers) -> Numbers:
    """Return different numbers, sorted; `np.unique` takes several times as long."""
    numbers = np.sort(numbers)
    different: Numbers = numbers[np.diff(numbers, prepend=-1) != 0]
    return different


def _all_pairs(records: int, first_right: int | None) -> tuple[Numbers, Numbers]:
    if first_right is None:
        one, two = np.triu_indices(records, 1)
        return one.astype(np.int64), two.astype(np.int64)
    left, right = np.arange(first_right), np.arange(first_right, records)
    return np.repeat(left, len(right)), np.tile(right, len(left))


def _terms(fields: Sequence[Field]) -> tuple[Numbers, Numbers, Numbers, int]:
    """Return what records can meet by: record and number of each term, the field of each number, and how many there
    are.
    """
    record, term = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    field_of: list[Numbers] = []
    terms = 0
    for place, field in enumerate(fields):
        before = terms
        there = np.flatnonzero(field.number >= 0)
        value = field.number[there]
        if field.kind.has_words:
            sets = field.word_sets
            counts = sets.ends[value + 1] - sets.ends[value]
            begin = np.repeat(sets.ends[value] - np.cumsum(counts) + counts, counts)
            record.append(np.repeat(there, counts))
            term.append(sets.words[begin + np.arange(len(begin))] + terms)
            terms += len(sets.records)
        if field.kind.is_key:
            record.append(there)
            term.append(value + terms)
            terms += len(field.values)
        for part in (slice(_PART), slice(-_PART, None)) if field.kind.has_parts else ():
            known: dict[str, int] = {}
            number = np.array(
                [known.setdefault(each[part], len(known)) if len(each) > _LONG else -1 for each in field.values],
                np.int64,
            )[value]
            record.append(there[number >= 0])
            term.append(number[number >= 0] + terms)
            terms += len(known)
        field_of.append(np.full(terms - before, place))
    return np.concatenate(record), np.concatenate(term), np.concatenate(field_of), terms


def _met(key: Numbers, record: Numbers, pairs: int, records: int, first_right: int | None) -> Numbers:
    """Return the pairs of records with equal keys, as a * records + b: of keys that few records have, and the fewer the
    more there would be than `pairs`.
    """
    most = _SHARED if pairs <= _LEAST_PAIRS else _SHARED_OF_MANY
    order = np.argsort(key)
    key, record = key[order], record[order]
    start = np.flatnonzero(np.diff(key, prepend=-1))
    size = np.diff(np.append(start, len(key)))
    held = np.arange(most + 1)
    added = np.cumsum(np.bincount(size[size <= most], minlength=most + 1) * (held * (held - 1) // 2))
    most = max(2, int(np.searchsorted(added, pairs, side="right")) - 1)
    found = [np.empty(0, np.int64)]
    for members in range(2, most + 1):
        group = start[size == members][:, None]
        one, two = np.triu_indices(members, 1)
        a, b = record[group + one].ravel(), record[group + two].ravel()
        if first_right is not None:
            across = (a < first_right) != (b < first_right)
            a, b = a[across], b[across]
        a, b = np.minimum(a, b), np.maximum(a, b)
        found.append((a * records + b)[a != b])
    return _distinct(np.concatenate(found))
