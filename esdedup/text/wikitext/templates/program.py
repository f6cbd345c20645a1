"""Patterns as numbers, for compiled code: programs that write what a reader sees of a template.

A program is a list of patterns: the length of each and its instructions, with a zero at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.lookup import ARGUMENT, VALUE, Numbers, folded_key
from esdedup.text.wikitext.marks import APART, GONE, LATE, LOWERED, PROTECTED, RAISED, SPLIT
from esdedup.text.wikitext.templates.patterns import (
    MONTH,
    MONTHS,
    REFUSED,
    REQUIRED,
    SIGNS,
    Field,
    Joined,
    Optional,
    Part,
    Pattern,
    is_markup,
)
from esdedup.text.words import key_of

ARGUMENTS = 64
"""Further arguments are ignored."""

_BYTE = constant(1)  # this byte
_FIELD = constant(2)  # number of names, number of values, keys of the names, keys of the values, use
_JOINED = constant(3)  # first argument, length of the separator, separator
_OPTIONAL = constant(4)  # length of what is optional

_UNNAMED: Numbers = np.array([key_of(ARGUMENT, str(number)) for number in range(ARGUMENTS + 1)], np.int64)

_BAR, _EQUALS = LATE["|"], LATE["="]
_LITERAL = {
    char.encode(): bytes([mark])
    for char, mark in zip(
        (*SIGNS, *LATE), (SPLIT, RAISED, LOWERED, APART, *map(PROTECTED.__getitem__, LATE)), strict=True
    )
}
_MARKUP = {char.encode(): bytes([mark]) for char, mark in LATE.items()}

_MONTH_NAMES = np.frombuffer("".join(MONTHS).lower().encode(), np.uint8)
_MONTH_ENDS: Numbers = np.cumsum([0, *map(len, MONTHS)])


def programs(templates: Mapping[str, Sequence[Pattern]]) -> tuple[dict[str, int], Numbers]:
    """Return where the program of each template begins, and all programs. Equal patterns share one."""
    places: dict[str, int] = {}
    known: dict[tuple[Pattern, ...], int] = {}
    code: list[int] = []
    for name, patterns in templates.items():
        shared = known.setdefault(tuple(patterns), len(code))
        if shared == len(code):
            for pattern in patterns:
                signs = _MARKUP if is_markup(pattern) else _LITERAL
                instructions = [number for part in pattern for number in _instructions(part, signs)]
                code += [len(instructions) + 1, *instructions]
            code.append(0)
        places[name] = shared
    return places, np.array(code or [0], np.int64)


def _instructions(part: Part, signs: Mapping[bytes, bytes]) -> list[int]:
    if isinstance(part, Optional):
        inner = [number for each in part.parts for number in _instructions(each, signs)]
        return [int(_OPTIONAL), len(inner), *inner]
    if isinstance(part, Joined):
        separator = part.separator.encode()
        return [int(_JOINED), part.first, len(separator), *separator]
    if isinstance(part, Field):
        names = [key_of(ARGUMENT, name) for name in part.names]
        values = [key_of(VALUE, value) for value in part.among]
        return [int(_FIELD), len(names), len(values), *names, *values, part.use]
    marked = part.encode()
    for sign, mark in signs.items():
        marked = marked.replace(sign, mark)
    return [number for byte in marked for number in (int(_BYTE), byte)]


@compiled
def _is_blank(byte: int) -> bool:
    return byte == 32 or (byte >= 9 and byte <= 13) or byte == GONE


@compiled
def read_arguments(text: Bytes, start: int, end: int, letters: Numbers, arguments: Numbers) -> int:
    """Write the arguments in text[start:end] to `arguments` (3, `ARGUMENTS`): keys, where they begin and end, without
    white space around them. Return their number. `start` is after the first `|`.
    """
    count, unnamed = 0, 0
    begin, equals, links = start, -1, 0
    i = start
    while i <= end and count < ARGUMENTS:
        byte = 124 if i == end else text[i]
        if byte == 91 and i + 1 < end and text[i + 1] == 91:
            links += 1
            i += 2
            continue
        if byte == 93 and i + 1 < end and text[i + 1] == 93:
            links -= 1 if links > 0 else 0
            i += 2
            continue
        if byte == 61 and equals < 0 and links == 0:
            equals = i
        if byte == 124 and (links == 0 or i == end):
            if equals >= 0:
                arguments[0, count] = folded_key(text, begin, equals, ARGUMENT, letters)
                begin = equals + 1
            else:
                unnamed += 1
                arguments[0, count] = _UNNAMED[unnamed]
            last = i
            while begin < last and _is_blank(text[begin]):
                begin += 1
            while last > begin and _is_blank(text[last - 1]):
                last -= 1
            arguments[1, count], arguments[2, count] = begin, last
            count += 1
            begin, equals = i + 1, -1
        i += 1
    return count


@compiled
def _argument(key: int, count: int, arguments: Numbers) -> int:
    """Return the number of the last argument with this key that is not empty, or -1."""
    for index in range(count - 1, -1, -1):
        if arguments[0, index] == key:
            return index if arguments[2, index] > arguments[1, index] else -1
    return -1


@compiled
def _next_unnamed(number: int, count: int, arguments: Numbers) -> int:
    """Return the first unnamed argument from this one that is not empty, or -1."""
    while number <= count:
        if _argument(_UNNAMED[number], count, arguments) >= 0:
            return number
        number += 1
    return -1


@compiled
def _month(text: Bytes, start: int, end: int) -> int:
    """Return the number of a month, from 0, that is given as a number or as the beginning of its name; or -1."""
    number = 0
    digits = start
    while digits < end and text[digits] >= 48 and text[digits] <= 57 and digits < start + 3:
        number = 10 * number + int(text[digits]) - 48
        digits += 1
    if digits > start:
        return number - 1 if digits == end and digits < start + 3 and number > 0 and number < 13 else -1
    if end > start and text[end - 1] == 46:
        end -= 1
    if end - start < 3:
        return -1
    for month in range(12):
        first = _MONTH_ENDS[month]
        same = end - start <= _MONTH_ENDS[month + 1] - first
        at = start
        while same and at < end:
            same = (int(text[at]) | 32) == _MONTH_NAMES[first + at - start]
            at += 1
        if same:
            return month
    return -1


@compiled
def _write_month(month: int, out: Bytes, o: int, room: int) -> int:
    """Write the name of a month. Return its end, or -1 if it does not fit."""
    first, last = _MONTH_ENDS[month], _MONTH_ENDS[month + 1]
    if o + last - first > room:
        return -1
    for at in range(first, last):
        out[o] = _MONTH_NAMES[at] - (32 if at == first else 0)
        o += 1
    return o


@compiled
def _field(code: Numbers, at: int, text: Bytes, letters: Numbers, count: int, arguments: Numbers) -> int:
    """Return the number of the argument of the field at code[at], or -1."""
    names, values = code[at + 1], code[at + 2]
    for name in range(at + 3, at + 3 + names):
        found = _argument(code[name], count, arguments)
        if found >= 0:
            if code[at + 3 + names + values] == MONTH:
                return found if _month(text, arguments[1, found], arguments[2, found]) >= 0 else -1
            if values == 0:
                return found
            key = folded_key(text, arguments[1, found], arguments[2, found], VALUE, letters)
            for value in range(at + 3 + names, at + 3 + names + values):
                if code[value] == key:
                    return found
            return -1
    return -1


@compiled
def _applies(code: Numbers, at: int, end: int, text: Bytes, letters: Numbers, count: int, arguments: Numbers) -> bool:
    """Return whether no argument of code[at:end] is missing, except optional ones."""
    while at < end:
        kind = code[at]
        if kind == _BYTE:
            at += 2
        elif kind == _FIELD:
            after = at + 3 + code[at + 1] + code[at + 2]
            if (_field(code, at, text, letters, count, arguments) < 0) != (code[after] == REFUSED):
                return False
            at = after + 1
        elif kind == _JOINED:
            if _next_unnamed(code[at + 1], count, arguments) < 0:
                return False
            at += 3 + code[at + 2]
        else:
            at += 2 + code[at + 1]
    return True


@compiled
def _is_blank_field(code: Numbers, at: int, count: int, arguments: Numbers) -> bool:
    """Return whether an argument of the field at code[at] is given, and all that are given are empty."""
    given = False
    for name in range(at + 3, at + 3 + code[at + 1]):
        if _argument(code[name], count, arguments) >= 0:
            return False
        given = given or (arguments[0, :count] == code[name]).any()
    return given


@compiled
def _shows_blank(code: Numbers, at: int, end: int, count: int, arguments: Numbers) -> bool:
    """Return whether a field of the pattern code[at:end] is given, and empty."""
    while at < end:
        kind = code[at]
        if kind == _FIELD:
            if _is_blank_field(code, at, count, arguments):
                return True
            at += 4 + code[at + 1] + code[at + 2]
        else:
            at += 2 if kind == _BYTE else (3 + code[at + 2] if kind == _JOINED else 2 + code[at + 1])
    return False


@compiled
def _copy(text: Bytes, start: int, end: int, out: Bytes, o: int, room: int) -> int:
    """Write text[start:end] so that nothing in it separates arguments of an outer template. Return the end, or -1 if
    it does not fit.
    """
    if o + end - start > room:
        return -1
    links = 0
    for i in range(start, end):
        byte = text[i]
        if byte == 91 and i > start and text[i - 1] == 91:
            links += 1
        elif byte == 93 and i > start and text[i - 1] == 93:
            links -= 1 if links > 0 else 0
        elif byte == 61 and links == 0:
            byte = _EQUALS
        elif byte == 124 and links == 0:
            byte = _BAR
        out[o] = byte
        o += 1
    return o


@compiled
def fill(
    code: Numbers, program: int, text: Bytes, letters: Numbers, count: int, arguments: Numbers, out: Bytes, room: int
) -> int:
    """Write the first pattern that applies to out[:room]. Return its length; -1 if it is too long, or if none applies
    and an argument is lost.
    """
    at, last = program, program
    while code[at] > 0:
        end = at + code[at]
        if _applies(code, at + 1, end, text, letters, count, arguments):
            break
        last, at = at, end
    if code[at] == 0:
        for index in range(count):
            if _argument(arguments[0, index], count, arguments) >= 0:
                return 0 if _shows_blank(code, last + 1, at, count, arguments) else -1
        return 0
    end = at + code[at]
    at += 1
    o = 0
    while at < end and o >= 0:
        kind = code[at]
        if kind == _BYTE:
            if o == room:
                return -1
            out[o] = code[at + 1]
            o += 1
            at += 2
        elif kind == _FIELD:
            use = code[at + 3 + code[at + 1] + code[at + 2]]
            if use != REQUIRED and use != REFUSED:
                found = _field(code, at, text, letters, count, arguments)
                begin, last = arguments[1, found], arguments[2, found]
                if use == MONTH:
                    o = _write_month(_month(text, begin, last), out, o, room)
                else:
                    o = _copy(text, begin, last, out, o, room)
            at += 4 + code[at + 1] + code[at + 2]
        elif kind == _JOINED:
            separator = code[at + 2]
            number = _next_unnamed(code[at + 1], count, arguments)
            while number >= 0 and o >= 0:
                found = _argument(_UNNAMED[number], count, arguments)
                o = _copy(text, arguments[1, found], arguments[2, found], out, o, room)
                number = _next_unnamed(number + 1, count, arguments)
                if number >= 0 and o >= 0:
                    if o + separator > room:
                        return -1
                    for index in range(separator):
                        out[o] = code[at + 3 + index]
                        o += 1
            at += 3 + separator
        elif _applies(code, at + 2, at + 2 + code[at + 1], text, letters, count, arguments):
            at += 2
        else:
            at += 2 + code[at + 1]
    return o
