"""Convert Arrow string columns to flat numpy arrays and back, without copying, and read characters of UTF-8."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.hashing import Bytes, Offsets
from esdedup.columns.kernels import compiled

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


LIST = "[]"
"""Behind the name of a column or a field: each value of the list there, as in messages[].content."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def run_starts(*columns: npt.NDArray[Any]) -> Numbers:
    """Return where runs of equal rows begin, in columns of one length."""
    new = np.zeros(len(columns[0]), np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def first_of_each(rows: pa.Table) -> pa.Table:
    """Return the first row of each value in the column `hash`, by hash."""
    _, first = np.unique(rows["hash"].to_numpy(), return_index=True)
    return rows.take(pa.array(first)).combine_chunks()


def replace_surrogates(text: str) -> str:
    """Replace each lone surrogate with U+FFFD, because UTF-8 cannot encode it."""
    return _SURROGATE.sub("\ufffd", text)


def joined(columns: Sequence[pa.Array]) -> pa.Array:
    """Return the texts of several columns, joined by a space. Missing ones are empty."""
    return pc.binary_join_element_wise(*columns, pa.scalar(" ", pa.large_string()), null_handling="replace")


def text_column(texts: Sequence[str]) -> pa.LargeStringArray:
    """Return a column of texts."""
    return pa.array(texts, pa.large_string())


def text_buffers(column: pa.LargeStringArray) -> tuple[Bytes, Offsets]:
    """Return UTF-8 bytes and offsets of shape (n + 1,). Text i is `data[offsets[i]:offsets[i + 1]]`."""
    if len(column) == 0:
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(column) + 1, column.offset * 8)
    return (np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)), bounds


def texts_from(data: Bytes, offsets: Offsets) -> pa.LargeStringArray:
    """Return the column with the flat form `data` and `offsets`. The bytes must be UTF-8."""
    return pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(data)
    )


def array_of(values: Sequence[Any]) -> pa.Array:
    """Return Python values as an array. Those of several types are in their own form of text."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        texts = [None if value is None else replace_surrogates(str(value)) for value in values]
        return pa.array(texts, pa.large_string())


def table_of_rows(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """Return a table of rows (may be empty), whose values are in the order of the schema."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table([pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)], schema)


def taken(array: Any, rows: Numbers) -> Any:
    """Return rows of an array, a chunked array, a batch or a table, in this order.

    The library cannot take from views of strings, alone or in other types: there, runs of rows are put together.
    """
    try:
        return array.take(pa.array(rows))
    except pa.ArrowNotImplementedError:
        if isinstance(array, pa.Table | pa.RecordBatch):
            columns = [taken(column, rows) for column in array.columns]
            return type(array).from_arrays(columns, schema=array.schema)
    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array([taken(array.combine_chunks(), rows)], array.type)
    if not len(rows):
        return array.slice(0, 0)
    begins = np.flatnonzero(np.diff(np.append(-2, rows)) != 1)
    ends = np.append(begins[1:], len(rows))
    return pa.concat_arrays([array.slice(rows[begin], end - begin) for begin, end in zip(begins, ends, strict=True)])


def without_views(kind: pa.DataType) -> pa.DataType:
    """Return a type with strings and bytes in place of views of them, at any depth."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(without_views(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(*(field.with_type(without_views(field.type)) for field in (kind.key_field, kind.item_field)))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(without_views(kind.value_type)), kind.list_size)
    for is_list, made in ((pa.types.is_list, pa.list_), (pa.types.is_large_list, pa.large_list)):
        if is_list(kind):
            return made(kind.value_field.with_type(without_views(kind.value_type)))
    return kind


def without_dictionary(array: Any) -> Any:
    """Return an array or a chunked array with its values in place of numbers of them."""
    if not pa.types.is_dictionary(array.type):
        return array
    kind = without_views(array.type.value_type)
    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array(list(map(without_dictionary, array.chunks)), kind)
    return array.dictionary.cast(kind).take(array.indices)


def list_texts(array: Any, path: str = "") -> pa.LargeStringArray | None:
    """Return the texts in lists, those of a row joined by line ends. None if these are no lists of texts.

    `path` leads from a value of the list to its text: fields after dots, and `LIST` behind those of lists.
    """
    owners = np.arange(len(array))
    rows = len(array)
    for keys in path.split(LIST):
        if pa.types.is_dictionary(array.type) or not hasattr(array.type, "value_type"):
            return None
        lists = array.cast(pa.large_list(array.type.value_type))
        owners, array = owners[lists.value_parent_indices().to_numpy()], lists.flatten()
        for key in filter(None, keys.split(".")):
            array = pc.struct_field(array, key)
    array = without_dictionary(array)
    kind = array.type
    if not any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
        return None
    there = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))
    texts = array.cast(pa.large_string()).take(pa.array(there))
    offsets = np.searchsorted(owners[there], np.arange(rows + 1))
    return pc.binary_join(pa.LargeListArray.from_arrays(offsets, texts), pa.scalar("\n", pa.large_string()))


@compiled
def decode(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return the code point at `at`, and where the next one begins. A byte that is not UTF-8 is a code point."""
    byte = int(data[at])
    if byte < 0x80 or at + 1 >= end:
        return byte, at + 1
    if byte < 0xE0:
        return (byte & 31) << 6 | (int(data[at + 1]) & 63), at + 2
    if byte < 0xF0 and at + 2 < end:
        return (byte & 15) << 12 | (int(data[at + 1]) & 63) << 6 | (int(data[at + 2]) & 63), at + 3
    if at + 3 < end:
        code = (byte & 7) << 18 | (int(data[at + 1]) & 63) << 12 | (int(data[at + 2]) & 63) << 6
        return code | (int(data[at + 3]) & 63), at + 4
    return byte, at + 1


@compiled
def encode(out: Bytes, at: int, code: int) -> int:
    """Write a code point at `at`. Return where the next one begins."""
    if code < 0x80:
        out[at] = code
        return at + 1
    if code < 0x800:
        out[at] = 0xC0 | code >> 6
        out[at + 1] = 0x80 | code & 0x3F
        return at + 2
    if code < 0x10000:
        out[at] = 0xE0 | code >> 12
        out[at + 1] = 0x80 | code >> 6 & 0x3F
        out[at + 2] = 0x80 | code & 0x3F
        return at + 3
    out[at] = 0xF0 | code >> 18
    out[at + 1] = 0x80 | code >> 12 & 0x3F
    out[at + 2] = 0x80 | code >> 6 & 0x3F
    out[at + 3] = 0x80 | code & 0x3F
    return at + 4
