"""Third pass: links and tables, with one stack of open markup."""

from __future__ import annotations

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled
from esdedup.text.wikitext.lookup import NAMESPACE, SCHEME, Numbers, Tables, folded_key
from esdedup.text.wikitext.marks import GONE, SPLIT, TABLE_CLOSE, TABLE_OPEN, byte_map
from esdedup.text.words import ABSENT, find, mix

_LINK, _EXTERNAL, _WIKI_TABLE, _HTML_TABLE = 1, 2, 3, 4

_LONGEST_NAMESPACE = 100  # bytes

# 0 for the bytes that are only copied.
_SPECIAL = byte_map(dict.fromkeys(range(256), 0) | dict.fromkeys((10, 91, 93, 124, TABLE_OPEN, TABLE_CLOSE), 1))


@compiled
def _opens_url(text: Bytes, start: int, end: int, tables: Tables) -> bool:
    """Return whether a URL scheme that links may use begins at `start`."""
    key = SCHEME
    i = start
    while i < end and i - start < 12:
        letter = int(text[i]) | 32
        if letter < 97 or letter > 122:
            break
        key = mix(key, letter)
        i += 1
    if i > start:
        if i >= end or text[i] != 58:
            return False
        key = mix(key, int(text[i]))
        i += 1
        if find(tables.keys, tables.values, key) != ABSENT:
            return True
    if i + 1 < end and text[i] == 47 and text[i + 1] == 47:
        return find(tables.keys, tables.values, mix(mix(key, int(text[i])), int(text[i]))) != ABSENT
    return False


@compiled
def _label_of_url(text: Bytes, start: int, end: int) -> int:
    """Return where the label begins in text[start:end], a URL and its label."""
    i = start
    while i < end:
        byte = text[i]
        if byte <= 32 or byte == 34 or byte == 60 or byte == 62 or byte == 91 or byte >= 0xF5:
            break
        if byte == 39 and i + 1 < end and text[i + 1] == 39:
            break
        i += 1
    while i < end and (text[i] == 32 or text[i] == 9):
        i += 1
    return i


@compiled
def _is_dropped(text: Bytes, start: int, end: int, tables: Tables) -> bool:
    """Return whether the link title in text[start:end] is a file, a category or another language's article."""
    last = min(end, start + _LONGEST_NAMESPACE)
    for colon in range(start, last):
        if text[colon] == 58:
            return find(tables.keys, tables.values, folded_key(text, start, colon, NAMESPACE, tables.letters)) != ABSENT
    return False


@compiled
def _close_link(text: Bytes, place: int, pipe: int, o: int, tables: Tables) -> int:
    """Keep only the label of the link that opens at `place` and ends at `o`. Return the new end."""
    if place + 2 == (pipe if pipe >= 0 else o):
        text[o] = 93  # `[[]]` is text
        text[o + 1] = 93
        return o + 2
    if _is_dropped(text, place + 2, pipe if pipe >= 0 else o, tables):
        text[place] = GONE
        return place + 1
    if pipe >= 0:
        label = pipe + 1
        while label < o and (text[label] == 32 or text[label] == 9 or text[label] == 10):
            label += 1
        if label < o:
            text[place : pipe + 1] = GONE
            return o
        o = pipe  # `[[title|]]` shows the title
    text[place] = GONE
    text[place + 1] = GONE
    i = place + 2
    while i < o and text[i] == 32:
        i += 1
    if i < o and text[i] == 58:  # the colon that makes `[[:File:name]]` a link
        text[i] = GONE
    return o


@compiled
def _still_open(top: int, line: int, kinds: Numbers, places: Numbers, pipes: Numbers) -> int:
    """Return how many are still open on the line that begins at `line`. Titles and external links end with
    their line.
    """
    while (
        top > 0
        and places[top - 1] < line
        and (kinds[top - 1] == _EXTERNAL or (kinds[top - 1] == _LINK and pipes[top - 1] < 0))
    ):
        top -= 1
    return top


