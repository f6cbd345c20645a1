"""Patterns as numbers, for compiled code: programs that write what a reader sees of a template.

A program is a list of patterns: the length of each and its instructions, with a zero at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.lookup import ARGUMENT, VALUE, Bytes, Numbers, folded_key
from esdedup.text.wikitext.marks import GONE, PROTECTED, SPLIT
from esdedup.text.wikitext.templates.patterns import BLOCK, Field, Joined, Optional, Part, Pattern
from esdedup.text.word_table import key_of

ARGUMENTS = 64
"""Further arguments are ignored."""

_BYTE = constant(1)  # this byte
_FIELD = constant(2)  # number of names, number of values, keys of the names, keys of the values
_JOINED = constant(3)  # first argument, length of the separator, separator
_OPTIONAL = constant(4)  # length of what is optional

_UNNAMED: Numbers = np.array([key_of(ARGUMENT, str(number)) for number in range(ARGUMENTS + 1)], np.int64)

_BAR, _EQUALS = PROTECTED["|"], PROTECTED["="]


def programs(templates: Mapping[str, Sequence[Pattern]]) -> tuple[dict[str, int], Numbers]:
    """Return where the program of each template begins, and all programs. Equal patterns share one."""
    places: dict[str, int] = {}
    known: dict[tuple[Pattern, ...], int] = {}
    code: list[int] = []
    for name, patterns in templates.items():
        shared = known.setdefault(tuple(patterns), len(code))
        if shared == len(code):
            for pattern in patterns:
                instructions = [number for part in pattern for number in _instructions(part)]
                code += [len(instructions) + 1, *instructions]
            code.append(0)
        places[name] = shared
    return places, np.array(code or [0], np.int64)


def _instructions(part: Part) -> list[int]:
    if isinstance(part, Optional):
        inner = [number for each in part.parts for number in _instructions(each)]
        return [int(_OPTIONAL), len(inner), *inner]
    if isinstance(part, Joined):
        separator = part.separator.encode()
        return [int(_JOINED), part.first, len(separator), *separator]
    if isinstance(part, Field):
        names = [key_of(ARGUMENT, name) for name in part.names]
        values = [key_of(VALUE, value) for value in part.among]
        return [int(_FIELD), len(names), len(values), *names, *values]
    marked = part.replace(BLOCK, "\0").encode().replace(b"\0", bytes([SPLIT]))
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
def _field(code: Numbers, at: int, text: Bytes, letters: Numbers, count: int, arguments: Numbers) -> int:
    """Return the number of the argument of the field at code[at], or -1."""
    names, values = code[at + 1], code[at + 2]
    for name in range(at + 3, at + 3 + names):
        found = _argument(code[name], count, arguments)
        if found >= 0:
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
            if _field(code, at, text, letters, count, arguments) < 0:
                return False
            at += 3 + code[at + 1] + code[at + 2]
        elif kind == _JOINED:
            if _next_unnamed(code[at + 1], count, arguments) < 0:
                return False
            at += 3 + code[at + 2]
        else:
            at += 2 + code[at + 1]
    return True


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
    """Write the first pattern that applies to out[:room]. Return its length; 0 if none does, -1 if it is too long."""
    at = program
    while code[at] > 0:
        end = at + code[at]
        if _applies(code, at + 1, end, text, letters, count, arguments):
            break
        at = end
    if code[at] == 0:
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
            found = _field(code, at, text, letters, count, arguments)
            o = _copy(text, arguments[1, found], arguments[2, found], out, o, room)
            at += 3 + code[at + 1] + code[at + 2]
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
