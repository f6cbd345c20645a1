"""Tags of extensions that are not known: prose in them is text, and code is something that we cannot show.

Which it is, is a rule of thumb: code has many signs, and what is shorter than a phrase is often a key, such as that of
a video. A tag that is never closed is text, as in "the grapheme <ch>".
"""

from __future__ import annotations

import numpy as np

from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.holes import write_hole
from esdedup.text.wikitext.lookup import Bytes, Numbers
from esdedup.text.wikitext.marks import GONE, SPLIT, byte_map
from esdedup.text.wikitext.tag_names import after_tag, find_closing_tag

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