@compiled
def strip_links(
    text: Bytes, length: int, kinds: Numbers, places: Numbers, pipes: Numbers, brackets: Numbers, tables: Tables
) -> tuple[int, bool]:
    """Keep only the labels of links in text[:length], and remove files, categories and tables, in place.

    The next four arrays are a stack of open markup: its kind, its position, the position of its first `|` (-1: not
    yet), and the number of single brackets open in it. Prefixes of links are overwritten with `GONE` instead of moving
    the label. A prefix never contains another link, so each byte is overwritten once. Returns the new length, and
    whether a link or a table is open after the last line, if that is ended.
    """
    top = 0
    wiki_tables, html_tables = 0, 0
    line = 0
    line_begins = True
    o = 0
    i = 0
    while i < length:
        byte = text[i]
        if byte == 10:
            text[o] = 10
            o += 1
            i += 1
            line = o
            line_begins = True
        if line_begins:
            line_begins = False
            j = i
            while j < length and (
                text[j] == 32 or text[j] == 9 or text[j] == 58 or text[j] == GONE or text[j] == SPLIT
            ):
                j += 1
            opens = j + 1 < length and text[j] == 123 and text[j + 1] == 124
            closes = wiki_tables > 0 and j + 1 < length and text[j] == 124 and text[j + 1] == 125
            if closes:
                while kinds[top - 1] != _WIKI_TABLE:
                    top -= 1
                    html_tables -= 1 if kinds[top] == _HTML_TABLE else 0
                top -= 1
                wiki_tables -= 1
                o = places[top]
                text[o] = SPLIT
                o += 1
                line = min(line, o)
                i = j + 2
            elif opens:
                while i < j:
                    text[o] = text[i]
                    o += 1
                    i += 1
                kinds[top], places[top] = _WIKI_TABLE, o
                top += 1
                wiki_tables += 1
                text[o] = 123
                text[o + 1] = 124
                o += 2
                i += 2
            continue
        if _SPECIAL[byte] == 0:
            text[o] = byte
            o += 1
            i += 1
            continue

        top = _still_open(top, line, kinds, places, pipes)
        kind = kinds[top - 1] if top > 0 else 0
        following = text[i + 1] if i + 1 < length else 0
        if byte == 91:
            double = (
                following == 91
                and not (i + 2 < length and text[i + 2] == 91 and not (i + 3 < length and text[i + 3] == 91))
                and not _opens_url(text, i + 2, length, tables)
            )
            if double or _opens_url(text, i + 1, length, tables):
                kinds[top], places[top] = _LINK if double else _EXTERNAL, o
                pipes[top], brackets[top] = -1, 0
                top += 1
            elif kind == _LINK:
                brackets[top - 1] += 1
            text[o] = 91
            o += 1
            i += 1
            if double:
                text[o] = 91
                o += 1
                i += 1
        elif byte == 93 and kind == _EXTERNAL:
            top -= 1
            place = places[top]
            label = _label_of_url(text, place + 1, o)
            if label == o:
                o = place + 1
            text[place : min(label, o)] = GONE
            i += 1
            if top > 0 and kinds[top - 1] == _LINK and pipes[top - 1] < 0:
                top -= 1
        elif byte == 93 and kind == _LINK:
            triple = following == 93 and i + 2 < length and text[i + 2] == 93
            if following == 93 and not (triple and brackets[top - 1] > 0):
                top -= 1
                o = _close_link(text, places[top], pipes[top], o, tables)
                i += 2
                # A title that contains a link is not a title.
                if top > 0 and kinds[top - 1] == _LINK and pipes[top - 1] < 0:
                    top -= 1
            else:
                brackets[top - 1] -= 1 if brackets[top - 1] > 0 else 0
                text[o] = 93
                o += 1
                i += 1
        elif byte == TABLE_CLOSE:
            if html_tables > 0:
                while kinds[top - 1] != _HTML_TABLE:
                    top -= 1
                    wiki_tables -= 1 if kinds[top] == _WIKI_TABLE else 0
                top -= 1
                html_tables -= 1
                o = places[top]
                line = min(line, o)
            text[o] = SPLIT
            o += 1
            i += 1
        else:
            if byte == 124 and kind == _LINK and pipes[top - 1] < 0:
                pipes[top - 1] = o
            elif byte == TABLE_OPEN:
                kinds[top], places[top] = _HTML_TABLE, o
                top += 1
                html_tables += 1
            text[o] = byte
            o += 1
            i += 1
    return o, _still_open(top, line, kinds, places, pipes) > 0
