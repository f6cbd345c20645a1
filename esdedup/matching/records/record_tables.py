"""Tables in memory as columns of strings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import without_dictionary
from esdedup.columns.tables import ID, ids_of, table_of
from esdedup.errors import UsageError
from esdedup.matching.records.matching import Known
from esdedup.matching.records.record_options import KIND_NAMES


def columns_of(
    tables: Sequence[Any], id_column: str | None, kinds: Mapping[str, str]
) -> tuple[dict[str, pa.Array], list[Any], int | None]:
    """Return the columns of one table, or of two below each other, the ids, and where the second table begins. What a
    table does not have is null.

    Raises `UsageError` if there is no column to compare, or `kinds` name one that is not there or no kind.
    """
    if any(isinstance(table, str | PathLike) for table in tables):
        raise UsageError("link compares tables in memory; read files first, as with pandas.read_csv")
    held = [table_of(table) for table in tables]
    ids = [ids_of(table, id_column) for table in held]
    own = id_column or ID
    names = dict.fromkeys(name for table in held for name in table.names if name != own)
    for name, kind in kinds.items():
        if name not in names:
            raise UsageError(f"kinds: no column {name!r}; columns: {', '.join(map(str, names))}")
        if kind not in KIND_NAMES:
            raise UsageError(f"kinds: {name} is {kind!r}; allowed: {', '.join(KIND_NAMES)}")
    if not names:
        raise UsageError("the table has no column besides the ids; give one with several columns")
    columns = {
        str(name): pa.concat_arrays(
            [
                _strings(table.column(name), name) if name in table.names else pa.nulls(len(rows), pa.large_string())
                for table, rows in zip(held, ids, strict=True)
            ]
        )
        for name in names
    }
    return columns, [each for rows in ids for each in rows], len(ids[0]) if len(held) > 1 else None


def _strings(column: pa.ChunkedArray, name: Any) -> pa.Array:
    """Return a column as strings; missing where it holds something that is no single value."""
    try:
        found = without_dictionary(column).cast(pa.large_string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise UsageError(f"column {name!r} holds {column.type}, not single values; leave it out") from error
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def known_rows(known: Iterable[tuple[Any, Any, bool]], ids: Sequence[Any], first_right: int | None) -> Known | None:
    """Return judged pairs by the numbers of their rows. Raises `UsageError` for an id that is not there."""
    middle = len(ids) if first_right is None else first_right
    left = {each: row for row, each in enumerate(ids[:middle])}
    right = left if first_right is None else {each: row for row, each in enumerate(ids[middle:], middle)}
    held = list(known)
    for one, two, _ in held:
        if one not in left or two not in right:
            raise UsageError(f"known: no record {one if one not in left else two!r}; name ids of the tables")
    if not held:
        return None
    a, b, same = zip(*((left[one], right[two], same) for one, two, same in held), strict=True)
    return Known(np.array(a), np.array(b), np.array(same, np.bool_))
