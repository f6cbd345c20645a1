"""The verbs that deduplicate: files, and texts in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from esdedup.api.sources import Address, check_options, held, source_names, table_in
from esdedup.errors import UsageError
from esdedup.keeping.protocol import split_policies

if TYPE_CHECKING:
    from esdedup.api.deduplicated import Deduplicated
    from esdedup.api.keywords import DedupeOptions, RunOptions, TableOptions
    from esdedup.jobs.table_dedupe import TextClusters
    from esdedup.output.contents.dedupe_answers import Written

T = TypeVar("T")


@overload
def dedupe(  # type: ignore[overload-overlap]  # a path is no table
    *sources: str | Path | list[Path] | tuple[Path, ...],
    out: Address | None = None,
    store: Address | None = None,
    keep: str | Sequence[str] = "first",
    kinds: Sequence[str] | None = None,
    annotate: bool = False,
    against: Address | Sequence[Address] = (),
    against_only: bool = False,
    against_text_column: str | None = None,
    contained: float | None = None,
    containing: float | None = None,
    certificate: Address | None = None,
    merge: str | Mapping[str, str] | None = None,
    keep_contradictions: bool = False,
    report: bool = False,
    dry_run: bool = False,
    fresh: bool = False,
    keep_going: bool = False,
    quiet: bool = False,
    **options: Unpack[DedupeOptions],
) -> Written: ...
@overload
def dedupe(
    data: T,
    /,
    *,
    columns: str | Sequence[str] | None = None,
    id_column: str | None = None,
    keep: str | Sequence[str] = "first",
    against: Any = (),
    against_only: bool = False,
    against_text_column: str | None = None,
    contained: float | None = None,
    containing: float | None = None,
    merge: str | Mapping[str, str] | None = None,
    keep_contradictions: bool = False,
    quiet: bool = False,
    **options: Unpack[TableOptions],
) -> Deduplicated[T]: ...
def dedupe(
    *sources: Any,
    out: Address | None = None,
    store: Address | None = None,
    columns: str | Sequence[str] | None = None,
    id_column: str | None = None,
    keep: str | Sequence[str] = "first",
    kinds: Sequence[str] | None = None,
    annotate: bool = False,
    against: Any = (),
    against_only: bool = False,
    against_text_column: str | None = None,
    contained: float | None = None,
    containing: float | None = None,
    certificate: Address | None = None,
    merge: str | Mapping[str, str] | None = None,
    keep_contradictions: bool = False,
    report: bool = False,
    dry_run: bool = False,
    fresh: bool = False,
    keep_going: bool = False,
    quiet: bool = False,
    **options: Any,
) -> Written | Deduplicated[Any]:
    """Write files again without their duplicates, with the same name, format and compression; or thin out a table in
    memory.

    Rows, JSON records and text files are compared as wholes. Of wiki dumps, or with `unit=sentence`, sentences are
    removed from their texts, and a document of which nothing is left is dropped. Wiki dumps become JSON Lines of
    cleaned documents. drops.jsonl lists everything that was dropped, and why. With `across=sources`, duplicates within
    one source are kept. The same again finishes a killed job.

    Args:
        sources: One table; or files, folders and patterns. A list of `Path` holds files, never patterns.
        out: Folder for the files. Not needed with `dry_run`, nor for a table.
        store: Address of the store; its results become stars. Default: store.duckdb in `out`, on Spark `lake`.
        columns: Columns of a table whose texts are compared. Default: `text`, or the only column of strings.
        id_column: Column of ids. Default: `id`, or the row number from 0.
        keep: Policies by which one text of a cluster stays, such as `best:score,newest:date`; the next one decides a
            draw, the reading order the last. See docs/dedupe.md.
        kinds: Only drop from clusters of these kinds. Default: all.
        annotate: Keep everything, and mark each record with what would happen to it.
        against: Reference collections, which are only read; what stands in one of them is dropped. For files: sources,
            or stores. For a table also: another table with the same columns.
        against_only: Drop only what stands in a reference, and leave other duplicates alone.
        against_text_column: Column of texts of the references. Default: as of the sources.
        contained: Also drop what stands with at least this share of its shingles inside a longer text.
        containing: Also drop what has at least this share of the shingles of a text in a reference, such as a page with
            a question of a test set.
        certificate: File to write a certificate to: what was there, what was written, what became of each removed text,
            and what it had that the kept one has not. `verify` checks it.
        merge: Rules by which columns of what stays get values of all copies, such as
            `price=newest:updated,tags=join,text=consensus`. See docs/dedupe.md.
        keep_contradictions: Do not drop what probably states another fact than the kept text: another number, date or
            name, or the opposite, as `drift` tells it. How many stay is counted.
        report: Also write the certificate as a page, with the worst removals: the same name with .html.
        dry_run: Write nothing; count, and show the clusters by which most would be lost.
        fresh: Build a new store, and replace the old one when the job is finished.
        keep_going: Skip missing and damaged sources, and continue; they are listed under `damaged`.
        quiet: Show no progress.
        options: Options of reading, signing, scanning and resources, see `esdedup.api.keywords.DedupeOptions`.

    Returns:
        Of files: counts of what was written and dropped, and the files. Of a table: its rows that stay, in the form
        that came in, and what was dropped. A table is one of pandas, polars or pyarrow, a DuckDB relation, a Hugging
        Face Dataset, a list of strings or of dicts, or an iterator of these, which becomes a list. A list of `Path` is
        files.

    Raises:
        UsageError: An option is unknown, out of range or does not apply.
        SourceError: A source is missing or damaged.
        NothingCompared: Every record was left out. The files are written; the counts are its `result`.

    Example:
        >>> esdedup.dedupe(["One text here.", "One text here!", "Another."]).kept
        ['One text here.', 'Another.']
        >>> esdedup.dedupe("corpus.jsonl.zst", out="clean").records  # doctest: +SKIP
    """
    split_policies(keep)  # what is wrong with it is said before anything is loaded
    from esdedup.jobs.presets import with_preset, with_preset_of_table

    against = () if against is None else against
    sources = tuple(map(held, sources))
    if len(sources) == 1 and (data := table_in(sources[0])) is not None:
        unfit = {"out": out, "store": store, "kinds": kinds, "annotate": annotate or None, "dry_run": dry_run or None}
        unfit |= {"certificate": certificate, "report": report or None}
        for name, value in unfit.items():
            if value is not None:
                raise UsageError(f"{name} does not apply to a table in memory: the result has its rows; omit {name}")
        options, columns = with_preset_of_table(options, columns)
        old = None if isinstance(against, tuple) and not against else table_in(against)
        files = [] if old is not None else list(source_names([against]))
        from esdedup.api.deduplicated import Deduplicated
        from esdedup.jobs.accounting import refuse_nothing
        from esdedup.jobs.preconditions import DropRules
        from esdedup.jobs.table_drops import compare_table

        rules = DropRules(
            keep, None, False, files, against_only, against_text_column, contained, containing,
            merge=merge, keep_contradictions=keep_contradictions,
        )  # fmt: skip
        compared = compare_table(data, old, rules, options, columns=columns, id_column=id_column, quiet=quiet)
        found = Deduplicated[Any](compared)
        refuse_nothing(found.records, "record", found)
        return found
    if columns is not None:
        raise UsageError("columns applies to a table in memory; for files use text_column='name,city'")
    if out is None and not dry_run:
        raise UsageError("out: give a folder for the files, or dry_run")
    options = with_preset(options, len(sources))
    if id_column is not None:
        options["id_column"] = id_column
    check_options(options)
    from esdedup.formats.remote.remote_path import path_of
    from esdedup.jobs.accounting import refuse_nothing
    from esdedup.jobs.dedupe import dedupe_files, settings_for
    from esdedup.jobs.preconditions import DropRules
    from esdedup.jobs.source_reading import ReadingJob
    from esdedup.output.contents.dedupe_answers import Written

    references = [against] if isinstance(against, str | Path) else list(against)
    proof = None if certificate is None else Path(certificate)
    rules = DropRules(
        keep, kinds, annotate, references, against_only, against_text_column, contained, containing, proof, merge,
        keep_contradictions, report,
    )  # fmt: skip
    rules.check(references=bool(references))
    names, settings = list(source_names(sources)), settings_for(rules, options)
    job = ReadingJob.of(names, settings, fresh=fresh, keep_going=keep_going, quiet=quiet, rewritten=True)
    folder = None if dry_run or out is None else path_of(out)
    written = Written.of(dedupe_files(names, folder, store, rules, job))
    refuse_nothing(written.records, written.unit, written, empty=True)
    return written


def cluster_texts(texts: Any, **options: Unpack[RunOptions]) -> TextClusters:
    """Cluster texts in memory as they are: nothing is split, trimmed or left out.

    Empty texts match nothing. Memory: about 2 kB for each text of 200 characters that collides, 200 bytes for others.

    Args:
        texts: A list or iterator of strings, or a table: its column `text`, or its only column of strings.
        options: Options of signing, scanning and resources, see `esdedup.api.keywords.RunOptions`.

    Returns:
        Labels of clusters, and the verified pairs, as numpy arrays.

    Raises:
        UsageError: `texts` has no texts, or an option is unknown, out of range or does not apply.

    Example:
        >>> esdedup.cluster_texts(["One text.", "One text.", "Another."]).label  # doctest: +SKIP
    """
    from esdedup.jobs import table_dedupe
    from esdedup.jobs.presets import with_preset

    return table_dedupe.cluster_texts(texts, with_preset(options, 1))
