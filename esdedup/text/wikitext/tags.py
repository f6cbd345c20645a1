"""First pass: comments, HTML and extension tags, literal text."""

from __future__ import annotations

import numpy as np

from esdedup.columns.kernels import compiled
from esdedup.text.wikitext import rules
from esdedup.text.wikitext.formula import write_formula
from esdedup.text.wikitext.holes import write_hole
from esdedup.text.wikitext.lookup import Bytes, Numbers
from esdedup.text.wikitext.marks import (
    APART,
    GONE,
    LOWERED,
    PROTECT,
    RAISED,
    SANE,
    SOFT,
    SPLIT,
    TABLE_CLOSE,
    TABLE_OPEN,
)
from esdedup.text.wikitext.tag_names import after_tag, find_closing_tag, read_tag_name
from esdedup.text.wikitext.unknown_tags import open_tags, read_unknown_tag
from esdedup.text.word_table import ABSENT, find

_DROP, _LITERAL, _LITERAL_BLOCK = rules.DROP, rules.LITERAL, rules.LITERAL_BLOCK
_BLOCK, _BREAK, _TABLE, _TRANSPARENT = rules.BLOCK, rules.BREAK, rules.TABLE, rules.TRANSPARENT
_FORMULA, _RAISED, _LOWERED = rules.FORMULA, rules.RAISED, rules.LOWERED
_TAGS = len(rules.TAGS)


@compiled
def _find_comment_end(text: Bytes, start: int, end: int) -> int:
    """Return where the next `-->` begins, or -1."""
    for i in range(start, end - 2):
        if text[i] == 45 and text[i + 1] == 45 and text[i + 2] == 62:
            return i
    return -1


@compiled
def strip_tags(text: Bytes, start: int, end: int, out: Bytes, keys: Numbers, values: Numbers) -> tuple[int, bool]:
    """Write text[start:end] to `out` without comments and tags. Return its length there.

    Also return whether more text after `end` could change the result, because something was not closed. Tags that are
    dropped with their content leave `GONE`. A tag that begins or ends a block leaves `SPLIT`. If a closing tag was not
    found once, it will not be found later either, so every search reaches the end of the page at most once.
    """
    missing = np.zeros(_TAGS, dtype=np.bool_)
    unknown = open_tags()
    tag_end_missing = False
    # Between the second position and this one, `out` contains only white space.
    known, known_start = -1, -1
    o = 0
    i = start
    while i < end:
        byte = text[i]
        if byte != 60:
            out[o] = SANE[byte]
            o += 1
            i += 1
            continue
        if i + 3 < end and text[i + 1] == 33 and text[i + 2] == 45 and text[i + 3] == 45:
            found = _find_comment_end(text, i + 4, end)
            if found < 0:  # it goes on to the end of the page
                return o, True
            i = found + 3
            # A line that contains only comments is removed with its line break.
            line = o
            while line > known and line > 0 and (out[line - 1] == 32 or out[line - 1] == 9):
                line -= 1
            if line == known:
                line = known_start
            known, known_start = o, line
            if line == 0 or out[line - 1] == 10:
                after = i
                while after < end and (text[after] == 32 or text[after] == 9):
                    after += 1
                if after == end or text[after] == 10:
                    o = line
                    i = min(after + 1, end)
                    known = -1
            continue

        closing = i + 1 < end and text[i + 1] == 47
        name = i + 2 if closing else i + 1
        close, key = read_tag_name(text, name, end)
        length = close - name
        while length > 0 and close < end and text[close] != 62 and text[close] != 60:
            close += 1
        value = ABSENT
        if length > 0 and close == end:
            tag_end_missing = True
        elif length > 0 and text[close] == 62:
            value = find(keys, values, key)
            if value == ABSENT:
                after, written = read_unknown_tag(text, i, close, end, name, length, key, out, o, unknown)
                if after > i:
                    i, o = after, written
                    continue
        if value == ABSENT:
            out[o] = 60
            o += 1
            i += 1
            continue

        kind = value & 255
        empty = text[close - 1] == 47
        if (kind <= _LITERAL_BLOCK or kind == _FORMULA) and not closing and not empty:
            number = value >> 8
            found = -1
            if not missing[number]:
                found = find_closing_tag(text, close + 1, end, name, length)
                missing[number] = found < 0
            if found < 0:
                out[o] = 60
                o += 1
                i += 1
                continue
            if kind == _FORMULA:
                written = write_formula(text, close + 1, found, out, o, found + length + 3 - i, keys, values)
                o = write_hole(text, close + 1, found, out, o) if written < 0 else written
            else:
                out[o] = SPLIT if kind == _LITERAL_BLOCK else GONE
                o += 1
            if kind in (_LITERAL, _LITERAL_BLOCK):
                for k in range(close + 1, found):
                    if text[k] == 10:
                        out[o] = SOFT if kind == _LITERAL_BLOCK else 32
                    else:
                        out[o] = PROTECT[text[k]]
                    o += 1
                out[o] = SPLIT if kind == _LITERAL_BLOCK else GONE
                o += 1
            i = after_tag(text, found)
            continue
        if kind == _TABLE and not closing and not empty:
            out[o] = TABLE_OPEN
            o += 1
            for k in range(i + 1, close + 1):
                out[o] = SANE[text[k]]
                o += 1
        elif kind != _TRANSPARENT:
            mark = GONE
            if kind in (_RAISED, _LOWERED):
                mark = APART if closing else (RAISED if kind == _RAISED else LOWERED)
            elif kind == _BLOCK:
                mark = SPLIT
            elif kind == _BREAK:
                mark = SOFT
            elif kind == _TABLE and closing:
                mark = TABLE_CLOSE
            out[o] = mark
            o += 1
        i = close + 1
    return o, tag_end_missing or unknown[0] > 0 or bool(missing.any())
