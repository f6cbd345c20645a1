"""Values of a column as JSON, and a column with other values in some rows: its type stays."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import taken
from esdedup.errors import UsageError


def json_values(array: pa.Array) -> list[Any]:
    """Return the values of a column as JSON: dates, times and decimals are texts.

    Raises `UsageError` for bytes.
    """
    kind = array.type
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        array = array.cast(pa.string())
    values: list[Any] = array.to_pylist()
    if any(isinstance(value, bytes) for value in values):
        raise UsageError(f"merge: a column holds {kind}, whose values cannot be merged; omit it")
    return values


def shown_values(array: pa.Array) -> list[Any]:
    """Return the values of a column of any type: of times that Python does not have, their texts or numbers."""
    try:
        return array.to_pylist()  # type: ignore[no-any-return]
    except (ValueError, OverflowError):
        return array.cast(_without_times(array.type)).to_pylist()  # type: ignore[no-any-return]


def _without_times(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return pa.int32()
    if pa.types.is_temporal(kind):
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_times(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = kind.value_field.with_type(_without_times(kind.value_type))
        return pa.list_(inner) if pa.types.is_list(kind) else pa.large_list(inner)
    return kind


def typed(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return values in a type: texts also as what they say. Raises `UsageError` for one that it cannot hold."""
    read = values
    try:
        if pa.types.is_map(kind):
            read = [None if value is None else [tuple(pair) for pair in value] for value in values]
        elif pa.types.is_time(kind):
            read = [datetime.time.fromisoformat(value) if isinstance(value, str) else value for value in values]
        return pa.array(read, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        texts = [None if value is None else str(value) for value in values]
        try:
            return pa.array(texts, pa.string()).cast(kind)
        except pa.ArrowException as error:
            raise UsageError(f"merge: {values[0]!r} of another source cannot be a value of {kind}") from error


def with_changed(batch: Any, path: Sequence[str], values: Mapping[int, Any]) -> Any:
    """Return a batch or a table with other values in some rows of a column, or of its struct field at a path."""
    at = batch.schema.names.index(path[0])
    column = batch.column(at)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return batch.set_column(at, batch.schema.field(at), changed(column, path[1:], values))


def changed(array: pa.Array, path: Sequence[str], values: Mapping[int, Any]) -> pa.Array:
    """As `with_changed`, of an array."""
    kind, rows = array.type, list(values)
    if path:
        fields = list(kind)
        children = [array.field(index) for index in range(len(fields))]
        at = kind.get_field_index(path[0])
        children[at] = changed(children[at], path[1:], values)
        missing = array.is_null().to_numpy(zero_copy_only=False).copy()
        missing[rows] = False
        return pa.StructArray.from_arrays(children, fields=fields, mask=pa.array(missing))
    order = np.arange(len(array))
    order[rows] = np.arange(len(array), len(array) + len(rows))
    if not pa.types.is_dictionary(kind):
        return taken(pa.concat_arrays([array, typed(list(values.values()), kind)]), order)
    known = len(array.dictionary)
    numbers = pa.concat_arrays([array.indices, pa.array(range(known, known + len(rows)), kind.index_type)])
    dictionary = pa.concat_arrays([array.dictionary, typed(list(values.values()), kind.value_type)])
    return pa.DictionaryArray.from_arrays(numbers.take(pa.array(order)), dictionary, ordered=kind.ordered)
