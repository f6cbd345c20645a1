"""An option is declared once: its type, default, range and help. Everything else is derived from the declaration.

A part that can be chosen or set (a matcher, a format, the settings of a scan) is a frozen dataclass that inherits from
`Options`, and each of its fields is an `option(...)`. The command line, presets, config files, checks, the JSON of
settings and the command reference read these fields. Parts that can be chosen by name are in a `Registry`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from types import NoneType
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin, get_type_hints

from esdedup.errors import SettingsError, UsageError

_SHOWN = 60
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of an option. `name` is the Python name; on the command line, `_` becomes `-`."""

    name: str
    type: type  # of a set value: bool, int, float, str or tuple
    default: Any
    help: str
    unit: str  # placeholder for the value in help: N, S, FILE
    low: float | None
    high: float | None
    above: bool  # whether `low` itself is excluded
    below: bool  # whether `high` itself is excluded
    choices: tuple[str, ...]
    pattern: str | None  # must match the whole text
    expected: str  # what a message asks for, if range and choices do not say it
    parse: Callable[[str], Any] | None  # converts the command line's text to a value
    off: str | None  # the flag that switches a bool off, if it is not --no-NAME
    usual: str | None  # the default in words, if the value does not say it
    optional: bool  # whether None (not set) is allowed

    @property
    def flag(self) -> str:
        """The option's name on the command line, without leading dashes."""
        return self.name.replace("_", "-")

    def check(self, value: Any) -> None:
        """Raise `SettingsError` for a value of another type or outside the range."""
        if value is None and self.optional:
            return
        if not self._has_type(value) or not self._is_allowed(value):
            shown = "too long a text" if isinstance(value, str) and len(value) > 10**6 else shown_value(value)
            raise SettingsError(f"{self.flag} is {shown}; {self._asked(value)}")

    def _has_type(self, value: Any) -> bool:
        if self.type is float:
            return type(value) in (int, float)
        if self.type is tuple:
            return isinstance(value, tuple | list) and all(type(item) is int for item in value)
        if self.type is str:
            return isinstance(value, str) and _SURROGATE.search(value) is None
        # neither a bool nor a numpy number, because the store saves settings as JSON
        return type(value) is self.type

    def _is_allowed(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if self.pattern is not None:
            return re.fullmatch(self.pattern, value) is not None
        # comparisons that must be true: all of them are false for NaN
        if self.low is not None and not (value > self.low if self.above else value >= self.low):
            return False
        return self.high is None or (value < self.high if self.below else value <= self.high)

    def _asked(self, value: Any) -> str:
        if self.expected:
            return self.expected
        if self.choices:
            return f"allowed: {', '.join(self.choices)}"
        if self.type is bool:
            return "allowed: true, false"
        if self.above:
            return f"allowed: greater than {self.low:g}, up to {self.high:g}"
        if self.below:
            return f"allowed: {self.low:g} up to, not including, {self.high:g}"
        whole = "" if type(value) is int or self.type is not int else "an integer, "
        return f"allowed: {whole}{self.low} to {self.high}"


def option(
    default: Any,
    help: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    above: bool = False,
    below: bool = False,
    choices: Iterable[str] = (),
    pattern: str | None = None,
    expected: str = "",
    parse: Callable[[str], Any] | None = None,
    off: str | None = None,
    usual: str | None = None,
) -> Any:
    """Declare a field of an `Options` dataclass. `help` says what the option does; range and default are added.

    The parameters are those of `Option`.
    """
    declared = {
        "help": help, "unit": unit, "low": low, "high": high, "above": above, "below": below,
        "choices": tuple(choices), "pattern": pattern, "expected": expected, "parse": parse, "off": off, "usual": usual,
    }  # fmt: skip
    return field(default=default, metadata={"option": declared})


@dataclass(frozen=True)
class Options:
    """Values of some options, checked when they are set. Base class of frozen dataclasses of `option` fields."""

    unsaved: ClassVar[frozenset[str]] = frozenset()
    """Options that are not saved, and not taken from a store, which may come from anybody: paths."""

    def __post_init__(self) -> None:
        for declared in self.declared():
            declared.check(getattr(self, declared.name))
        self.check_together()

    def check_together(self) -> None:
        """Raise `SettingsError` if values that are allowed alone cannot be combined."""

    @classmethod
    def declared(cls) -> tuple[Option, ...]:
        """Return the options in the order of their declaration."""
        return _declared(cls)  # type: ignore[arg-type]  # a class has a hash, whatever its instances have

    @classmethod
    def names(cls) -> frozenset[str]:
        """Return the names of the options."""
        return frozenset(declared.name for declared in cls.declared())

    def described(self) -> dict[str, Any]:
        """Return the set values by the options' names on the command line."""
        saved = (declared for declared in self.declared() if declared.name not in self.unsaved)
        held = {declared.flag: getattr(self, declared.name) for declared in saved}
        return {flag: value for flag, value in held.items() if value is not None}


@cache
def _declared(cls: type[Options]) -> tuple[Option, ...]:
    hints = get_type_hints(cls)
    found = []
    for item in fields(cls):
        if "option" not in item.metadata:
            continue
        kinds = get_args(hints[item.name]) if get_origin(hints[item.name]) is not tuple else (hints[item.name],)
        kinds = kinds or (hints[item.name],)
        [kind] = [get_origin(each) or each for each in kinds if each is not NoneType]
        optional = NoneType in kinds
        found.append(Option(item.name, kind, item.default, **item.metadata["option"], optional=optional))
    return tuple(found)


class Choice(Options):
    """A part that is chosen by name, with its own options."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """A short description for help: part of a sentence."""


T = TypeVar("T")
C = TypeVar("C", bound=Choice)


class Implementations(Generic[T]):
    """The implementations of one protocol by name. They are imported on first use.

    `option` is the option that names one of them. `locations` maps each name to `package.module:Class`.
    """

    def __init__(self, option: str, locations: Mapping[str, str]) -> None:
        self.option = option
        self._locations = dict(locations)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, the default first."""
        return tuple(self._locations)

    def check(self, name: str) -> None:
        """Raise `SettingsError` for an unknown name. Nothing is imported."""
        if not isinstance(name, str) or name not in self._locations:
            raise SettingsError(f"{self.option} is {shown_value(name)}; allowed: {', '.join(self._locations)}")

    def __getitem__(self, name: str) -> type[T]:
        self.check(name)
        return self.imported(name)

    def imported(self, name: str) -> type[T]:
        """Return the implementation of this name, which must be known."""
        module, _, class_name = self._locations[name].partition(":")
        found: type[T] = getattr(import_module(module), class_name)
        return found

    def __iter__(self) -> Iterator[type[T]]:
        return (self[name] for name in self._locations)


class Registry(Implementations[C]):
    """Implementations that declare their own options."""

    def owners(self, name: str) -> list[str]:
        """Return the implementations that have an option of this name."""
        return [each.name for each in self if name in each.names()]

    def option_names(self) -> frozenset[str]:
        """Return the names of all options of all implementations."""
        return frozenset[str]().union(*(each.names() for each in self))

    def declared(self) -> dict[str, list[tuple[str, Option]]]:
        """Return all options of the implementations by name: the implementation that has it, and its
        declaration there.
        """
        found: dict[str, list[tuple[str, Option]]] = {}
        for each in self:
            for declared in each.declared():
                found.setdefault(declared.name, []).append((each.name, declared))
        return found

    def make(self, name: str, given: Mapping[str, Any]) -> C:
        """Return the implementation `name` with those of the given options that it has."""
        chosen = self[name]
        return chosen(**{each: given[each] for each in given if each in chosen.names()})

    def refuse_others(self, chosen: str, asked: Iterable[str]) -> None:
        """Raise `SettingsError`, with both names, for a given option that only implementations other than `chosen`
        have.
        """
        for name in asked:
            owners = self.owners(name)
            if owners and chosen not in owners:
                flag = name.replace("_", "-")
                needed = f"{self.option} {' or '.join(owners)}"
                raise SettingsError(f"the option {flag} needs {needed}; now {self.option} is {chosen}")


NAMES_ELSEWHERE = {
    "threshold": "jaccard", "similarity": "jaccard", "min_similarity": "jaccard", "num_bands": "bands", "b": "bands",
    "r": "rows", "ngram": "shingle", "ngram_size": "shingle", "n_jobs": "workers", "num_workers": "workers",
    "field": "text_column", "text_field": "text_column", "column": "text_column", "output": "out",
}  # fmt: skip
"""What options are called in other programs."""
_ALIKE = 0.7
"""How similar, at least, a name is to the option that is meant."""


def sort_out(given: Mapping[str, Any], *groups: frozenset[str]) -> list[dict[str, Any]]:
    """Sort options into the groups that contain their names. Raises `UsageError` for a name in no group."""
    unknown = sorted(given.keys() - frozenset().union(*groups))
    if unknown:
        close = get_close_matches(unknown[0], sorted(frozenset().union(*groups)), 1, _ALIKE)
        meant = [NAMES_ELSEWHERE[unknown[0]]] if unknown[0] in NAMES_ELSEWHERE else close
        hint = f"; did you mean {meant[0]}?" if meant else ""
        raise UsageError(f"no such option: {', '.join(unknown)}{hint}")
    return [{name: given[name] for name in sorted(given.keys() & group)} for group in groups]


def shown_value(value: object) -> str:
    """Format a value for a message: short, even if it is a number of ten thousand digits."""
    try:
        text = repr(value)
    except ValueError:
        return "too large a number"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
