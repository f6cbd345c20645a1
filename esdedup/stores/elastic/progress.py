"""How far each source has been read: the sources in the state, and beside it the progress of each part of a reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from esdedup.errors import StoreSourcesError
from esdedup.records import Skips
from esdedup.settings import Part
from esdedup.stores.elastic.state import State
from esdedup.stores.store import STANDARD_INPUT, ReadingMark, SourceMark


class Progress:
    """The sources of one store, and the reading that is under way."""

    def __init__(self, state: State, address: str) -> None:
        self._state = state
        self._address = address
        self._part = Part(1, 1)
        self._marks: dict[int, SourceMark] = {}  # what this part has read, by number of the source
        self._next = 0

    def sources(self) -> list[SourceMark]:
        """Every source ever read, in that order, as far as all parts together have come."""
        marks = [_mark(told) for told in self._state.get("sources") or []]
        started = self._state.get("started")
        if started is not None:
            parts = [self._state.piece(_name(number)) for number in range(1, started["parts"] + 1)]
            for mark in marks:
                if mark.number in started["sources"]:
                    told = [
                        _mark(part["marks"][str(mark.number)])
                        for part in parts
                        if part is not None and _has(part, mark.number)
                    ]
                    mark.documents = sum(one.documents for one in told)
                    mark.finished = len(told) == len(parts) and all(one.finished for one in told)
                    mark.skips = Skips()
                    for one in told:
                        mark.skips.include(one.skips)
        return marks

    def unfinished(self) -> ReadingMark | None:
        """The reading that has begun and is not settled."""
        told = self._state.get("started")
        return None if told is None else ReadingMark(told["sources"], told["first"])

    @property
    def first(self) -> int:
        """The number of the first document of the reading under way."""
        return int(self._state.get("started")["first"])

    @property
    def in_parts(self) -> bool:
        """Whether the reading under way is one of several machines."""
        started = self._state.get("started")
        return started is not None and started["parts"] > 1

    def begin(self, marks: Sequence[SourceMark], part: Part) -> tuple[int, int, list[int]]:
        """Start (or go on with) reading `marks`, whose numbers and progress are filled in.

        The first document number of the reading, the next one of this part, and the sources that this part has begun
        to read and must read anew.
        """
        started, stored = self._state.get("started"), [_mark(told) for told in self._state.get("sources") or []]
        if started is not None and started["parts"] != part.parts:
            raise StoreSourcesError(
                f"{self._address}: a reading in {started['parts']} parts has begun; go on with it by "
                f"--part I/{started['parts']}, or begin again with --fresh"
            )
        self._part = part
        piece = None if started is None else self._state.piece(_name(part.number))
        before = {} if piece is None else {int(number): _mark(told) for number, told in piece["marks"].items()}
        anew = []
        for mark in marks:
            # a source that is known keeps the form of its ids, whatever it is named together with
            mark.qualified = next((old.qualified for old in stored if old.name == mark.name), mark.qualified)
            known = next((old for old in stored if (old.name, old.path) == (mark.name, mark.path)), None)
            if known is None:
                mark.number = 1 + max((old.number for old in stored), default=-1)
                stored.append(mark)
                continue
            mark.number = known.number
            read = before.get(mark.number)
            if read is not None and read.same_as(mark) and mark.path != STANDARD_INPUT:
                mark.documents, mark.finished, mark.skips = read.documents, read.finished, read.skips
            elif read is not None:
                anew.append(mark.number)
            stored[stored.index(known)] = mark
        first = (self._state.get("next") or 0) if started is None else started["first"]
        self._next = first + part.number - 1 if piece is None else piece["next"]
        self._marks = before | {mark.number: mark for mark in marks}
        numbers = sorted({*([] if started is None else started["sources"]), *(mark.number for mark in marks)})
        if started is None:
            for number in range(1, part.parts + 1):
                self._state.drop_piece(_name(number))
        told = {"sources": numbers, "first": first, "parts": part.parts}
        sources = [_told(mark) for mark in stored]
        if started != told or self._state.get("sources") != sources:
            self._state.tell(sources=sources, started=told, read=None)
        return first, self._next, anew

    def advance(self, mark: SourceMark, next_number: int) -> None:
        """Note how far a source has been read by this part."""
        self._marks[mark.number] = mark
        self._next = max(self._next, next_number)
        told = {str(number): _told(one) for number, one in self._marks.items()}
        self._state.put_piece(_name(self._part.number), {"next": self._next, "marks": told})

    def missing_parts(self) -> list[int]:
        """The parts of the reading that have not come to their end."""
        started = self._state.get("started")
        if started is None:
            return []
        pieces = {number: self._state.piece(_name(number)) for number in range(1, started["parts"] + 1)}
        return [
            number
            for number, piece in pieces.items()
            if piece is None
            or not all(_has(piece, source) and piece["marks"][str(source)]["finished"] for source in started["sources"])
        ]

    def ended(self, repeated: Sequence[tuple[int, int, list[str]]]) -> dict[str, Any]:
        """Values of the state once the reading is settled; `repeated` are ids that a source has more than once."""
        started = self._state.get("started")
        marks = self.sources()
        for source, count, places in repeated:
            skips = next(mark for mark in marks if mark.number == source).skips
            skips.add("repeated_id", count=count)
            for place in places:
                skips.add("repeated_id", place, 0)
        pieces = [self._state.piece(_name(number)) for number in range(1, started["parts"] + 1)]
        reading = ReadingMark(started["sources"], started["first"])
        return {
            "sources": [_told(mark) for mark in marks],
            "next": max([started["first"], *(piece["next"] for piece in pieces if piece is not None)]),
            "started": None,
            "read": asdict(reading),
        }


def _name(part: int) -> str:
    return f"part-{part}"


def _has(piece: dict[str, Any], source: int) -> bool:
    return str(source) in piece["marks"]


def _told(mark: SourceMark) -> dict[str, Any]:
    return asdict(mark)


def _mark(told: dict[str, Any]) -> SourceMark:
    return SourceMark(**{**told, "skips": Skips(**told["skips"])})
