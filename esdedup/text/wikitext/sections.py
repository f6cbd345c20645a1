"""Headings, and the sections that are dropped for their headings, such as *See also*, *Literatur* or *Notes*.

Such a section stays if it is prose: below *Literatur* may stand the literature of a country, not a list of books. Lists
and short lines are not prose, and neither are lines with many digits, which are titles of books.
"""

from __future__ import annotations

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.marks import GONE, HOLE, SPLIT, SURE_HOLE, TABLE_CLOSE

SHORTEST = constant(80)
"""A line of prose has at least so many bytes without its marks."""

SPACES = constant(3)
"""It has at least so many spaces, or letters of a language that is written without."""

DIGITS = constant(25)
"""It has at most one digit in so many bytes."""


@compiled
def visible_end(text: Bytes, start: int, end: int) -> int:
    """Return the end of text[start:end] without trailing white space and marks."""
    while end > start:
        byte = text[end - 1]
        if byte != 32 and (byte < 9 or byte > 13) and byte != GONE and byte != SPLIT:
            break
        end -= 1
    return end


@compiled
def heading_level(text: Bytes, start: int, end: int) -> int:
    """Return the level of the heading in text[start:end], which ends visibly; 0 if it is not a heading."""
    if end - start < 3 or text[start] != 61 or text[end - 1] != 61:
        return 0
    level = 1
    while level < 6 and 2 * level + 2 < end - start and text[start + level] == 61:
        if text[end - 1 - level] != 61:
            break
        level += 1
    return level


@compiled
def _line(text: Bytes, start: int, end: int) -> tuple[int, bool]:
    """Return how many bytes without marks the line text[start:end] has, and whether it is prose."""
    first = text[start]
    seen, digits, spaces = 0, 0, 0
    i = start
    while i < end:
        byte = text[i]
        i += 1
        if byte in (HOLE, SURE_HOLE):
            i += 2
        elif byte >= 32 and byte < 0xF5 and byte != 39:  # no mark or quote
            seen += 1
            spaces += byte == 32
            digits += byte >= 48 and byte <= 57
            spaces += byte >= 0xE3
    item = first == 42 or first == 35 or first == 58 or first == 59 or first == 124 or first == 123
    return seen, not item and seen >= SHORTEST and spaces >= SPACES and digits * DIGITS < seen


@compiled
def section_end(text: Bytes, start: int, length: int, level: int) -> tuple[int, bool, bool]:
    """Return where the section ends that begins at text[start] below a heading of a level, whether more of it is prose
    than not, and whether a heading ends it.
    """
    prose, other = 0, 0
    at = start
    while at < length:
        end = at
        while end < length and text[end] != 10:
            end += 1
        if end > at:
            below = heading_level(text, at, visible_end(text, at, end)) if text[at] == 61 else 0
            if below > 0 and below <= level:
                return at, prose > other, True
            if below == 0:
                seen, is_prose = _line(text, at, end)
                if is_prose:
                    prose += seen
                else:
                    other += seen
        at = end + 1
    return length, prose > other, False


@compiled
def _first(text: Bytes, start: int, end: int) -> int:
    """Return where the line text[start:end] begins, without indentation and what was removed."""
    while start < end:
        byte = text[start]
        if byte in (HOLE, SURE_HOLE):
            start += 3
        elif byte in (32, 9, 58, GONE, SPLIT, TABLE_CLOSE):
            start += 1
        else:
            break
    return start


@compiled
def _line_end(text: Bytes, start: int, length: int) -> int:
    while start < length and text[start] != 10:
        start += 1
    return start


@compiled
def begins_row(text: Bytes, start: int, end: int, length: int) -> bool:
    """Return whether the line text[start:end] is a row. One of headings has `!!`, or another row follows. A bar may be
    that of a link over two lines, too, and an indented one a drawing.
    """
    at = start
    while at < end and text[at] in (32, 9, 58, GONE, SPLIT):
        at += 1
    if at == end:
        return False
    if text[at] == 123:
        return at + 1 < end and text[at + 1] == 124
    if text[at] not in (124, 33) or (text[start:at] == 32).any() or (text[start:at] == 9).any():
        return False
    sign = 33 if text[at] == 33 else 93
    for i in range(at + 1, end - 1):
        if text[i] == sign and text[i + 1] == sign:
            return sign == 33
    if sign == 93:
        return True
    return end + 1 < length and (text[end + 1] == 124 or text[end + 1] == 33)


@compiled
def rows_end(text: Bytes, start: int, length: int) -> int:
    """Return where the line begins that is no more of the rows from the line at text[start]. Without `{|`, the last row
    is one line, as nobody knows whether there is a table.
    """
    opened = False
    last = start
    while start < length:
        end = _line_end(text, start, length)
        first = text[start]
        at = _first(text, start, end)
        if at == end and at > start:  # a template alone
            return min(end + 1, length) if opened else last
        if first == 10 or first == 61 or first == 125:
            return start if opened else last
        opened = opened or text[at] == 123
        row = text[at] == 123 or text[at] == 124 or text[at] == 33
        start = end + 1
        if row:
            last = min(start, length)
        if text[at] == 124 and at + 1 < end and text[at + 1] == 125:
            return last
    return length if opened else last
