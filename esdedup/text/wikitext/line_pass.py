"""Last pass: sections, headings, lists, quote marks and single characters, line by line."""

from __future__ import annotations

from esdedup.columns.arrays import encode
from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.characters import number_sign, read_entity, read_magic_word
from esdedup.text.wikitext.lookup import SECTION, Tables, folded_key
from esdedup.text.wikitext.marks import (
    APART,
    GONE,
    HOLE,
    LATE,
    LOWERED,
    PROTECTED,
    RAISED,
    RESTORE,
    SOFT,
    SPLIT,
    SURE_HOLE,
    TABLE_CLOSE,
    TABLE_OPEN,
    byte_map,
    ends_sentence,
    odd_quote,
    sentence_goes_on,
)
from esdedup.text.wikitext.sections import begins_row, heading_level, rows_end, section_end, visible_end
from esdedup.text.words import ABSENT, find

# What must be written before the next visible character; the stronger one wins.
_NOTHING, _SPACE, _LINE, _BLOCK = (constant(strength) for strength in range(4))

_PLAIN, _WHITE, _QUOTE, _AMPERSAND, _UNDERSCORE, _GONE, _SPLIT, _SOFT, _MARK, _LEAD_C2, _HOLE, _STOP, _LEAD_EF = range(
    13
)
_NUMBER, _TABLE = 13, 14
_CLASS = byte_map(
    dict.fromkeys(range(256), _PLAIN)
    | dict.fromkeys(b" \t\n\v\f\r", _WHITE)
    | {
        39: _QUOTE,
        38: _AMPERSAND,
        95: _UNDERSCORE,
        SPLIT: _SPLIT,
        SOFT: _SOFT,
        0xC2: _LEAD_C2,
        0xEF: _LEAD_EF,
        HOLE: _HOLE,
        SURE_HOLE: _HOLE,
        TABLE_OPEN: _TABLE,
    }
    | dict.fromkeys(b",.;:)", _STOP)
    | dict.fromkeys((GONE, TABLE_CLOSE), _GONE)
    | dict.fromkeys((RAISED, LOWERED, APART), _NUMBER)
    | dict.fromkeys((*PROTECTED.values(), *LATE.values()), _MARK)
)


@compiled
def _separate(out: Bytes, o: int, start: int, pending: int) -> int:
    """Write what is pending, unless nothing was written since `start`."""
    if o == start or pending == _NOTHING:
        return o
    out[o] = 32 if pending == _SPACE else 10
    if pending == _BLOCK:
        out[o + 1] = 10
        return o + 2
    return o + 1


@compiled
def _merged_holes(text: Bytes, i: int, end: int) -> tuple[int, int, bool]:
    """Return the fingerprint of the hole at text[i], together with those that follow, where the last one ends, and
    whether a reader surely sees one of them.
    """
    key = _NOTHING
    sure = False
    while True:
        sure = sure or text[i] == SURE_HOLE
        key = (key * 5 + ((int(text[i + 1]) & 63) << 6 | (int(text[i + 2]) & 63))) & 4095
        i += 3
        j = i
        while j < end and (_CLASS[text[j]] == _WHITE or _CLASS[text[j]] == _GONE):
            j += 1
        if j == end or _CLASS[text[j]] != _HOLE:
            return key, i, sure
        i = j


@compiled
def _following(text: Bytes, i: int, end: int) -> int:
    """Return the next visible character, or only a byte of it if it has not three; -1 if there is none."""
    while i < end:
        kind = _CLASS[text[i]]
        if kind != _WHITE and kind != _GONE and kind != _QUOTE:
            return _three_bytes(text, i) if i + 2 < end else int(text[i])
        i += 1
    return -1


@compiled
def _three_bytes(text: Bytes, i: int) -> int:
    """Return the character at text[i], if it has three bytes, as those of Chinese and Japanese; else its first byte."""
    if text[i] < 0xE0 or text[i] >= 0xF0:
        return int(text[i])
    return (int(text[i]) & 15) << 12 | (int(text[i + 1]) & 63) << 6 | (int(text[i + 2]) & 63)


@compiled
def _is_spaceless(code: int) -> bool:
    """Return whether a character is a letter of Chinese or Japanese."""
    return (code >= 0x3041 and code < 0x3100 and code != 0x30FB) or (code >= 0x3400 and code < 0xA000)


