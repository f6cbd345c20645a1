"""The columns of Parquet files, made from the declared fields."""

from __future__ import annotations

from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pyarrow as pa

_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def arrow_schema(row: type) -> pa.Schema:
    """Return the schema of a table whose rows have the fields of the class `row`."""
    return pa.schema(_columns(row))


def _columns(row: type) -> list[tuple[str, pa.DataType]]:
    return [(name, _type(hint)) for name, hint in get_type_hints(row, include_extras=True).items() if not name.startswith("_")]


def _type(hint: Any) -> pa.DataType:
    parts = get_args(hint)
    if NoneType in parts:  # every column may have nulls
        [set_] = (part for part in parts if part is not NoneType)
        return _type(set_)
    if get_origin(hint) is list:
        return pa.list_(_type(parts[0]))
    if hint not in _TYPES and isinstance(hint, type):
        return pa.struct(_columns(hint))
    if get_origin(hint) is not Annotated:
        return _TYPES[hint]
    base, *marks = parts
    return pa.type_for_alias(dict(marks)["format"]) if "format" in dict(marks) else _TYPES[base]
