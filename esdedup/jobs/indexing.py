"""Load sources into a store: read here, prepare in the workers, write here, in reading order."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, nullcontext, suppress
from copy import deepcopy
from types import TracebackType

import numpy as np
import pyarrow as pa

from esdedup.columns.ahead import read_ahead
from esdedup.columns.hashing import file_hash
from esdedup.columns.records import Skips
from esdedup.errors import SourceChangedError, SourceError, StoreError
from esdedup.formats.compression.opener import readable
from esdedup.formats.locations import Source
from esdedup.formats.protocol import FORMATS
from esdedup.formats.reading_options import Part, Reading
from esdedup.formats.remote.remote_path import RemotePath, state_of
from esdedup.formats.stream import DocumentStream
from esdedup.jobs.accounting import damages
from esdedup.jobs.assemble import Assembler, Rows
from esdedup.jobs.compiling import compile_ahead
from esdedup.jobs.known_documents import KnownDocuments
from esdedup.jobs.prepare import BatchPlan, Prepared, prepare
from esdedup.jobs.progress_bar import Bar
from esdedup.jobs.revision_deltas import DeltaReader, RevisionDelta
from esdedup.jobs.workers import LARGE, Workers
from esdedup.plurals import plural
from esdedup.resources import Resources
from esdedup.store.corpus import ALL, Intake
from esdedup.store.ledger import STANDARD_INPUT, SourceCheckpoint

log = logging.getLogger("esdedup")

_LARGE_SOURCES = 2**30
"""Bytes of sources of which it is said beforehand how much they take on disk."""
_TELLING = 0.03
"""From this share on, what was read tells how much the rest takes."""
_NEW = 2**25
"""A store of fewer bytes is a new one."""
_WITH_SCAN, _WITH_LOOKUP = 1.8, 2.4
"""So many times the store of a dump takes at most, with what a scan needs, and with the lookup and the files."""

_FLUSH_BYTES = 96 * 2**20
_FLUSH_ROWS = 122_880
"""The size of a DuckDB row group: DuckDB later rewrites partial row groups."""


def source_checkpoints(sources: Sequence[Source], reading: Reading) -> list[SourceCheckpoint]:
    """Return what the store saves of each source: enough to recognize it later."""
    # the text files of a folder share its name and are one source to the user
    qualified = len({source.name for source in sources}) > 1 or reading.source_name is not None
    # of all sources that are read together, including those of a format without revisions
    history = any(reading.format_named(name).keeps_history for name in FORMATS.names)
    how = reading.remembered()
    checkpoints = []
    for source in sources:
        if source.path is None:
            path, state = STANDARD_INPUT, "a stream"
        else:
            # a name that is not valid UTF-8 is kept in the form that is shown
            path, state = readable(source.path.resolve()), state_of(source.path)
        checkpoints.append(
            SourceCheckpoint(
                source.name, path, f"{state}, read with {how}", qualified and not source.format.ids_across, history,
                wiki=source.collection, folder="" if source.base is None else readable(source.base.resolve()),
            )
        )  # fmt: skip
    return checkpoints


def content_of(source: Source) -> str:
    """Return the hash of a file; empty if its server says when it changes.

    Raise `SourceChangedError` if it is not there any more.
    """
    assert source.path is not None, "standard input cannot be read twice"
    if isinstance(source.path, RemotePath) and source.path.about.state:  # which changes with the bytes
        return ""
    try:
        return file_hash(source.path)
    except OSError as error:
        raise SourceChangedError.at(readable(source.path)) from error


def check_unchanged(source: Source, checkpoint: SourceCheckpoint) -> None:
    """Raise `SourceChangedError` if a source is not in the state in which its reading began, or not there any more."""
    if source.path is None or source.path.is_fifo():
        return
    with suppress(OSError):
        if checkpoint.fingerprint.startswith(f"{state_of(source.path, again=True)}, "):
            return
    raise SourceChangedError.at(readable(source.path))


def index_sources(
    intake: Intake,
    sources: Sequence[Source],
    checkpoints: Sequence[SourceCheckpoint],
    reading: Reading,
    resources: Resources,
    *,
    keep_going: bool,
    quiet: bool,
    twice: bool = False,
) -> dict[str, int]:
    """Read what `checkpoints` say is unread of `sources` into `intake` and commit it.

    If a source is damaged, what precedes the damage is stored. Then `SourceError` is raised, and the run stays
    unfinished; with `keep_going` the next source is read, and the damage is in the checkpoint. Files that are read
    `twice` are hashed, so that it is known whether they change in between. Raise `SourceChangedError` for a source that
    changes while it is read, `StoreError` if the disk is too small for large ones. Return the counts of
    `Intake.commit`.
    """
    next_number = intake.begin(list(checkpoints), Part.parse(reading.part))
    with ExitStack() as stack:
        bar = stack.enter_context(Bar("index", sum(source.size for source in sources), "B", not quiet))
        if resources.processes > 1:
            compile_ahead()
        workers = Workers(resources.processes)
        stack.callback(workers.close)
        kinds = {None if source.path is None else source.path.suffix for source in sources}
        room = _Room(intake, sum(source.size for source in sources), alike=len(kinds) == 1)
        before = 0
        for source, checkpoint in zip(sources, checkpoints, strict=True):
            if not checkpoint.finished:
                loader = _Loader(intake, source, checkpoint, reading, resources, workers, bar, room, before, twice)
                next_number = loader.load(next_number)
            for damage in damages([checkpoint]):
                if not keep_going:
                    raise SourceError(f"{damage}; use --keep-going to keep what precedes it")
                log.error("%s", damage)
            before += source.size
            bar.reach(before)
    return intake.commit()


class _Room:
    """Whether the disk is large enough for the whole job, as the first part of sources of `size` bytes tells, if these
    are all `alike`: others may be compressed otherwise.
    """

    def __init__(self, intake: Intake, size: int, *, alike: bool) -> None:
        self._intake = intake
        self._size = size
        room = intake.room()
        # what a store had says nothing about the rest
        self._told = not alike or size < _LARGE_SOURCES or room is None or room[0] > _NEW

    def check(self, done: int) -> None:
        """Raise `StoreError` if `done` bytes are enough to tell that it is not."""
        room = None if self._told or done < _TELLING * self._size else self._intake.room()
        if room is None or room[0] < _NEW:
            return
        self._told = True
        held, free = room
        needed = int(held * self._size / done * (_WITH_LOOKUP if self._intake.lookup else _WITH_SCAN))
        log.info("about %.1f GB on disk will be needed; %.1f GB are free", needed / 1e9, free / 1e9)
        if needed - held > free:
            raise StoreError(
                f"about {needed / 1e9:.1f} GB on disk are needed, and {free / 1e9:.1f} GB are free; "
                f"{'omit the lookup (--no-lookup), ' if self._intake.lookup else ''}free disk space, or use a store on "
                "another disk, and run the same command again"
            )


class _Writer:
    """Writes in its own thread, one batch of rows at a time, while the next is read."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._thread = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None

    def write(self, checkpoint: SourceCheckpoint, rows: Rows) -> None:
        """Wait for the previous batch, then begin to write `rows` and the present checkpoint."""
        self.finish()
        self._writing = self._thread.submit(self._intake.append, deepcopy(checkpoint), *rows)

    def finish(self) -> None:
        """Wait until everything is written, and raise errors."""
        if self._writing is not None:
            self._writing.result()

    def __enter__(self) -> _Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._intake.give_up()
        self._thread.shutdown()