@compiled
def _in_sentence(out: Bytes, begin: int, o: int, spaced: bool, following: int) -> bool:
    """Return whether a reader would see something between out[begin:o] and the character `following`.

    What is not separated by a space, follows the end of a sentence or ends a line is most often a note or a sign of
    maintenance. Letters of Chinese and Japanese have no spaces between them.
    """
    if o == begin:
        return following == 44 or (following >= 97 and following <= 122)
    last = out[o - 1]
    if last == 40 or last == 91 or last == 34:
        return following != 41 and following != 93 and following != 34
    if not spaced and _is_spaceless(following):
        return o >= begin + 3 and _is_spaceless(_three_bytes(out, o - 3))
    if not spaced or following < 0:
        return False
    return not (ends_sentence(out, o) and (following < 97 or following > 122))


@compiled
def _closes_wide(text: Bytes, i: int, end: int, out: Bytes, begin: int, o: int) -> bool:
    """Return whether `）` stands before text[i + 2], and `（` at the end of out[begin:o]."""
    closes = i + 1 < end and text[i] == 0xBC and text[i + 1] == 0x89
    return closes and o >= begin + 3 and out[o - 3] == 0xEF and out[o - 2] == 0xBC and out[o - 1] == 0x88


@compiled
def _write_sign(out: Bytes, o: int, key: int) -> int:
    """Write `…` and two variation selectors, which are not visible and tell this hole from others. Return the end."""
    for byte in (0xE2, 0x80, 0xA6):
        out[o] = byte
        o += 1
    for part in (key >> 6, key & 63):
        out[o], out[o + 1], out[o + 2], out[o + 3] = 0xF3, 0xA0, 0x84, 0x80 | part
        o += 4
    return o


@compiled
def _write_line(
    text: Bytes, start: int, end: int, out: Bytes, o: int, page: int, pending: int, inside: bool, tables: Tables
) -> tuple[int, int]:
    """Write the visible part of text[start:end] to out[o:]. Return its end, and what is pending after it. `inside`
    says that a sentence goes on after it.
    """
    odd = -2  # not searched yet
    begin = o
    gone = False  # whether something was removed after the last visible character
    i = start
    while i < end:
        byte = text[i]
        kind = _CLASS[byte]
        if kind == _PLAIN:
            if pending != _NOTHING:
                o = _separate(out, o, page, pending)
                pending = _NOTHING
            out[o] = byte
            o += 1
            i += 1
            gone = False
            continue
        code = int(RESTORE[byte])
        i += 1
        if kind == _WHITE:
            if not (gone and o > begin and out[o - 1] == 40):
                pending = max(pending, _SPACE)
            continue
        if kind == _GONE:
            gone = True
            continue
        if kind == _HOLE:
            key, i, sure = _merged_holes(text, i - 1, end)
            following = _following(text, i, end)
            sure = sure and (o > begin or following >= 0)
            gone = not (sure or inside or _in_sentence(out, begin, o, pending != _NOTHING, following))
            if not gone:
                o = _separate(out, o, page, pending)
                pending = _NOTHING
                o = _write_sign(out, o, key)
            continue
        if kind == _NUMBER:
            code = 0 if pending != _NOTHING or o == begin else number_sign(text, byte, i, end, out, o, tables)
            gone = code == 0
            if not gone:
                out[o] = code
                o += 1
                while text[i] == 32:
                    i += 1
            continue
        if kind == _TABLE:  # it is never closed
            while i < end and text[i - 1] != 62:
                i += 1
            pending = _BLOCK
            continue
        if kind == _STOP and gone and o > begin:
            last = out[o - 1]
            if pending == _SPACE:
                pending = _NOTHING
            if byte == 41 and last == 40:  # empty brackets
                o -= 1
                if o > begin and out[o - 1] == 32:
                    o -= 1
                    pending = _SPACE
                continue
            if byte == 41 and (last == 44 or last == 59):
                o -= 1
            elif byte != 41 and byte != 46 and (last == 40 or last == byte):
                continue
        if kind == _LEAD_EF and gone and _closes_wide(text, i, end, out, begin, o):
            o -= 3
            i += 2
            continue
        if kind == _SOFT:
            pending = max(pending, _LINE)
            continue
        if kind == _SPLIT:
            pending = _BLOCK
            continue
        if kind in (_LEAD_C2, _LEAD_EF):
            if kind == _LEAD_C2 and i < end and text[i] == 0xA0:
                pending = max(pending, _SPACE)
                i += 1
                continue
            o = _separate(out, o, page, pending)
            pending = _NOTHING
            gone = False
            out[o] = byte
            o += 1
            continue
        if kind == _QUOTE:
            run = 1
            while i < end and text[i] == 39:
                run += 1
                i += 1
            if run > 1:
                if odd == -2:
                    odd = odd_quote(text, start, end)
                shown = run - 5 if run > 5 else (1 if run == 4 else 0)
                if odd == i - run:
                    shown += 1
                for _ in range(shown - 1):
                    o = _separate(out, o, page, pending)
                    pending = _NOTHING
                    out[o] = 39
                    o += 1
                if shown == 0:
                    continue
        elif kind == _AMPERSAND:
            entity, after = read_entity(text, i - 1, end, tables)
            if entity >= 0:
                i = after
                code = entity
                if code == 32 or code == 160 or (code >= 9 and code <= 13):
                    pending = max(pending, _SPACE)
                    continue
        elif kind == _UNDERSCORE:
            after = read_magic_word(text, i - 1, end, tables)
            if after >= 0:
                i = after
                continue
        o = _separate(out, o, page, pending)
        pending = _NOTHING
        gone = False
        o = encode(out, o, code)
    return o, pending


