"""The ledger of a store on a server: values in the state, and beside it the progress of each part of a run.

Several machines may read at once, one part each. What all of them must agree on is in the state: which run it is, and
which parts are complete. The state is compared before it is replaced, so exactly one part is the last one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import asdict
from typing import Any

from esdedup.columns.records import PLACES_KEPT, Skips
from esdedup.errors import StoreLockedError, StoreSourcesError
from esdedup.formats.reading_options import Part
from esdedup.store.elasticsearch.journal import Guarded, State
from esdedup.store.ledger import Ledger, ReadingCheckpoint, SourceCheckpoint, checkpoint_of, forget_skips, note_repeated
from esdedup.store.rereading import OLDER, Reread


class ServerLedger(Ledger):
    """Values in the state, the sources of one store, and the run in progress."""

    def __init__(self, state: State, address: str) -> None:
        self._state = state
        self._address = address
        self._part = Part(1, 1)
        self._own: Guarded | None = None  # the document of this part
        self._read: dict[str, dict[str, Any]] = {}  # the saved checkpoints of this part, by source number
        self._given: list[SourceCheckpoint] = []
        self._refused: dict[int, Skips] = {}
        self._next = 0
        self.reach = 0
        """The end of the document numbers that this part has reserved."""

    def get(self, key: str) -> Any:
        return self._state.get(key)

    def set(self, **values: Any) -> None:
        """As `Ledger.set`. Raise `StoreLockedError` if another writer interfered."""
        self._state.set(**values)

    def sources(self) -> list[SourceCheckpoint]:
        checkpoints = [checkpoint_of(payload) for payload in self._state.get("sources") or []]
        started = self._state.get("started")
        if started is not None:
            pieces = self._pieces()
            for checkpoint in checkpoints:
                if checkpoint.number in started["sources"]:
                    key = str(checkpoint.number)
                    pieces_read = [
                        checkpoint_of(piece["checkpoints"][key]) for piece in pieces if key in piece["checkpoints"]
                    ]
                    checkpoint.documents = sum(one.documents for one in pieces_read)
                    checkpoint.finished = len(pieces_read) == started["parts"] and all(
                        one.finished for one in pieces_read
                    )
                    checkpoint.skips = _all_skips(pieces_read)
        return checkpoints

    def unfinished_reading(self) -> ReadingCheckpoint | None:
        payload = self._state.get("started")
        if payload is None:
            return None
        missing = [f"{number}/{payload['parts']}" for number in _missing(payload)] if payload["parts"] > 1 else []
        return ReadingCheckpoint(payload["sources"], payload["first"], missing)

    @property
    def in_parts(self) -> bool:
        """Whether several machines share the run in progress."""
        started = self._state.get("started")
        return started is not None and started["parts"] > 1

    def begin(self, checkpoints: Sequence[SourceCheckpoint], part: Part) -> tuple[int, int, list[int]]:
        """Start or continue reading `checkpoints`. Their numbers and progress are filled in.

        Return the first document number of the run, the next one of this part, and the sources that this part has begun
        and must read again. If another process reads the same part, the older one gets an error when it next saves its
        progress.
        """
        while True:
            try:
                return self._begin(checkpoints, part)
            except StoreLockedError:
                # another part was faster: continue the run that it has begun
                if part.parts == 1 or self._state.get("started") is None:
                    raise

    def _begin(self, checkpoints: Sequence[SourceCheckpoint], part: Part) -> tuple[int, int, list[int]]:
        started, stored = (
            self._state.get("started"),
            [checkpoint_of(payload) for payload in self._state.get("sources") or []],
        )
        begun: dict[str, Any] = started or {
            "sources": [],
            "first": self._state.get("next") or 0,
            "parts": part.parts,
            "turn": 1 + (self._state.get("turn") or 0),
            "ended": [],
        }
        if begun["parts"] != part.parts:
            raise StoreSourcesError(
                f"{self._address}: a run {_in_parts(begun['parts'])} has begun; continue it, or start again "
                "with --fresh"
            )
        self._part = part
        piece = self._piece(part.number, begun["turn"])
        before = (
            {}
            if piece is None
            else {int(number): checkpoint_of(payload) for number, payload in piece["checkpoints"].items()}
        )
        anew = []
        for checkpoint in checkpoints:
            known = checkpoint.enter(stored)
            if known is None:
                continue
            if part.parts > 1 and known.number in begun["sources"] and known.timeless != checkpoint.timeless:
                raise StoreSourcesError(
                    f"{self._address}: {checkpoint.path} differs from what other parts read, or the options differ; "
                    "use the same source and options, or start again with --fresh"
                )
            read = before.get(checkpoint.number)
            if read is not None and not checkpoint.goes_on(read):
                anew.append(checkpoint.number)
            stored[stored.index(known)] = checkpoint
        self._next = begun["first"] + part.number - 1 if piece is None else piece["next"]
        self.reach = self._next if piece is None else piece["reach"]
        # a copy: the reader of a source advances its checkpoint before the rows are written
        self._read = {
            str(number): saved_checkpoint(checkpoint)
            for number, checkpoint in (before | {m.number: m for m in checkpoints}).items()
        }
        numbers = sorted({*begun["sources"], *(checkpoint.number for checkpoint in checkpoints)})
        # parts that have ended did not read a new source; nor did this one read what it must read again
        ended = begun["ended"] if numbers == begun["sources"] else []
        if not all(checkpoint.finished for checkpoint in checkpoints):
            ended = [number for number in ended if number != part.number]
        payload = {**begun, "sources": numbers, "ended": ended}
        sources = [saved_checkpoint(checkpoint) for checkpoint in stored]
        if started != payload or self._state.get("sources") != sources:
            self._state.set(sources=sources, started=payload, read=None)
        # the reader need not know about rejected documents: they do not stop it
        self._refused = {checkpoint.number: _without_refused(checkpoint) for checkpoint in checkpoints}
        self._given = list(checkpoints)
        self._own = self._state.guarded(_name(part.number))
        self._note()
        return payload["first"], self._next, anew

    def reopen(self, sources: Collection[int]) -> None:
        """Have these sources read again when they are next given, because documents of theirs were changed."""
        checkpoints = [checkpoint_of(payload) for payload in self._state.get("sources") or []]
        for checkpoint in checkpoints:
            if checkpoint.number in sources:
                checkpoint.documents, checkpoint.finished, checkpoint.skips = 0, False, Skips()
        payloads = [saved_checkpoint(checkpoint) for checkpoint in checkpoints]
        self._state.set(sources=payloads, read=None, **self.changed(overtaken=True))

    def announce(self, reach: int) -> None:
        """Reserve document numbers up to `reach` before writing them: after a kill some of them may be stored."""
        if reach > self.reach:
            self.reach = reach
            self._note()

    def advance(self, checkpoint: SourceCheckpoint, next_number: int, refused: Skips) -> None:
        """Save how far this part has read a source, and what the server has rejected of it since."""
        self._refused[checkpoint.number].include(refused)
        self._read[str(checkpoint.number)] = saved_checkpoint(checkpoint, self._refused[checkpoint.number])
        self._next = max(self._next, next_number)
        self._note()

    def _note(self) -> None:
        """Save this part's progress."""
        assert self._own is not None
        turn = self._state.get("started")["turn"]
        self._own.replace({"turn": turn, "next": self._next, "reach": self.reach, "checkpoints": self._read})

    def check(self) -> None:
        """Raise `StoreLockedError` if another command has begun to read the same part."""
        assert self._own is not None
        self._own.check()

    def report_refused(self) -> None:
        """Add what the server has rejected to the checkpoints that were passed to `begin`."""
        for checkpoint in self._given:
            checkpoint.skips.include(self._refused.pop(checkpoint.number, Skips()))

    def missing_parts(self) -> list[int]:
        """Mark this part as complete. Return the parts that are not; the part that gets an empty list ends the run."""
        started = self._state.get("started")
        while self._part.parts > 1 and self._part.number not in started["ended"]:
            try:
                self._state.set(started={**started, "ended": sorted([*started["ended"], self._part.number])})
            except StoreLockedError:
                if self._state.get("started") is None:
                    raise
            started = self._state.get("started")
        return _missing(started) if self._part.parts > 1 else []

    def ended(self, read: Reread) -> dict[str, Any]:
        """Return the values of the state after the run is committed."""
        started = self._state.get("started")
        checkpoints = self.sources()
        note_repeated(checkpoints, read.repeated)
        note_repeated(checkpoints, read.older, OLDER)
        if read.again:
            forget_skips(checkpoints, started["sources"])
        return {
            "sources": [saved_checkpoint(checkpoint) for checkpoint in checkpoints],
            "next": max([started["first"], *(piece["next"] for piece in self._pieces())]),
            "turn": started["turn"],
            "started": None,
            "read": {"sources": started["sources"], "first": started["first"]},
        }

    def _pieces(self) -> list[dict[str, Any]]:
        """Return the state of each part of this run that has begun."""
        started = self._state.get("started")
        found = (self._piece(number, started["turn"]) for number in range(1, started["parts"] + 1))
        return [piece for piece in found if piece is not None]

    def _piece(self, part: int, turn: int) -> dict[str, Any] | None:
        """Return the state of a part. One left from an earlier run is ignored."""
        piece = self._state.piece(_name(part))
        return piece if piece is not None and piece["turn"] == turn else None


