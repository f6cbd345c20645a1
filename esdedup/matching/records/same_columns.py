"""Columns of two tables that mean the same: by their names, and else by their values."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from esdedup.errors import UsageError
from esdedup.matching.records.field_kinds import words_of
from esdedup.matching.records.record_fields import fields_of

_LOOKED_AT = 2_000
"""Values of each column that are compared."""
_ALIKE = 0.1
"""Two columns that share so many of their values mean the same."""


def united(
    columns: Mapping[str, pa.Array], first_right: int | None, paired: Mapping[str, str], kinds: Mapping[str, str]
) -> tuple[dict[str, pa.Array], dict[str, str]]:
    """Return columns with those of two tables united that mean the same, and which these are: the name in the second
    table by the one in the first.

    Raises `UsageError` if a table does not have a column that is `paired`, or has no column of a kind that is given.
    """
    for name in [*kinds, *paired, *paired.values()]:
        if name not in columns:
            raise UsageError(f"fields: no column {name!r}; columns: {', '.join(columns)}")
    found, together = dict(columns), dict(paired)
    if first_right is not None:
        records = len(next(iter(columns.values()))) if columns else 0
        left = {name: column.slice(0, first_right) for name, column in columns.items()}
        right = {name: column.slice(first_right, records) for name, column in columns.items()}
        of_left = [name for name in columns if name not in paired and _only(left[name], right[name])]
        of_right = [name for name in columns if name not in paired.values() and _only(right[name], left[name])]
        together |= _guessed({name: left[name] for name in of_left}, {name: right[name] for name in of_right})
    for one, two in together.items():
        if one != two:
            found[one] = pc.coalesce(found[one], found.pop(two))
    return found, together


def _only(one: pa.Array, other: pa.Array) -> bool:
    return bool(one.null_count < len(one) and other.null_count == len(other))


def _guessed(left: Mapping[str, pa.Array], right: Mapping[str, pa.Array]) -> dict[str, str]:
    """Return pairs of columns: of one name but for signs and capitals, else of one kind, with
    most values in common.
    """
    plain = {words_of(name).replace(" ", ""): name for name in right}
    found = {name: plain[key] for name in left if (key := words_of(name).replace(" ", "")) in plain}
    values = [{name: _values(column) for name, column in side.items()} for side in (left, right)]
    scores = [
        (len(one & two) / len(one | two), name, other)
        for name, (kind, one) in values[0].items()
        for other, (other_kind, two) in values[1].items()
        if kind == other_kind and one and two
    ]
    for score, name, other in sorted(scores, key=lambda each: (-each[0], *each[1:])):
        if score >= _ALIKE and name not in found and other not in found.values():
            found[name] = other
    return found


def _values(column: pa.Array) -> tuple[str, set[str]]:
    """Return the kind of a column, and its values; words of names and texts."""
    [*fields] = fields_of({"": column}, {})
    if not fields:
        return "", set()
    some = sorted(fields[0].values)[:: len(fields[0].values) // _LOOKED_AT + 1]
    kind = fields[0].kind
    return fields[0].column_kind, {word for value in some for word in (value.split() if kind.has_words else [value])}
