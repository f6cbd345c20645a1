"""Collections are written again without their duplicates."""

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

from esdedup.errors import StoreSourcesError, UsageError
from esdedup.files import compact_json, whole_file
from esdedup.formats.locations import Source
from esdedup.formats.remote.remote_path import path_of
from esdedup.formats.rewrite import check_rewritable, output_names
from esdedup.jobs.accounting import accounted
from esdedup.jobs.against import find_in_references, forget_references, opened_references
from esdedup.jobs.certifying import Certified
from esdedup.jobs.containing import Containment, find_containing_references
from esdedup.jobs.contradicting import contradicted
from esdedup.jobs.keep_values import read_values
from esdedup.jobs.lakes import opened_for
from esdedup.jobs.losses import worst_losses
from esdedup.jobs.merging import check_columns, merge_records
from esdedup.jobs.preconditions import Address, DropRules
from esdedup.jobs.progress_bar import Job
from esdedup.jobs.rewriting import Rewriting, Writing
from esdedup.jobs.settings import Settings, settings_of, stars_around_what_is_kept
from esdedup.jobs.source_reading import ReadingJob, read_into, refuse_inside, refuse_other_sources
from esdedup.jobs.steps import publish, scan_if_needed
from esdedup.output.drops import REASONS, Verdicts, decided
from esdedup.output.out_folder import DROPS, STORE, out_folder
from esdedup.output.remote_folder import MANIFEST
from esdedup.store.lake.lake_address import LAKE
from esdedup.store.preference import Preference
from esdedup.store.rereading import OLDER
from esdedup.store.store import Store
from esdedup.text.splitting import Splitting

_WORST = 20


def dedupe_files(
    sources: Sequence[Address], out: Path | None, store: Address | None, rules: DropRules, job: ReadingJob
) -> dict[str, Any]:
    """Write each source without its duplicates to the folder `out`. Without it, write nothing, and return the clusters
    by which most would be lost, too.

    What stands in a reference collection, or inside a longer text, gets a cluster of its own before stars are formed.
    The same command finishes a killed job, and writes no file twice.
    """
    with ExitStack() as stack:
        stack.enter_context(Job("dedupe", not job.quiet))
        if out is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="esdedup-dry-run-")))
            store = None
        else:
            folder = out
            refuse_inside(folder, sources)
        found, against = job.sources, rules.against
        _check_sources(found, annotate=rules.annotate)
        _check_references(against, found, store)
        merging = rules.merging
        if merging is not None:
            check_columns(found, merging, job.settings.resources.processes)
        values = read_values(rules.policies, found, job.settings.resources.processes)
        names = _output_names(found, folder, sources, against)
        if rules.certificate is not None:
            taken = [folder, *(folder / name for name in (*names, DROPS, STORE, MANIFEST))]
            taken += [source.path for source in found if source.path is not None]
            taken += [path_of(address) for address in (*against, store) if address is not None]
            _check_certificate(rules, taken, folder)
        place = stack.enter_context(out_folder(folder, found, fresh=job.fresh))
        here = place.path
        place.refuse_others(names)
        if place.folds_case:
            names = _output_names(found, folder, sources, against, folds_case=True)
        seconds: dict[str, float] = {}
        quiet, column = job.quiet, rules.against_text_column
        references, settings = stack.enter_context(
            opened_references(against, job.settings, here, column, keep_going=job.keep_going, quiet=quiet)
        )
        job = replace(job, settings=settings)
        opened = stack.enter_context(opened_for(store, here, job))
        job.adopt_names(opened)
        refuse_other_sources(opened, job.checkpoints, instead="use another --out")
        opened.ledger.begin_job("dedupe")
        _refuse_history(opened)
        if merging is not None and not opened.signing.splitting.whole:
            raise UsageError(f"merge makes one record of several, and unit is {opened.signing.unit}; use unit record")
        _check_parts(found, opened.signing.splitting)
        scanning = settings.scanning_of(opened.signing.unit)
        clock = time.perf_counter()
        read_into(opened, job, twice=True)
        seconds["index"] = time.perf_counter() - clock
        _refuse_older_pages(opened)
        numbers = [checkpoint.number for checkpoint in job.checkpoints]
        by_source = {words: dict(zip(numbers, keys, strict=True)) for words, keys in values.items()}
        preference = Preference(opened, rules.policies, by_source)
        once = None
        set_apart: list[pa.Table] = []
        apart: dict[str, Any] = {}
        if references:
            clock = time.perf_counter()
            set_apart.append(find_in_references(opened, references, settings, quiet=quiet))
            if rules.containing is not None:
                known = set_apart[0]["hash"].to_numpy()
                held = find_containing_references(opened, references, rules.containing, settings.resources, known)
                set_apart.append(held)
            apart["referenced"] = np.unique(np.concatenate([each["hash"].to_numpy() for each in set_apart]))
            seconds["references"] = time.perf_counter() - clock
        if references or rules.contained is not None:
            # what stands apart is not saved, and worked out anew each time
            once = uuid.uuid4().hex
        if rules.contained is not None:
            known = apart.get("referenced", np.empty(0, np.uint64))
            apart["contained"] = Containment(opened, references, rules.contained, preference, settings.resources, known)
        seconds |= scan_if_needed(
            opened, scanning, settings.resources, quiet=quiet, key=once, preference=preference, **apart
        )
        if rules.contained is not None:
            set_apart.append(apart["contained"].found)
        clock = time.perf_counter()
        read = {(checkpoint.name, checkpoint.path): checkpoint for checkpoint in opened.ledger.sources()}
        states = [each.ledger.state() for each in (opened, *(reference.store for reference in references))]
        key = json.dumps([states, asdict(scanning), rules.described()])
        source_names = {checkpoint.number: checkpoint.name for checkpoint in read.values()}
        rows_apart = pa.concat_tables(set_apart) if set_apart else None
        with decided(opened, preference, scanning, rules.kinds, rows_apart, only_apart=rules.against_only) as verdicts:
            writings = [
                Writing(source, name, read[mark.name, mark.path])
                for mark, source, name in zip(job.checkpoints, found, names, strict=True)
            ]
            passed_over = (opened.results.last_scan() or {}).get("passed_over", {})
            told: dict[str, int] = {name: count for name, count in passed_over.items() if name == "other_of_source"}
            if rules.keep_contradictions:
                told["contradictions"] = verdicts.keep(contradicted(opened, verdicts.near()))
            if merging is not None:
                told["merged"] = merge_records(verdicts, writings, merging, settings.resources.processes)
            written = Rewriting(place, opened.signing, rules.annotate, job.keep_going).all(
                [] if out is None else writings, verdicts, key, settings.resources, quiet=quiet
            )
            if out is not None:
                place.claim(DROPS)
                _write_drops(verdicts, source_names, here / DROPS)
            no_value = verdicts.no_value()
            shown = {"losses": list(worst_losses(opened, verdicts, _WORST))} if out is None else {}
            of_sources = _by_source(opened, verdicts, source_names)
            counts = opened.corpus.counts()
            records = _records(accounted(opened.signing, opened.ledger.sources(), counts), of_sources)
            if rules.certificate is not None:
                described = {"signing": opened.signing.saved(), "scanning": scanning.described()}
                Certified(
                    rules.certificate, place, writings, written["files"], described | {"rules": rules.described()},
                    records, of_sources, source_names, settings.resources, rules.report,
                ).write(opened, verdicts)  # fmt: skip
        opened.ledger.end_job()
        publish(opened, fresh=job.fresh)
        unit = opened.signing.unit
    forget_references(here)
    seconds["write"] = time.perf_counter() - clock
    return {
        "unit": unit,
        "records": records,
        "sources": of_sources,
        "no_value": no_value,
        **written,
        "counts": counts,
        **told,
        "damaged": job.damaged,
        "seconds": {stage: round(value, 3) for stage, value in seconds.items()},
        **shown,
    }


