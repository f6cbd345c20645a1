"""Fields of records: columns of a table with their kinds, as numbers of distinct values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers
from esdedup.matching.records.field_kinds import KINDS, Cosines, Kind, Levels, Shares, guessed
from esdedup.matching.records.learned import EVERY_KIND
from esdedup.matching.records.record_options import IGNORED

_LOOKED_AT = 5_000
"""Different values of a column by which its kind is guessed."""
_FEW_VALUES = 5_000


class WordSets(NamedTuple):
    """The words of values: those of value i are `words[ends[i]:ends[i + 1]]`, sorted numbers."""

    words: Numbers
    ends: Numbers
    records: Numbers  # that have each word


@dataclass(frozen=True)
class Field:
    """A column. Values that are written alike are one."""

    name: str
    kind: Kind
    values: Sequence[str]
    number: Numbers  # of the value of each record, -1 if it has none
    column: str  # that it is of, or a part of
    column_kind: str

    @cached_property
    def counts(self) -> Numbers:
        """How many records have each value."""
        return np.bincount(self.number[self.number >= 0], minlength=len(self.values))

    @cached_property
    def _objects(self) -> npt.NDArray[np.object_]:
        return np.array(self.values, object)

    @cached_property
    def word_sets(self) -> WordSets:
        """The words of each value."""
        known: dict[str, int] = {}
        sets = [sorted({known.setdefault(word, len(known)) for word in value.split()}) for value in self.values]
        ends = np.concatenate(([0], np.cumsum([len(each) for each in sets]))).astype(np.int64)
        words = np.fromiter((word for each in sets for word in each), np.int64, int(ends[-1]))
        holders = np.bincount(words, weights=self.counts[np.repeat(np.arange(len(sets)), np.diff(ends))])
        return WordSets(words, ends, holders.astype(np.int64))

    def levels(self, a: Numbers, b: Numbers) -> Levels:
        """Compare the values of records a[i] and b[i]: a level each, -1 where one has none."""
        found = np.full(len(a), -1, np.int8)
        one, two = self.number[a], self.number[b]
        there = np.flatnonzero((one >= 0) & (two >= 0))
        found[there] = len(self.kind.levels) - 1
        there = there[one[there] != two[there]]
        low, high = np.minimum(one[there], two[there]), np.maximum(one[there], two[there])
        of = None
        if len(self.values) < _FEW_VALUES:  # many of these pairs are the same
            distinct, of = np.unique(low * len(self.values) + high, return_inverse=True)
            low, high = np.divmod(distinct, max(1, len(self.values)))
        if len(there):
            ones, twos = (self._objects[some].tolist() for some in (low, high))
            levels = self.kind.compare(ones, twos, self._cosines(low, high))
            found[there] = levels if of is None else levels[of]
        return found

    def _cosines(self, one: Numbers, two: Numbers) -> Cosines:
        return lambda: cosines(self.word_sets, len(self.number), one, two)


def cosines(sets: WordSets, records: int, one: Numbers, two: Numbers) -> Shares:
    """Return the cosines of the words of values, with squares of the inverse document frequency as weights."""
    weight = np.log((records + 1) / (sets.records + 0.5)) ** 2
    owner = np.repeat(np.arange(len(sets.ends) - 1), np.diff(sets.ends))
    norm = np.sqrt(np.bincount(owner, weights=weight[sets.words], minlength=len(sets.ends) - 1))
    held = owner * max(1, len(weight)) + sets.words
    counts = sets.ends[one + 1] - sets.ends[one]
    pair = np.repeat(np.arange(len(one)), counts)
    word = sets.words[np.repeat(sets.ends[one] - np.cumsum(counts) + counts, counts) + np.arange(len(pair))]
    asked = two[pair] * max(1, len(weight)) + word
    common = held[np.minimum(np.searchsorted(held, asked), max(len(held) - 1, 0))] == asked if len(held) else asked < 0
    shared = np.bincount(pair[common], weights=weight[word[common]], minlength=len(one))
    found: Shares = shared / np.maximum(norm[one] * norm[two], 1e-9)
    return found


def fields_of(columns: Mapping[str, pa.Array], kinds: Mapping[str, str]) -> list[Field]:
    """Return the fields of columns of strings, whose kinds are guessed where they are not given. Columns without any
    value have none.
    """
    wanted = {name: column for name, column in columns.items() if kinds.get(name) != IGNORED}
    return [field for name, column in wanted.items() for field in _fields(name, column, kinds.get(name))]


def _fields(name: str, column: pa.Array, kind_name: str | None) -> Iterator[Field]:
    encoded = pc.utf8_trim_whitespace(column.cast(pa.large_string())).dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    raw = encoded.dictionary.to_pylist()
    place = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    counts = np.bincount(place[place >= 0], minlength=len(raw))
    filled = np.array([value for value, text in enumerate(raw) if text], np.int64)
    if not len(filled):
        return
    some = filled[:: len(filled) // _LOOKED_AT + 1]
    repeats = float(counts[filled].sum() / len(filled))
    kind = KINDS[kind_name] if kind_name else guessed([raw[value] for value in some.tolist()], counts[some], repeats)
    shaped = [kind.shaped(value) for value in raw]
    if not kind.parts:
        yield _numbered(name, kind, shaped, place, name, kind)
        return
    parted = zip(*map(kind.parted, shaped), strict=True)
    for part, values in zip(kind.parts, parted, strict=True):
        if any(values):
            yield _numbered(f"{name}: {part.name}", part, values, place, name, kind)


def _numbered(name: str, kind: Kind, shaped: Sequence[str], place: Numbers, column: str, column_kind: Kind) -> Field:
    known: dict[str, int] = {}
    number = np.array([*(known.setdefault(value, len(known)) if value else -1 for value in shaped), -1], np.int64)
    return Field(name, kind, list(known), number[place], column, column_kind.name)


def empty_field(name: str, kind_name: str, records: int) -> Field:
    """Return a field that no record has."""
    return Field(name, EVERY_KIND[kind_name], [], np.full(records, -1), name, kind_name)


def exchange_names(fields: Sequence[Field], levels: Levels, a: Numbers, b: Numbers) -> None:
    """Raise the `levels` (pairs, fields) of pairs in which two names stand in each other's column."""
    names = [place for place, field in enumerate(fields) if field.kind is KINDS["name"]]
    for first, one in enumerate(names):
        for two in names[first + 1 :]:
            known = {value: number for number, value in enumerate(fields[two].values)}
            there = np.array([*(known.get(value, -2) for value in fields[one].values), -2], np.int64)
            of_a, of_b = there[fields[one].number[a]], there[fields[one].number[b]]
            crossed = (of_a >= 0) & (of_b >= 0) & (of_a == fields[two].number[b]) & (of_b == fields[two].number[a])
            for place in (one, two):
                nearly = len(fields[place].kind.levels) - 2
                rows = crossed & (levels[:, place] >= 0) & (levels[:, place] < nearly)
                levels[rows, place] = nearly
