"""The verb that rewrites collections without their duplicates."""

from __future__ import annotations

import json
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.analysis.kind_names import KINDS
from esdedup.errors import StoreSourcesError, UsageError
from esdedup.files import compact_json, whole_file
from esdedup.formats.locations import Source
from esdedup.formats.rewrite import check_rewritable, output_names
from esdedup.jobs.accounting import accounted, damages
from esdedup.jobs.against import find_in_references, forget_references, opened_references
from esdedup.jobs.containing import Containment, check_shares, find_containing_references
from esdedup.jobs.indexing import source_checkpoints
from esdedup.jobs.lakes import ReadingJob, opened_for
from esdedup.jobs.preconditions import Address, check_choice
from esdedup.jobs.rewriting import Rewriting, Writing
from esdedup.jobs.settings import Settings, settings_of, stars_around_what_is_kept
from esdedup.jobs.steps import find_sources, publish, read_into, refuse_inside, refuse_other_sources, scan_if_needed
from esdedup.output.drops import REASONS, Verdicts, decided
from esdedup.output.out_folder import DROPS, STORE, out_folder
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.lake.lake_address import LAKE
from esdedup.store.ledger import adopt_names
from esdedup.store.rereading import OLDER
from esdedup.store.store import Store

_LARGEST = 10


