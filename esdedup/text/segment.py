"""Split documents into units: sentences, paragraphs, lines or whole records, in Unicode NFC, with collapsed
white space.

Paragraphs are separated by an empty line and never share a sentence. A single line break inside a paragraph counts as a
space. A unit of only white space is not a unit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import regex

from esdedup.columns.arrays import text_buffers, text_column, texts_from
from esdedup.columns.hashing import Bytes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.text.language import detect
from esdedup.text.sentences.boundaries import sentence_ends
from esdedup.text.sentences.language_words import words
from esdedup.text.splitting import AUTO, DEFAULT, Splitting

_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n\s*")
_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85\u2028]")

_MAY_END_SENTENCES = re.compile(r"[^ -~]|[.!?:;]")
_AT_THE_END = ".!?:;\"')]"
_SAMPLED = 100
_MANY_MARKS = regex.compile(r"\p{M}{10}")  # among sampled characters: a thousand in a row
_MARKED_PARTS = regex.compile(r"\P{M}+\p{M}{0,1000}|\p{M}{1,1000}")


class Units(NamedTuple):
    """The units of several documents: texts, the document of each unit, and lengths in code points."""

    texts: pa.LargeStringArray
    document: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]


def languages_of(documents: Sequence[str], splitting: Splitting) -> list[str]:
    """Return the language of each document as a code."""
    if splitting.lang == AUTO:
        return detect(documents, splitting.expected, splitting.by)
    return [splitting.lang] * len(documents)


def segment(documents: Sequence[str], splitting: Splitting, languages: Sequence[str] | None = None) -> Units:
    """Return the units of `documents` in order. `document` contains each unit's index into `documents`. `languages` are
    those of `languages_of`, if they are known.
    """
    composed = list(map(compose, documents))
    data, offsets = text_buffers(text_column(composed))
    if splitting.unit in ("sentence", "record"):
        composed.clear()
    if splitting.unit == "sentence":
        offsets, owners = _sentence_bounds(data, offsets, languages or _languages_of_several(documents, splitting))
    elif splitting.whole:
        owners = np.arange(len(documents))
    else:
        split_all = [_SPLITTERS[splitting.unit](text) for text in composed]
        data, offsets = text_buffers(text_column([piece for pieces in split_all for piece in pieces]))
        owners = np.repeat(np.arange(len(documents)), [len(pieces) for pieces in split_all])
    flat, bounds, lengths = collapse_spaces(data, offsets)
    kept = np.flatnonzero(np.diff(bounds))
    texts = texts_from(flat, bounds)
    if len(kept) < len(texts):
        texts = texts.take(pa.array(kept))
    return Units(texts, owners[kept], lengths[kept])


def _languages_of_several(documents: Sequence[str], splitting: Splitting) -> list[str]:
    """As `languages_of`, but only of documents that may be several sentences: others are one in every language."""
    found = [DEFAULT] * len(documents)
    asked = [
        place for place, text in enumerate(documents)
        if _MAY_END_SENTENCES.search(text.rstrip(" ").rstrip(_AT_THE_END))
    ]  # fmt: skip
    for place, language in zip(asked, languages_of([documents[place] for place in asked], splitting), strict=True):
        found[place] = language
    return found


def split(text: str, splitting: Splitting) -> list[str]:
    """Split `text` into pieces. Those that are not only white space are the units, in order. Joined, sentences are the
    text; between other pieces of the text is only white space.
    """
    if splitting.unit == "sentence":
        data, offsets = text_buffers(text_column([text]))
        bounds, _ = _sentence_bounds(data, offsets, _languages_of_several([text], splitting))
        return texts_from(data, bounds).to_pylist()  # type: ignore[no-any-return]
    return [text] if splitting.whole else _SPLITTERS[splitting.unit](text)


def _sentence_bounds(data: Bytes, offsets: Offsets, languages: Sequence[str]) -> tuple[Offsets, npt.NDArray[np.int64]]:
    known = words()
    numbers = {lang: known.number(lang) for lang in set(languages)}
    which = np.array([numbers[lang] for lang in languages], np.int64)
    return sentence_ends(data, offsets, which, known.seeds, known.properties, known.keys, known.values)


_SPLITTERS: dict[str, Callable[[str], list[str]]] = {
    "paragraph": lambda text: _PARAGRAPHS.split(_with_line_feeds(text)),
    "line": lambda text: _with_line_feeds(text).split("\n"),
}


def compose(text: str) -> str:
    """Return the text in NFC. Runs of thousands of combining marks are composed in parts, to avoid quadratic time."""
    sample = text[::_SAMPLED]
    if sample.isascii() or not _MANY_MARKS.search(sample):
        return unicodedata.normalize("NFC", text)
    return "".join(unicodedata.normalize("NFC", part) for part in _MARKED_PARTS.findall(text))


def spans(text: str, splitting: Splitting) -> list[tuple[int, int]]:
    """Return where each unit of `text` (in NFC) begins and ends: unit i is the unit at position i.

    Only white space is between units, as in the document.
    """
    found: list[tuple[int, int]] = []
    end = 0
    for piece in split(text, splitting):
        words = piece.split()
        # a piece has the words of the document, but other white space: the next word is the next match
        for number, word in enumerate(words):
            begin = text.index(word, end)
            end = begin + len(word)
            if not number:
                first = begin
        if words:
            found.append((first, end))
    return found


def without(document: str, splitting: Splitting, positions: Collection[int]) -> str | None:
    """Return the document in NFC without the units at `positions`; `None` if no unit is left.

    Everything else is unchanged. Where units are removed, the widest gap stays, so two paragraphs do not become one.
    Raises `IndexError` for a position that the document does not have.
    """
    text = compose(document)
    units = spans(text, splitting)
    if max(positions, default=-1) >= len(units):
        raise IndexError(f"the document has {len(units)} units, so there is none at {max(positions)}")
    kept = [index for index in range(len(units)) if index not in positions]
    if not kept:
        return None
    parts = [text[: units[0][0]]]
    for index, following in zip(kept, [*kept[1:], None], strict=True):
        begin, end = units[index]
        parts.append(text[begin:end])
        if following is not None:
            parts.append(max((text[units[at][1] : units[at + 1][0]] for at in range(index, following)), key=_width))
    return "".join([*parts, text[units[-1][1] :]])


def _width(gap: str) -> tuple[int, bool]:
    """Rank a gap: an empty line is more than a line break, which is more than a space, which is more than nothing."""
    return min(_LINE_ENDS.sub("\n", gap).count("\n"), 2), bool(gap)


def _with_line_feeds(text: str) -> str:
    if "\r" in text or "\v" in text or "\f" in text or "\x85" in text or "\u2028" in text:
        return _LINE_ENDS.sub("\n", text)
    return text


@compiled
def _space_bytes(data: Bytes, at: int, end: int) -> int:
    """Return the bytes of the white-space character at `at` (Unicode White_Space and ASCII separators), otherwise 0."""
    byte = data[at]
    if byte < 0x80:
        return 1 if byte == 0x20 or 0x09 <= byte <= 0x0D or 0x1C <= byte <= 0x1F else 0
    if byte == 0xC2 and at + 1 < end:
        return 2 if data[at + 1] == 0x85 or data[at + 1] == 0xA0 else 0
    if at + 2 >= end or not 0xE1 <= byte <= 0xE3:
        return 0
    code = (np.int64(byte & 0x0F) << 12) | (np.int64(data[at + 1] & 0x3F) << 6) | np.int64(data[at + 2] & 0x3F)
    if 0x2000 <= code <= 0x200A or code in (0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000):
        return 3
    return 0


@compiled
def collapse_spaces(data: Bytes, offsets: Offsets) -> tuple[Bytes, Offsets, npt.NDArray[np.int64]]:
    """Trim texts and turn each run of white space into one space: bytes, offsets, lengths in code points."""
    texts = len(offsets) - 1
    out = np.empty(offsets[texts] - offsets[0], np.uint8)
    bounds = np.zeros(texts + 1, np.int64)
    lengths = np.zeros(texts, np.int64)
    total = 0
    for index in range(texts):
        at, end = offsets[index], offsets[index + 1]
        begin = total
        length = 0
        pending = False
        while at < end:
            byte = data[at]
            # most bytes are clearly not white space; only these can start a white-space character
            if byte <= 0x20 or byte == 0xC2 or 0xE1 <= byte <= 0xE3:
                wide = _space_bytes(data, at, end)
                if wide:
                    pending = total > begin
                    at += wide
                    continue
            if pending:
                out[total] = 0x20
                total += 1
                length += 1
                pending = False
            out[total] = byte
            total += 1
            at += 1
            # variation selectors, such as the invisible marks of holes, have no length
            selector = byte == 0xF3 and data[at] == 0xA0 and data[at + 1] >> 2 == 0x21
            length += (byte & 0xC0) != 0x80 and not selector
            # words of ASCII, and single spaces between them
            while at < end and 0x20 <= data[at] < 0x80 and (data[at] > 0x20 or data[at - 1] > 0x20):
                out[total] = data[at]
                total += 1
                at += 1
                length += 1
            if out[total - 1] == 0x20:
                total -= 1
                length -= 1
                pending = True
        bounds[index + 1] = total
        lengths[index] = length
    # a copy of a large text is only worth it if much of it was white space
    return (out[:total] if 8 * total > 7 * len(out) else out[:total].copy()), bounds, lengths
