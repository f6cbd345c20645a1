"""Language variants: `-{zh-hans:软件; zh-hant:軟體}-` shows one of them, always the same of those that are there.

Only wikis whose language has variants have this markup. The codes of variants are those of `languages.VARIANTS`.
"""

from __future__ import annotations

import re

import numpy as np

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.lookup import VARIANT, Numbers, Tables, folded_key, tables_of
from esdedup.text.wikitext.marks import GONE, write_hole
from esdedup.text.wikitext.rules import Names
from esdedup.text.words import ABSENT, find

_LONGEST = constant(16)  # of the code of a variant, in bytes

_TEXT, _NOTHING, _HOLE = constant(0), constant(1), constant(2)


@compiled
def _flag(text: Bytes, start: int, end: int, tables: Tables) -> int:
    """Return what the flag text[start:end] means for what is shown, or -1 if it is none."""
    while start < end and text[start] == 32:
        start += 1
    while end > start and text[end - 1] == 32:
        end -= 1
    if end - start == 1:
        flag = text[start]
        if flag == 72 or flag == 84 or flag == 45:  # H, T, -: a rule is set, or removed
            return _NOTHING
        if flag == 68 or flag == 78:  # D, N: names of variants are shown
            return _HOLE
        if flag == 65 or flag == 82 or flag == 83 or flag == 43:  # A, R, S, +
            return _TEXT
    if end == start or end - start > _LONGEST:
        return -1
    key = folded_key(text, start, end, VARIANT, tables.letters)
    return _TEXT if find(tables.keys, tables.values, key) != ABSENT else -1


@compiled
def _code(text: Bytes, start: int, end: int, tables: Tables) -> tuple[int, int]:
    """Return the rank of the variant for which text[start:end] begins with a text, as in `zh-cn:`, and where that
    begins; (-1, start) if it does not.
    """
    colon = start
    while colon < end and colon - start < 2 * _LONGEST and text[colon] != 58:
        colon += 1
    if colon == end or text[colon] != 58:
        return -1, start
    found = find(tables.keys, tables.values, folded_key(text, start, colon, VARIANT, tables.letters))
    return (found, colon + 1) if found != ABSENT else (-1, start)


@compiled
def _chosen(text: Bytes, start: int, end: int, tables: Tables) -> tuple[int, int, int]:
    """Return what is shown of the content text[start:end] of `-{…}-`: its kind, and where it begins and ends."""
    shows = _TEXT
    bar, last = start, start
    while bar < end and text[bar] != 124:
        bar += 1
    if bar < end:
        valid = True
        for i in range(start, bar + 1):
            if i == bar or text[i] == 59:
                flag = _flag(text, last, i, tables)
                valid = valid and (flag >= 0 or last == i)
                shows = max(shows, flag)
                last = i + 1
        if valid:
            start = bar + 1
        else:
            shows = _TEXT
    best, best_start, best_end = -1, start, end
    begin, first = start, True
    while begin < end:
        # the text before `=>` is what is replaced, if this is a rule for one direction
        arrow = begin
        while (
            arrow < end and text[arrow] != 59 and not (text[arrow] == 61 and arrow + 1 < end and text[arrow + 1] == 62)
        ):
            arrow += 1
        at = arrow + 2 if arrow < end and text[arrow] == 61 else begin
        rank, value = _code(text, at, end, tables)
        if rank < 0 and first:
            break  # no rules
        stop = value
        while stop < end:
            if text[stop] == 59:
                following = stop + 1
                while following < end and (text[following] == 32 or text[following] == 10):
                    following += 1
                after, _ = _code(text, following, end, tables)
                if after >= 0 or following == end:
                    break
                arrow = following
                while arrow + 1 < end and text[arrow] != 59 and not (text[arrow] == 61 and text[arrow + 1] == 62):
                    arrow += 1
                if arrow + 1 < end and text[arrow] == 61:
                    break
            stop += 1
        if rank >= 0 and (best < 0 or rank < best):
            best, best_start, best_end = rank, value, stop
        begin, first = stop + 1, False
    while best_start < best_end and text[best_start] == 32:
        best_start += 1
    while best_end > best_start and text[best_end - 1] == 32:
        best_end -= 1
    return shows, best_start, best_end


@compiled
def strip_variants(
    text: Bytes, start: int, length: int, places: Numbers, braces: Numbers, tables: Tables
) -> tuple[int, bool]:
    """Replace closed `-{…}-` in text[start:start + length] by one variant, in place. Return the new length, and whether
    one is open at the end, which is text.

    `places` and `braces` are a stack: where they open, and how many `{{` were open there.
    """
    if find(tables.keys, tables.values, VARIANT) == ABSENT:
        return length, False
    top, depth = 0, 0
    o, i = start, start
    end = start + length
    while i < end:
        byte = text[i]
        if byte != 45 and byte != 123 and byte != 125:
            text[o] = byte
            o += 1
            i += 1
            continue
        run = 0
        while i + 1 + run < end and text[i + 1 + run] == 123:
            run += 1
        following = text[i + 1] if i + 1 < end else 0
        if byte == 45 and (run == 1 or run == 3):
            places[top], braces[top] = o, depth
            top += 1
            depth = 0
            text[o], text[o + 1] = 45, 123
            o += 2
            i += 2
        elif byte == 125 and following == 45 and top > 0 and depth == 0:
            top -= 1
            depth = braces[top]
            place = places[top]
            shows, first, last = _chosen(text, place + 2, o, tables)
            if shows == _HOLE:
                o = write_hole(text, first, last, text, place)
            elif shows == _NOTHING or first == last:
                text[place] = GONE
                o = place + 1
            else:
                for at in range(first, last):
                    text[place + at - first] = text[at]
                o = place + last - first
            i += 2
        else:
            if byte != 45 and following == byte:
                depth += 1 if byte == 123 else (-1 if depth > 0 else 0)
                text[o] = byte
                o += 1
                i += 1
            text[o] = byte
            o += 1
            i += 1
    return o - start, top > 0


def shown_variants(text: str, names: Names) -> str:
    """Return wikitext with one variant of each `-{…}-`."""
    if not names.variants or "-{" not in text:
        return text
    data = np.frombuffer(text.encode("utf-8", "replace"), np.uint8).copy()
    stack = np.empty((2, data.size), np.int64)
    length, _ = strip_variants(data, 0, data.size, stack[0], stack[1], tables_of(names, {}, stack[0], {}))
    # what the fast path marks is here markup that the parser reads as the same
    shown = re.sub(rb"\x01[\x80-\xbf]{2}", "{{…}}".encode(), data[:length].tobytes())
    return shown.replace(bytes([GONE]), b"<nowiki/>").decode("utf-8", "replace")
