"""Choose the generation of a store to open: the live one, a new one, or one that a killed job left unfinished.

Also the open generation: its indices, and how they are read and written.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from esdedup.columns.arrays import table_of_rows
from esdedup.columns.database import Database
from esdedup.errors import StoreError, StoreLockedError, StoreVersionError
from esdedup.matching.signing import Signing, freeze
from esdedup.plurals import plural
from esdedup.store.elasticsearch.address import ServerAddress
from esdedup.store.elasticsearch.answers import GoneError
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.holds import wait_for_writers
from esdedup.store.elasticsearch.indices import CORPUS, RESULTS, WORKING, Indices
from esdedup.store.elasticsearch.journal import Journal, State
from esdedup.store.elasticsearch.reading import Reader
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.schemas import check_readable, check_same, create_tables, saved_signing

_FIRST = "first"
"""The job that makes the first generation of a store. Until it has the alias, several commands may be making one."""

_SOURCES: pa.Schema = pa.schema(
    [("number", pa.int32()), ("name", pa.string()), ("qualified", pa.bool_()), ("history", pa.bool_())]
)


class OpenGeneration:
    """What the parts of a store share. A private database may use `memory` bytes."""

    def __init__(
        self, connection: Connection, indices: Indices, generation: str, signing: Signing, memory: int, threads: int
    ) -> None:
        self.connection = connection
        self.indices = indices
        self.generation = generation
        self.signing = signing
        self.address = str(connection.address)
        self.reader = Reader(connection)
        self.state = State(connection, indices.name("state", generation))
        self._memory = memory
        self._threads = threads

    @property
    def names(self) -> dict[str, str]:
        """The names of the indices in use, by kind. The results are included after the first scan."""
        names = {kind: self.indices.name(kind, self.generation) for kind in CORPUS}
        if self.results is not None:
            names |= {kind: self.indices.name(kind, self.results) for kind in RESULTS}
        return names

    @property
    def results(self) -> str | None:
        """The generation of the results; None before the first scan, and if they are lost."""
        scan = self.state.get("scan")
        return None if scan is None or scan.get("lost") else str(scan["generation"])

    def lost_results(self) -> str | None:
        """Say what is missing of the results of the last scan; None if they are whole, or there was no scan."""
        scan = self.state.get("scan")
        if scan is None:
            return None
        if scan.get("lost"):
            return str(scan["lost"])
        for kind in RESULTS:
            index = self.indices.name(kind, scan["generation"])
            if not self.indices.exists(index):
                return f"{index} is gone"
            require_open(self.indices, self.address, index)
            for difference in self.indices.differences(kind, scan["generation"]):
                return f"{index}: {difference}"
        if self.state.get("journal") is not None:  # which changes them
            return None
        for kind, wrote in scan["documents"].items():
            index = self.indices.name(kind, scan["generation"])
            if (held := self.reader.count(index)) != wrote:
                return f"{index} has {plural(held, 'document')} instead of {wrote:,}"
        return None

    @property
    def is_earlier(self) -> bool:
        """Whether the sentences are indexed as they were by an earlier version."""
        return self.indices.is_earlier(self.generation)

    @property
    def has_lookup(self) -> bool:
        """Whether the index of sentences has what a lookup needs."""
        return self.indices.has_lookup(self.generation)

    def require_current(self) -> None:
        """Raise `StoreVersionError` if sentences of this version cannot be written beside those that are there."""
        if self.is_earlier:
            raise StoreVersionError(
                f"{self.address}: an earlier version has indexed its sentences, which can be read but not added to; "
                f"esdedup doctor --repair --store {self.address} makes it anew from them"
            )

    def require_settled(self) -> None:
        """Raise `StoreLockedError` if another command has replaced this generation, or has not ended what it began."""
        self.indices.forget()
        self.state.reload()
        live = live_generation(self.indices)
        if live != self.generation or self.state.get("journal") or (not self.has_lookup and self.state.get("started")):
            raise StoreLockedError(
                f"{self.address}: another command changes this store, or was killed; run that one to its end, then "
                "this one again"
            )

    def move(self, generation: str) -> None:
        """Go on with the generation that has taken the place of this one."""
        self.generation = generation
        self.state.move(self.indices.name("state", generation))

    def journal(self) -> Journal:
        """Start a journal of changes."""
        return Journal(self.connection, self.state, self.names)

    @contextmanager
    def private(self, checkpoints: Sequence[SourceCheckpoint] = ()) -> Iterator[Database]:
        """Open a database with a store's tables and these sources, for one piece of work. It spills into the system's
        temporary folder.
        """
        with (
            tempfile.TemporaryDirectory(prefix="esdedup-") as spill,
            Database(memory=self._memory, threads=self._threads, spill=Path(spill)) as db,
        ):
            create_tables(db)
            rows = [
                (checkpoint.number, checkpoint.name, checkpoint.qualified, checkpoint.history)
                for checkpoint in checkpoints
            ]
            db.insert("sources", table_of_rows(rows, _SOURCES))
            yield db


def open_generation(
    indices: Indices,
    address: str,
    frozen: Mapping[str, Any] | None,
    *,
    read_only: bool,
    fresh: str | None,
    hold: Callable[[str], None],
) -> tuple[str, Signing]:
    """Return the generation to use and its signing settings. Make the generation if necessary.

    Before a writer changes a generation, `hold` is called with its name, to keep other writers out. A fresh one holds
    the live one too, which it will replace. For the errors see `esdedup.store.elasticsearch.store.ServerStore`.
    """
    if fresh is not None:
        live = indices.live("state")
        if live is not None and not indices.is_closed(indices.name("state", live)):
            indices.own([indices.name("state", live)])
            hold(live)
        generation = _unfinished_of(indices, address, fresh) or _begin(indices, frozen or {}, fresh)
        hold(generation)
        return generation, _signing(indices, address, generation, frozen)
    live = live_generation(indices)
    if live is None:
        _raise_if_damaged(indices, address)
        if frozen is None or read_only:
            raise StoreError.no_store(address)
        live = _first(indices, frozen)
    for kind in CORPUS:
        _require(indices, address, indices.name(kind, live))
    if not read_only:
        indices.own([indices.name("state", live)])  # somebody may have deleted an alias
        hold(live)
        indices.swap(dict.fromkeys(CORPUS, live))
        indices.own(indices.name(kind, live) for kind in CORPUS)
        _end_job(indices, live)  # otherwise running the same job now starts a new one
        if frozen and _saved(indices, live) != freeze(None, frozen).saved() and _is_empty(indices, live):
            live = _instead(indices, live, frozen)
            hold(live)
    return live, _signing(indices, address, live, frozen)


def live_generation(indices: Indices) -> str | None:
    """Return the live generation: that of the alias or, if somebody has deleted the alias, the newest complete one."""
    live = indices.live("state")
    if live is not None:
        return live
    whole = [one for one in indices.generations("state") if _job(indices, one) is None]
    return whole[-1] if whole else None


def _require(indices: Indices, address: str, index: str) -> None:
    """Raise `StoreError` if an index of the corpus is missing or closed."""
    if not indices.exists(index):
        raise StoreError(
            f"{address}: the index {index} is gone; restore it from a snapshot, or see what "
            f"esdedup doctor --store {address} advises"
        )
    require_open(indices, address, index)


def require_open(indices: Indices, address: str, index: str) -> None:
    """Raise `StoreError` if somebody has closed an index."""
    if indices.is_closed(index):
        raise StoreError(f"{address}: the index {index} is closed; open it (POST /{index}/_open) and try again")


def _raise_if_damaged(indices: Indices, address: str) -> None:
    """Raise `StoreError` if there are sentences, but the state that belongs to them is gone."""
    for generation in set(indices.generations("sentences")) - set(indices.generations("state")):
        if _has_sentences(indices, generation):  # one without was left by a killed command
            _require(indices, address, indices.name("state", generation))


def _has_sentences(indices: Indices, generation: str) -> bool:
    """Whether there are sentences in a generation. What is in a closed index cannot be known, and counts as some."""
    name = indices.name("sentences", generation)
    try:
        return indices.is_closed(name) or indices.count(name) > 0
    except GoneError:  # another command begins the store at the same time, and has tidied up
        indices.forget()
        return False


def publish(indices: Indices, generation: str, results: str | None, keep: int) -> None:
    """Make a generation the live one in a single request. Of the older ones keep the newest `keep`."""
    indices.swap(dict.fromkeys(CORPUS, generation) | dict.fromkeys(RESULTS, results))
    older = [old for old in indices.generations("state") if old != generation and _job(indices, old) is None]
    kept = {generation, *older[len(older) - keep :]}
    theirs = _results(indices)
    indices.delete(RESULTS, [one for one, corpus in theirs.items() if corpus not in kept])
    discard_results(indices, generation, but=results)
    indices.delete(CORPUS, {one for kind in CORPUS for one in indices.generations(kind)} - kept)
    _end_job(indices, generation)


def discard_results(indices: Indices, corpus: str, *, but: str | None = None, until: str | None = None) -> None:
    """Delete the results of a generation of the corpus, except generation `but`; with `until`, only older ones."""
    gone = [one for one, theirs in _results(indices).items() if theirs == corpus and one != but]
    indices.delete(RESULTS, [one for one in gone if until is None or one < until])


def _results(indices: Indices) -> dict[str, str | None]:
    """Map every generation of results to its generation of the corpus."""
    return {
        one: indices.meta(indices.name(kind, one)).get("corpus")
        for kind in RESULTS
        for one in indices.generations(kind)
    }


def unfinished(indices: Indices) -> list[str]:
    """Return the generations that are being made or were left unfinished."""
    live = indices.live("state")
    return [one for one in indices.generations("state") if one != live and _job(indices, one) not in (None, _FIRST)]


def unfinished_at(address: ServerAddress) -> bool:
    """Return whether a new generation is being made at an address or was left unfinished there."""
    with closing(Connection(address)) as connection:
        return bool(unfinished(Indices(connection)))


def drop_all(address: ServerAddress) -> None:
    """Delete every index that esdedup made at an address.

    Raise `StoreError` if there is none, and `StoreLockedError` if somebody writes to the store.
    """
    with closing(Connection(address)) as connection:
        indices, kinds = Indices(connection), WORKING + RESULTS + CORPUS
        if not any(indices.generations(kind) for kind in kinds):
            raise StoreError(f"{address}: there is no store and no other esdedup index")
        for generation in indices.generations("state"):
            _leave_to_writers(indices, str(address), generation)
        indices.delete(kinds)


def _unfinished_of(indices: Indices, address: str, job: str) -> str | None:
    """Return the generation that the same job began. Delete those that other jobs began and nobody writes any more."""
    live = indices.live("state")
    if live is not None and _job(indices, live) == job:
        return live  # the older ones are not deleted yet
    if live is not None:
        _end_job(indices, live)
    begun = {generation: _job(indices, generation) for generation in unfinished(indices)}
    claimed = indices.claimed()
    found = claimed if begun.get(claimed or "") == job else None
    for generation, theirs in begun.items():
        # without a claim, another part of this job may be about to claim one
        if generation != found and (found is not None or theirs != job):
            _leave_to_writers(indices, address, generation)
            _discard(indices, generation)
    return found


def _leave_to_writers(indices: Indices, address: str, generation: str) -> None:
    """Raise `StoreLockedError` if somebody writes to a generation."""
    name = indices.name("state", generation)
    try:
        if not indices.is_closed(name):
            wait_for_writers(State(indices.connection, name), address)
    except GoneError:  # another part had begun it at the same time as a third one, and has deleted it
        indices.forget()


def _begin(indices: Indices, frozen: Mapping[str, Any], job: str) -> str:
    """Begin a new generation, or use the one that another part of the same job begins at the same time."""
    made = None
    try:
        made = _make(indices, frozen, job)
        indices.claim(made)
    except StoreLockedError:
        _unmake(indices, made)
        theirs = indices.claimed()
        if theirs is None or _job(indices, theirs) != job:
            raise
        return theirs
    return made


def _discard(indices: Indices, generation: str) -> None:
    """Delete an unfinished generation, with its results."""
    discard_results(indices, generation)
    indices.delete(CORPUS, [generation])


def _job(indices: Indices, generation: str) -> str | None:
    """Return the job that is making a generation; None after it is published."""
    job: str | None = indices.meta(indices.name("state", generation)).get("job")
    return job


def _end_job(indices: Indices, generation: str) -> None:
    if _job(indices, generation) is not None:
        indices.unclaim(generation)
        index = indices.name("state", generation)
        indices.set_meta(index, {**indices.meta(index), "job": None})


def _first(indices: Indices, frozen: Mapping[str, Any]) -> str:
    """Make a new store, or use the one that another command makes at the same time."""
    made = None
    try:
        made = _make(indices, frozen, _FIRST)
        indices.swap(dict.fromkeys(CORPUS, made), only_first=True)
    except StoreLockedError:
        _unmake(indices, made)
        live = indices.live("state")
        if live is None:
            raise
        return live
    # generations whose creation was killed
    whole = indices.generations("state")
    beginnings = {one for kind in CORPUS for one in indices.generations(kind)}
    indices.delete(CORPUS, beginnings - {made} - {one for one in whole if _job(indices, one) not in (None, _FIRST)})
    _end_job(indices, made)
    return made


def _saved(indices: Indices, generation: str) -> Any:
    """Return the signing settings of a generation, as they are saved."""
    return indices.meta(indices.name("sentences", generation)).get("signing")


def _is_empty(indices: Indices, generation: str) -> bool:
    """Return whether a generation has no documents, as after a command that failed at its first source."""
    names = [indices.name(kind, generation) for kind in ("documents", "sentences")]
    indices.refresh(*names)
    return not any(indices.count(name) for name in names)


def _instead(indices: Indices, live: str, frozen: Mapping[str, Any]) -> str:
    """Replace an empty live generation by one with these settings, which are frozen with the first document."""
    made = _make(indices, frozen, None)
    indices.swap(dict.fromkeys(CORPUS, made) | dict.fromkeys(RESULTS, None))
    discard_results(indices, live)
    indices.delete(CORPUS, [live])
    return made


def _unmake(indices: Indices, generation: str | None) -> None:
    """Delete a new generation that is not needed because another process was faster."""
    indices.forget()
    if generation is not None:
        indices.delete(CORPUS, [generation])


def _make(indices: Indices, frozen: Mapping[str, Any], job: str | None) -> str:
    signing = freeze(None, frozen)
    meta = {"hash-scheme": signing.scheme, "signing": signing.saved(), "job": job}
    return indices.make(CORPUS, meta, loading=True)


def _signing(indices: Indices, address: str, generation: str, frozen: Mapping[str, Any] | None) -> Signing:
    meta = indices.meta(indices.name("sentences", generation))
    check_readable(address, meta["schema"], meta["hash-scheme"])
    stored = saved_signing(address, meta["signing"])
    check_same(address, stored, freeze(stored, frozen or {}))
    for kind in CORPUS:
        indices.check_mapping(kind, generation)
    return stored
