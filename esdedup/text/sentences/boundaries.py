"""The compiled pass that decides where sentences end.

A run of stops, closing quotes and brackets, followed by white space, may end a sentence. What stands before it and what
follows decide, with the words of the language (see `language_words`). The pass is linear: it reads each character a
bounded number of times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from esdedup.columns.arrays import decode
from esdedup.columns.hashing import Bytes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.text.sentences.characters_and_words import (
    BRACKET,
    CLASSES,
    CLOSE,
    DIGIT,
    ELLIPSIS,
    END,
    LETTER,
    LINE,
    LOWER,
    MARK,
    QUOTE,
    STOP,
    UPPER,
    WIDE,
    begins_small,
    class_of,
    end_of_closing,
    is_letter,
    is_selector,
    opens,
    skip_spaces,
    word_after,
    word_before,
)
from esdedup.text.sentences.language_words import (
    BEFORE_NUMBERS,
    COLON_ENDS,
    FINAL,
    FOLLOWERS,
    NEVER,
    ORDINALS,
    SEMICOLON_ASKS,
    SOMETIMES,
    STARTERS,
    STOP_IS_COMMA,
)
from esdedup.text.words import Numbers

_LONG_WORD = 5  # letters of a word that is no abbreviation, even if a small letter follows
_ORDINAL = 3  # digits of an ordinal
_SPACELESS = 0x3040  # letters from here on are of scripts without spaces
_KATAKANA = 0x30A0  # before it: Hiragana, with which no sentence begins after a quote
_COLON, _SEMICOLON, _STRAIGHT = ord(":"), ord(";"), ord('"')
_OPEN_BRACKETS = tuple(map(ord, "「『（"))
_CLOSE_BRACKETS = tuple(map(ord, "」』）"))
_QUOTED = 200  # bytes between such brackets inside which no sentence ends
_NESTED = 64

_PLAIN = np.zeros(256, np.uint8)
"""By byte: 2 for letters of ASCII, 1 for other characters of ASCII at which no sentence ends, 0 for all others."""
_PLAIN[:0x80] = np.where(np.isin(CLASSES[:0x80], (LINE, STOP, END, WIDE, ELLIPSIS)), 0, 1)
_PLAIN[:0x80] += np.isin(CLASSES[:0x80], (UPPER, LOWER, LETTER))
_PLAIN[[_COLON, _SEMICOLON, _STRAIGHT]] = 0


class _Run(NamedTuple):
    """What may end a sentence: stops, closing quotes and brackets, and white space behind them."""

    end: int  # of the run itself
    after: int  # where the next word may begin
    lines: int  # line ends in the white space
    stops: int  # an ellipsis counts as three
    strong: bool  # it has a mark that only ends sentences
    wide: bool  # that needs no white space
    closed: bool  # it has closing quotes or brackets
    brackets: int  # closing brackets of Chinese and Japanese
    quotes: int  # straight quotes
    hole: bool  # it has the sign of a hole; what is counted stands behind that


@compiled
def _ends(code: int, kind: int, properties: int) -> bool:
    """Return whether a character is one of those that only end sentences, in a language with `properties`."""
    if kind == END:
        return True
    return (code == _SEMICOLON and properties & SEMICOLON_ASKS != 0) or (
        code == _COLON and properties & COLON_ENDS != 0
    )


@compiled
def _read_run(data: Bytes, at: int, end: int, properties: int, quotes: int) -> _Run:
    """Read the run of stops from `at` on. `quotes` counts the straight quotes of the paragraph before."""
    stops, brackets, before = 0, 0, quotes
    strong, wide, closed, hole = False, False, False, False
    place, after, lines = at, at, 0
    while place < end:
        code, following = decode(data, place, end)
        kind = class_of(code)
        if kind == STOP:
            stops += 1
        elif kind == ELLIPSIS:
            stops += 3
        elif kind == WIDE:
            wide = True
        elif _ends(code, kind, properties):
            strong = True
        elif kind == QUOTE and (closed or not opens(data, code, following, end)):
            closed = True
            quotes += code == _STRAIGHT
        elif kind == CLOSE:
            closed = True
            brackets += code in _CLOSE_BRACKETS
        elif kind == MARK:
            if is_selector(code):  # the stops before it are the sign of a hole
                hole, stops, strong, wide = True, 0, False, False
        else:
            after, lines = skip_spaces(data, place, end)
            following = after
            if lines < 2 and (after > place or code == BRACKET):
                following = end_of_closing(data, after, end, quotes % 2 == 1)
            if following == after:
                break
            closed = True
            quotes += data[after] == _STRAIGHT
        place = following
        after = place
    return _Run(place, after, lines, stops, strong, wide, closed, brackets, quotes - before, hole)


@compiled
def _stop_ends(
    data: Bytes, begin: int, at: int, run: _Run, end: int, letters_before: int, informal: bool,
    seed: int, properties: int, keys: Numbers, values: Numbers,
) -> bool:  # fmt: skip
    """Return whether a single full stop at `at` ends a sentence that has `letters_before` letters so far."""
    first, follows, roman = word_after(data, run.after, end, seed, keys, values)
    lists, letters, digits, stops, capitals = word_before(data, at, begin, seed, keys, values)
    if first == LOWER:
        word = stops == 0 and digits == 0 and lists & ~(STARTERS | FOLLOWERS) == 0
        informal = informal or class_of(decode(data, run.after, end)[0]) == QUOTE
        return word and not run.closed and ((informal and letters > 1) or (letters >= _LONG_WORD and capitals == 0))
    starts = follows & STARTERS != 0 and first == UPPER
    if run.closed:
        return lists & NEVER == 0 or starts
    if letters_before < 2 or lists & NEVER:
        return False  # "1. A", "A. B": the number of a part
    if lists & SOMETIMES:
        return starts
    if lists & FINAL:
        return first != DIGIT
    if lists & BEFORE_NUMBERS and (first == DIGIT or roman):
        return False
    if digits:
        if letters == 0 and stops == 0 and digits <= _ORDINAL and properties & ORDINALS:
            return starts
        return letters > 0 or follows & FOLLOWERS == 0
    if letters == 1 or (stops and letters <= 2 * (stops + 1)):
        return starts  # an initial, or "a.b."
    if first == DIGIT and letters <= 3 and capitals < letters:
        return False  # most likely an abbreviation that is not listed
    if lists & FOLLOWERS and letters == capitals and properties & ORDINALS:
        return starts  # a Roman numeral
    return True


@compiled
def _grown(numbers: Numbers) -> Numbers:
    more = np.empty(2 * len(numbers), np.int64)
    more[: len(numbers)] = numbers
    return more


@compiled
def sentence_ends(
    data: Bytes,
    offsets: Offsets,
    languages: Numbers,
    seeds: Numbers,
    properties: Numbers,
    keys: Numbers,
    values: Numbers,
) -> tuple[Offsets, Numbers]:
    """Return where each sentence begins (and, at last, where the last one ends), and the index of its text.

    Text i is `data[offsets[i]:offsets[i + 1]]`, and `languages[i]` is the number of its language. `seeds`,
    `properties`, `keys` and `values` are those of `Words`. Sentences follow each other without a gap.
    """
    cuts, owners = np.empty(1024, np.int64), np.empty(1024, np.int64)
    opened_at, opened_cuts = np.empty(_NESTED, np.int64), np.empty(_NESTED, np.int64)
    total = 0
    for text in range(len(offsets) - 1):
        begin, end = offsets[text], offsets[text + 1]  # of the paragraph, of the text
        seed, has = seeds[languages[text]], properties[languages[text]]
        informal = begins_small(data, begin, end)
        depth, quotes, letters = 0, 0, 0
        at = begin
        cut = at if at < end else -1
        while True:
            if cut >= 0:
                if total + 1 >= len(cuts):
                    cuts, owners = _grown(cuts), _grown(owners)
                cuts[total], owners[total] = cut, text
                total += 1
                letters = 0
                cut = -1
            while at < end and _PLAIN[data[at]]:
                letters += _PLAIN[data[at]] >> 1
                at += 1
            if at >= end:
                break
            code, following = decode(data, at, end)
            kind = class_of(code)
            if is_letter(kind):
                letters += 1
                at = following
            elif kind == LINE:
                at, lines = skip_spaces(data, at, end)
                if lines > 1 and at < end:
                    cut = begin = at
                    informal = begins_small(data, begin, end)
                    depth = quotes = 0
            elif code in _OPEN_BRACKETS:
                if depth < _NESTED:
                    opened_at[depth], opened_cuts[depth] = at, total
                depth += 1
                at = following
            elif kind in (STOP, WIDE, ELLIPSIS) or _ends(code, kind, has):
                run = _read_run(data, at, end, has, quotes)
                quotes += run.quotes
                for _ in range(min(run.brackets, depth)):
                    depth -= 1
                    if depth < _NESTED and run.end - opened_at[depth] <= _QUOTED:
                        total = opened_cuts[depth]
                stops = run.stops or run.strong or run.wide
                if (run.hole and not stops) or run.after >= end or run.lines > 1:
                    at = run.end
                    continue
                code, _ = decode(data, run.after, end)
                if run.after == run.end:
                    spaceless = run.wide and not (run.closed and _SPACELESS <= code < _KATAKANA)
                    if spaceless or (run.strong and code >= _SPACELESS):
                        cut = run.end
                    at = run.end
                    continue
                if run.strong or run.wide or run.stops > 1:
                    first, _, _ = word_after(data, run.after, end, seed, keys, values)
                    ends = first != LOWER or (informal and not run.closed)
                else:
                    ends = has & STOP_IS_COMMA == 0 and _stop_ends(
                        data, begin, at, run, end, letters, informal, seed, has, keys, values
                    )
                at = run.after
                if ends:
                    cut = at
                elif letters < 3:
                    letters = 0  # the number of a part
            elif code in _CLOSE_BRACKETS:
                if depth > 0:
                    depth -= 1
                    if depth < _NESTED and at - opened_at[depth] <= _QUOTED:
                        total = opened_cuts[depth]
                at = following
            elif code == _SEMICOLON and letters > 1:
                at, lines = skip_spaces(data, following, end)
                first, follows, _ = word_after(data, at, end, seed, keys, values)
                if following < at < end and lines < 2 and first == UPPER and follows & STARTERS:
                    cut = at
                elif lines:
                    at = following
            else:
                quotes += code == _STRAIGHT
                at = following
    bounds = np.empty(total + 1, np.int64)
    bounds[:total] = cuts[:total]
    bounds[total] = offsets[len(offsets) - 1]
    return bounds, owners[:total].copy()