_Read = tuple[pa.RecordBatch, BatchPlan, int]
"""A batch, how to prepare it, and where in the source it ends."""


class _Loader:
    """Loads one source."""

    def __init__(
        self, intake: Intake, source: Source, checkpoint: SourceCheckpoint, reading: Reading, resources: Resources,
        workers: Workers, bar: Bar, room: _Room, bytes_before: int, twice: bool,
    ) -> None:  # fmt: skip
        self._intake = intake
        self._source = source
        self._checkpoint = checkpoint
        self._reading = reading
        self._resources = resources
        self._workers = workers
        self._bar = bar
        self._room = room
        self._bytes_before = bytes_before
        self._twice = twice
        self._part = Part.parse(reading.part)

    def load(self, next_number: int) -> int:
        """Read the source to its end, or to its damage, which is added to the checkpoint. Return the next document
        number.
        """
        skips = Skips()
        with _Writer(self._intake) as writer:
            assembler = self._read(next_number, skips, writer)
            assembler.finish()
            checkpoint, rows = assembler.take()
            check_unchanged(self._source, checkpoint)
            if isinstance(self._source.path, RemotePath) and not skips.counts.get("damaged_source"):
                self._source.path.compare()
            if self._twice and self._source.path is not None:
                checkpoint.content = content_of(self._source)
            # every run counts anew what the reader skips, so this is added at the end; each of several parts has seen
            # all of it, so only the first one counts more than damage
            checkpoint.skips.include(skips if self._part.number == 1 else _damage(skips))
            checkpoint.finished = True
            writer.write(checkpoint, rows)
            writer.finish()
        return assembler.next_number

    def _read(self, next_number: int, skips: Skips, writer: _Writer) -> Assembler:
        assembler = Assembler(self._checkpoint, self._plan({}), next_number, self._part.parts)
        try:
            threads = self._resources.processes
            with DocumentStream(self._source, skips, limit=self._reading.limit, threads=threads) as stream:
                self._take_in(stream, assembler, skips, writer)
                self._intake.ended(stream.records)
                if not skips.counts.get("damaged_source"):
                    self._checkpoint.records = stream.records
        except SourceError as error:  # it cannot even be opened
            skips.add("damaged_source", str(error))
        return assembler

    def _take_in(self, stream: DocumentStream, assembler: Assembler, skips: Skips, writer: _Writer) -> None:
        """Prepare the batches of the stream in the workers, and assemble them in order, up to the end or to damage."""
        waiting: deque[tuple[pa.RecordBatch, RevisionDelta, int, Future[Prepared]]] = deque()
        reader = DeltaReader(self._known())
        # a thread that waits for standard input cannot be interrupted
        ahead = self._workers.count > 1 and self._source.path is not None

        def drain(most: int) -> None:
            while len(waiting) > most:
                columns, delta, position, future = waiting.popleft()
                assembler.add(columns, delta, self._workers.result(future))
                self._bar.reach(self._bytes_before + position, plural(assembler.sentences, self._intake.signing.unit))
                self._room.check(self._bytes_before + position)
                if assembler.pending_documents >= _FLUSH_ROWS:
                    writer.write(*assembler.take())
                elif assembler.pending_rows >= _FLUSH_ROWS:
                    writer.write(*assembler.take(_FLUSH_ROWS))
                elif assembler.pending_bytes > _FLUSH_BYTES:
                    writer.write(*assembler.take())

        made = self._batches(stream)
        with read_ahead(made, _is_large) if ahead else nullcontext(made) as batches:
            while (read := _next(batches, skips)) is not None:
                alone = _is_large(read)
                if alone:
                    drain(0)
                batch, plan, position = read
                delta = reader.read(batch, plan)
                columns = batch.drop_columns(["text"])
                work = self._workers.submit(prepare, delta.texts, delta.page, delta.plan, size=delta.texts.nbytes)
                waiting.append((columns, delta, position, work))
                del read, batch, delta, columns, work  # a large text is not kept while the next one is made
                drain(0 if alone else 4 * self._workers.count)
                if alone:
                    writer.write(*assembler.take())
                    writer.finish()  # what it holds is gone before the next large text is read
            drain(0)

    def _known(self) -> KnownDocuments | None:
        """Return the documents of the source that are stored. Those of histories are read to know their revisions."""
        known = None if self._plan({}).merge_revisions else self._intake.known_documents(self._checkpoint)
        return None if known is None else KnownDocuments(*known)

    def _batches(self, stream: DocumentStream) -> Iterator[_Read]:
        """Yield what is left to read of the stream."""
        ours = self._of_part(iter(stream))
        for batch in without_first(ours, self._checkpoint.documents, self._plan({}).merge_revisions):
            yield batch, self._plan(stream.namespaces, stream.language, stream.site), stream.position

    def _of_part(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of this part: by the id of the page, otherwise by the record's place in the source."""
        if self._part == ALL:
            yield from batches
            return
        for batch in batches:
            # every file in a folder of texts has place 1, so files are distributed instead
            positions = np.asarray(
                self._source.format.part_numbers(batch, batch["place"].to_numpy() + self._checkpoint.number)
            )
            kept = batch.filter(pa.array(positions % self._part.parts == self._part.number % self._part.parts))
            if kept.num_rows:
                yield kept

    def _plan(self, namespaces: dict[int, str], language: str = "", site: str = "") -> BatchPlan:
        form = self._source.format
        return BatchPlan(
            self._intake.signing,
            form.cleaner,
            tuple(sorted(namespaces.items())),
            form.keeps_history,
            language,
            site,
        )


def _is_large(read: _Read) -> bool:
    """Whether a batch is a single text that takes much memory: it is prepared alone."""
    return bool(read[0].nbytes > LARGE)


def _next(batches: Iterator[_Read], skips: Skips) -> _Read | None:
    """Return the next batch; None at the end, or at damage, which is counted."""
    try:
        return next(batches, None)
    except SourceError as error:
        skips.add("damaged_source", str(error))
        return None


def _damage(skips: Skips) -> Skips:
    """Of what was skipped, keep only whether the source ends early."""
    kept = Skips()
    for place in skips.places.get("damaged_source", []):
        kept.add("damaged_source", place)
    return kept


def without_first(batches: Iterator[pa.RecordBatch], documents: int, by_id: bool) -> Iterator[pa.RecordBatch]:
    """Yield the batches without the rows of the first `documents` documents, which the store has.

    A document is a row or, with `by_id`, a run of rows with one id: a page with its revisions.
    """
    last: str | None = None
    for batch in batches:
        if not by_id:
            passed = min(documents, batch.num_rows)
            documents -= passed
            if passed < batch.num_rows:
                yield batch.slice(passed)
            continue
        if documents == 0 and last is None:
            yield batch
            continue
        for row, key in enumerate(batch["id"].to_pylist()):
            if key != last:
                if documents == 0:
                    last = None
                    yield batch.slice(row)
                    break
                documents -= 1
                last = key