def _records(accounts: Mapping[str, Any], sources: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how many texts came in, and what became of them."""
    dropped = {reason: sum(source["dropped"][reason] for source in sources) for reason in REASONS}
    kept = accounts["in"] - sum(dropped.values())
    return {"in": accounts["in"], "kept": kept, "dropped": dropped, "not_compared": accounts["not_compared"]}


def settings_for(rules: DropRules, options: dict[str, Any]) -> Settings:
    """Return the settings of a job. Clusters are stars around what is kept."""
    if options.get("limit") is not None:
        raise UsageError("limit: dedupe writes whole sources; omit --limit")
    settings = settings_of(options)
    if rules.merge is not None and settings.scanning.across != "any":
        raise UsageError("merge and across exclude each other; omit one")
    if rules.contained is not None and settings.scanning.of_sources:
        raise UsageError("contained excludes across and one-per-source; omit one")
    settings = stars_around_what_is_kept(settings)
    return replace(
        settings, scanning=settings.scanning.replaced({"keep": rules.policies.words, "kinds": rules.kinds is not None})
    )


def _check_sources(found: Sequence[Source], *, annotate: bool) -> None:
    """Raise `UsageError` for a source that cannot be rewritten."""
    for source in found:
        if source.path is None or source.path.is_fifo():
            raise UsageError(
                "dedupe must read sources twice, which standard input and pipes do not allow; save it to a file first"
            )
        check_rewritable(source, annotate=annotate)


def _check_parts(found: Sequence[Source], splitting: Splitting) -> None:
    """Raise `UsageError` for a source that can only be written without whole records, if other units are compared."""
    for source in found:
        if not splitting.whole and not source.format.drops_sentences:
            raise UsageError(
                f"{source.path}: only whole records of it can be dropped, and the unit is {splitting.unit}; use --unit "
                "record, or extract its texts first"
            )


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
    given = set(map(path_of, named))
    names = output_names(found, folds_case=folds_case)
    read = {source.path.resolve() for source in found if source.path is not None}
    read |= {path_of(reference).resolve() for reference in against}
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


def _check_certificate(rules: DropRules, taken: Sequence[Path], folder: Path) -> None:
    """Raise `UsageError` if the certificate or its page cannot be written, or would overwrite what is `taken`."""
    assert rules.certificate is not None
    path, files = rules.certificate, {each.resolve() for each in taken}
    if not path.parent.is_dir() and path.parent != folder:
        raise UsageError(f"certificate: {path.parent} is no folder; make it first")
    if rules.report and path.suffix == ".html":
        raise UsageError("certificate: the page gets its name with .html; give it another ending, such as .json")
    for written in (path, path.with_suffix(".html")) if rules.report else (path,):
        if written.is_dir():
            raise UsageError(f"certificate: {written} is a folder; name a file")
        if written.resolve() in files:
            raise UsageError(f"certificate: the job itself reads or writes {written}; choose another name")


def _check_references(against: Sequence[Address], found: Sequence[Source], store: Address | None) -> None:
    """Raise `UsageError` if a reference is also what is compared with it."""
    ours = {source.path.resolve() for source in found if source.path is not None}
    for reference in against:
        if reference == store:
            raise UsageError(f"{reference} is --store and also --against; a reference is another collection")
        if path_of(reference).resolve() in ours:
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
