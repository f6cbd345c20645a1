"""The verbs about how good results are, what to index with, and how results look."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from esdedup.api.checked import check_options, check_store
from esdedup.api.sources import Address, SourceArgument, source_names

if TYPE_CHECKING:
    from esdedup.api.keywords import ResourceOptions, RunOptions
    from esdedup.api.results import Evaluation, Plan
    from esdedup.store.store import Store


def evaluate(
    *,
    store: Address | Store,
    golden: Address | None = None,
    truth: Address | None = None,
    jaccard: float | None = None,
    quiet: bool = False,
    **options: Unpack[ResourceOptions],
) -> Evaluation:
    """Compare what the last scan found with what is right.

    Args:
        store: Address of a store, or an open one.
        golden: File of the right clusters: one a line, ids separated by white space, as in clusters.txt. A line with
            one id is a sentence that is in no cluster.
        truth: `exact` for every pair there is, or a file of pairs: two ids a line and, if known, their Jaccard,
            separated by tabs.
        jaccard: Lowest similarity of a pair with `exact`. Default: that of the scan.
        quiet: Show no progress.
        options: Options of resources.

    Returns:
        How many sentences there are; scores of clusters under `golden`, of pairs under `truth`.

    Raises:
        UsageError: Neither `golden` nor `truth` is given.
        EvaluationError: A file cannot be read, or names what is not in the store.
        StoreError: Nothing was scanned, or something has changed since.

    Example:
        >>> esdedup.evaluate(store="found/store.duckdb", truth="exact").truth["recall"]  # doctest: +SKIP
    """
    from esdedup.api.results import Evaluation
    from esdedup.jobs import evaluating

    return Evaluation.of(
        evaluating.evaluate(store=store, golden=golden, truth=truth, jaccard=jaccard, quiet=quiet, **options)
    )


def plan(
    *sources: SourceArgument,
    store: Address | None = None,
    tokens: int | None = None,
    schemes: str | None = None,
    recall: float = 0.99,
    sample: int = 50_000,
    sentences: int | None = None,
    cores: int | None = None,
    out: Address | None = None,
    keep_going: bool = False,
    quiet: bool = False,
    **options: Unpack[RunOptions],
) -> Plan:
    """Compare ways to sign texts: on a sample of sources or of a store, or in theory alone.

    Args:
        sources: Files, folders or patterns to take a sample from.
        store: Address of a store to take a sample from.
        tokens: Most tokens of a text. Default: those of its unit, 10 for sentences and 28 for records.
        schemes: Only these: `10x4` (bands × rows) or `10x10/20` (draws × draw / hashes), separated by commas.
        recall: Share of the pairs that is to be found.
        sample: Most sentences of the sample.
        sentences: Forecast time, memory and disk for this many sentences.
        cores: Of the cluster that the forecast is for, with `engine`. Default: those of the trial runs.
        out: Folder for a plot of all curves, s-curve.png.
        keep_going: Continue after a missing or damaged source.
        quiet: Show no progress.
        options: Options of reading, signing, scanning and resources, see `esdedup.api.keywords.RunOptions`.

    Returns:
        The `threshold`; the `sample`; `schemes`, each with its expected and measured recall, candidates and seconds;
        `exact`, what comparing all with all takes; what is `recommended` and whether it `reached` the recall; the
        `cheapest` scheme with its `curve`; and a `forecast` by store.

    Raises:
        UsageError: An option is unknown or out of range.
        SourceError: A source is missing or damaged.

    Example:
        >>> esdedup.plan("dump.xml.bz2", sentences=136_000_000).recommended  # doctest: +SKIP
    """
    check_options(options)
    from esdedup.api.results import Plan
    from esdedup.jobs import planning

    return Plan.of(
        planning.plan(
            *source_names(sources), store=store, tokens=tokens, schemes=schemes, recall=recall, sample=sample,
            sentences=sentences, cores=cores, out=out, keep_going=keep_going, quiet=quiet, **options,
        )
    )  # fmt: skip


def report(*, store: Address | Store, out: Address) -> list[Path]:
    """Write what was found to a folder, as one page and as pictures.

    report.html needs no other file and no network. The same results give the same bytes.

    Args:
        store: Address of a store, or an open one.
        out: Folder for the files.

    Returns:
        Paths of the files.

    Raises:
        StoreError: Nothing was scanned, or something has changed since.

    Example:
        >>> esdedup.report(store="found/store.duckdb", out="report")  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.jobs import reporting

    return reporting.report(store=store, out=out)
