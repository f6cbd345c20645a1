"""First pass: comments, HTML and extension tags, literal text."""

from __future__ import annotations

import numpy as np

from esdedup.columns.kernels import compiled
from esdedup.text.wikitext import rules
from esdedup.text.wikitext.formula import write_formula
from esdedup.text.wikitext.holes import write_hole
from esdedup.text.wikitext.lookup import TAG, Bytes, Numbers
from esdedup.text.wikitext.marks import GONE, PROTECT, SANE, SOFT, SPLIT, TABLE_CLOSE, TABLE_OPEN
from esdedup.text.word_table import ABSENT, find, mix

_DROP, _LITERAL, _LITERAL_BLOCK = rules.DROP, rules.LITERAL, rules.LITERAL_BLOCK
_BLOCK, _BREAK, _TABLE, _TRANSPARENT = rules.BLOCK, rules.BREAK, rules.TABLE, rules.TRANSPARENT
_FORMULA = rules.FORMULA
_TAGS = len(rules.TAGS)


@compiled
def _lower(byte: int) -> int:
    return byte + 32 if byte >= 65 and byte <= 90 else byte


@compiled
def _find_comment_end(text: Bytes, start: int, end: int) -> int:
    """Return where the next `-->` begins, or -1."""
    for i in range(start, end - 2):
        if text[i] == 45 and text[i + 1] == 45 and text[i + 2] == 62:
            return i
    return -1


@compiled
def _find_closing_tag(text: Bytes, start: int, end: int, name: int, length: int) -> int:
    """Return where the next closing tag of the name at text[name:name + length] begins, or -1."""
    for i in range(start, end - length - 2):
        if text[i] != 60 or text[i + 1] != 47:
            continue
        same = True
        for k in range(length):
            if _lower(int(text[i + 2 + k])) != _lower(int(text[name + k])):
                same = False
                break
        if not same:
            continue
        j = i + 2 + length
        while j < end and (text[j] == 32 or (text[j] >= 9 and text[j] <= 13)):
            j += 1
        if j < end and text[j] == 62:
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
    comment_end_missing, tag_end_missing = False, False
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
            found = -1
            if not comment_end_missing:
                found = _find_comment_end(text, i + 4, end)
                comment_end_missing = found < 0
            if found < 0:
                out[o] = 60
                o += 1
                i += 1
                continue
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
        j = name
        key = TAG
        while j < end and j - name < 20:
            letter = _lower(int(text[j]))
            if not ((letter >= 97 and letter <= 122) or (letter >= 48 and letter <= 57)):
                break
            key = mix(key, letter)
            j += 1
        value = ABSENT
        if (
            j > name
            and j < end
            and (text[j] == 62 or text[j] == 47 or text[j] == 32 or (text[j] >= 9 and text[j] <= 13))
        ):
            value = find(keys, values, key)
        close = j
        if value != ABSENT:
            while close < end and text[close] != 62 and text[close] != 60:
                close += 1
            if close == end or text[close] == 60:
                tag_end_missing = tag_end_missing or close == end
                value = ABSENT
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
                found = _find_closing_tag(text, close + 1, end, name, j - name)
                missing[number] = found < 0
            if found < 0:
                out[o] = 60
                o += 1
                i += 1
                continue
            if kind == _FORMULA:
                written = write_formula(text, close + 1, found, out, o, found + j - name + 3 - i, keys, values)
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
            i = found
            while text[i] != 62:
                i += 1
            i += 1
            continue
        if kind == _TABLE and not closing and not empty:
            out[o] = TABLE_OPEN
            o += 1
            for k in range(i + 1, close + 1):
                out[o] = SANE[text[k]]
                o += 1
        elif kind != _TRANSPARENT:
            mark = GONE
            if kind == _BLOCK:
                mark = SPLIT
            elif kind == _BREAK:
                mark = SOFT
            elif kind == _TABLE and closing:
                mark = TABLE_CLOSE
            out[o] = mark
            o += 1
        i = close + 1
    return o, comment_end_missing or tag_end_missing or bool(missing.any())
