"""Lakes: read sources into one, wherever an engine runs, and load one into another store."""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from esdedup.columns.records import Skips
from esdedup.engines import ENGINES
from esdedup.errors import SourceError, StoreError, StoreLockedError, StoreSourcesError, UsageError
from esdedup.files import hold, whole_file
from esdedup.formats.locations import Source, split
from esdedup.formats.reading_options import Reading
from esdedup.jobs.accounting import damages, warn_of_sources
from esdedup.jobs.indexing import index_sources
from esdedup.jobs.preconditions import Address
from esdedup.jobs.progress_bar import Bar
from esdedup.jobs.scanning import classifier_of
from esdedup.jobs.settings import Settings
from esdedup.jobs.source_reading import ReadingJob, warn_of_stems
from esdedup.jobs.steps import open_for
from esdedup.matching.protocol import Scanning
from esdedup.matching.signing import Signing, freeze
from esdedup.output.out_folder import STORE
from esdedup.resources import Resources
from esdedup.store.lake.lake_address import LAKE, LakeAddress, unfinished
from esdedup.store.lake.lake_files import LakeFiles, PartIntake, only_read, told_of
from esdedup.store.lake.store import LakeStore
from esdedup.store.ledger import REPEATED, STANDARD_INPUT, SourceCheckpoint, checkpoint_of, note_repeated
from esdedup.store.schemas import DOCUMENT_ROWS, SCHEMA_VERSION, SEEN, SENTENCE_ROWS
from esdedup.store.store import Store

log = logging.getLogger("esdedup")


def store_in(folder: Path, engine: str) -> Path:
    """Return the place of the store in a folder of results, if no other is named: a file, or a lake if the engine reads
    sources itself.
    """
    return folder / (LAKE if ENGINES[engine].makes_lakes else STORE)


def opened_for(
    store: Address | None, folder: Path, job: ReadingJob, *, lookup: bool = True
) -> AbstractContextManager[Store]:
    """Return the store of a job, for writing: the one that is named, or one in the folder."""
    engine = job.settings.resources.engine
    if store is None and ENGINES[engine].makes_lakes:
        return lake_of(folder / LAKE, job)
    ENGINES[engine].check_place(engine)  # before sources are read for it
    fresh = job.name if job.fresh else None
    return open_for(store or store_in(folder, engine), job.settings, fresh=fresh, lookup=lookup)


@contextmanager
def lake_of(folder: Path, job: ReadingJob) -> Iterator[LakeStore]:
    """Open the lake in a folder. If there is none, or a fresh one is wanted, read the sources into it before: a task
    for each.

    The same command continues what was not read to the end. Raise `StoreSourcesError` if other sources were being read
    there, `StoreLockedError` while another command reads there, `SourceError` for a damaged source unless the job keeps
    going.
    """
    made = unfinished(folder) if job.fresh else folder
    files = LakeFiles(made)
    if job.fresh and files.description.exists() and files.read()["about"].get("job") != job.name:
        files.delete()  # another job was killed before it ended
    if not files.description.exists():
        _read(files, job)
    with LakeStore(made, job.settings.frozen, saves=folder, **job.settings.resources.of_database) as opened:
        yield opened


def _read(files: LakeFiles, job: ReadingJob) -> None:
    if any(checkpoint.path == STANDARD_INPUT for checkpoint in job.checkpoints):
        raise UsageError(f"standard input cannot be read by {job.settings.resources.engine}; give --store PATH.duckdb")
    place = job.settings.resources.engine
    ENGINES[place].check_place(place)
    files.job.parent.mkdir(parents=True, exist_ok=True)
    held = hold(files.lock, make=True)
    if held is None:
        raise StoreLockedError(f"{files.folder}: another command reads into this lake; wait until it ends")
    try:
        if files.job.exists() and files.job.read_text("utf-8") != job.name:
            if files.has_parts() and not job.fresh:
                raise StoreSourcesError(
                    f"{files.folder}: another run was begun here and has not ended; repeat that command, or start "
                    "again with --fresh"
                )
            files.delete(but=files.lock)
        with whole_file(files.job) as path:
            path.write_text(job.name, "utf-8")
        signing = freeze(None, job.settings.frozen)
        parts = _read_parts(files, job, signing)
        for part in parts:
            for damage in damages([part.checkpoint]):
                if not job.keep_going:
                    files.mark(part.number).unlink()  # it may have been mended when the command is repeated
                    raise SourceError(f"{damage}; use --keep-going to keep what precedes it")
                log.error("%s", damage)
        _describe(files, _until_damage(parts), signing, job)
    except BaseException:
        if not files.has_parts():
            files.delete()  # there is nothing to continue
        raise
    finally:
        os.close(held)


@dataclass(frozen=True)
class _Part:
    """A part that has been read."""

    number: int
    checkpoint: SourceCheckpoint  # of its source, as far as it is in this part
    rows: dict[str, int]  # how many documents, sentences and records

    @classmethod
    def of(cls, files: LakeFiles, number: int) -> _Part:
        told = told_of(files, number)
        assert told is not None, "each part has a mark"
        return cls(number, checkpoint_of(told.pop("checkpoint")), told)


def _read_parts(files: LakeFiles, job: ReadingJob, signing: Signing) -> list[_Part]:
    """Read each source, or each span of a large one, in a task of its own, unless that was done before."""
    known: list[SourceCheckpoint] = []
    for checkpoint in job.checkpoints:
        checkpoint.enter(known)
    whole = job.settings.reading.limit is not None  # a limit is one of the whole source
    spans = [
        (span, checkpoint)
        for source, checkpoint in zip(job.sources, job.checkpoints, strict=True)
        for span in ([source] if whole else split(source))
    ]
    left = [(number, *span) for number, span in enumerate(spans) if told_of(files, number) is None]
    resources = job.settings.resources
    work = partial(_read_part, files.folder, signing, job.settings.reading, resources.memory)
    with Bar("index", len(left), "task", not job.quiet) as bar:
        ENGINES[resources.engine].each(resources.engine, work, left, bar.follow, "reading sources")
    return [_Part.of(files, number) for number in range(len(spans))]


