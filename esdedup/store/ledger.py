"""What was done with a store, and how far: sources, readings, jobs and scans."""

from __future__ import annotations

import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from esdedup.columns.records import Skips

STANDARD_INPUT = "-"
"""The path of the source that can only be read once: a reading of it is never gone on with, but begun anew."""

WHOLE_SCAN_FROM = 0.25
"""The share of texts that have changed from which on scanning all again is quicker than working them in."""


def is_much(changed: int, of: int) -> bool:
    """Whether so many texts of all have changed that scanning all again is quicker."""
    return changed > WHOLE_SCAN_FROM * of


@dataclass(slots=True)
class SourceCheckpoint:
    """One source in a store: what it is, and how far it has been read."""

    name: str
    path: str
    fingerprint: str
    qualified: bool
    history: bool = False  # read with all revisions
    number: int = -1
    documents: int = 0
    finished: bool = False
    skips: Skips = field(default_factory=Skips)

    def same_as(self, other: SourceCheckpoint) -> bool:
        """Whether both name the same file in the same state, read the same way."""
        return (self.name, self.path, self.fingerprint) == (other.name, other.path, other.fingerprint)

    def enter(self, known: list[SourceCheckpoint]) -> SourceCheckpoint | None:
        """Take the number of the same source among those that are `known`, which is returned, or the next one.

        A source that is known keeps the form of its ids, whatever it is named together with.
        """
        self.qualified = next((old.qualified for old in known if old.name == self.name), self.qualified)
        before = next((old for old in known if (old.name, old.path) == (self.name, self.path)), None)
        self.number = 1 + max((old.number for old in known), default=-1) if before is None else before.number
        if before is None:
            known.append(self)
        return before

    def goes_on(self, read: SourceCheckpoint | None) -> bool:
        """Whether reading goes on where `read` came to, whose progress is then taken over."""
        goes_on = read is not None and read.same_as(self) and self.path != STANDARD_INPUT
        if read is not None and goes_on:
            self.documents, self.finished, self.skips = read.documents, read.finished, read.skips
        return goes_on

    @property
    def timeless(self) -> str:
        """The fingerprint without the time of the file, which differs between copies on several machines."""
        return re.sub(r", changed at [0-9]+", "", self.fingerprint)


def checkpoint_of(payload: dict[str, Any]) -> SourceCheckpoint:
    """A checkpoint from what `dataclasses.asdict` made of it."""
    return SourceCheckpoint(**{**payload, "skips": Skips(**payload["skips"])})


def note_repeated(checkpoints: Sequence[SourceCheckpoint], repeated: Iterable[tuple[Any, ...]]) -> None:
    """Note ids that stand in a source more than once: the source's number, how many ids, and the first of them."""
    for source, count, places in repeated:
        skips = next(checkpoint for checkpoint in checkpoints if checkpoint.number == source).skips
        skips.add("repeated_id", count=count)
        for place in places:
            skips.add("repeated_id", place, 0)


@dataclass(frozen=True, slots=True)
class ReadingCheckpoint:
    """A reading of sources: their numbers, and that of the first document that it may have brought.

    Of a reading by several machines, also the parts that are still to come to their end, as `--part` names them.
    """

    sources: list[int]
    first: int
    missing: Sequence[str] = ()


class Ledger(ABC):
    """Values by key, and the sources. A value is JSON; what changes together is written together."""

    @abstractmethod
    def get(self, key: str) -> Any:
        """The value of `key`; None without anything."""

    @abstractmethod
    def set(self, **values: Any) -> None:
        """Save values by key, together; None removes a key."""

    @abstractmethod
    def sources(self) -> list[SourceCheckpoint]:
        """Every source ever read into the store, in that order."""

    # -- jobs and readings ----------------------------------------------------------------------------------

    def begin_job(self, verb: str, names: Sequence[str] = ()) -> list[str]:
        """Note that a command has begun; the names that the same command, if it was killed, had begun with."""
        job = self.get("running")
        self.set(running={"verb": verb, "names": list(names)})
        return list(job["names"]) if job is not None and job["verb"] == verb else []

    def end_job(self) -> None:
        """The command is done."""
        self.set(running=None)

    def unfinished_job(self) -> str | None:
        """The command that has begun and is not done."""
        job = self.get("running")
        return None if job is None else str(job["verb"])

    def unfinished_reading(self) -> ReadingCheckpoint | None:
        """The reading that has begun and is not committed."""
        return self._reading("started")

    def last_reading(self) -> ReadingCheckpoint | None:
        """The reading that was committed last, if nothing was begun or removed since."""
        return self._reading("read")

    def _reading(self, key: str) -> ReadingCheckpoint | None:
        payload = self.get(key)
        return None if payload is None else ReadingCheckpoint(payload["sources"], payload["first"])

    # -- scans ----------------------------------------------------------------------------------------------

    def state(self) -> str:
        """A name for what is stored now, which changes with every document that comes or goes."""
        return str(self.get("state"))

    def last_scanning(self) -> dict[str, Any] | None:
        """The options of the last scan, as saved with its results."""
        scan = self.get("scan")
        return None if scan is None else dict(scan["summary"]["scanning"])

    def follows_changes(self) -> bool:
        """Whether changed texts are noted since the last scan; after too many of them the next one is a whole one."""
        scan = self.get("scan")
        return scan is not None and not scan.get("overtaken")

    def changed(self, *, overtaken: bool) -> dict[str, Any]:
        """What is to be saved about a change of documents, and whether it makes the next scan a whole one."""
        payload: dict[str, Any] = {"state": uuid.uuid4().hex}
        scan = self.get("scan")
        if scan is not None and overtaken:
            payload["scan"] = {**scan, "overtaken": True}
        return payload
