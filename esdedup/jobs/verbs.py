"""The verbs that change a store: the implementation of the commands, for Python.

The options are those of the command line, with underscores: `run("dump.xml.bz2", out="found", jaccard=0.9, workers=4)`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from esdedup.engines import ENGINES
from esdedup.errors import UsageError
from esdedup.jobs.accounting import RENAMED, accounted, damages, skipped_by_reason
from esdedup.jobs.indexing import source_checkpoints
from esdedup.jobs.lakes import ReadingJob, load_lake, opened_for, refuse_lake
from esdedup.jobs.memory import MemoryWatch
from esdedup.jobs.preconditions import Address, check_count, check_generations, check_table, require_committed
from esdedup.jobs.scanning import scan_store
from esdedup.jobs.searching import make_lookup
from esdedup.jobs.settings import Settings, settings_of
from esdedup.jobs.steps import (
    bring_up_to_date,
    check_adding,
    find_sources,
    job_name,
    next_scanning,
    open_for,
    publish,
    read_into,
    refuse_inside,
    refuse_other_sources,
    scan_if_needed,
)
from esdedup.jobs.summary import export, write_results
from esdedup.output.out_folder import STORE, out_folder
from esdedup.store.lake.lake_address import LakeAddress
from esdedup.store.ledger import STANDARD_INPUT, SourceCheckpoint, adopt_names
from esdedup.store.registry import kind_of
from esdedup.store.store import Store

log = logging.getLogger("esdedup")

_SAMPLE = 200  # sentences that match, of which it is known how many are copies

SHOWN = 20
"""The default number of rows in an answer."""


def run(
    *sources: Address,
    out: Address,
    store: Address | None,
    table: str,
    report: bool,
    fresh: bool,
    keep_generations: int,
    keep_going: bool,
    lookup: bool,
    quiet: bool,
    **options: Any,
) -> dict[str, Any]:
    """Index `sources`, scan, and write every file of the contract to the folder `out`. Return the summary.

    One of the files is a page about the results, `report.html`, unless `report` is false. With `keep_going`, missing or
    damaged sources are skipped as far as necessary, and are listed in the summary under `damaged`. The default `store`
    is OUT/store.duckdb; an engine that reads the sources itself makes the lake OUT/lake instead. A completed job only
    writes its files again. Other sources for the same store raise `StoreSourcesError`. With `fresh`, a new generation
    replaces the existing one when it is complete; on a server, `keep_generations` of the older ones stay. A `store`
    that is named gets a `lookup`. `options` are those of `Settings.of`.
    """
    settings = settings_of(options)
    check_table(table)
    folder = Path(out)
    check_generations(keep_generations, store or folder / STORE)
    refuse_inside(folder, sources)
    found, missing = find_sources(sources, settings.reading, keep_going)
    settings = settings.for_sources(found)
    checkpoints = source_checkpoints(found, settings.reading)
    clock, seconds = time.perf_counter(), {}
    job = ReadingJob(found, checkpoints, settings, fresh, keep_going, quiet)
    watch = MemoryWatch(settings.resources.engine)
    with out_folder(folder, found, fresh=fresh) as place, watch as memory, opened_for(store, folder, job) as opened:
        adopt_names(checkpoints, opened.ledger.sources(), typed=settings.reading.source_name is not None)
        same = refuse_other_sources(opened, checkpoints) and opened.results.last_scan() is not None
        opened.corpus.lookup = lookup and store is not None
        opened.ledger.begin_job("run")
        read_into(opened, found, checkpoints, settings, keep_going=keep_going, quiet=quiet)
        if not same or any(checkpoint.path == STANDARD_INPUT for checkpoint in checkpoints):
            seconds["index"] = time.perf_counter() - clock
        scanning, write = settings.scanning_of(opened.signing.unit), partial(write_results, opened, place, table)
        seconds |= scan_if_needed(opened, scanning, settings.resources, quiet=quiet, write=write)
        summary = export(opened, place, table, seconds, memory, missing, report=report)
        opened.ledger.end_job()
        behind = opened.corpus.lookup and opened.corpus.lookup_behind()
        publish(opened, fresh=fresh, keep=keep_generations)
    if behind and store is not None:
        make_lookup(store, quiet=quiet)
    return summary


def index(
    *sources: Address,
    store: Address,
    fresh: bool,
    keep_generations: int,
    keep_going: bool,
    lookup: bool,
    quiet: bool,
    **options: Any,
) -> dict[str, Any]:
    """Read, split, sign and store `sources`. Return the counts of what the store then contains.

    A document that is already in the store is skipped; one whose text has changed replaces the old one. With `part`
    ("2/3"), this is one of several machines that read the same sources together into a store on a server. Nothing is
    committed before all parts are complete. Then the store gets a `lookup`.
    """
    settings = settings_of(options, parts=True)
    settings.say_reads_here("index")
    check_generations(keep_generations, store)
    refuse_lake(store)
    if len(sources) == 1 and LakeAddress.fits(sources[0]):
        done = _index_lake(
            Path(sources[0]), store, settings, fresh=fresh, keep=keep_generations, lookup=lookup, quiet=quiet
        )
        if lookup:
            make_lookup(store, quiet=quiet)
        return done
    found, missing = find_sources(sources, settings.reading, keep_going)
    settings = settings.for_sources(found)
    checkpoints = source_checkpoints(found, settings.reading)
    with open_for(store, settings, fresh=job_name(checkpoints, settings) if fresh else None) as opened:
        adopt_names(checkpoints, opened.ledger.sources(), typed=settings.reading.source_name is not None)
        opened.corpus.lookup = lookup
        merged = read_into(opened, found, checkpoints, settings, keep_going=keep_going, quiet=quiet)
        done = _indexed(opened, merged, missing + damages(checkpoints))
        whole = opened.ledger.unfinished_reading() is None  # other parts may still be missing
        behind = whole and lookup and opened.corpus.lookup_behind()
        if whole:
            publish(opened, fresh=fresh, keep=keep_generations)
    if behind:
        make_lookup(store, quiet=quiet)
    return done


def scan(
    *,
    store: Address,
    out: Address | None,
    table: str,
    report: bool,
    quiet: bool,
    **options: Any,
) -> dict[str, Any]:
    """Find pairs and clusters among everything in `store`. Write the files to `out` if given, as `run` does. Return the
    summary.
    """
    settings = settings_of(options)
    check_table(table)
    if out is None and not kind_of(store).keeps_scans:
        raise UsageError(f"{store}: keeps only the results of its first scan; give --out DIR for those of this one")
    ENGINES[settings.resources.engine].check_place(settings.resources.engine)
    with (
        nullcontext() if out is None else out_folder(Path(out)) as place,
        MemoryWatch(settings.resources.engine) as memory,
        open_for(store, settings, must_exist=True) as opened,
    ):
        require_committed(opened)
        opened.ledger.begin_job("scan")
        scanning = settings.scanning_of(opened.signing.unit)
        write = None if place is None else partial(write_results, opened, place, table)
        seconds = scan_store(opened, scanning, settings.resources, quiet=quiet, write=write)
        summary = export(opened, place, table, seconds, memory, [], report=report)
        opened.ledger.end_job()
        return summary


def add(
    *sources: Address,
    store: Address,
    out: Address | None,
    table: str,
    report: bool,
    keep_going: bool,
    matches: int,
    complete: bool,
    lookup: bool,
    quiet: bool,
    **options: Any,
) -> dict[str, Any]:
    """Index new or changed documents and update pairs and clusters without a full scan. Return the summary.

    With `complete`, the sources are whole exports: pages of their wikis that are not in them are removed.

    Scan options are those of the last scan; others, or changes to a large part of the store, cause a full scan. The
    summary has `added` (documents new, unchanged and replaced, and `matched`, how many of their sentences match another
    one) and `matches`, the first `matches` of them.
    """
    settings = settings_of(options)
    check_table(table)
    check_count("matches", matches)
    refuse_lake(store)
    if complete and (settings.reading.limit is not None or keep_going):
        raise UsageError("complete: with limit or keep_going, sources may not be read to their end; omit one")
    found, missing = find_sources(sources, settings.reading, keep_going)
    settings = settings.for_sources(found)
    checkpoints = source_checkpoints(found, settings.reading)
    ENGINES[settings.resources.engine].check_place(settings.resources.engine)
    with (
        nullcontext() if out is None else out_folder(Path(out)) as place,
        MemoryWatch(settings.resources.engine) as memory,
        open_for(store, settings) as opened,
    ):
        check_adding(opened, settings)
        next_scanning(opened, settings)  # report errors in the options before reading any source
        clock = time.perf_counter()
        known = opened.ledger.sources()
        adopt_names(checkpoints, known, typed=settings.reading.source_name is not None)
        if complete and not all(checkpoint.wiki for checkpoint in checkpoints):
            raise UsageError("complete applies to exports of wikis that name their wiki (dbname in siteinfo); omit it")
        opened.corpus.lookup, opened.corpus.complete = lookup, complete
        before = opened.corpus.counts()["sentences_kept"]
        merged = read_into(opened, found, checkpoints, settings, keep_going=keep_going, quiet=quiet)
        opened.ledger.begin_job("add")
        seconds = {"index": time.perf_counter() - clock}
        seconds |= bring_up_to_date(opened, settings, quiet=quiet)
        last = opened.ledger.last_reading()
        matched, shown = opened.results.new_matches(last.first, max(matches, _SAMPLE)) if last is not None else (0, [])
        arrived = opened.corpus.counts()["sentences_kept"] - before
        _warn_of_copies([each for each in checkpoints if each.number >= len(known)], matched, shown, arrived)
        summary = export(
            opened, place, table, seconds, memory, missing + damages(checkpoints), report=report
        )  # fmt: skip
        opened.ledger.end_job()
        behind = lookup and opened.corpus.lookup_behind()
    if behind:
        make_lookup(store, quiet=quiet)
    return {**summary, "added": {**merged, "matched": matched}, "matches": shown[:matches]}


def _warn_of_copies(
    new: Sequence[SourceCheckpoint], matched: int, shown: Sequence[dict[str, Any]], arrived: int
) -> None:
    """Say so if most of what new sources brought stands in the store word for word, under other ids."""
    own = tuple(f"{source.name}/" for source in new if source.qualified and not source.wiki)
    copies = [row for row in shown if row["text"] == row["match_text"] and not row["match"].startswith(own)]
    if own and 2 * len(copies) > len(shown) and 2 * matched * len(copies) > arrived * len(shown):
        log.warning(
            "most of what is new stands in the store word for word under other ids, such as %s and %s; if these are "
            "the same documents, make the store anew with --fresh, and with --ids across if an id column holds for all "
            "sources, or give a changed file the --source-name that it had", copies[0]["id"], copies[0]["match"],
        )  # fmt: skip


def remove(*documents: str, store: Address, quiet: bool, **options: Any) -> dict[str, Any]:
    """Delete documents by their ids, with their sentences, and update pairs and clusters.

    Return the counts of what the store then contains and its `unit`, of documents `removed`, and the `unknown` ids.
    """
    settings = settings_of(options)
    refuse_lake(store)
    with open_for(store, settings, must_exist=True) as opened:
        require_committed(opened)
        next_scanning(opened, settings)  # as in `add`, before anything is deleted
        # documents that the same command deleted before it was killed are not unknown
        begun = opened.ledger.begin_job("remove", documents)
        gone = set(begun) if set(begun) == set(documents) else set()
        removed, unknown = opened.corpus.remove(documents)
        if opened.ledger.last_scanning() is not None:
            bring_up_to_date(opened, settings, quiet=quiet)
        counts = opened.corpus.counts() | (opened.results.last_scan() or {}).get("counts", {})
        opened.ledger.end_job()
        lookup = opened.corpus.has_lookup()
        unit = opened.signing.unit
    if lookup:
        make_lookup(store, quiet=quiet)
    left = [name for name in unknown if name not in gone]
    return {"removed": removed, "unknown": left, "counts": counts, "unit": unit}


def _indexed(store: Store, merged: dict[str, int], damaged: list[str]) -> dict[str, Any]:
    skipped, counts = skipped_by_reason(store.ledger.sources()), store.corpus.counts()
    return {
        "settings": store.signing.described(),
        "counts": counts | merged,
        "records": accounted(store.signing, store.ledger.sources(), counts),
        "renamed": skipped.pop(RENAMED, 0),
        "skipped": skipped,
        "damaged": damaged,
    }


def _index_lake(
    lake: Path, store: Address, settings: Settings, *, fresh: bool, keep: int, lookup: bool, quiet: bool
) -> dict[str, Any]:
    job = str(lake.resolve()) if fresh else None
    with load_lake(lake, store, settings, fresh=job, lookup=lookup, quiet=quiet) as opened:
        merged = {"new": opened.corpus.counts()["documents"], "replaced": 0, "unchanged": 0, "repeated": 0, "gone": 0}
        answer = _indexed(opened, merged, damages(opened.ledger.sources()))
        publish(opened, fresh=fresh, keep=keep)
        return answer
