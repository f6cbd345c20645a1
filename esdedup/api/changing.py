"""The verbs that change a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from esdedup.api.checked import check_options, check_store
from esdedup.api.sources import Address
from esdedup.api.table_sources import named_sources

if TYPE_CHECKING:
    from esdedup.api.keywords import FindOptions, IndexOptions, ResourceOptions, RunOptions
    from esdedup.api.results import Added, Examined, Indexed, Removed, Status, Summary
    from esdedup.output.choices import Table


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
    """Index sources, find near-duplicates, and write every result file to a folder.

    Repeat the call to finish a killed job. A completed job only writes its files again.

    Args:
        sources: Files, folders or patterns; a list holds paths, never patterns. Or one table in memory: of pandas,
            polars, pyarrow or DuckDB, a Hugging Face Dataset, or a list of dicts.
        out: Folder for the files.
        store: Address of the store. Default: store.duckdb in `out`; on Spark the lake `lake`, which is only read.
        table: Format of pairs and clusters.
        report: Write report.html.
        fresh: Replace the store by a new one when the job is finished.
        keep_generations: With `fresh`, on a server: keep this many older generations.
        keep_going: Continue after a missing or damaged source; it is listed under `damaged`.
        columns: Columns of a table whose texts are compared. Default: `text`, or the only column of strings.
        lookup: Prepare the store for `similar` and `suggest`, if one is named. Otherwise the first question does.
        quiet: Show no progress.
        options: Options of reading, signing, scanning and resources, see `esdedup.api.keywords.RunOptions`.

    Returns:
        The summary, which is also summary.json.

    Raises:
        UsageError: An option is unknown, out of range or does not apply.
        SourceError: A source is missing or damaged.
        StoreSourcesError: The store holds other sources.
        NothingCompared: Every text was left out. The files are written; the summary is its `result`.

    Example:
        >>> esdedup.run("dump.xml.bz2", out="found", jaccard=0.9)  # doctest: +SKIP
    """
    check_options(options)
    from esdedup.api.results import Summary
    from esdedup.jobs import verbs
    from esdedup.jobs.accounting import refuse_nothing

    with named_sources(sources, columns, dict(options)) as (names, reading):
        summary = Summary.of(
            verbs.run(
                *names, out=out, store=store, table=table, report=report, fresh=fresh,
                keep_generations=keep_generations, keep_going=keep_going, lookup=lookup, quiet=quiet, **reading,
            )
        )  # fmt: skip
    refuse_nothing(summary.records, summary.settings["unit"], summary)
    return summary


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

    A document that the store has already is skipped; one whose text has changed is replaced. With `part` ("2/3")
    this is one of several machines that load the same sources into a store on a server.

    Args:
        sources: Files, folders or patterns; a list holds paths, never patterns. Or one table in memory: of pandas,
            polars, pyarrow or DuckDB, a Hugging Face Dataset, or a list of dicts.
        store: Address of the store.
        fresh: Replace the store by a new one when the job is finished.
        keep_generations: With `fresh`, on a server: keep this many older generations.
        keep_going: Continue after a missing or damaged source.
        columns: Columns of a table whose texts are compared. Default: `text`, or the only column of strings.
        lookup: Prepare the store for `similar` and `suggest`. Otherwise the first question does.
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
    from esdedup.api.results import Indexed
    from esdedup.jobs import verbs

    with named_sources(sources, columns, dict(options)) as (names, reading):
        return Indexed.of(
            verbs.index(
                *names, store=store, fresh=fresh, keep_generations=keep_generations, keep_going=keep_going,
                lookup=lookup, quiet=quiet, **reading,
            )
        )  # fmt: skip


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
        table: Format of pairs and clusters.
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
    from esdedup.api.results import Summary
    from esdedup.jobs import verbs
    from esdedup.jobs.accounting import refuse_nothing

    summary = Summary.of(verbs.scan(store=store, out=out, table=table, report=report, quiet=quiet, **options))
    refuse_nothing(summary.records, summary.settings["unit"], summary)
    return summary


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
    """Index new or changed documents and bring pairs and clusters up to date, without a full scan.

    Options of scanning are those of the last scan. Others, or changes to a large part of the store, mean a full scan.

    Args:
        sources: Files, folders or patterns; a list holds paths, never patterns. Or one table in memory: of pandas,
            polars, pyarrow or DuckDB, a Hugging Face Dataset, or a list of dicts.
        store: Address of the store.
        out: Folder for the result files. Default: write none.
        table: Format of pairs and clusters.
        report: Write report.html.
        keep_going: Continue after a missing or damaged source.
        matches: Return this many of the new sentences that match another.
        complete: The sources are whole exports: remove the pages of their wikis that are not in them.
        columns: Columns of a table whose texts are compared. Default: `text`, or the only column of strings.
        lookup: Prepare the store for `similar` and `suggest`. Otherwise the first question does.
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
    from esdedup.api.results import Added
    from esdedup.jobs import verbs

    with named_sources(sources, columns, dict(options), needs_ids=True) as (names, reading):
        return Added.of(
            verbs.add(
                *names, store=store, out=out, table=table, report=report, keep_going=keep_going, matches=matches,
                complete=complete, lookup=lookup, quiet=quiet, **reading,
            )
        )  # fmt: skip


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
    check_options(options)
    check_store(store)
    from esdedup.api.results import Removed
    from esdedup.jobs import verbs

    return Removed.of(verbs.remove(*documents, store=store, quiet=quiet, **options))


def status(*, store: Address) -> Status:
    """Tell what a store holds.

    Args:
        store: Address of the store.

    Returns:
        Counts, settings, sources, the last scan, unfinished work and disk use.

    Raises:
        StoreError: There is no store.

    Example:
        >>> esdedup.status(store="news.duckdb").counts  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.api.results import Status
    from esdedup.jobs import holding

    return Status.of(holding.status(store=store))


def doctor(*, store: Address, repair: bool = False, quiet: bool = True, **options: Unpack[ResourceOptions]) -> Examined:
    """Check everything that a store promises.

    Args:
        store: Address of the store.
        repair: Mend what can be: sign again, make lost indices and results again, delete what was left over.
        quiet: No progress bars.
        **options: Options of resources.

    Returns:
        The checks, each with what is wrong and what mends it.

    Raises:
        StoreError: A server cannot be reached.

    Example:
        >>> esdedup.doctor(store="news.duckdb").problems  # doctest: +SKIP
    """
    check_options(options)
    from esdedup.api.results import Examined
    from esdedup.jobs import doctor as jobs

    return Examined.of(jobs.doctor(store=store, repair=repair, quiet=quiet, **options))


def drop(*, store: Address) -> None:
    """Delete what esdedup made in a store, and nothing else. On a server also what it cannot open.

    Args:
        store: Address of the store.

    Raises:
        StoreError: There is nothing that esdedup made.

    Example:
        >>> esdedup.drop(store="news.duckdb")  # doctest: +SKIP
    """
    from esdedup.jobs import holding

    holding.drop(store=store)
