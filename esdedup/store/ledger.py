"""The history of a store and the progress of work on it: sources, runs, jobs and scans."""

from __future__ import annotations

import ast
import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from esdedup.columns.records import Skips
from esdedup.errors import StoreSourcesError
from esdedup.formats.protocol import format_at

REPEATED = "repeated_id"
"""Why a document is counted among what was skipped whose id was read before: it is stored, under another id."""

STANDARD_INPUT = "-"
"""The path of a source that can be read only once: an interrupted read starts again."""

_LONGEST_READING = 2**16
"""Characters of the options with which a source was read."""

WHOLE_SCAN_FROM = 0.25
"""The share of changed texts above which a full scan is faster than an update."""


def is_much(changed: int, of: int) -> bool:
    """Whether so many texts changed that a full scan is faster than an update."""
    return changed > WHOLE_SCAN_FROM * of


@dataclass(slots=True)
class SourceCheckpoint:
    """A source in a store, and how far it has been read."""

    name: str
    path: str
    fingerprint: str
    qualified: bool
    history: bool = False  # read with all revisions
    number: int = -1
    documents: int = 0
    finished: bool = False
    skips: Skips = field(default_factory=Skips)
    wiki: str = ""  # that the source says it is a part of
    folder: str = ""  # of texts, if it is one of them
    records: int = -1  # raw records, if the source was read to its end
    content: str = ""  # hash of the file's bytes, if it will be rewritten

    @property
    def across(self) -> bool:
        """Whether its ids hold for all sources that are read this way."""
        return self.reading().get("ids") == "across"

    @property
    def apart(self) -> bool:
        """Whether its ids say nothing about other sources. Those of a dump that does not name its wiki are page ids."""
        form = format_at(self.path, self.reading().get("format"))
        return bool(self.wiki) or form is None or not form.says_collection

    def is_part_with(self, other: SourceCheckpoint) -> bool:
        """Whether both are files of one source, in which an id means one document."""
        if self.wiki or other.wiki:
            return self.wiki == other.wiki
        return (
            (self.across and other.across)
            or self.path == other.path
            or (self.folder != "" and self.folder == other.folder)
        )

    def reading(self) -> dict[str, Any]:
        """Return the options with which the source was read, according to its fingerprint; none if it does not say."""
        options = self.fingerprint.partition(", read with ")[2]
        if len(options) > _LONGEST_READING:
            return {}
        try:
            found = ast.literal_eval(options)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):  # anybody may have written it
            return {}
        return found if isinstance(found, dict) and all(isinstance(name, str) for name in found) else {}

    def same_as(self, other: SourceCheckpoint) -> bool:
        """Whether both mean the same file in the same state, read the same way."""
        return (self.name, self.path, self.fingerprint) == (other.name, other.path, other.fingerprint)

    def enter(self, known: list[SourceCheckpoint]) -> SourceCheckpoint | None:
        """Take the number of the same source among the `known` ones and return that source, or take the next number.

        A known source keeps the form of its ids, whatever other sources are given with it. One whose path was lost is
        the same source if it has this name.
        """
        named = [old for old in known if old.name == self.name]
        self.qualified = next((old.qualified for old in named), self.qualified)
        before = next((old for path in (self.path, "") for old in named if old.path == path), None)
        self.number = 1 + max((old.number for old in known), default=-1) if before is None else before.number
        if before is None:
            known.append(self)
        return before

    def goes_on(self, read: SourceCheckpoint | None) -> bool:
        """Whether reading continues where `read` ended. If so, its progress is copied."""
        goes_on = read is not None and read.same_as(self) and self.path != STANDARD_INPUT
        if read is not None and goes_on:
            self.documents, self.finished, self.skips = read.documents, read.finished, read.skips
            self.records, self.content = read.records, read.content
        return goes_on

    @property
    def timeless(self) -> str:
        """The fingerprint without the file's time, which differs between copies on several machines."""
        return re.sub(r", changed at [0-9]+", "", self.fingerprint)


def checkpoint_of(payload: dict[str, Any]) -> SourceCheckpoint:
    """Make a checkpoint from the result of `dataclasses.asdict`."""
    return SourceCheckpoint(**{**payload, "skips": Skips(**payload["skips"])})


def adopt_names(checkpoints: Sequence[SourceCheckpoint], known: Sequence[SourceCheckpoint], *, typed: bool) -> None:
    """Give sources the names by which a store knows them, and names of their own to those that it does not know.

    Documents of a source that is new to a store that has others are named NAME/ID, so that they replace none. A name
    that was `typed` stays.
    """
    tables = [old for old in known if old.apart and not old.wiki]
    for checkpoint in checkpoints:
        same = next((old for old in known if old.path == checkpoint.path and old.is_part_with(checkpoint)), None)
        if same is None and not typed and checkpoint.apart and not checkpoint.wiki:
            _refuse_other_ids(checkpoint, tables)
        if same is not None and not typed:
            checkpoint.name, checkpoint.qualified = same.name, same.qualified
        if same is not None or typed:
            continue
        names, rivals = _longer_names(checkpoint), [*known, *checkpoints]
        while any(old.name == checkpoint.name and not old.is_part_with(checkpoint) for old in rivals if old.path):
            checkpoint.name = next(names)
        others = any(old.name != checkpoint.name for old in known)
        checkpoint.qualified = checkpoint.qualified or (others and not checkpoint.across and checkpoint.apart)


