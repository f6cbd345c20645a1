"""The verbs about how good results are, what to index with, and how results look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from esdedup.api.sources import Address, SourceArgument, check_options, check_store, source_names
from esdedup.errors import UsageError

if TYPE_CHECKING:
    from esdedup.api.keywords import ResourceOptions, RunOptions
    from esdedup.output.contents.certificate_answers import Verified
    from esdedup.output.contents.quality_answers import Evaluation, Plan
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
    """Compare the results of the last scan of a store with the right ones.

    Args:
        store: Address of a store, or an open one.
        golden: File of the right clusters: one a line, ids separated by white space, as in clusters.txt. A line with
            one id is a sentence that is in no cluster.
        truth: `exact` for every pair there is, or a file of pairs: two ids a line and, if known, their Jaccard,
            separated by tabs.
        jaccard: Minimum similarity of a pair with `truth=exact`. Default: that of the scan.
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
    if golden is None and truth is None:
        raise UsageError("evaluate needs something to compare with; pass a file as golden or truth, or truth exact")
    from esdedup.jobs.settings import Settings

    resources = Settings.of(**options).resources
    check_store(store)
    from esdedup.evaluation.score import score
    from esdedup.jobs.evaluating import Golden
    from esdedup.jobs.questions import opened_results
    from esdedup.jobs.truths import EXACT, against_exact, against_file
    from esdedup.output.contents.quality_answers import Evaluation

    known = None if golden is None else Golden(Path(golden))
    with opened_results(store) as opened:
        sentences = opened.corpus.counts()["sentences_kept"]
        answer: dict[str, Any] = {"sentences": sentences}
        if known is not None:
            answer["golden"] = asdict(score(*known.against(opened), sentences))
        if str(truth) == EXACT:
            answer["truth"] = against_exact(opened, resources, jaccard, quiet=quiet)
        elif truth is not None:
            answer["truth"] = against_file(opened, Path(truth))
    return Evaluation.of(answer)


def verify(
    certificate: Address,
    *,
    input: Address | Sequence[Address] = (),
    output: Address | None = None,
    sample: float = 1.0,
) -> Verified:
    """Check the certificate of a `dedupe` against the files that it speaks of: on any machine, without the store.

    Hashes and counts are computed again. Each output must be its input without the removed texts, and each removed text
    as similar to the kept one as the certificate says.

    Args:
        certificate: File that `dedupe` has written.
        input: Where the inputs are: files or folders. Default: where they were.
        output: Folder of the outputs. Default: where they were written.
        sample: Compare only this share of the removed texts again.

    Returns:
        What is not true, one line each, in `problems`; what was not checked; and how many texts were compared.

    Raises:
        EsdedupError: The file is no certificate.
        UsageError: `sample` is no share.

    Example:
        >>> esdedup.verify("clean/cert.json").problems  # doctest: +SKIP
        []
    """
    from esdedup.formats.remote.remote_path import path_of
    from esdedup.jobs.verifying import verify_certificate
    from esdedup.output.contents.certificate_answers import Verified

    if not (isinstance(sample, int | float) and 0 < sample <= 1):
        raise UsageError(f"sample is {sample!r}; allowed: greater than 0, up to 1")
    given = [input] if isinstance(input, str | Path) else list(input)
    folder = None if output is None else path_of(output)
    return Verified.of(verify_certificate(Path(certificate), list(map(Path, given)), folder, sample))


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
    """Compare ways to sign texts: what each finds, in theory, and in a sample of sources or of a store.

    Args:
        sources: Files, folders or patterns to take a sample from.
        store: Address of a store to take a sample from.
        tokens: Most tokens of a text. Default: those of its unit.
        schemes: Only these: `10x4` (bands × rows) or `10x10/20` (draws × draw / hashes), separated by commas.
        recall: Share of the pairs to find.
        sample: Most sentences of the sample.
        sentences: Forecast time, memory and disk for this many sentences.
        cores: Forecast for a cluster of so many cores; needs an engine there. Default: those of the trial runs.
        out: Folder for a plot of all curves, s-curve.png.
        keep_going: Skip missing and damaged sources, and continue; they are listed under `damaged`.
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
    from esdedup.jobs.planning import Wanted, planned
    from esdedup.jobs.presets import with_preset
    from esdedup.output.contents.quality_answers import Plan

    wanted = Wanted(tokens, schemes, recall, sample, sentences, cores)
    names = list(source_names(sources))
    return Plan.of(
        planned(names, store, wanted, with_preset(options, len(names)), out=out, keep_going=keep_going, quiet=quiet)
    )


def report(*, store: Address | Store, out: Address) -> list[Path]:
    """Write a page about the results, report.html, and its plots as PNG and SVG.

    The page is one file that needs no network: counts, kinds, sizes, contradictions, the largest clusters, templates,
    what was skipped, the settings, and the commands that do it again. The same results give the same bytes.

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
    from esdedup.formats.remote.remote_path import path_of
    from esdedup.jobs.questions import opened_results
    from esdedup.jobs.summary import write_report
    from esdedup.output.out_folder import out_folder

    with opened_results(store) as opened:
        with out_folder(path_of(out)) as place:
            names = [path.name for path in write_report(opened, place.path)]
            place.claim(*names)
        return [place.shown / name for name in names]
