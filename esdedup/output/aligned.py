"""A cluster for reading: its texts aligned under each other, with the differences marked.

The shapes are plain dictionaries and lists, so a page, a template or JSON can contain them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypedDict

import numpy as np
import pyarrow as pa

from esdedup.analysis.names import RECORD
from esdedup.analysis.templates import FramedTexts, frame_texts
from esdedup.matching.verify.edits import word_edit_distances
from esdedup.output.records_beside import Beside, records_beside

ROWS = 12
"""Default number of rows, one text each."""

SENTENCES = 4
"""Default number of sentences that are named with each text."""

LONGEST = 700
"""Default number of shown characters of a text: a little more than the longest sentence by default."""

_CONTEXT = 60
"""Characters that stay at each end of a shortened piece."""

_LEAST = 400

_REPEAT_CONTEXT = 40
"""The same for a piece that equals the first row."""

_COMPARED = 1_000
"""Number of texts among which the nearest are searched."""


class Piece(TypedDict):
    """A stretch of a text: the filler of slot number `slot`, or (with `slot` None) text that all rows have.

    `differs` marks a filler that is not the usual one of its slot (that of most sentences, or else of the
    representative). It also marks words that all rows have, but in another spelling here: case or white space. A filler
    may be empty. `left_out` is the number of characters after `text` that are not shown.
    """

    text: str
    slot: int | None
    differs: bool
    left_out: int


class Row(TypedDict):
    """One text and its sentences: the first of its `copies` sentences as `members`, and the number of `more`.

    A member has the fields of clusters.jsonl except the text. If nothing is left out, the joined texts of the pieces
    are the text of the row.
    """

    pieces: list[Piece]
    copies: int
    members: list[dict[str, Any]]
    more: int


class SlotName(TypedDict):
    """A slot: its name in the frame of these rows, and its type (`number`, `quantity`, `date`, `name`, `words`)."""

    name: str
    type: str


class Aligned(TypedDict):
    """A cluster's texts, the representative first.

    Each row has one piece for each of the `slots`, in order, unless its end is left out. `more_texts` texts have no
    row; `more_sentences` sentences have one of these texts. Records have `fields` beside each other, a line
    for each row.
    """

    slots: list[SlotName]
    rows: list[Row]
    fields: Beside | None
    more_texts: int
    more_sentences: int


def align_cluster(
    cluster: dict[str, Any],
    *,
    rows: int = ROWS,
    sentences: int = SENTENCES,
    longest: int = LONGEST,
    shorten_repeats: bool = False,
) -> Aligned:
    """Align the texts of a cluster, as `Store.cluster_rows` yields it, in at most `rows` rows.

    The representative comes first. The texts with the most sentences follow; among equals, the nearest to the
    representative in words comes first. Each row names at most `sentences` sentences. If a text is longer than
    `longest` characters (at least 400), the middle of each long piece is left out. If that is not enough, the end of
    each row is left out, after as many slots as all rows have room for. With `shorten_repeats`, long stretches that
    equal the first row are shortened in all other rows.
    """
    members_of: dict[str, list[dict[str, Any]]] = {}
    for member in cluster["members"]:
        members_of.setdefault(member["text"], []).append(member)
    representative = next(member["text"] for member in cluster["members"] if member["id"] == cluster["representative"])
    chosen = _chosen(members_of, representative, max(rows, 1))
    copies = [len(members_of[text]) for text in chosen]
    firsts = [members_of[text][0] for text in chosen]
    framed = frame_texts(chosen, 0, [member["title"] or member["document"] for member in firsts])
    pieces = list(_pieces(framed, copies))
    if any(len(text) > longest for text in chosen):
        pieces = _shortened(pieces, max(longest, _LEAST))
    if shorten_repeats:
        first, *others = pieces
        pieces = [first, *([part for piece in row for part in _if_usual(piece)] for row in others)]
    return {
        "slots": [{"name": slot.name, "type": slot.type} for slot in framed.frame.slots],
        "rows": [_row(own, members_of[text], sentences) for own, text in zip(pieces, chosen, strict=True)],
        "fields": records_beside(chosen) if cluster.get("kind") == RECORD else None,
        "more_texts": len(members_of) - len(chosen),
        "more_sentences": len(cluster["members"]) - sum(copies),
    }


def _chosen(members_of: dict[str, list[dict[str, Any]]], representative: str, rows: int) -> list[str]:
    """Return the texts to align, in the order of the rows."""
    others = [text for text in members_of if text != representative]
    others = sorted(others, key=lambda text: -len(members_of[text]))[:_COMPARED]
    texts = pa.array([representative, *others], pa.large_string())
    indices = np.arange(1, len(others) + 1)
    distances = dict(zip(others, word_edit_distances(texts, np.zeros_like(indices), indices).tolist(), strict=True))
    others.sort(key=lambda text: (-len(members_of[text]), distances[text], text))
    return [representative, *others[: rows - 1]]


def _row(pieces: list[Piece], members: Sequence[dict[str, Any]], shown: int) -> Row:
    listed = [{key: value for key, value in member.items() if key != "text"} for member in members[:shown]]
    return {"pieces": pieces, "copies": len(members), "members": listed, "more": len(members) - len(listed)}


def _pieces(framed: FramedTexts, copies: Sequence[int]) -> Iterator[list[Piece]]:
    """Yield the pieces of each row."""
    usual = [_usual([filler.strip() for filler in slot.fillers], copies) for slot in framed.frame.slots]
    # an empty slot is shown on the side of the white space where others have it
    led = [any(filler[:1].isspace() for filler in slot.fillers if filler.strip()) for slot in framed.frame.slots]
    starts = framed.words.texts.tolist()
    for row in range(len(copies)):
        pieces: list[Piece] = []
        ends = [starts[row], starts[0]]  # end of the text so far, in this row and in the first
        for slot, spans in enumerate(framed.spans):
            _add_fixed(pieces, framed, row, (ends[0], spans[row][0]), (ends[1], spans[0][0]))
            filler = framed.frame.slots[slot].fillers[row]
            bare = filler.strip()
            lead = filler[: len(filler) - len(filler.lstrip())] if bare or led[slot] else ""
            _add(pieces, lead, False)  # white space is next to a filler, not in it
            pieces.append({"text": bare, "slot": slot, "differs": bare != usual[slot], "left_out": 0})
            _add(pieces, filler[len(lead) + len(bare) :], False)
            ends = [spans[row][1], spans[0][1]]
        _add_fixed(pieces, framed, row, (ends[0], starts[row + 1]), (ends[1], starts[1]))
        yield pieces


def _usual(fillers: Sequence[str], copies: Sequence[int]) -> str:
    """Return what more than half of the sentences have in a slot; if there is none, what the first text has."""
    counts: Counter[str] = Counter()
    for filler, count in zip(fillers, copies, strict=True):
        counts[filler] += count
    [(most, count)] = counts.most_common(1)
    return most if 2 * count > sum(copies) else fillers[0]


def _add(pieces: list[Piece], text: str, differs: bool) -> None:
    """Add a piece outside slots; merge it with the piece before if both are alike."""
    if not text:
        return
    if pieces and pieces[-1]["slot"] is None and pieces[-1]["differs"] == differs and not pieces[-1]["left_out"]:
        pieces[-1]["text"] += text
    else:
        pieces.append({"text": text, "slot": None, "differs": differs, "left_out": 0})


def _add_fixed(
    pieces: list[Piece], framed: FramedTexts, row: int, own: tuple[int, int], first: tuple[int, int]
) -> None:
    """Add the text between two slots: the bytes `own` of this row and `first` of the first row.

    Both have the same words, but case and thousands separators may differ.
    """
    data = framed.words.data
    if bytes(data[slice(*own)]) == bytes(data[slice(*first)]):
        _add(pieces, bytes(data[slice(*own)]).decode(), False)
        return
    ours, theirs = _spelled(framed, row, *own), _spelled(framed, 0, *first)
    theirs += [("", "")] * (len(ours) - len(theirs))
    for (space, word), (other_space, other) in zip(ours, theirs, strict=False):
        _add(pieces, space, space != other_space)
        _add(pieces, word, (space, word) != (other_space, other))


def _spelled(framed: FramedTexts, text: int, begin: int, end: int) -> list[tuple[str, str]]:
    """Return the words of a text between two bytes, each with the white space before it; then the last white space."""
    words = framed.words
    low, high = int(words.offsets[text]), int(words.offsets[text + 1])
    inside = range(
        low + int(np.searchsorted(words.begin[low:high], begin)),
        low + int(np.searchsorted(words.end[low:high], end, "right")),
    )
    spelled = []
    for word in inside:
        space, spoken = slice(begin, int(words.begin[word])), slice(int(words.begin[word]), int(words.end[word]))
        spelled.append((bytes(words.data[space]).decode(), bytes(words.data[spoken]).decode()))
        begin = int(words.end[word])
    return [*spelled, (bytes(words.data[begin:end]).decode(), "")]


def _shortened(rows: Sequence[Sequence[Piece]], longest: int) -> list[list[Piece]]:
    """Shorten long pieces of the rows: no row shows more than `longest` characters."""
    short = [[part for piece in row for part in _ends_of(piece)] for row in rows]
    slots = min(_slots_within(row, longest) for row in short)
    return [_cut(row, slots, longest) for row in short]


def _if_usual(piece: Piece) -> list[Piece]:
    """Shorten the middle of a long piece that equals the first row."""
    return [piece] if piece["differs"] or piece["slot"] is not None else _ends_of(piece, _REPEAT_CONTEXT)


def _ends_of(piece: Piece, context: int = _CONTEXT) -> list[Piece]:
    """Shorten a piece that is too long: a filler at its end, other pieces in the middle."""
    text = piece["text"]
    if len(text) <= 3 * context or piece["left_out"]:
        return [piece]
    if piece["slot"] is not None:
        return [{**piece, "text": text[: 2 * context], "left_out": len(text) - 2 * context}]
    # between words, if there are any
    head = text.rfind(" ", context // 2, context) + 1 or context
    tail = text.find(" ", len(text) - context, len(text) - context // 2)
    tail = len(text) - context if tail < 0 else tail
    return [{**piece, "text": text[:head], "left_out": tail - head}, {**piece, "text": text[tail:]}]


def _slots_within(row: Sequence[Piece], longest: int) -> int:
    """Return the number of slots within this many characters."""
    shown = slots = 0
    for piece in row:
        shown += len(piece["text"])
        if shown > longest:
            break
        slots += piece["slot"] is not None
    return slots


def _cut(row: Sequence[Piece], slots: int, longest: int) -> list[Piece]:
    """Return the row with this many slots, and as much of the rest as there is room for."""
    kept: list[Piece] = [{"text": "", "slot": None, "differs": False, "left_out": 0}]
    shown, full = 0, False
    for piece in row:
        shown += len(piece["text"])
        full = full or shown > longest or (piece["slot"] is not None and piece["slot"] >= slots)
        if full:
            kept[-1] = {**kept[-1], "left_out": kept[-1]["left_out"] + len(piece["text"]) + piece["left_out"]}
        else:
            kept.append(piece)
    return kept[0 if kept[0]["left_out"] else 1 :]
