"""The verbs that deduplicate: files, and texts in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Unpack

from esdedup.api.results import Written
from esdedup.api.sources import Address, SourceArgument, source_names

if TYPE_CHECKING:
    from esdedup.api.keywords import DedupeOptions, RunOptions
    from esdedup.jobs.in_memory import TextClusters

Keep = Literal["first", "longest", "none"]


def dedupe(
    *sources: SourceArgument,
    out: Address,
    store: Address | None = None,
    keep: Keep = "first",
    kinds: Sequence[str] | None = None,
    annotate: bool = False,
    fresh: bool = False,
    keep_going: bool = False,
    quiet: bool = True,
    **options: Unpack[DedupeOptions],
) -> Written:
    """Write each source again without its duplicates: same name, format and compression.

    Sentences are taken out of the texts they stand in; a document of which nothing is left is dropped. With
    `unit="record"` whole records are dropped. Wiki dumps become JSON Lines of cleaned documents. drops.jsonl names each
    dropped sentence, its cluster, the one kept, the reason and the Jaccard similarity. The same call finishes a killed
    job.

    Args:
        sources: Files, folders or patterns; a list holds paths, never patterns.
        out: Folder for the files.
        store: Address of the store; its results become stars. Default: store.duckdb in `out`.
        keep: Which sentence or record of a cluster is kept.
        kinds: Only drop from clusters of these kinds. Default: all.
        annotate: Keep everything, and mark each record with what would happen to it.
        fresh: Replace the store by a new one when the job is finished.
        keep_going: Continue after a missing or damaged source.
        quiet: Show no progress.
        options: Options of reading, signing, scanning and resources, see `esdedup.api.keywords.DedupeOptions`. With
            `across="sources"` duplicates within one source are kept.

    Returns:
        Counts of documents and sentences written and dropped, and the files.

    Raises:
        UsageError: An option is unknown, out of range or does not apply.
        SourceError: A source is missing or damaged.

    Example:
        >>> esdedup.dedupe("corpus.jsonl.zst", out="clean", unit="record").dropped  # doctest: +SKIP
    """
    from esdedup.jobs import dedupe as job

    return Written.of(
        job.dedupe(
            *source_names(sources), out=out, store=store, keep=keep, kinds=kinds, annotate=annotate, fresh=fresh,
            keep_going=keep_going, quiet=quiet, **options,
        )
    )  # fmt: skip


def cluster_texts(texts: Sequence[str], **options: Unpack[RunOptions]) -> TextClusters:
    """Cluster texts in memory as they are: nothing is split, trimmed or left out.

    Empty texts match nothing. Memory: about 2 kB for each text of 200 characters that collides, 200 bytes for others.

    Args:
        texts: A sequence of strings.
        options: Options of signing, scanning and resources, see `esdedup.api.keywords.RunOptions`.

    Returns:
        Labels of clusters, and the verified pairs, as numpy arrays.

    Raises:
        UsageError: `texts` is not a sequence of strings, or an option is unknown, out of range or does not apply.

    Example:
        >>> esdedup.cluster_texts(["One text.", "One text.", "Another."]).label  # doctest: +SKIP
    """
    from esdedup.jobs import in_memory

    return in_memory.cluster_texts(texts, options)
