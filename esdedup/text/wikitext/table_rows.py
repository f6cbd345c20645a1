"""Rows of tables that are never closed, or that a template opens or closes: they are dropped like other tables.

A row begins with `{|`, `|` or `!`, and the lines after it belong to its last cell. A reader may see prose again after
an empty line, a heading, braces that close nothing, or a template alone, which is most often the end of the table.
"""

from __future__ import annotations

from esdedup.columns.kernels import compiled
from esdedup.text.wikitext.lookup import Bytes
from esdedup.text.wikitext.marks import GONE, HOLE, SPLIT, SURE_HOLE, TABLE_CLOSE


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