def dedupe(
    *sources: Address,
    out: Address | None,
    store: Address | None,
    keep: str,
    kinds: Sequence[str] | None,
    annotate: bool,
    against: Sequence[Address],
    against_only: bool,
    against_text_column: str | None,
    contained: float | None,
    containing: float | None,
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

    What stands in one of the collections `against` (sources or stores) is dropped too; with `containing`, also what has
    at least this share of the shingles of one of their texts. With `against_only`, nothing else is dropped. What stands
    with at least the share `contained` of its shingles inside a longer text is dropped, too. The texts of references
    are in their column `against_text_column`, if it is another one. With `dry_run`, nothing is written; the answer has
    the ten `largest` clusters.

    The same command finishes a killed job, and writes no file twice. Return the counts of documents and sentences
    written and dropped, and the `files`.
    """
    check_shares(references=bool(against), contained=contained, containing=containing)
    if not against and (against_only or against_text_column is not None):
        raise UsageError("against_only and against_text_column need a reference collection: add against")
    if against_only and contained is not None:
        raise UsageError("against_only and contained exclude each other; omit one")
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
        _check_sources(found, annotate=annotate)
        settings = settings.for_sources(found, rewritten=True)
        _check_references(against, found, store)
        names = _output_names(found, folder, sources, against)
        place = stack.enter_context(out_folder(folder, found, fresh=fresh))
        if place.folds_case:
            names = _output_names(found, folder, sources, against, folds_case=True)
        checkpoints = source_checkpoints(found, settings.reading)
        seconds: dict[str, float] = {}
        references, settings = stack.enter_context(
            opened_references(against, settings, folder, against_text_column, keep_going=keep_going, quiet=quiet)
        )
        reading = ReadingJob(found, checkpoints, settings, fresh, keep_going, quiet)
        opened = stack.enter_context(opened_for(store, folder, reading))
        adopt_names(checkpoints, opened.ledger.sources(), typed=settings.reading.source_name is not None)
        refuse_other_sources(opened, checkpoints, instead="use another --out")
        opened.ledger.begin_job("dedupe")
        _refuse_history(opened)
        scanning = settings.scanning_of(opened.signing.unit)
        clock = time.perf_counter()
        read_into(opened, found, checkpoints, settings, keep_going=keep_going, quiet=quiet, twice=True)
        seconds["index"] = time.perf_counter() - clock
        _refuse_older_pages(opened)
        key = None
        set_apart: list[pa.Table] = []
        apart: dict[str, Any] = {}
        if references:
            clock = time.perf_counter()
            set_apart.append(find_in_references(opened, references, settings, quiet=quiet))
            if containing is not None:
                known = set_apart[0]["hash"].to_numpy()
                set_apart.append(find_containing_references(opened, references, containing, settings.resources, known))
            apart["referenced"] = np.unique(np.concatenate([each["hash"].to_numpy() for each in set_apart]))
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
        read = {(checkpoint.name, checkpoint.path): checkpoint for checkpoint in opened.ledger.sources()}
        states = [each.ledger.state() for each in (opened, *(reference.store for reference in references))]
        job = json.dumps([states, asdict(scanning), annotate, kinds, contained, containing, against_only])
        source_names = {checkpoint.number: checkpoint.name for checkpoint in read.values()}
        rows_apart = pa.concat_tables(set_apart) if set_apart else None
        with decided(opened, keep, scanning.across, kinds, rows_apart, only_apart=against_only) as verdicts:
            writings = [
                Writing(source, name, read[mark.name, mark.path])
                for mark, source, name in zip(checkpoints, found, names, strict=True)
            ]
            written = Rewriting(place, opened.signing, annotate, keep_going).all(
                [] if dry_run else writings, verdicts, job, settings.resources, quiet=quiet
            )
            if not dry_run:
                place.claim(DROPS)
                _write_drops(verdicts, source_names, folder / DROPS)
            by_source = _by_source(opened, verdicts, source_names)
        counts = opened.corpus.counts()
        records = accounted(opened.signing, opened.ledger.sources(), counts)
        shown = {"largest": list(opened.results.cluster_rows(ClusterQuery(limit=_LARGEST)))} if dry_run else {}
        opened.ledger.end_job()
        publish(opened, fresh=fresh)
        unit = opened.signing.unit
    forget_references(folder)
    seconds["write"] = time.perf_counter() - clock
    dropped = {reason: sum(source["dropped"][reason] for source in by_source) for reason in REASONS}
    return {
        "unit": unit,
        "records": {
            "in": records["in"],
            "kept": records["in"] - sum(dropped.values()),
            "dropped": dropped,
            "not_compared": records["not_compared"],
        },
        "sources": by_source,
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
    if contained is not None and settings.scanning.across != "any":
        raise UsageError("contained and across exclude each other; omit one")
    for kind in kinds or ():
        check_choice("kinds", kind, KINDS)
    settings = stars_around_what_is_kept(settings)
    return replace(settings, scanning=settings.scanning.replaced({"keep": keep, "kinds": kinds is not None}))


def _check_sources(found: Sequence[Source], *, annotate: bool) -> None:
    """Raise `UsageError` for a source that cannot be rewritten."""
    for source in found:
        if source.path is None or source.path.is_fifo():
            raise UsageError(
                "dedupe must read sources twice, which standard input and pipes do not allow; save it to a file first"
            )
        check_rewritable(source, annotate=annotate)


def _output_names(
    found: Sequence[Source],
    folder: Path,
    named: Sequence[Address],
    against: Sequence[Address],
    *,
    folds_case: bool = False,
) -> list[str]:
    """Return the path of each output in the folder. Raise `UsageError` if it would overwrite another output, a source,
    a reference or a file of ours, or be read as a source the next time, unless its source was `named` itself.
    """
    given = set(map(Path, named))
    names = output_names(found, folds_case=folds_case)
    read = {source.path.resolve() for source in found if source.path is not None}
    read |= {Path(reference).resolve() for reference in against}
    for source, name in zip(found, names, strict=True):
        first = PurePath(name).parts[0]
        if first.startswith(".") or (first.casefold() if folds_case else first) in (DROPS, LAKE, STORE):
            raise UsageError(f"{source.path}: {folder} needs this file name for itself; rename the source")
        if (folder / name).is_dir():
            raise UsageError(f"{source.path}: its output {folder / name} is a folder; choose another folder")
        if (folder / name).resolve() in read:
            raise UsageError(
                f"{source.path}: the output would overwrite the source {folder / name}; choose another folder"
            )
        if source.base is not None and source.path not in given:
            refuse_inside(folder, [source.base])
    return names


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


def _refuse_older_pages(store: Store) -> None:
    """Raise `StoreSourcesError` if pages stand in several parts of a wiki: each part would be written with its own."""
    for checkpoint in store.ledger.sources():
        if count := checkpoint.skips.counts.get(OLDER):
            raise StoreSourcesError(
                f"{checkpoint.path}: {count:,} of its pages stand in another part of the wiki, too, and would be "
                "written twice; remove them from one of the parts, and start again with --fresh; or use run: it takes "
                "each page once"
            )


def _write_drops(verdicts: Verdicts, names: Mapping[int, str], path: Path) -> None:
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(compact_json(row) + "\n" for row in verdicts.drops(names))


def _by_source(store: Store, verdicts: Verdicts, names: Mapping[int, str]) -> list[dict[str, Any]]:
    """Return how many texts of each source were compared, kept and dropped."""
    compared = {row["id"]: row["sentences"] for rows in store.corpus.groups("sources") for row in rows.to_pylist()}
    reasons: dict[str, dict[str, int]] = {name: dict.fromkeys(REASONS, 0) for name in dict.fromkeys(names.values())}
    for (source, reason), count in verdicts.counts_by("source, reason").items():
        reasons[names[source]][reason] += count
    return [
        {
            "name": name,
            "compared": compared.get(name, 0),
            "kept": compared.get(name, 0) - sum(dropped.values()),
            "dropped": dropped,
        }
        for name, dropped in reasons.items()
    ]
