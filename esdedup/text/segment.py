"""Split documents into units: sentences (sentencex), paragraphs, lines or whole records, in Unicode NFC, with collapsed
white space.

Paragraphs are separated by an empty line and never share a sentence. A single line break inside a paragraph counts as a
space. A unit of only white space is not a unit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import regex
import sentencex

from esdedup.columns.arrays import text_buffers, text_column, texts_from
from esdedup.columns.hashing import Bytes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.text.splitting import Splitting

_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n\s*")
_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85\u2028]")
# sentencex (1.0.32) panics on an initial, white space and a period where the last white space is not ASCII
_WIDE_SPACE = r"[\xa0\u1680\u2000-\u200a\u2029\u202f\u205f\u3000](?=\.)"
_SPACE_AND_PERIOD = re.compile(_WIDE_SPACE)
_INITIAL_AND_SPACE = re.compile(rf"(?<![^\s./])([A-Z][\s.]*){_WIDE_SPACE}")

_QUOTES = re.compile("[\"'“”„‟«»‹›‘’‚‛「」『』（(［[【〈《]")
_COST = 10**8  # characters times quotes of a paragraph: about 0.05 seconds
_CUT = 2000
_SAMPLED = 100
_MANY_MARKS = regex.compile(r"\p{M}{10}")  # among sampled characters: a thousand in a row
_MARKED_PARTS = regex.compile(r"\P{M}+\p{M}{0,1000}|\p{M}{1,1000}")


class Units(NamedTuple):
    """The units of several documents: texts, the document of each unit, and lengths in code points."""

    texts: pa.LargeStringArray
    document: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]


def segment(documents: Sequence[str], splitting: Splitting) -> Units:
    """Return the units of `documents` in order. `document` contains each unit's index into `documents`."""
    pieces: list[str] = []
    counts = np.empty(len(documents), np.int64)
    for index, document in enumerate(documents):
        text = compose(document)
        before = len(pieces)
        pieces.extend(split(text, splitting))
        counts[index] = len(pieces) - before
    data, offsets = text_buffers(text_column(pieces))
    flat, bounds, lengths = collapse_spaces(data, offsets)
    owners = np.repeat(np.arange(len(documents)), counts)
    kept = np.flatnonzero(lengths)
    texts = texts_from(flat, bounds)
    if len(kept) < len(texts):
        texts = texts.take(pa.array(kept))
    return Units(texts, owners[kept], lengths[kept])


def split(text: str, splitting: Splitting) -> list[str]:
    """Split `text` (in NFC) into pieces. Those that are not only white space are the units, in order. Between pieces of
    the text is only white space.
    """
    return _SPLITTERS[splitting.unit](text, splitting.lang)


def _sentences(text: str, lang: str) -> list[str]:
    """Split a text into sentences. Joined, they are `unwrap(text)`."""
    text = unwrap(text)
    safe = text
    if _SPACE_AND_PERIOD.search(text):
        safe = _INITIAL_AND_SPACE.sub(r"\1 ", text)  # sentencex treats all white space alike
    pieces: list[str] = [piece for part in _bounded(safe) for piece in sentencex.segment(lang, part)]
    if safe == text:
        return pieces
    ends = accumulate(map(len, pieces))
    return [text[begin:end] for begin, end in pairwise([0, *ends])]


_SPLITTERS: dict[str, Callable[[str, str], list[str]]] = {
    "sentence": _sentences,
    "paragraph": lambda text, _: _PARAGRAPHS.split(_with_line_feeds(text)),
    "line": lambda text, _: _with_line_feeds(text).split("\n"),
    "record": lambda text, _: [text],
}


def compose(text: str) -> str:
    """Return the text in NFC. Runs of thousands of combining marks are composed in parts, to avoid quadratic time."""
    sample = text[::_SAMPLED]
    if sample.isascii() or not _MANY_MARKS.search(sample):
        return unicodedata.normalize("NFC", text)
    return "".join(unicodedata.normalize("NFC", part) for part in _MARKED_PARTS.findall(text))


def _bounded(text: str) -> Iterator[str]:
    """Yield the text in parts for sentencex, whose time is quadratic in the number of unclosed quotes.

    The text is cut between paragraphs, which changes nothing. It is cut inside a paragraph only if that has thousands
    of quotes.
    """
    if _cost(text) <= _COST:
        yield text
        return
    for paragraph in re.split(r"(?<=\n\n)", text):
        if _cost(paragraph) <= _COST:
            yield paragraph
            continue
        begin = 0
        while begin < len(paragraph):
            end = begin + _CUT
            gap = paragraph.rfind(" ", begin + _CUT // 2, end)
            end = gap + 1 if gap >= 0 else end
            yield paragraph[begin:end]
            begin = end


def _cost(text: str) -> int:
    return len(text) * len(_QUOTES.findall(text)) if len(text) > _CUT else 0


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


def unwrap(text: str) -> str:
    """Return the text with one empty line between paragraphs, and the lines of a paragraph joined by spaces."""
    text = _with_line_feeds(text)
    if "\n" not in text:
        return text
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in _PARAGRAPHS.split(text))


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
            length += (byte & 0xC0) != 0x80
            out[total] = byte
            total += 1
            at += 1
        bounds[index + 1] = total
        lengths[index] = length
    return out[:total].copy(), bounds, lengths
