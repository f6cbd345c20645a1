"""An answer: its fields are those of the JSON, in their order; and rows of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from html import escape
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    Self,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from esdedup.output.contents.field_types import MISSING
from esdedup.plurals import plural

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 20
_CELL = 120

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def answer(cls: type[T]) -> type[T]:
    """Make a class of fields an answer."""
    made: Any = dataclass(frozen=True, repr=False, eq=False, kw_only=True)(cls)
    made._names = {item.name.removesuffix("_"): item.name for item in fields(made)}
    return cast("type[T]", made)


class Result:
    """An answer. Its fields are attributes and items (`summary.counts`, `summary["counts"]`), `to_dict()` gives what
    `--json` prints, and notebooks show a small table: of all fields, or those that the class says are `shown`.
    """

    _shown: ClassVar[tuple[str, ...]] = ()
    _open: ClassVar[bool] = False
    """Whether the JSON may have other fields: those of columns, whose names are the user's."""
    _names: ClassVar[dict[str, str]] = {}
    """The names of the fields in Python by those in the JSON: `in_` is `in`."""

    def __init_subclass__(cls, shown: tuple[str, ...] | None = None) -> None:
        if shown is not None:
            cls._shown = shown

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """Return the answer that says what `answer` does, without the fields that it has not.

        Raises `TypeError` for a field that is not declared.
        """
        nested = _nested(cls)  # type: ignore[arg-type]  # a class has a hash, whatever its instances have
        held = dict.fromkeys(cls._names.values(), MISSING)
        for name, value in answer.items():
            held[cls._names.get(name, name)] = nested[name](value) if name in nested else value
        return cls(**held)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain dicts, lists, texts and numbers."""
        return {name: _plain(value) for name, value in self.items()}

    def __getitem__(self, name: str) -> Any:
        value = getattr(self, self._names[name])
        if value is MISSING:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self._names and getattr(self, self._names[str(name)]) is not MISSING

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result | Mapping) and dict(self.items()) == dict(other.items())

    def __hash__(self) -> int:
        return id(self)

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**dict(self.items()), **other}

    def keys(self) -> list[str]:
        """Return the names of the fields that this answer has."""
        return [name for name, _ in self.items()]

    def values(self) -> list[Any]:
        """Return the values of these fields."""
        return [value for _, value in self.items()]

    def items(self) -> list[tuple[str, Any]]:
        """Return names and values of these fields."""
        found = ((name, getattr(self, field)) for name, field in self._names.items())
        return [(name, value) for name, value in found if value is not MISSING]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the field `name`, or `default` where this answer has none."""
        value = getattr(self, self._names[name]) if name in self._names else MISSING
        return default if value is MISSING else value

    def _summary(self) -> list[tuple[str, str]]:
        """Name and value of what is shown, a mapping of numbers as one row each."""
        rows: list[tuple[str, str]] = []
        unit = self.get("settings", {}).get("unit", "sentence")
        for name, value in self.items():
            if self._shown and name not in self._shown:
                continue
            parts = value.items() if isinstance(value, Mapping | Result) else ()
            if parts and all(isinstance(each, int | None) for _, each in parts):
                named = [(key.replace("_", " ").replace("sentence", unit), each) for key, each in parts]
                rows += [(key, "–" if each is None else f"{each:,}") for key, each in named]
            else:
                rows.append((name.replace("_", " "), _short(value)))
        return rows

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}: {value}' for name, value in self._summary())})"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in self._summary())
        return f"<table>{rows}</table>"


Converter = Callable[[Any], Any]


@cache
def _nested(cls: type[Result]) -> dict[str, Converter]:
    """Return what makes answers of the values of fields that hold answers."""
    hints = get_type_hints(cls, include_extras=True)
    found = {name.removesuffix("_"): _converter(hint) for name, hint in hints.items() if not name.startswith("_")}
    return {name: converter for name, converter in found.items() if converter is not None}


def _converter(hint: Any) -> Converter | None:
    origin, parts = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and origin is None and issubclass(hint, Result):
        return hint.of
    if origin is Annotated:
        return None if isinstance(parts[1], type) else _converter(parts[0])
    if origin in (Union, UnionType):
        some = [part for part in parts if part is not NoneType]
        one = _converter(some[0]) if len(some) == 1 else None
        return None if one is None else lambda value: None if value is None else one(value)
    each = _converter(parts[-1]) if origin in (list, dict) else None
    if each is None:
        return None
    if origin is list:
        return lambda values: [each(value) for value in values]
    return lambda values: {name: each(value) for name, value in values.items()}


R = TypeVar("R", bound=Result)


class Rows(Sequence[R], Generic[R]):
    """Results of one kind, in order. `note` says what is not among them, if that is not what was asked for."""

    def __init__(self, rows: Sequence[R] = (), note: str = "") -> None:
        self._rows = tuple(rows)
        self.note = note

    @overload
    def __getitem__(self, place: int) -> R: ...
    @overload
    def __getitem__(self, place: slice) -> Rows[R]: ...
    def __getitem__(self, place: int | slice) -> R | Rows[R]:
        return Rows(self._rows[place]) if isinstance(place, slice) else self._rows[place]

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        """Return the names in the JSON of all fields."""
        return tuple(item.name.removesuffix("_") for item in fields(cls))  # type: ignore[arg-type]  # by `answer`

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self._rows) == list(other)

    def __hash__(self) -> int:
        return hash(self._rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Each row as a plain dict: a line of what `--json` prints."""
        return [row.to_dict() for row in self._rows]

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, a column a field."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.to_dicts())

    def __repr__(self) -> str:
        shown = "".join(f"\n  {row!r}" for row in self._rows[:_SHOWN])
        more = f"\n  … {len(self) - _SHOWN:,} more" if len(self) > _SHOWN else ""
        note = f"\n{self.note}" if self.note else ""
        return f"{plural(len(self), 'row')}{shown}{more}{note}"

    def _repr_html_(self) -> str:
        if not self._rows:
            return "<p>no rows</p>"
        first = self._rows[0]
        names = [name for name, _ in first.items() if not first._shown or name in first._shown]
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(_short(row.get(name)))}</td>' for name in names)}</tr>"
            for row in self._rows[:_SHOWN]
        )
        more = f"<p>… {len(self) - _SHOWN:,} more</p>" if len(self) > _SHOWN else ""
        return f"<table><tr>{head}</tr>{body}</table>{more}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping | Result):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | Rows):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _short(value: Any) -> str:
    if isinstance(value, float):
        text = f"{value:g}"
    elif isinstance(value, int) and not isinstance(value, bool):
        text = f"{value:,}"
    else:
        text = "–" if value is None else str(value)
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"
