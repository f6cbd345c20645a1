"""Second pass: templates and parameters. Of a known template stays what a reader sees of it.

A template that is not known leaves a hole: a mark, and two bytes that tell it from others.
"""

from __future__ import annotations

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.lookup import TEMPLATE, TEMPLATES, Numbers, Tables, folded_key
from esdedup.text.wikitext.marks import GONE, LATE, write_hole
from esdedup.text.wikitext.templates.program import fill, read_arguments
from esdedup.text.words import ABSENT, find

GROWTH = constant(24)
"""So many bytes more than its wikitext may a template have as text; if it has more, it is a hole. Without a limit, a
page could become as long as its author likes.
"""

_BAR, _EQUALS = LATE["|"], LATE["="]

_DEEPEST = 8
"""Templates that hold templates that deep are holes, so that text is copied only so many times."""


@compiled
def growth(text: Bytes, start: int, end: int) -> int:
    """Return by how many bytes at most text[start:end] is longer with its templates as text."""
    braces = 0
    for byte in text[start:end]:
        braces += byte == 123
    return braces // 2 * GROWTH


@compiled
def _program(text: Bytes, start: int, end: int, tables: Tables) -> int:
    """Return the program of the template with the name text[start:end], or `ABSENT`. The program of `lang-*` serves
    every name that begins with `lang-`.
    """
    found = find(tables.keys, tables.values, folded_key(text, start, end, TEMPLATE, tables.letters))
    if found != ABSENT:
        return found
    for i in range(end - 1, start, -1):
        if text[i] == 45:
            return find(tables.keys, tables.values, folded_key(text, start, i + 1, TEMPLATES, tables.letters))
    return ABSENT


@compiled
def _shown(
    text: Bytes, start: int, end: int, at: int, room: int, tables: Tables, arguments: Numbers, spare: Bytes
) -> int:
    """Write what a reader sees of the template with the content text[start:end] to text[at:], in at most `room` bytes.
    Return its end.
    """
    name = start
    while name < end and text[name] != 124 and text[name] != 58:
        name += 1
    program = _program(text, start, name, tables)
    if program == ABSENT:
        sure = at > 0 and text[at - 1] >= 48 and text[at - 1] <= 57 and _is_number(text, name, end)
        return write_hole(text, start, end, text, at, sure)
    count = read_arguments(text, name + 1, end, tables.letters, arguments) if name < end else 0
    written = fill(tables.code, program, text, tables.letters, count, arguments, spare, room)
    if written < 0:
        return write_hole(text, start, end, text, at, True)
    if written == 0:
        text[at] = GONE
        return at + 1
    text[at : at + written] = spare[:written]
    return at + written


@compiled
def _is_number(text: Bytes, start: int, end: int) -> bool:
    """Whether these arguments of a template are numbers, such as a power of ten that belongs to what is before it."""
    digits = 0
    for i in range(start, end):
        byte = text[i]
        if byte >= 48 and byte <= 57:
            digits += 1
        elif byte != 32 and byte != 124 and (byte < 43 or byte > 46):
            return False
    return digits > 0


@compiled
def _become_markup(text: Bytes, start: int, end: int) -> None:
    """Turn the signs of templates such as `{{!}}` into markup: no template is open that they could separate."""
    for i in range(start, end):
        if text[i] == _BAR:
            text[i] = 124
        elif text[i] == _EQUALS:
            text[i] = 61


@compiled
def strip_templates(
    text: Bytes,
    start: int,
    length: int,
    places: Numbers,
    counts: Numbers,
    depths: Numbers,
    tables: Tables,
    arguments: Numbers,
    spare: Bytes,
) -> tuple[int, bool]:
    """Replace closed `{{…}}` and `{{{…}}}` in text[start:start + length] by what a reader sees, and move the result to
    the beginning of `text`. Return the new length, and whether a template is open at the end.

    `start` is at least the `growth` of the text, so that nothing is overwritten before it is read.

    `places`, `counts` and `depths` are a stack: the position of each open run of braces, how many braces of it are
    still open, and how deep templates are nested in it. A run that is never closed stays unchanged, and so does
    everything after it. `spare` has the size of `text`.
    """
    top = 0
    o = 0
    i = start
    length += start
    while i < length:
        byte = text[i]
        if byte != 123 and byte != 125:
            text[o] = byte
            o += 1
            i += 1
            continue
        run = 1
        while i + run < length and text[i + run] == byte:
            run += 1
        i += run
        if byte == 123:
            if run > 1:
                places[top], counts[top], depths[top] = o, run, 0
                top += 1
        else:
            while run > 1 and top > 0:
                closed = min(counts[top - 1], run, 3)
                counts[top - 1] -= closed
                run -= closed
                content = places[top - 1] + counts[top - 1] + closed
                begin = content - closed
                depths[top - 1] += 1
                if closed == 3:
                    text[begin] = GONE
                    o = begin + 1
                elif depths[top - 1] > _DEEPEST:
                    o = write_hole(text, content, o, text, begin)
                else:
                    room = o + closed - begin + GROWTH
                    o = _shown(text, content, o, begin, room, tables, arguments, spare)
                if counts[top - 1] < 2:
                    top -= 1
                    if top > 0:
                        depths[top - 1] = max(depths[top - 1], depths[top])
                    else:
                        _become_markup(text, begin, o)
        for _ in range(run):
            text[o] = byte
            o += 1
    return o, top > 0