def _refuse_other_ids(new: SourceCheckpoint, tables: Sequence[SourceCheckpoint]) -> None:
    """Raise `StoreSourcesError` for a table whose ids are of the other kind than those of the tables of a store."""
    if new.across and any(old.qualified for old in tables):
        raise StoreSourcesError(
            f"{new.path}: --ids across gives plain ids, but those of the store name their source (NAME/ID); leave out "
            "--ids, or make the store anew with --fresh and --ids across"
        )
    if not new.across and sum(old.across for old in tables) > 1:
        raise StoreSourcesError(f"{new.path}: the ids of the store hold for all its sources; give --ids across, too")


def _longer_names(checkpoint: SourceCheckpoint) -> Iterator[str]:
    """Yield the name of a source with more and more of the folders that it is in, and at last its path."""
    folders = PurePath(checkpoint.folder or checkpoint.path).parts[:-1]
    for depth in range(1, len(folders)):
        yield "/".join([*folders[-depth:], checkpoint.name])
    yield checkpoint.path


def note_repeated(
    checkpoints: Sequence[SourceCheckpoint], repeated: Iterable[tuple[Any, ...]], reason: str = REPEATED
) -> None:
    """Record ids that a source has more than once: the source's number, how many ids, and the first of them."""
    for source, count, places in repeated:
        skips = next(checkpoint for checkpoint in checkpoints if checkpoint.number == source).skips
        skips.add(reason, count=count)
        for place in places:
            skips.add(reason, place, 0)


def forget_skips(checkpoints: Sequence[SourceCheckpoint], read: Collection[int]) -> list[SourceCheckpoint]:
    """Forget what was skipped in files of wikis most of whose pages were `read` anew, from files with these numbers.

    Return the checkpoints that have changed.
    """
    wikis = {checkpoint.wiki for checkpoint in checkpoints if checkpoint.number in read} - {""}
    old = [each for each in checkpoints if each.wiki in wikis and each.number not in read and each.skips.counts]
    for checkpoint in old:
        checkpoint.skips = Skips()
    return old


@dataclass(frozen=True, slots=True)
class ReadingCheckpoint:
    """A run over sources: their numbers, and the number of the first document that it may have added.

    If several machines share the run, also the parts that are not complete, in the form of `--part`.
    """

    sources: list[int]
    first: int
    missing: Sequence[str] = ()


class Ledger(ABC):
    """Values by key, and the sources. A value is JSON. Values that change together are saved together."""

    @abstractmethod
    def get(self, key: str) -> Any:
        """Return the value of `key`; None if it is not set."""

    @abstractmethod
    def set(self, **values: Any) -> None:
        """Save values by key, together. None removes a key."""

    @abstractmethod
    def sources(self) -> list[SourceCheckpoint]:
        """Return every source that was ever read into the store, in that order."""

    # -- jobs and runs --------------------------------------------------------------------------------------

    def begin_job(self, verb: str, names: Sequence[str] = ()) -> list[str]:
        """Record that a command has begun. Return the names with which the same command began before it was killed."""
        job = self.get("running")
        self.set(running={"verb": verb, "names": list(names)})
        return list(job["names"]) if job is not None and job["verb"] == verb else []

    def end_job(self) -> None:
        """Record that the command has ended."""
        self.set(running=None)

    def unfinished_job(self) -> str | None:
        """Return the command that has begun but not ended."""
        job = self.get("running")
        return None if job is None else str(job["verb"])

    def unfinished_reading(self) -> ReadingCheckpoint | None:
        """Return the run that has begun but is not committed."""
        return self._reading("started")

    def last_reading(self) -> ReadingCheckpoint | None:
        """Return the last committed run, unless something was begun or removed since."""
        return self._reading("read")

    def _reading(self, key: str) -> ReadingCheckpoint | None:
        payload = self.get(key)
        return None if payload is None else ReadingCheckpoint(payload["sources"], payload["first"])

    # -- scans ----------------------------------------------------------------------------------------------

    def state(self) -> str:
        """Return a fingerprint of the stored documents, which changes with every document added or removed."""
        return str(self.get("state"))

    def last_scanning(self) -> dict[str, Any] | None:
        """Return the options of the last scan, as saved with its results, even if the results are lost."""
        scan = self.get("scan")
        return None if scan is None else dict(scan["summary"]["scanning"])

    def follows_changes(self) -> bool:
        """Whether changed texts have been recorded since the last scan. After too many changes the next scan is a full
        one.
        """
        scan = self.get("scan")
        return scan is not None and not scan.get("overtaken") and not scan.get("lost")

    def scanned_texts(self) -> int:
        """Return the number of distinct texts at the last scan; 0 without one."""
        scan = self.get("scan")
        return 0 if scan is None else int(scan["summary"]["counts"]["distinct_sentences"])

    def distinct_texts(self, changes: int) -> dict[str, int]:
        """Return the number of distinct texts by the name of this count, if nothing has changed since the last scan:
        otherwise, all would have to be read.
        """
        return {"distinct_sentences": self.scanned_texts()} if self.follows_changes() and not changes else {}

    def changed(self, *, overtaken: bool) -> dict[str, Any]:
        """Return the values to save after a change of documents. `overtaken` makes the next scan a full one."""
        payload: dict[str, Any] = {"state": uuid.uuid4().hex}
        scan = self.get("scan")
        if scan is not None and overtaken:
            payload["scan"] = {**scan, "overtaken": True}
        return payload
