"""First pass: comments, HTML and extension tags, literal text."""

from __future__ import annotations

import numpy as np

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext import rules
from esdedup.text.wikitext.formula import write_formula
from esdedup.text.wikitext.lookup import TAG, Numbers, Tables
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
    byte_map,
    write_hole,
)
from esdedup.text.words import ABSENT, find, mix

_LONGEST = constant(20)


@compiled
def _lower(byte: int) -> int:
    return byte + 32 if byte >= 65 and byte <= 90 else byte


@compiled
def read_tag_name(text: Bytes, start: int, end: int) -> tuple[int, int]:
    """Return where the name at text[start:end] ends, and its key; `start` if there is no name of a tag."""
    key = TAG
    i = start
    while i < end and i - start < _LONGEST:
        letter = _lower(int(text[i]))
        if not ((letter >= 97 and letter <= 122) or (letter >= 48 and letter <= 57 and i > start)):
            break
        key = mix(key, letter)
        i += 1
    if i < end and (text[i] == 62 or text[i] == 47 or text[i] == 32 or (text[i] >= 9 and text[i] <= 13)):
        return i, key
    return start, key


@compiled
def find_closing_tag(text: Bytes, start: int, end: int, name: int, length: int) -> int:
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
def after_tag(text: Bytes, start: int) -> int:
    """Return where the tag that begins at text[start] ends."""
    while text[start] != 62:
        start += 1
    return start + 1


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
def strip_tags(text: Bytes, start: int, end: int, out: Bytes, tables: Tables) -> tuple[int, bool]:
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
            value = find(tables.keys, tables.values, key)
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
                written = write_formula(
                    text, close + 1, found, out, o, found + length + 3 - i, tables.keys, tables.values
                )
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


CODE = constant(0)
"""Content that is code."""

PHRASE = constant(1)
"""Content that is prose, in the line."""

PARAGRAPHS = constant(2)
"""Content that is prose, with lines of its own."""

_NAMES = constant(16)
"""So many names that are not closed are looked for on a page; tags of others are text."""

_DEEPEST = constant(4)
"""Tags that stand deeper in one another are text. Both limits keep the search linear."""

_COUNT, _DEPTH, _UNCLOSED, _ENDS, _BLOCKS = (constant(place) for place in (0, 1, 2, 2 + _NAMES, 2 + _NAMES + _DEEPEST))

_WORDS = constant(3)  # so many words are more than a key
_SIGNS = constant(25)  # prose has at most one sign of code in so many bytes

_LETTER, _SIGN, _DIGIT, _OTHER, _WHITE, _WIDE = range(6)
_CLASS = byte_map(
    dict.fromkeys(range(256), _OTHER)
    | dict.fromkeys((*range(65, 91), *range(97, 123), *range(0x80, 0xE3)), _LETTER)
    | dict.fromkeys(range(0xE3, 0x100), _WIDE)  # begins a letter of a language that is written without spaces
    | dict.fromkeys(b"{}<>=;#\\$%^~@_*+&/|:-", _SIGN)
    | dict.fromkeys(b"0123456789", _DIGIT)
    | dict.fromkeys(b" \t\n\v\f\r", _WHITE)
)


@compiled
def content_kind(text: Bytes, start: int, end: int) -> int:
    """Return what text[start:end] is, the content of a tag that is not known."""
    signs, seen, words, letters, inner = 0, 0, 0, 0, 0
    kind = PHRASE
    at = start
    while at < end:
        i = at
        byte = text[i]
        of = _CLASS[byte]
        at += 1
        if byte == 60 and at < end and (text[at] == 47 or _CLASS[text[at]] == _LETTER):  # tags are no code
            while at < end and text[at] != 60 and text[at] != 62:
                at += 1
            if at < end and text[at] == 62:
                at += 1
                letters = 0
                continue
            at = i + 1
        if of == _WHITE:
            if byte == 10:
                kind = PARAGRAPHS
        else:
            seen += 1
        if of == _LETTER:
            letters += 1
            words += letters == 2
            inner += letters > 1 and byte < 91 and text[i - 1] > 96  # a capital inside a word
        else:
            letters = 0
            words += of == _WIDE
            signs += of == _SIGN
            inner += of == _DIGIT
    if signs * _SIGNS >= seen or words == 0 or (words < _WORDS and inner > 0):
        return CODE
    return kind


def kind_of(content: str) -> int:
    """Return what the content of a tag is that is not known."""
    data = np.frombuffer(content.encode("utf-8", "replace"), np.uint8)
    return int(content_kind(data, 0, len(data)))


@compiled
def open_tags() -> Numbers:
    """Return what is known of a page at its beginning: first how many names are never closed, from where they stood."""
    return np.zeros(_BLOCKS + _DEEPEST, dtype=np.int64)


@compiled
def read_unknown_tag(
    text: Bytes, begin: int, close: int, end: int, name: int, length: int, key: int, out: Bytes, o: int, known: Numbers
) -> tuple[int, int]:
    """Read the tag text[begin:close + 1], whose name text[name:name + length] is not known and has this key.

    Write to out[o:] what becomes of it. Return where reading and writing go on; `begin` if it is not a tag. `known` is
    from `open_tags`.
    """
    depth = known[_DEPTH]
    while depth > 0 and known[_ENDS + depth - 1] < begin:
        depth -= 1
    written, after = o, begin
    if text[begin + 1] == 47:
        while depth > 0 and known[_ENDS + depth - 1] == begin:
            depth -= 1
            out[o] = known[_BLOCKS + depth]
            written, after = o + 1, close + 1
    elif text[close - 1] == 47:
        out[o] = GONE
        written, after = o + 1, close + 1
    elif depth < _DEEPEST:
        found = -1
        names = known[_COUNT]
        if names < _NAMES and not (known[_UNCLOSED : _UNCLOSED + names] == key).any():
            found = find_closing_tag(text, close + 1, end, name, length)
            if found < 0:
                known[_UNCLOSED + names] = key
                known[_COUNT] = names + 1
        if found >= 0:
            kind = content_kind(text, close + 1, found)
            if kind == CODE:
                written, after = write_hole(text, close + 1, found, out, o), after_tag(text, found)
            else:
                mark = SPLIT if kind == PARAGRAPHS else GONE
                known[_ENDS + depth], known[_BLOCKS + depth] = found, mark
                depth += 1
                out[o] = mark
                written, after = o + 1, close + 1
    known[_DEPTH] = depth
    return after, written
