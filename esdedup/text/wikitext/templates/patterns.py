"""Patterns: what a reader sees of a template, given its arguments.

    lang = "{2}"                        {{lang|fr|Bonjour}} is shown as Bonjour
    ill = "{lt|1}"                      the argument lt or, if it is missing or empty, the first
    reign = "r. {1}[–{2}]"              what is in brackets is left out if an argument in it is missing
    convert = ["{1} {2=to|by} {3} {4}", "{1} {2}"]
                                        the first pattern that applies; in this one the second argument is "to" or "by"
    hlist = "{*, }"                     all unnamed arguments, separated by ", "
    respell = "{2*-}"                   all unnamed arguments from the second
    citation = ""                       nothing is shown
    dts = "{3} {2:month} {1}"           3 or Mar as March; missing if it is not a month
    asof = ["{?lc}as of {!2}{1}"]       applies if the argument lc is there, and the second is not; neither is shown

A pattern applies if none of its arguments outside brackets is missing or empty. If no pattern applies, the template is
a hole, unless it has no arguments, or empty ones. `[[`, `]]`, `{{` and `}}` are single characters, and `¶` begins
another paragraph. `⌃` and `⌄` stand before what is raised or lowered, `⧸` before a fraction: 10{{sup|8}} is not 108.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from esdedup.text.folded_names import fold

SIGNS = "¶⌃⌄⧸"
"""Signs of patterns that are written as marks: of a block, and of what is raised, lowered or a fraction."""

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip

SHOWN, REQUIRED, REFUSED, MONTH = range(4)
"""What a pattern does with an argument."""

_TOKEN = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{[^{}]*\}|[\[\]{}]|[^\[\]{}]+")
_JOINED = re.compile(r"([1-9][0-9]?)?\*(.*)", re.DOTALL)
_DOUBLED = {"[[": "[", "]]": "]", "{{": "{", "}}": "}"}


@dataclass(frozen=True, slots=True)
class Field:
    """The first of the arguments `names` that is not empty. With `among`, only if it is one of these (folded)."""

    names: tuple[str, ...]
    among: tuple[str, ...] = ()
    use: int = SHOWN


@dataclass(frozen=True, slots=True)
class Joined:
    """All unnamed arguments from number `first` that are not empty, with a separator between them."""

    first: int
    separator: str


@dataclass(frozen=True, slots=True)
class Optional:
    """Shown if none of its fields is missing."""

    parts: tuple[str | Field | Joined, ...]


Part: TypeAlias = "str | Field | Joined | Optional"
Pattern: TypeAlias = tuple[Part, ...]


@cache  # a pattern is parsed where it is checked, and where it is used
def parse(text: str) -> Pattern:
    """Parse a pattern. Raises `ValueError` with the reason."""
    parts: list[Part] = []
    inside: list[str | Field | Joined] | None = None
    for token in _TOKEN.findall(text):
        if token == "[":
            if inside is not None:
                raise ValueError("brackets cannot be nested; write [[ for a bracket")
            inside = []
        elif token == "]":
            if inside is None:
                raise ValueError("] without [; write ]] for a bracket")
            parts.append(Optional(tuple(inside)))
            inside = None
        elif token in "{}":
            raise ValueError(f"{token} alone; write {token}{token} for a brace")
        else:
            part = _field(token[1:-1]) if token[0] == "{" and len(token) > 2 else _DOUBLED.get(token, token)
            (parts if inside is None else inside).append(part)
    if inside is not None:
        raise ValueError("[ without ]; write [[ for a bracket")
    return tuple(parts)


def _field(text: str) -> Field | Joined:
    joined = _JOINED.fullmatch(text)
    if joined:
        return Joined(int(joined[1] or 1), joined[2])
    use = {"?": REQUIRED, "!": REFUSED}.get(text[0], MONTH if text.endswith(":month") else SHOWN)
    names, equals, values = text.lstrip("?!").removesuffix(":month").partition("=")
    among = tuple(fold(value) for value in values.split("|")) if equals else ()
    named = tuple(fold(name) for name in names.split("|"))
    if not all(named) or (equals and not all(among)):
        raise ValueError(f"{{{text}}} names no argument")
    return Field(named, among, use)


def fill(patterns: Sequence[Pattern], arguments: Mapping[str, str], signs: Mapping[int, str]) -> str | None:
    """Return what a reader sees: the first pattern that applies. If none does, return None if an argument is lost, and
    nothing if what the last pattern shows is empty. `arguments` are trimmed; unnamed ones have the names 1, 2, ….
    `signs` is what becomes of the characters of patterns.
    """
    for pattern in patterns:
        if all(_applies(part, arguments) for part in pattern if isinstance(part, Field | Joined)):
            if is_markup(pattern):
                return "".join(map(str, pattern))
            return "".join(_shown(part, arguments, signs) for part in pattern)
    blank = any(isinstance(part, Field) and _is_blank(part, arguments) for part in patterns[-1])
    return None if any(arguments.values()) and not blank else ""


def _is_blank(field: Field, arguments: Mapping[str, str]) -> bool:
    """Return whether an argument is given, and empty."""
    return any(map(arguments.__contains__, field.names)) and not any(map(arguments.get, field.names))


def is_markup(pattern: Pattern) -> bool:
    """Return whether a pattern is a sign of markup: `{{!}}` may separate the cells of a table."""
    return bool(pattern) and all(isinstance(part, str) and not part.strip("{}|=!-") for part in pattern)


def _applies(part: Part, arguments: Mapping[str, str]) -> bool:
    return bool(_value(part, arguments)) != (isinstance(part, Field) and part.use == REFUSED)  # type: ignore[arg-type]


def _shown(part: Part, arguments: Mapping[str, str], signs: Mapping[int, str]) -> str:
    if isinstance(part, Optional):
        if not all(_applies(each, arguments) for each in part.parts if not isinstance(each, str)):
            return ""
        return "".join(_shown(each, arguments, signs) for each in part.parts)
    if isinstance(part, str):
        return part.translate(signs)
    return "" if isinstance(part, Field) and part.use in (REQUIRED, REFUSED) else _value(part, arguments)


def _value(part: Field | Joined, arguments: Mapping[str, str]) -> str:
    if isinstance(part, Joined):
        values = (arguments.get(str(number), "") for number in range(part.first, len(arguments) + 1))
        return part.separator.join(filter(None, values))
    found = next((value for name in part.names if (value := arguments.get(name, ""))), "")
    if part.use == MONTH:
        return month(found)
    return found if not part.among or fold(found) in part.among else ""


def month(given: str) -> str:
    """Return the name of a month that is given as a number or as the beginning of its name; otherwise nothing."""
    if given.isdecimal():
        return MONTHS[int(given) - 1] if len(given) < 3 and 0 < int(given) < 13 else ""
    short = given.removesuffix(".").lower()
    return next((name for name in MONTHS if len(short) > 2 and name.lower().startswith(short)), "")
