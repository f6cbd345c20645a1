"""The verbs that change a store."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from esdedup.api.sources import Address, check_options, check_store
from esdedup.api.table_sources import named_sources
from esdedup.errors import UsageError
from esdedup.output.choices import Table

if TYPE_CHECKING:
    from esdedup.api.keywords import FindOptions, IndexOptions, ResourceOptions, RunOptions
    from esdedup.output.contents.job_answers import Added, Indexed, Removed, Summary


def run(
    *sources: Any,
    out: Address,
    store: Address | None = None,
    table: Table = "jsonl",
    report: bool = True,
    fresh: bool = False,
    keep_generations: int = 0,
    keep_going: bool = False,
    columns: str | Sequence[str] | None = None,
    lookup: bool = True,
    quiet: bool = False,
    **options: Unpack[RunOptions],
) -> Summary:
    """Index sources, find near-duplicates, and write the results to a folder.

    The same again finishes a killed job; of a finished one, only the files are written again.

    Args:
        sources: Files, folders or patterns; a list holds paths, never patterns. Or one table in memory: of pandas,
            polars, pyarrow or DuckDB, a Hugging Face Dataset, or a list of dicts.
        out: Folder for the files.
        store: Address of the store. Default: store.duckdb in `out`; on Spark the lake `lake`, which is only read.
        table: File format of pairs and clusters.
        report: Write report.html.
        fresh: Build a new store, and replace the old one when the job is finished.
        keep_generations: With `fresh`, on a server: keep this many older generations.
        keep_going: Skip missing and damaged sources, and continue; they are listed under `damaged`.
        columns: Columns of a table whose texts are compared. Default: `text`, or the only column of strings.
        lookup: Prepare the store for `similar` and `suggest`, if one is named; otherwise the first question does.
        quiet: Show no progress.
        options: Options of reading, signing, scanning and resources, see `esdedup.api.keywords.RunOptions`.

    Returns:
        The summary, which is also summary.json.

    Raises:
        UsageError: An option is unknown, out of range or does not apply.
        SourceError: A source is missing or damaged.
        StoreSourcesError: The store holds other sources.
        NothingCompared: There is no text, or all was left out. The files are written; the summary is its `result`.

    Example:
        >>> esdedup.run("dump.xml.bz2", out="found", jaccard=0.9)  # doctest: +SKIP
    """
    check_options(options)
    from esdedup.formats.remote.remote_path import RemotePath, path_of
    from esdedup.jobs import lakes, searching, source_reading, steps, summary
    from esdedup.jobs.accounting import refuse_nothing
    from esdedup.jobs.memory import MemoryWatch
    from esdedup.jobs.preconditions import check_generations, check_table
    from esdedup.jobs.progress_bar import Job
    from esdedup.jobs.settings import settings_of
    from esdedup.output.contents.job_answers import Summary
    from esdedup.output.out_folder import STORE, out_folder
    from esdedup.store.ledger import STANDARD_INPUT

    check_table(table)
    folder = path_of(out)
    if store is None and isinstance(folder, RemotePath):
        raise UsageError(f"{folder}: a store cannot be there; name one with store (--store PATH.duckdb)")
    check_generations(keep_generations, store or folder / STORE)
    with (
        named_sources(sources, columns, dict(options)) as (names, given),
        Job("run", not quiet, without="" if lookup and store is not None else "lookup"),
    ):
        settings = settings_of(given)
        source_reading.refuse_inside(folder, names)
        job = source_reading.ReadingJob.of(names, settings, fresh=fresh, keep_going=keep_going, quiet=quiet)
        resources = settings.resources
        clock, seconds = time.perf_counter(), {}
        with (
            out_folder(folder, job.sources, fresh=fresh) as place,
            MemoryWatch(resources.engine) as memory,
            lakes.opened_for(store, place.path, job, lookup=lookup and store is not None) as opened,
        ):
            job.adopt_names(opened)
            same = (
                source_reading.refuse_other_sources(opened, job.checkpoints) and opened.results.last_scan() is not None
            )
            opened.ledger.begin_job("run")
            source_reading.read_into(opened, job)
            if not same or any(checkpoint.path == STANDARD_INPUT for checkpoint in job.checkpoints):
                seconds["index"] = time.perf_counter() - clock
            scanning = job.settings.scanning_of(opened.signing.unit)
            write = partial(summary.write_results, opened, place, table)
            seconds |= steps.scan_if_needed(opened, scanning, resources, quiet=quiet, write=write)
            found = Summary.of(summary.export(opened, place, table, seconds, memory, job.missing, report=report))
            opened.ledger.end_job()
            behind = opened.corpus.lookup and opened.corpus.lookup_behind()
            steps.publish(opened, fresh=fresh, keep=keep_generations)
        if behind and store is not None:
            searching.make_lookup(store, resources, quiet=quiet)
    refuse_nothing(found.records, found.settings["unit"], found, empty=True)
    return found


def index(
    *sources: Any,
    store: Address,
    fresh: bool = False,
    keep_generations: int = 0,
    keep_going: bool = False,
    columns: str | Sequence[str] | None = None,
    lookup: bool = True,
    quiet: bool = False,
    **options: Unpack[IndexOptions],
) -> Indexed:
    """Read, split, sign and store sources.

    Documents that are already in the store are skipped; documents whose text has changed are replaced. With `part=2/3`,
    this is one of several machines that load the same sources into a store on a server.

    Args:
        sources: Files, folders or patterns; a list holds paths, never patterns. Or one table in memory: of pandas,
            polars, pyarrow or DuckDB, a Hugging Face Dataset, or a list of dicts.
        store: Address of the store.
        fresh: Build a new store, and replace the old one when the job is finished.
        keep_generations: With `fresh`, on a server: keep this many older generations.
        keep_going: Skip missing and damaged sources, and continue; they are listed under `damaged`.
        columns: Columns of a table whose texts are compared. Default: `text`, or the only column of strings.
        lookup: Prepare the store for `similar` and `suggest`; otherwise the first question does.
        quiet: Show no progress.
        options: Options of reading, signing and resources, see `esdedup.api.keywords.IndexOptions`.

    Returns:
        Counts of what the store then holds.

    Raises:
        UsageError: An option is unknown, out of range or does not apply.
        SourceError: A source is missing or damaged.
        StoreSettingsError: The store's sentences were signed with other settings.

    Example:
        >>> esdedup.index("articles.jsonl.zst", store="news.duckdb")  # doctest: +SKIP
    """
    check_options(options)
    from esdedup.jobs import lakes, searching, source_reading, steps, summary
    from esdedup.jobs.preconditions import check_generations
    from esdedup.jobs.progress_bar import Job
    from esdedup.jobs.settings import settings_of
    from esdedup.output.contents.job_answers import Indexed

    with (
        named_sources(sources, columns, dict(options)) as (names, given),
        Job("index", not quiet, without="" if lookup else "lookup"),
    ):
        settings = settings_of(given, parts=True)
        settings.say_reads_here("index")
        check_generations(keep_generations, store)
        lakes.refuse_lake(store)
        if len(names) == 1 and lakes.is_lake(names[0]):
            behind = lookup
            with lakes.load_lake(names[0], store, settings, fresh=fresh, lookup=lookup, quiet=quiet) as opened:
                done = Indexed.of(summary.loaded(opened))
                steps.publish(opened, fresh=fresh, keep=keep_generations)
        else:
            job = source_reading.ReadingJob.of(names, settings, fresh=fresh, keep_going=keep_going, quiet=quiet)
            with steps.open_for(store, job.settings, fresh=job.name if fresh else None, lookup=lookup) as opened:
                job.adopt_names(opened)
                done = Indexed.of(summary.indexed(opened, source_reading.read_into(opened, job), job.damaged))
                whole = opened.ledger.unfinished_reading() is None  # other parts may still be missing
                behind = whole and lookup and bool(opened.corpus.lookup_behind())
                if whole:
                    steps.publish(opened, fresh=fresh, keep=keep_generations)
        if behind:
            searching.make_lookup(store, settings.resources, quiet=quiet)
        return done


def scan(
    *,
    store: Address,
    out: Address | None = None,
    table: Table = "jsonl",
    report: bool = True,
    quiet: bool = False,
    **options: Unpack[FindOptions],
) -> Summary:
    """Find pairs and clusters among everything in a store.

    Args:
        store: Address of the store.
        out: Folder for the result files. Default: write none.
        table: File format of pairs and clusters.
        report: Write report.html.
        quiet: Show no progress.
        options: Options of scanning and resources, see `esdedup.api.keywords.FindOptions`.

    Returns:
        The summary.

    Raises:
        UsageError: An option is unknown, out of range or does not apply.
        StoreError: There is no store, or a reading is not finished.
        NothingCompared: Every text was left out. The summary is its `result`.

    Example:
        >>> esdedup.scan(store="news.duckdb", jaccard=0.9, out="found")  # doctest: +SKIP
    """
    check_options(options)
    check_store(store)
    from esdedup.engines import ENGINES
    from esdedup.formats.remote.remote_path import path_of
    from esdedup.jobs import scanning, steps, summary
    from esdedup.jobs.accounting import refuse_nothing
    from esdedup.jobs.memory import MemoryWatch
    from esdedup.jobs.preconditions import check_table, require_committed
    from esdedup.jobs.presets import with_preset
    from esdedup.jobs.progress_bar import Job
    from esdedup.jobs.settings import settings_of
    from esdedup.matching.protocol import Scanning
    from esdedup.output.contents.job_answers import Summary
    from esdedup.output.out_folder import out_folder
    from esdedup.resources import Resources
    from esdedup.store.registry import kind_of

    settings = settings_of(with_preset(options, 0, Scanning.all_names() | Resources.names()))
    check_table(table)
    if out is None and not kind_of(store).keeps_scans:
        raise UsageError(f"{store}: keeps only the results of its first scan; give --out DIR for those of this one")
    engine = settings.resources.engine
    ENGINES[engine].check_place(engine)
    with (
        Job("scan", not quiet, without="write" if out is None else ""),
        nullcontext() if out is None else out_folder(path_of(out)) as place,
        MemoryWatch(engine) as memory,
        steps.open_for(store, settings, must_exist=True) as opened,
    ):
        require_committed(opened)
        opened.ledger.begin_job("scan")
        asked = settings.scanning_of(opened.signing.unit)
        write = None if place is None else partial(summary.write_results, opened, place, table)
        seconds = scanning.scan_store(opened, asked, settings.resources, quiet=quiet, write=write)
        found = Summary.of(summary.export(opened, place, table, seconds, memory, [], report=report))
        opened.ledger.end_job()
    refuse_nothing(found.records, found.settings["unit"], found)
    return found


def add(
    *sources: Any,
    store: Address,
    out: Address | None = None,
    table: Table = "jsonl",
    report: bool = True,
    keep_going: bool = False,
    matches: int = 20,
    complete: bool = False,
    columns: str | Sequence[str] | None = None,
    lookup: bool = True,
    quiet: bool = False,
    **options: Unpack[RunOptions],
) -> Added:
    """Index new or changed documents, bring pairs and clusters up to date, and list what matches.

    Only what has changed is scanned, with the options of the last scan. Other options, or changes to a large part of
    the store, mean a full scan.

    Args:
        sources: Files, folders or patterns; a list holds paths, never patterns. Or one table in memory: of pandas,
            polars, pyarrow or DuckDB, a Hugging Face Dataset, or a list of dicts.
        store: Address of the store.
        out: Folder for the result files. Default: write none.
        table: File format of pairs and clusters.
        report: Write report.html.
        keep_going: Skip missing and damaged sources, and continue; they are listed under `damaged`.
        matches: List so many of the new sentences that match another.
        complete: The sources are whole exports: remove the pages of their wikis that are not in them.
        columns: Columns of a table whose texts are compared. Default: `text`, or the only column of strings.
        lookup: Prepare the store for `similar` and `suggest`; otherwise the first question does.
        quiet: Show no progress.
        options: Options of reading, signing, scanning and resources, see `esdedup.api.keywords.RunOptions`.

    Returns:
        The summary, with counts of what was added and the first matches.

    Raises:
        UsageError: An option is unknown, out of range or does not apply.
        SourceError: A source is missing or damaged.
        StoreError: Nothing can be added to results of the last scan's matcher.

    Example:
        >>> esdedup.add("december.xml.bz2", store="found/store.duckdb").matches  # doctest: +SKIP
    """
    check_options(options)
    from esdedup.engines import ENGINES
    from esdedup.formats.remote.remote_path import path_of
    from esdedup.jobs import lakes, searching, source_reading, steps, summary
    from esdedup.jobs.memory import MemoryWatch
    from esdedup.jobs.preconditions import check_count, check_table
    from esdedup.jobs.progress_bar import Job
    from esdedup.jobs.settings import settings_of
    from esdedup.output.contents.job_answers import Added
    from esdedup.output.out_folder import out_folder

    with (
        named_sources(sources, columns, dict(options), needs_ids=True) as (names, given),
        Job("add", not quiet, without="" if lookup else "lookup"),
    ):
        settings = settings_of(given)
        check_table(table)
        check_count("matches", matches)
        lakes.refuse_lake(store)
        if complete and (settings.reading.limit is not None or keep_going):
            raise UsageError("complete: with limit or keep_going, sources may not be read to their end; omit one")
        job = source_reading.ReadingJob.of(names, settings, keep_going=keep_going, quiet=quiet)
        engine = job.settings.resources.engine
        ENGINES[engine].check_place(engine)
        with (
            nullcontext() if out is None else out_folder(path_of(out)) as place,
            MemoryWatch(engine) as memory,
            steps.open_for(store, job.settings, lookup=lookup) as opened,
        ):
            steps.check_adding(opened, job.settings)
            steps.next_scanning(opened, job.settings)  # report errors in the options before reading any source
            clock = time.perf_counter()
            known = len(opened.ledger.sources())
            job.adopt_names(opened)
            if complete and not all(checkpoint.wiki for checkpoint in job.checkpoints):
                raise UsageError(
                    "complete applies to exports of wikis that name their wiki (dbname in siteinfo); omit it"
                )
            opened.corpus.complete = complete
            before = opened.corpus.counts()["sentences_kept"]
            merged = source_reading.read_into(opened, job)
            opened.ledger.begin_job("add")
            seconds = {"index": time.perf_counter() - clock}
            seconds |= steps.bring_up_to_date(opened, job.settings, quiet=quiet)
            new = [each for each in job.checkpoints if each.number >= known]
            matched, shown = steps.new_matches(opened, new, matches, opened.corpus.counts()["sentences_kept"] - before)
            found = summary.export(opened, place, table, seconds, memory, job.damaged, report=report)
            opened.ledger.end_job()
            behind = lookup and opened.corpus.lookup_behind()
        if behind:
            searching.make_lookup(store, settings.resources, quiet=quiet)
        return Added.of({**found, "added": {**merged, "matched": matched}, "matches": shown})


def remove(*documents: str, store: Address, quiet: bool = False, **options: Unpack[ResourceOptions]) -> Removed:
    """Delete documents with their sentences, and bring pairs and clusters up to date.

    Args:
        documents: Ids of documents, as results show them.
        store: Address of the store.
        quiet: Show no progress.
        options: Options of resources.

    Returns:
        How many documents were removed, the ids that are unknown, and counts of what the store then holds.

    Raises:
        StoreError: There is no store, or a reading is not finished.

    Example:
        >>> esdedup.remove("1204", "8817", store="news.duckdb").removed  # doctest: +SKIP
    """
    from esdedup.jobs.settings import settings_of

    settings = settings_of(dict(options))
    check_store(store)
    from esdedup.jobs import lakes, searching, steps
    from esdedup.jobs.preconditions import require_committed
    from esdedup.output.contents.job_answers import Removed

    lakes.refuse_lake(store)
    with steps.open_for(store, settings, must_exist=True) as opened:
        require_committed(opened)
        opened.corpus.require_current()
        steps.next_scanning(opened, settings)  # as in `add`, before anything is deleted
        # documents that the same command deleted before it was killed are not unknown
        begun = opened.ledger.begin_job("remove", documents)
        gone = set(begun) if set(begun) == set(documents) else set()
        removed, unknown = opened.corpus.remove(documents)
        if opened.ledger.last_scanning() is not None:
            steps.bring_up_to_date(opened, settings, quiet=quiet)
        counts = opened.corpus.counts() | (opened.results.last_scan() or {}).get("counts", {})
        opened.ledger.end_job()
        lookup = opened.corpus.has_lookup()
        unit = opened.signing.unit
    if lookup:
        searching.make_lookup(store, settings.resources, quiet=quiet)
    return Removed(removed=removed, unknown=[name for name in unknown if name not in gone], counts=counts, unit=unit)