def _read_part(
    folder: Path, signing: Signing, reading: Reading, memory: int, given: tuple[int, Source, SourceCheckpoint]
) -> None:
    """Read one source, or a span of it, into its part of a lake."""
    number, source, checkpoint = given
    with PartIntake(LakeFiles(folder), number, signing) as intake:
        resources = Resources(workers=1, memory=memory)
        index_sources(intake, [source], [deepcopy(checkpoint)], reading, resources, keep_going=True, quiet=True)


def _until_damage(parts: Sequence[_Part]) -> list[_Part]:
    """Leave out what comes in a source after damage: nobody who reads it from its beginning gets there."""
    kept: list[_Part] = []
    for part in parts:
        before = kept[-1].checkpoint if kept else None
        if before is None or before.number != part.checkpoint.number or not damages([before]):
            kept.append(part)
    return kept


def _joined(parts: Sequence[_Part]) -> list[SourceCheckpoint]:
    """Return the checkpoint of each source."""
    sources: list[SourceCheckpoint] = []
    for part in parts:
        if sources and sources[-1].number == part.checkpoint.number:
            sources[-1].documents += part.checkpoint.documents
            both = sources[-1].records, part.checkpoint.records
            sources[-1].records = -1 if min(both) < 0 else sum(both)
            sources[-1].skips.include(part.checkpoint.skips)
        else:
            sources.append(deepcopy(part.checkpoint))
    return sources


def _describe(files: LakeFiles, parts: Sequence[_Part], signing: Signing, job: ReadingJob) -> None:
    """Find ids that are repeated in the whole lake, and write what it says of itself."""
    checkpoints = _joined(parts)
    described = {
        "about": {
            "schema": SCHEMA_VERSION, "hash-scheme": signing.scheme, "signing": signing.saved(), "job": job.name,
            "state": uuid.uuid4().hex,
            "read": {"sources": [checkpoint.number for checkpoint in checkpoints], "first": 0},
        },
        "sources": [asdict(checkpoint) for checkpoint in checkpoints],
        "parts": [{"number": part.number, "source": part.checkpoint.number, **part.rows} for part in parts],
    }  # fmt: skip
    files.repeats.unlink(missing_ok=True)
    with LakeStore(files.folder, described=described, **job.settings.resources.of_database) as lake:
        note_repeated(checkpoints, lake.number_repeats())
        warn_of_sources(checkpoints)
        warn_of_stems(lake)
    files.write(described | {"sources": [asdict(checkpoint) for checkpoint in checkpoints]})


def refuse_lake(store: Address) -> None:
    """Raise `StoreError` for a lake, which is not added to."""
    if LakeAddress.fits(store):
        raise StoreError(only_read(store))


def is_lake(source: Address) -> bool:
    """Whether a source is the folder of a lake."""
    return LakeAddress.fits(source)


def load_lake(
    source: Address, address: Address, settings: Settings, *, fresh: bool, lookup: bool, quiet: bool
) -> Store:
    """Load a lake, with its results, into a store that is new. Return the open store, for the caller to close.

    Raise `StoreSourcesError` if the store has other documents.
    """
    folder = Path(source)
    with LakeStore(folder, settings.frozen) as lake:
        job = str(folder.resolve()) if fresh else None
        store = open_for(address, replace(settings, frozen=lake.signing.saved()), fresh=job, lookup=lookup)
        try:
            _load(lake, store, quiet=quiet)
        except BaseException:
            store.close()
            raise
        return store


def _load(lake: LakeStore, store: Store, *, quiet: bool) -> None:
    read, last = lake.ledger.sources(), store.ledger.last_reading()
    known = store.ledger.sources()
    foreign = [each for each in known if not any(each.same_as(one) for one in read)]
    if foreign:
        raise StoreSourcesError(
            f"{store.address}: the store has other sources, such as {foreign[0].path}; use a new --store, or start "
            "again with --fresh"
        )
    if last is None or len(known) != len(read):
        places = {checkpoint.number: checkpoint for checkpoint in read}
        begun = [replace(checkpoint, documents=0, finished=False, skips=Skips()) for checkpoint in read]
        store.corpus.begin(begun)
        with Bar("index", sum(part["sentences"] for part in lake.parts), "sentence", not quiet) as bar:
            done = 0
            for checkpoint in begun:
                if not checkpoint.finished:
                    for rows in lake.sentences_of(checkpoint.number):
                        store.corpus.append(checkpoint, DOCUMENT_ROWS.empty_table(), rows, SEEN.empty_table())
                        bar.reach(done := done + len(rows))
                    finished, none = places[checkpoint.number], SENTENCE_ROWS.empty_table()
                    finished.skips.counts.pop(REPEATED, None)  # these are numbered again
                    finished.skips.places.pop(REPEATED, None)
                    store.corpus.append(finished, lake.documents_of(checkpoint.number), none, SEEN.empty_table())
        store.corpus.commit()
    scan = lake.ledger.get("scan")
    if scan is not None and store.ledger.last_scanning() != scan["summary"]["scanning"]:
        classifier = classifier_of(Scanning.from_described(scan["summary"]["scanning"]))
        store.results.replace(*lake.found(), scan["summary"], classifier)
