"""Patterns: what a reader sees of a template, given its arguments.

    lang = "{2}"                        {{lang|fr|Bonjour}} is shown as Bonjour
    ill = "{lt|1}"                      the argument lt or, if it is missing or empty, the first
    reign = "r. {1}[–{2}]"              what is in brackets is left out if an argument in it is missing
    convert = ["{1} {2=to|by} {3} {4}", "{1} {2}"]
                                        the first pattern that applies; in this one the second argument is "to" or "by"
    hlist = "{*, }"                     all unnamed arguments, separated by ", "
    respell = "{2*-}"                   all unnamed arguments from the second
    citation = ""                       nothing is shown

A pattern applies if none of its arguments outside brackets is missing or empty. If no pattern applies, nothing is
shown. `[[`, `]]`, `{{` and `}}` are single characters, and `¶` begins another paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from esdedup.text.folded_names import fold

BLOCK = "¶"

_TOKEN = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{[^{}]*\}|[\[\]{}]|[^\[\]{}]+")
_JOINED = re.compile(r"([1-9][0-9]?)?\*(.*)", re.DOTALL)
_DOUBLED = {"[[": "[", "]]": "]", "{{": "{", "}}": "}"}


@dataclass(frozen=True, slots=True)
class Field:
    """The first of the arguments `names` that is not empty. With `among`, only if it is one of these (folded)."""

    names: tuple[str, ...]
    among: tuple[str, ...] = ()


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
    names, equals, values = text.partition("=")
    among = tuple(fold(value) for value in values.split("|")) if equals else ()
    named = tuple(fold(name) for name in names.split("|"))
    if not all(named) or (equals and not all(among)):
        raise ValueError(f"{{{text}}} names no argument")
    return Field(named, among)


def fill(patterns: Sequence[Pattern], arguments: Mapping[str, str], block: str) -> str:
    """Return what a reader sees: the first pattern that applies. `arguments` are trimmed; unnamed ones have the names
    1, 2, …. `block` is what begins another paragraph.
    """
    for pattern in patterns:
        if all(_value(part, arguments) for part in pattern if isinstance(part, Field | Joined)):
            return "".join(_shown(part, arguments, block) for part in pattern)
    return ""


def _shown(part: Part, arguments: Mapping[str, str], block: str) -> str:
    if isinstance(part, Optional):
        if not all(_value(each, arguments) for each in part.parts if not isinstance(each, str)):
            return ""
        return "".join(_shown(each, arguments, block) for each in part.parts)
    return part.replace(BLOCK, block) if isinstance(part, str) else _value(part, arguments)


def _value(part: Field | Joined, arguments: Mapping[str, str]) -> str:
    if isinstance(part, Joined):
        values = (arguments.get(str(number), "") for number in range(part.first, len(arguments) + 1))
        return part.separator.join(filter(None, values))
    found = next((value for name in part.names if (value := arguments.get(name, ""))), "")
    return found if not part.among or fold(found) in part.among else ""
