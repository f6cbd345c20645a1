"""Tables in memory: their columns, and some of their rows in the form that came in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, ClassVar, cast

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from narwhals.exceptions import DuplicateError

from esdedup.columns.arrays import LIST, array_of, joined, list_texts, taken, without_dictionary
from esdedup.columns.changed import changed, with_changed
from esdedup.columns.labelled import labelled_texts
from esdedup.columns.labels import ALL, label_of
from esdedup.errors import UsageError

TEXT, ID = "text", "id"
"""The columns of texts and ids, unless others are named."""


class Table(ABC):
    """A table of one kind. Subclasses are tried in the order of `_KINDS`."""

    what: ClassVar[str]
    """What such tables are called in a message."""

    def __init__(self, data: Any) -> None:
        self.data = data

    @staticmethod
    @abstractmethod
    def fits(data: Any) -> bool:
        """Whether `data` is of this kind."""

    @property
    @abstractmethod
    def names(self) -> list[Any]:
        """The columns: mostly strings, but those of pandas may have any names."""

    @abstractmethod
    def column(self, name: Any) -> pa.ChunkedArray:
        """Return a column, of any type."""

    @abstractmethod
    def take(self, rows: Sequence[int]) -> Any:
        """Return the rows with these numbers, in the form that came in."""

    @abstractmethod
    def with_values(self, data: Any, path: str, values: Mapping[int, Any]) -> Any:
        """Return a table as `take` returns it, with other values in some rows of a column, or at a dotted path."""


class _Rows(Table):
    """A list of strings, or of dicts."""

    what = "a list of strings or of dicts"

    def __init__(self, data: Any) -> None:
        super().__init__(list(data))
        kinds = set(map(type, self.data))
        self._strings = all(issubclass(kind, str | NoneType) for kind in kinds)
        if not self._strings and not all(issubclass(kind, dict | NoneType) for kind in kinds):
            named = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise UsageError(f"the list has {named}; give strings, or dicts")

    @staticmethod
    def fits(data: Any) -> bool:
        return isinstance(data, Iterable) and not isinstance(data, str | bytes | dict) and not hasattr(data, "shape")

    @property
    def names(self) -> list[Any]:
        return [TEXT] if self._strings else list(dict.fromkeys(key for row in self.data if row for key in row))

    def column(self, name: str) -> pa.ChunkedArray:
        return _values(self.data if self._strings else [None if row is None else row.get(name) for row in self.data])

    def take(self, rows: Sequence[int]) -> Any:
        return [self.data[row] for row in rows]

    def with_values(self, data: Any, path: str, values: Mapping[int, Any]) -> Any:
        keys = _keys(self, path)
        for row, value in values.items():
            data[row] = value if self._strings else _with_value(data[row], keys, value)
        return data


def _keys(table: Table, path: str) -> list[str]:
    return [path] if path in table.names else path.split(".")


def _with_value(holder: Any, keys: Sequence[str], value: Any) -> Any:
    """Return a copy of a dict with another value at a path."""
    if not keys:
        return value
    held = holder if isinstance(holder, dict) else {}
    return {**held, keys[0]: _with_value(held.get(keys[0]), keys[1:], value)}


class _HuggingFace(Table):
    """A `datasets.Dataset`."""

    what = "a Hugging Face Dataset"

    @staticmethod
    def fits(data: Any) -> bool:
        return all(hasattr(data, name) for name in ("with_format", "select", "column_names"))

    @property
    def names(self) -> list[str]:
        return list(self.data.column_names)

    def column(self, name: str) -> pa.ChunkedArray:
        return self.data.select_columns([name]).with_format("arrow")[:][name]

    def take(self, rows: Sequence[int]) -> Any:
        return self.data.select(rows)

    def with_values(self, data: Any, path: str, values: Mapping[int, Any]) -> Any:
        rows = with_changed(data.with_format("arrow")[:], _keys(self, path), values)
        return type(data)(rows, info=data.info)


class _Relation(Table):
    """A DuckDB relation. It is read once. What comes back belongs to the same connection."""

    what = "a DuckDB relation"

    def __init__(self, data: Any) -> None:
        super().__init__(pa.table(data))
        self._relation = data

    @staticmethod
    def fits(data: Any) -> bool:
        return type(data).__name__ == "DuckDBPyRelation"

    @property
    def names(self) -> list[str]:
        return list(self.data.column_names)

    def column(self, name: str) -> pa.ChunkedArray:
        return self.data[name]

    def take(self, rows: Sequence[int]) -> Any:
        return self._related(taken(self.data, np.array(rows, np.int64)))

    def with_values(self, data: Any, path: str, values: Mapping[int, Any]) -> Any:
        return self._related(with_changed(pa.table(data), _keys(self, path), values))

    def _related(self, kept: pa.Table) -> Any:
        return self._relation.query("source", "SELECT * FROM kept")  # DuckDB finds the variable by its name


class _Frame(Table):
    """A table of pandas, polars, pyarrow or another library that narwhals knows."""

    what = "a table of pandas, polars or pyarrow"

    def __init__(self, data: Any) -> None:
        super().__init__(nw.from_native(data, eager_only=True))

    @staticmethod
    def fits(data: Any) -> bool:
        return isinstance(nw.from_native(data, eager_only=True, pass_through=True), nw.DataFrame)

    @property
    def names(self) -> list[Any]:
        return list(self.data.columns)

    def column(self, name: Any) -> pa.ChunkedArray:
        return _chunked(self.data.get_column(name))

    def take(self, rows: Sequence[int]) -> Any:
        native = self.data.to_native()
        if isinstance(native, pa.Table):
            return taken(native, np.array(rows, np.int64))
        return self.data[list(rows)].to_native()

    def with_values(self, data: Any, path: str, values: Mapping[int, Any]) -> Any:
        name, *keys = _keys(self, path)
        if isinstance(data, pa.Table):
            return with_changed(data, [name, *keys], values)
        frame = nw.from_native(data, eager_only=True)
        return frame.with_columns(_with_values(frame.get_column(name), keys, values)).to_native()


def _with_values(series: nw.Series[Any], keys: Sequence[str], values: Mapping[int, Any]) -> nw.Series[Any]:
    held = series.to_list()
    changed = [_with_value(held[row], keys, value) for row, value in values.items()]
    try:
        return series.scatter(list(values), changed)
    except Exception:  # of a value of another type; each library has errors of its own
        for row, value in zip(values, changed, strict=True):
            held[row] = value
    kind = None if isinstance(series.dtype, nw.Object | nw.Unknown) else series.dtype
    try:
        return nw.Series.from_iterable(series.name, held, kind, backend=series.implementation)
    except Exception as error:
        raise UsageError(f"merge: {series.name} cannot hold {changed[0]!r}; merge it by another rule") from error


def _chunked(series: nw.Series[Any]) -> pa.ChunkedArray:
    try:
        found = series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        return _values(series.to_list())
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _values(values: list[Any]) -> pa.ChunkedArray:
    """Return Python values as a column. Those of several types are in their own form of text."""
    # not a number: a missing value of pandas
    return pa.chunked_array([array_of([None if value != value else value for value in values])])


class _Series(Table):
    """A column of pandas, polars or pyarrow."""

    what = "a column of these"

    def __init__(self, data: Any) -> None:
        super().__init__(nw.from_native(data, series_only=True))

    @staticmethod
    def fits(data: Any) -> bool:
        return isinstance(nw.from_native(data, allow_series=True, pass_through=True), nw.Series)

    @property
    def names(self) -> list[str]:
        return [TEXT]

    def column(self, name: str) -> pa.ChunkedArray:
        return _chunked(self.data)

    def take(self, rows: Sequence[int]) -> Any:
        native = self.data.to_native()
        if isinstance(native, pa.ChunkedArray):
            return taken(native, np.array(rows, np.int64))
        return self.data[list(rows)].to_native()

    def with_values(self, data: Any, path: str, values: Mapping[int, Any]) -> Any:
        if isinstance(data, pa.ChunkedArray):
            return pa.chunked_array([changed(data.combine_chunks(), (), values)])
        return _with_values(nw.from_native(data, series_only=True), (), values).to_native()


class _Stream(_Relation):
    """Anything that has an Arrow C stream. What comes back is a pyarrow table."""

    what = "anything with an Arrow C stream"

    @staticmethod
    def fits(data: Any) -> bool:
        return hasattr(data, "__arrow_c_stream__")

    def _related(self, kept: pa.Table) -> Any:
        return kept


_KINDS: tuple[type[Table], ...] = (_HuggingFace, _Relation, _Frame, _Series, _Stream, _Rows)


def table_of(data: Any) -> Table:
    """Return the table that `data` is. Raises `UsageError` if it is none."""
    if isinstance(data, pa.Array):
        data = pa.chunked_array([data])
    elif isinstance(data, np.ndarray) and data.ndim == 1:
        data = data.tolist()
    try:
        for kind in _KINDS:
            if kind.fits(data):
                return kind(data)
    except DuplicateError:
        raise UsageError("two columns of the table have the same name; rename one of them") from None
    lazy = " (call .collect() first)" if hasattr(data, "collect") else ""
    raise UsageError(
        f"{type(data).__name__} is not a table{lazy}; give {', '.join(kind.what for kind in _KINDS)}, or paths of files"
    )


def texts_of(
    table: Table, columns: Sequence[Hashable] | Hashable | None, id_column: Hashable = None
) -> pa.ChunkedArray:
    """Return the texts of a table: those of several columns are joined by a space. Missing ones are null.

    Without `columns`: the column `text`, or the only column of strings beside the ids; with `*`, all but the ids, each
    labelled with its name. Raises `UsageError` if there is none.
    """
    if _has_nothing(table):
        return pa.chunked_array([], pa.large_string())
    parts, names = [], text_names(table, columns, id_column)
    for name in names:
        root, _, path = name.partition(LIST) if isinstance(name, str) and name not in table.names else (name, "", "")
        if root not in table.names:
            raise UsageError(f"no column {name!r}; columns: {', '.join(map(str, table.names))}")
        parts.append(strings(table.column(root), name, path))
    if len(parts) == 1 and not _is_all(table, columns):
        return parts[0]
    whole = [part.combine_chunks() for part in parts]
    if _is_all(table, columns):
        return pa.chunked_array([labelled_texts([label_of(name, at) for at, name in enumerate(names, 1)], whole)])
    return pa.chunked_array([joined(whole)])


def text_names(table: Table, columns: Sequence[Hashable] | Hashable | None, id_column: Hashable) -> list[Hashable]:
    """Return the names, or paths, of the columns that have the text; see `texts_of`. An empty table has none."""
    if _has_nothing(table):
        return []
    if columns is None:
        columns = [_usual(table, id_column or ID)]
    if _is_all(table, columns):
        if not (found := [name for name in table.names if name != (id_column or ID)]):
            raise UsageError("the table has no column besides the ids; give one with several columns")
        return found
    if isinstance(columns, list | tuple) and columns not in table.names:
        if not columns:
            raise UsageError("columns is empty; name the columns of the text, or omit columns")
        return list(columns)
    return [cast("Hashable", columns)]


def _is_all(table: Table, columns: Any) -> bool:
    return isinstance(columns, str) and columns == ALL and ALL not in table.names


def column_at(table: Table, path: str) -> pa.Array:
    """Return the values at the name of a column or a dotted path, of any type. Raises `UsageError` if there is none."""
    root, *keys = [path] if path in table.names else path.split(".")
    if root not in table.names:
        raise UsageError(f"no column {path!r}; columns: {', '.join(map(str, table.names))}")
    found = without_dictionary(table.column(root)).combine_chunks()
    for key in keys:
        if not (pa.types.is_struct(found.type) and found.type.get_field_index(key) >= 0):
            raise UsageError(f"no column {path!r}: {root} holds {found.type}")
        found = pc.struct_field(found, key)
    return found


def _usual(table: Table, ids: Hashable) -> Hashable:
    if TEXT in table.names:
        return TEXT
    found = [name for name in table.names if name != ids and _is_text(table.column(name).type)]
    if len(found) != 1:
        listed = ", ".join(map(str, table.names)) or "none"
        raise UsageError(f"no column {TEXT!r}; name the columns of the text, as in columns=['name']; columns: {listed}")
    usual: Hashable = found[0]
    return usual


def _has_nothing(table: Table) -> bool:
    """Whether a table has neither rows nor columns. An empty list has any column."""
    return not table.names or (isinstance(table, _Rows) and not table.data)


def ids_of(table: Table, column: Hashable) -> list[Any]:
    """Return the ids of the rows: those of `column` or of the column `id`, else the row numbers from 0."""
    if _has_nothing(table):
        return []
    if column is not None and column not in table.names:
        raise UsageError(f"no column {column!r}; columns: {', '.join(map(str, table.names))}")
    name = column or (ID if ID in table.names else None)
    texts = table.column(name).to_pylist() if name is not None else None
    return list(range(len(table.column(table.names[0])))) if texts is None else texts


def strings(column: pa.ChunkedArray, name: Any, path: str = "") -> pa.ChunkedArray:
    """Return a column as strings; of lists those at `path`, see `list_texts`. Raises `UsageError` if it holds something
    else.
    """
    kind = column.type
    lists = [list_texts(chunk, path) for chunk in column.chunks]
    if lists and None not in lists:
        return pa.chunked_array(lists, pa.large_string())
    try:
        return without_dictionary(column).cast(pa.large_string())
    except pa.ArrowNotImplementedError:
        raise UsageError(f"column {name!r} holds {kind}; what is compared must be strings or numbers") from None
    except pa.ArrowInvalid:
        raise UsageError(f"column {name!r} holds bytes that are not valid UTF-8; decode them first") from None


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