@compiled
def write_lines(text: Bytes, length: int, out: Bytes, page: int, tables: Tables) -> tuple[int, bool, bool]:
    """Write the plain text of text[:length] to out[page:]. Return its end; whether a section that may be dropped, or an
    indented line after which a sentence may go on, is open there; and whether the last sentence of a paragraph is.

    Needs room for four times the length: a hole of 3 bytes becomes a sign of 11, a block break is two bytes and may
    replace one.
    """
    o = page
    pending = _BLOCK
    is_open = False
    paragraph = False  # whether the last visible line belongs to one
    goes_on, inside = 0, False  # where the next line is that is not indented, and whether a sentence goes on there
    next_line = 0
    while next_line < length:
        start = next_line
        end = start
        while end < length and text[end] != 10:
            end += 1
        next_line = end + 1
        if end == start:
            pending = pending if inside else _BLOCK
            continue
        if begins_row(text, start, end, length):  # of a table that is never closed, or was opened by a template
            next_line = rows_end(text, start, length)
            pending = _BLOCK
            paragraph = False
            continue
        first = text[start]
        level = 0
        if first == 61:
            heading_end = visible_end(text, start, end)
            level = heading_level(text, start, heading_end)
        if level > 0:
            heading = o
            o, _ = _write_line(text, start + level, heading_end - level, out, o, page, _BLOCK, False, tables)
            pending = _BLOCK
            paragraph = False
            title = heading if heading == page else heading + 2
            if o > title:
                last = o - 1 if out[o - 1] == 58 else o
                if find(tables.keys, tables.values, folded_key(out, title, last, SECTION, tables.letters)) != ABSENT:
                    below, is_prose, closed = section_end(text, next_line, length, level)
                    is_open = is_open or not closed
                    if not is_prose:
                        o = heading
                        next_line = below
            continue
        alone = False  # whether the line is its own block
        if start >= goes_on:
            inside = False
            if first == 58:
                goes_on, inside = sentence_goes_on(text, next_line, length)
                is_open = is_open or goes_on == length
                joined = paragraph and not ends_sentence(out, o)
                pending = _LINE if inside and joined else _BLOCK
        if first == 58 and inside:
            while start < end and text[start] == 58:
                start += 1
        elif first == 42 or first == 35 or first == 58 or first == 59:
            alone = True
            while start < end and (text[start] == 42 or text[start] == 35 or text[start] == 58 or text[start] == 59):
                start += 1
        elif (
            first == 45
            and end - start >= 4
            and text[start + 1] == 45
            and text[start + 2] == 45
            and text[start + 3] == 45
        ):
            pending = _BLOCK
            while start < end and text[start] == 45:
                start += 1
        written = o
        o, pending = _write_line(
            text,
            start,
            end,
            out,
            o,
            page,
            _BLOCK if alone else max(pending, _LINE),
            inside,
            tables,
        )
        if o > written:
            paragraph = not alone
        pending = _BLOCK if alone or (o == written and not inside) else max(pending, _LINE)
    return o, is_open, paragraph and not ends_sentence(out, o)
