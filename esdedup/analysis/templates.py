"""Templates as data: a frame with a table of the values in its slots, and sentences from a frame and a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.analysis.align import Alignment, align
from esdedup.analysis.slots import Frame, Slot, Span, frame_of, slot_spans
from esdedup.analysis.values import DATE, Value
from esdedup.analysis.whole_slots import value_words
from esdedup.analysis.word_forms import Words, listed, split_words
from esdedup.analysis.word_meanings import Meant, meant
from esdedup.errors import UsageError


class FramedTexts(NamedTuple):
    """Texts aligned with one of them: their frame, and where its slots are.

    `spans[k][i]` is the position of slot k in text i, in the bytes of all texts (`words.data`).
    """

    frame: Frame
    words: Words
    known: Meant
    alignment: Alignment
    spans: list[list[Span]]


def framed(cluster: dict[str, Any]) -> tuple[FramedTexts, list[str]]:
    """Align a cluster in the format of clusters.jsonl. Return its distinct texts, too, in the order of the fillers."""
    return next(framed_each([cluster]))


def framed_each(clusters: Sequence[dict[str, Any]]) -> Iterator[tuple[FramedTexts, list[str]]]:
    """Yield what `framed` returns for each of many clusters, which are aligned together."""
    groups = []
    for cluster in clusters:
        titles: dict[str, str] = {}
        for member in cluster["members"]:
            titles.setdefault(member["text"], member["title"] or member["document"])
        texts = list(titles)
        face = next(member["text"] for member in cluster["members"] if member["id"] == cluster["representative"])
        groups.append((texts, texts.index(face), list(titles.values())))
    return zip(_frame_groups(groups), (texts for texts, _, _ in groups), strict=True)


def frame_texts(texts: Sequence[str], centre: int, titles: Sequence[str] = ()) -> FramedTexts:
    """Align distinct `texts` with the one at index `centre`; `titles` are the titles of their documents."""
    return next(_frame_groups([(texts, centre, titles)]))


def _frame_groups(groups: Sequence[tuple[Sequence[str], int, Sequence[str]]]) -> Iterator[FramedTexts]:
    words = split_words(pa.array([text for texts, _, _ in groups for text in texts], pa.large_string()))
    bounds = np.cumsum([0, *(len(texts) for texts, _, _ in groups)])
    centres = bounds[:-1] + np.array([centre for _, centre, _ in groups], np.int64)
    alignment, known = align(words, bounds, centres), meant(words)
    flags, spelled, slots = value_words(words, known), listed(words), alignment.slots.tolist()
    for number, (begin, end) in enumerate(pairwise(bounds.tolist())):
        centre = int(centres[number])
        own = range(*slots[number : number + 2])
        spans = slot_spans(spelled, flags, range(begin, end), centre, alignment, own)
        frame = frame_of(spelled, centre, spans, groups[number][2])
        low, high = spelled.offsets[begin], spelled.offsets[end]
        yield FramedTexts(
            frame, words.of(begin, end), known.of(begin, end, low, high), alignment.of(own, low, high), spans
        )


_MOSTLY = 0.9
"""The share of cells that must have a value for a column to have values."""

_CLOSING = re.compile(r"[,.，。、](?=\s|$)")
"""A sign before which there is no white space."""

_SLOT = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Column(NamedTuple):
    """A slot as a column: its cells, and their values if nearly all are numbers or full dates."""

    name: str
    type: str
    unit: str | None
    cells: tuple[str | None, ...]
    values: tuple[int | float | str | None, ...] | None


class Table(NamedTuple):
    """The content of one template: one row for each sentence."""

    cluster: str
    frame: str
    sentences: tuple[dict[str, Any], ...]  # id, document, title
    columns: tuple[Column, ...]
    fits: tuple[bool, ...]  # whether frame and cells reproduce the sentence


def table_of(cluster: dict[str, Any]) -> Table:
    """Return the table of one cluster in the format of clusters.jsonl."""
    aligned, texts = framed(cluster)
    frame = aligned.frame
    place = {text: at for at, text in enumerate(texts)}
    rows = [place[member["text"]] for member in cluster["members"]]
    wording, columns = frame.text(), [_column(slot) for slot in frame.slots]
    shown = [{slot.name: slot.fillers[at].strip() for slot in frame.slots} for at in range(len(texts))]
    fits = [write(wording, cells) == text for cells, text in zip(shown, texts, strict=True)]
    return Table(
        cluster["id"],
        wording,
        tuple({name: member[name] for name in ("id", "document", "title")} for member in cluster["members"]),
        tuple(
            column._replace(
                cells=tuple(column.cells[at] for at in rows),
                values=None if column.values is None else tuple(column.values[at] for at in rows),
            )
            for column in columns
        ),
        tuple(fits[at] for at in rows),
    )


def _column(slot: Slot) -> Column:
    values = [slot.value(place) for place in range(len(slot.fillers))]
    filled = [value for value in values if value.text]
    cells = tuple(value.text or None for value in values)
    numbers = [value for value in filled if value.readings]
    units = {value.unit for value in numbers}
    if len(numbers) >= _MOSTLY * len(filled) and len(units) == 1 and filled:
        # if a point separates decimals in one row, it does so in all rows
        decimal = any(len(value.readings) == 1 and value.readings[0][1] < 1 for value in numbers)
        return Column(slot.name, slot.type, units.pop(), cells, tuple(_number(value, decimal) for value in values))
    full = [value for value in filled if all(value.date)]
    if slot.type == DATE and filled and len(full) >= _MOSTLY * len(filled):
        days = tuple("{:04}-{:02}-{:02}".format(*value.date) if all(value.date) else None for value in values)
        return Column(slot.name, slot.type, None, cells, days)
    return Column(slot.name, slot.type, None, cells, None)


def _number(value: Value, decimal: bool) -> int | float | None:
    if not value.readings:
        return None
    number = value.readings[-1 if decimal else 0][0]
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def write(frame: str, cells: Mapping[str, str]) -> str:
    """Return the sentence of a frame with these cells. White space is not doubled around an empty cell, and there is
    none before a comma or full stop that follows one, or with which a cell begins.

    Raises `UsageError` for a frame with unmatched braces, and for a slot without a cell.
    """
    pieces: list[str] = []
    for piece in frame_pieces(frame):
        if isinstance(piece, str):
            if pieces and not pieces[-1] and piece[:1].isspace() and _ends_with_space(pieces):
                piece = piece.lstrip()
            if pieces and not pieces[-1] and _CLOSING.match(piece):
                _close_up(pieces)
            pieces.append(piece)
        elif piece[0] in cells:
            if _CLOSING.match(cells[piece[0]]):
                _close_up(pieces)
            pieces.append(cells[piece[0]])
        else:
            raise UsageError(
                f"the frame has a slot {{{piece[0]}}}, but the table has no such column; it has {', '.join(cells)}"
            )
    return "".join(pieces).strip()


def _close_up(pieces: list[str]) -> None:
    """Drop the white space at the end of the text so far."""
    text = "".join(pieces).rstrip()
    pieces[:] = [text, ""] if pieces and not pieces[-1] else [text]


def _ends_with_space(pieces: Sequence[str]) -> bool:
    text = "".join(pieces)
    return not text or text[-1].isspace()


def frame_pieces(frame: str) -> Iterator[str | tuple[str]]:
    """Yield fixed texts as strings, and the names of slots as tuples of one."""
    at, fixed = 0, ""
    for match in _SLOT.finditer(frame):
        fixed += frame[at : match.start()]
        at = match.end()
        if match[0] in ("{{", "}}"):
            fixed += match[0][0]
        elif match[1] is None:
            raise UsageError(f"the frame has a single {match[0]}; write {match[0] * 2} for the sign itself")
        else:
            yield fixed
            yield (match[1],)
            fixed = ""
    yield fixed + frame[at:]
