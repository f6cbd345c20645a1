"""The verb that rewrites collections without their duplicates."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.analysis.kind_names import KINDS
from esdedup.engines import ENGINES
from esdedup.errors import StoreSourcesError, UsageError
from esdedup.files import compact_json, whole_file
from esdedup.formats.locations import Source
from esdedup.formats.rewrite import check_rewritable, output_path, rewrite_source
from esdedup.jobs.accounting import accounted
from esdedup.jobs.against import find_in_references, forget_references, opened_references
from esdedup.jobs.containing import Containment, check_share
from esdedup.jobs.indexing import damages, source_checkpoints
from esdedup.jobs.lakes import STORE, ReadingJob, opened_for
from esdedup.jobs.progress_bar import Bar
from esdedup.jobs.settings import Settings, stars_around_what_is_kept
from esdedup.jobs.steps import (
    Address,
    check_choice,
    find_sources,
    made_folder,
    publish,
    read_into,
    refuse_inside,
    refuse_other_sources,
    scan_if_needed,
    settings_of,
)
from esdedup.matching.signing import Signing
from esdedup.output.drops import REASONS, Verdicts, decided, saved_verdicts
from esdedup.resources import Resources
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.lake.lake_address import LAKE
from esdedup.store.store import Store

log = logging.getLogger("esdedup")

_LARGEST = 10

_WORK = ".dedupe"
_DROPS = "drops.jsonl"


def dedupe(
    *sources: Address,
    out: Address | None,
    store: Address | None,
    keep: str,
    kinds: Sequence[str] | None,
    annotate: bool,
    against: Sequence[Address],
    contained: float | None,
    dry_run: bool,
    fresh: bool,
    keep_going: bool,
    quiet: bool,
    **options: Any,
) -> dict[str, Any]:
    """Write each source without its duplicates to the folder `out`, with the same name, format and compression.

    Of each cluster one record (or sentence, with `unit="sentence"`) is kept: the `first` in reading order, the
    `longest`, or `none`. Duplicate sentences are removed from their texts; a document with no text left is dropped.
    Wiki dumps become JSON Lines of cleaned documents. drops.jsonl lists each dropped sentence, its cluster, the one
    kept, the reason and the Jaccard similarity. Linkage is `star`, around the texts to keep. `annotate` keeps
    everything and marks each record with what would happen to it. With `kinds`, clusters of other kinds are not
    changed: a training corpus may keep its template sentences. With `across="sources"`, duplicates within one source
    stay. Use this to remove the sentences of a test set from the training set.

    What stands in one of the collections `against` (sources or stores) is dropped too, and what stands with at least
    the share `contained` of its shingles inside a longer text. With `dry_run`, nothing is
    written; the answer has the ten `largest` clusters.

    The same command finishes a killed job, and writes no file twice. Return the counts of documents and sentences
    written and dropped, and the `files`.
    """
    settings = _settings(options, keep, kinds, contained)
    with ExitStack() as stack:
        if dry_run:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="esdedup-dry-run-")))
            store = None
        elif out is None:
            raise UsageError("out: give a folder for the files, or dry_run")
        else:
            folder = Path(out)
        found, missing = find_sources(sources, settings.reading, keep_going)
        if not dry_run:
            refuse_inside(folder, sources)
        _check_sources(found, folder, annotate=annotate)
        settings = settings.for_sources(found, rewritten=True)
        _check_references(against, found, store)
        stack.enter_context(made_folder(folder))
        checkpoints = source_checkpoints(found, settings.reading)
        seconds: dict[str, float] = {}
        references, settings = stack.enter_context(
            opened_references(against, settings, folder, keep_going=keep_going, quiet=quiet)
        )
        reading = ReadingJob(found, checkpoints, settings, fresh, keep_going, quiet)
        opened = stack.enter_context(opened_for(store, folder, reading))
        refuse_other_sources(opened, checkpoints)
        opened.ledger.begin_job("dedupe")
        _refuse_history(opened)
        scanning = settings.scanning_of(opened.signing.unit)
        clock = time.perf_counter()
        read_into(opened, found, checkpoints, settings, keep_going=keep_going, quiet=quiet)
        seconds["index"] = time.perf_counter() - clock
        key = None
        set_apart: list[pa.Table] = []
        apart: dict[str, Any] = {}
        if references:
            clock = time.perf_counter()
            set_apart.append(find_in_references(opened, references, settings, quiet=quiet))
            apart["referenced"] = set_apart[0]["hash"].to_numpy()
            seconds["references"] = time.perf_counter() - clock
        if references or contained is not None:
            # what stands apart is not saved, and worked out anew each time
            key = uuid.uuid4().hex
        if contained is not None:
            known = apart.get("referenced", np.empty(0, np.uint64))
            apart["contained"] = Containment(opened, references, contained, keep, settings.resources, known)
        seconds |= scan_if_needed(opened, scanning, settings.resources, quiet=quiet, key=key, **apart)
        if contained is not None:
            set_apart.append(apart["contained"].found)
        clock = time.perf_counter()
        numbers = {(checkpoint.name, checkpoint.path): checkpoint.number for checkpoint in opened.ledger.sources()}
        states = [each.ledger.state() for each in (opened, *(reference.store for reference in references))]
        job = json.dumps([states, asdict(scanning), annotate, kinds, contained])
        rows_apart = pa.concat_tables(set_apart) if set_apart else None
        with decided(opened, keep, scanning.across, kinds, rows_apart) as verdicts:
            rewriting = _Rewriting(folder, opened.signing, annotate, keep_going)
            files = [(numbers[mark.name, mark.path], source) for mark, source in zip(checkpoints, found, strict=True)]
            written = rewriting.all([] if dry_run else files, verdicts, job, settings.resources, quiet=quiet)
            _write_drops(verdicts, folder / _DROPS)
            reasons = verdicts.counts()
        counts = opened.corpus.counts()
        records = accounted(opened.signing, opened.ledger.sources(), counts)
        shown = {"largest": list(opened.results.cluster_rows(ClusterQuery(limit=_LARGEST)))} if dry_run else {}
        opened.ledger.end_job()
        publish(opened, fresh=fresh)
        unit = opened.signing.unit
    forget_references(folder)
    seconds["write"] = time.perf_counter() - clock
    dropped = {reason: reasons.get(reason, 0) for reason in REASONS}
    return {
        "unit": unit,
        "records": {
            "in": records["in"],
            "kept": records["in"] - sum(dropped.values()),
            "dropped": dropped,
            "not_compared": records["not_compared"],
        },
        **written,
        "counts": counts,
        "damaged": missing + damages(checkpoints),
        "seconds": {stage: round(value, 3) for stage, value in seconds.items()},
        **shown,
    }


def _settings(options: dict[str, Any], keep: str, kinds: Sequence[str] | None, contained: float | None) -> Settings:
    """Return the settings of a job. Clusters are stars around what is kept."""
    if options.get("limit") is not None:
        raise UsageError("limit: dedupe writes whole sources; omit --limit")
    settings = settings_of(options)
    check_share(contained)
    if contained is not None and settings.scanning.across != "any":
        raise UsageError("contained and across exclude each other; omit one")
    for kind in kinds or ():
        check_choice("kinds", kind, KINDS)
    settings = stars_around_what_is_kept(settings)
    return replace(settings, scanning=settings.scanning.replaced({"keep": keep, "kinds": kinds is not None}))


def _check_sources(found: Sequence[Source], folder: Path, *, annotate: bool) -> None:
    """Raise `UsageError` for a source that cannot be rewritten to the folder."""
    for source in found:
        if source.path is None:
            raise UsageError(
                "dedupe must read sources twice, which standard input does not allow; save it to a file first"
            )
        check_rewritable(source, folder, annotate=annotate)
        _check_place(source, folder)


def _check_place(source: Source, folder: Path) -> None:
    """Raise `UsageError` if the result would overwrite one of our files, or be read as a source the next time."""
    if output_path(source, folder).relative_to(folder).parts[0] in (_DROPS, _WORK, LAKE, STORE):
        raise UsageError(f"{source.path}: {folder} needs this file name for itself; rename the source")
    if source.base is not None:
        refuse_inside(folder, [source.base])


def _check_references(against: Sequence[Address], found: Sequence[Source], store: Address | None) -> None:
    """Raise `UsageError` if a reference is also what is compared with it."""
    ours = {source.path.resolve() for source in found if source.path is not None}
    for reference in against:
        if reference == store:
            raise UsageError(f"{reference} is --store and also --against; a reference is another collection")
        if Path(reference).resolve() in ours:
            raise UsageError(f"{reference} is a source and also --against, so everything in it would be dropped")


def _refuse_history(store: Store) -> None:
    """Raise `StoreSourcesError` unless a single run read all documents, so that their places are known."""
    read = store.ledger.unfinished_reading() or store.ledger.last_reading()
    if store.ledger.sources() and (read is None or read.first > 0):
        raise StoreSourcesError(
            f"{store.address}: documents changed since the first run, so their places in the sources are no longer "
            "known; start again with --fresh, or use another --store"
        )


def _write_drops(verdicts: Verdicts, path: Path) -> None:
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(compact_json(row) + "\n" for row in verdicts.drops())


@dataclass(frozen=True)
class _Rewriting:
    """Writes the sources of a job to a folder. A file that is complete is not written again after a kill."""

    folder: Path
    signing: Signing
    annotate: bool
    keep_going: bool
    threads: int = 1

    def all(
        self, files: Sequence[tuple[int, Source]], verdicts: Verdicts, job: str, resources: Resources, *, quiet: bool
    ) -> dict[str, Any]:
        """Write sources, given with their numbers in the store, wherever the engine runs. Return the sums over all of
        them, and the names of what was written.
        """
        work, mark = self.folder / _WORK, self.folder / _WORK / "job.json"
        if not mark.exists() or mark.read_text("utf-8") != job:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            with whole_file(mark) as part:
                part.write_text(job, "utf-8")
        left = [(file, source) for file, source in files if self._done(file) is None]
        for file, _ in left:
            verdicts.save(file, self._path(file, "arrow"))
        engine, place = ENGINES[resources.engine], resources.engine
        writing = self if engine.makes_lakes else replace(self, threads=resources.processes)
        with Bar("write", len(left), "file", not quiet) as bar:
            engine.each(place, writing.one, left, bar.follow, "writing sources")
        done = [each for file, _ in files if (each := self._done(file)) is not None]
        shutil.rmtree(work)
        counted = ("documents", "documents_dropped", "sentences_dropped")
        sums = {name: sum(each[name] for each in done) for name in counted}
        # not a text that was dropped entirely
        return {**sums, "files": sorted({each["path"] for each in done if Path(each["path"]).exists()})}

    def one(self, given: tuple[int, Source]) -> None:
        """Write one source."""
        file, source = given
        verdicts = saved_verdicts(self._path(file, "arrow"))
        how: dict[str, Any] = {"annotate": self.annotate, "keep_going": self.keep_going, "threads": self.threads}
        done = rewrite_source(
            source, self.signing.splitting, verdicts, self.folder, templates=self.signing.templates, **how
        )
        told = {**asdict(done), "path": str(done.path), "gone": not done.path.exists()}
        with whole_file(self._path(file, "json"), shared=True) as part:
            part.write_text(json.dumps(told), "utf-8")

    def _path(self, file: int, kind: str) -> Path:
        return self.folder / _WORK / f"{file}.{kind}"

    def _done(self, file: int) -> dict[str, Any] | None:
        """Return what was written of a source; None if nothing was, or if its file has gone since."""
        mark = self._path(file, "json")
        done = json.loads(mark.read_text("utf-8")) if mark.exists() else None
        return done if done is not None and (done["gone"] or Path(done["path"]).exists()) else None
