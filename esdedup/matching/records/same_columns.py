"""Columns that mean the same, as of two tables: by their names, and else by their values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Flags
from esdedup.errors import UsageError
from esdedup.matching.records.field_kinds import words_of
from esdedup.matching.records.record_fields import fields_of

JOINED = "+"
"""Between columns that are one in another table, such as a given name and a family name."""
_LOOKED_AT = 2_000
"""Values of each column that are compared."""
_ALIKE_ANYWAY = {"category", "number", "year"}
"""Columns of these kinds have values in common even if they mean something else; of one table, they are not united."""
_ALIKE = 0.1
"""Two columns that share so many of their values mean the same."""


def united(
    columns: Mapping[str, pa.Array], first_right: int | None, paired: Mapping[str, str], kinds: Mapping[str, str]
) -> tuple[dict[str, pa.Array], dict[str, str]]:
    """Return columns with those united that mean the same, and which these are: one name by the other.

    Those that are not `paired` are found: no record has both, and they have one name but for signs and capitals, or are
    of one kind and have values in common. Raises `UsageError` for a column that is not there, or is named twice.
    """
    for name in [*kinds, *(part for pair in paired.items() for each in pair for part in each.split(JOINED))]:
        if name not in columns:
            raise UsageError(f"fields: no column {name!r}; columns: {', '.join(columns)}")
    found = dict(columns)
    for one, two in paired.items():
        _unite(found, one, two)
    guessed = _guessed(found, first_right, {*paired}, kinds)
    for one, two in guessed.items():
        _unite(found, one, two)
    return found, {**paired, **guessed}


def unite_again(columns: Mapping[str, pa.Array], paired: Mapping[str, str]) -> dict[str, pa.Array]:
    """Return columns that are united as they were before, as far as they are there."""
    found = dict(columns)
    for one, two in paired.items():
        for name in (part for each in (one, two) for part in each.split(JOINED)):
            found.setdefault(name, pa.nulls(len(next(iter(columns.values()), [])), pa.large_string()))
        _unite(found, one, two)
    return found


def _unite(columns: dict[str, pa.Array], one: str, two: str) -> None:
    if one == two:
        return
    try:
        held = [_joined([columns.pop(part) for part in each.split(JOINED)]) for each in (one, two)]
    except KeyError as error:
        raise UsageError(
            f"fields: {error.args[0]} is named twice; join columns that are one elsewhere, as in first{JOINED}last=name"
        ) from None
    columns[one] = pc.coalesce(*held)


def _joined(columns: list[pa.Array]) -> pa.Array:
    if len(columns) == 1:
        return columns[0]
    there = np.logical_or.reduce([_there(column) for column in columns])
    whole = pc.binary_join_element_wise(
        *(pc.fill_null(each, "") for each in columns), pa.scalar(" ", pa.large_string())
    )
    return pc.if_else(pa.array(there), pc.utf8_trim_whitespace(whole), pa.scalar(None, pa.large_string()))


def _there(column: pa.Array) -> Flags:
    found: Flags = pc.is_valid(column).to_numpy(zero_copy_only=False)
    return found


def _guessed(
    columns: Mapping[str, pa.Array], first_right: int | None, but: set[str], kinds: Mapping[str, str]
) -> dict[str, str]:
    there = {name: _there(column) for name, column in columns.items() if name not in but}
    filled = [name for name, held in there.items() if held.any()]
    names = sorted(filled, key=lambda name: not there[name][:first_right].any())  # those of the left table first
    pairs = [(one, two) for place, one in enumerate(names) for two in names[place + 1 :]]
    apart = [(one, two) for one, two in pairs if not (there[one] & there[two]).any()]
    if first_right is not None:  # one is of the left table alone, and one of the right
        apart = [(a, b) for a, b in apart if not (there[a][first_right:].any() or there[b][:first_right].any())]
    named = {name for pair in apart for name in pair}
    plain = {name: words_of(name).replace(" ", "") for name in named}
    values = {name: _values(columns[name], kinds.get(name)) for name in named}
    scores = []
    for one, two in apart:
        (kind, first), (other, second) = values[one], values[two]
        tells = kind == other and (first_right is not None or kind not in _ALIKE_ANYWAY)
        score = len(first & second) / max(1, len(first | second)) if tells else 0.0
        if plain[one] == plain[two] or score >= _ALIKE:
            scores.append((float(plain[one] == plain[two]) + score, one, two))
    found: dict[str, str] = {}
    for _, one, two in sorted(scores, key=lambda each: (-each[0], *each[1:])):
        taken = {*found, *found.values()}
        if one not in taken and two not in taken:
            found[one] = two
    return found


_YEAR = 4  # digits


def _values(column: pa.Array, given: str | None) -> tuple[str, set[str]]:
    """Return the kind of a column, and its values; words of names and texts."""
    [*fields] = fields_of({"": column}, {} if given is None else {"": given})
    if not fields:
        return "", set()
    some = sorted(fields[0].values)[:: len(fields[0].values) // _LOOKED_AT + 1]
    words = fields[0].kind.has_words
    kind = "year" if fields[0].column_kind == "date" and max(map(len, some)) <= _YEAR else fields[0].column_kind
    return kind, {word for value in some for word in (value.split() if words else [value])}