def _name(part: int) -> str:
    return f"part-{part}"


def _missing(started: dict[str, Any]) -> list[int]:
    return [number for number in range(1, started["parts"] + 1) if number not in started["ended"]]


def _in_parts(parts: int) -> str:
    return f"by --part I/{parts}" if parts > 1 else "without --part"


def _all_skips(checkpoints: Sequence[SourceCheckpoint]) -> Skips:
    """Add up what all parts skipped in one source. All parts meet its damage, which is counted once."""
    skips, damage = Skips(), []
    for checkpoint in checkpoints:
        skips.include(checkpoint.skips)
        damage += checkpoint.skips.places.get("damaged_source", [])
    if damage:
        places = list(dict.fromkeys(damage))
        skips.counts["damaged_source"], skips.places["damaged_source"] = len(places), places[:PLACES_KEPT]
    return skips


def _without_refused(checkpoint: SourceCheckpoint) -> Skips:
    """Remove the rejected documents from a checkpoint."""
    taken = Skips()
    if count := checkpoint.skips.counts.pop("refused", 0):
        taken.counts["refused"], taken.places["refused"] = count, checkpoint.skips.places.pop("refused")
    return taken


def saved_checkpoint(checkpoint: SourceCheckpoint, refused: Skips | None = None) -> dict[str, Any]:
    """Return a checkpoint as it is saved, with what the server rejected; see `checkpoint_of`."""
    skips = deepcopy(checkpoint.skips)
    skips.include(refused or Skips())
    return {**asdict(checkpoint), "skips": asdict(skips)}
