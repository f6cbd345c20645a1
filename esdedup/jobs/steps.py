"""Steps that several verbs share: options, sources, reading, scanning, and the files of a result."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from esdedup._version import __version__
from esdedup.columns.records import Skips
from esdedup.errors import EsdedupError, SourceError, StoreError, StoreSourcesError, UsageError
from esdedup.files import whole_file
from esdedup.formats.locations import Source, discover
from esdedup.formats.reading_options import Reading
from esdedup.jobs.ignoring import ignored_texts
from esdedup.jobs.indexing import damages, index_sources
from esdedup.jobs.memory import MemoryWatch
from esdedup.jobs.scanning import scan_store
from esdedup.jobs.scratch import forget_scan, forget_scans
from esdedup.jobs.settings import Settings
from esdedup.jobs.updating import update_results
from esdedup.matching.protocol import Scanning
from esdedup.output.histogram import draw_cluster_sizes
from esdedup.output.report_page import report_page
from esdedup.output.result_files import export_results
from esdedup.resources import Resources
from esdedup.store.ledger import STANDARD_INPUT, ReadingCheckpoint, SourceCheckpoint
from esdedup.store.registry import kind_of, open_store
from esdedup.store.store import Store

log = logging.getLogger("esdedup")

REPORT = "report.html"

Address = str | Path

_PLOTS = ("cluster-sizes.svg", "kinds.png", "kinds.svg")
"""What a report writes beside the files of a run."""

_NAMED = 5
"""Parts that one line names."""


def settings_of(options: dict[str, Any], *, parts: bool = False) -> Settings:
    """The options of a verb; `ignore` names a file of texts and cluster ids. Reading in `parts` must be allowed."""
    ignore = options.pop("ignore", None)
    settings = Settings.of(**options, ignore=None if ignore is None else ignored_texts(Path(ignore)))
    settings.scanning.matcher.check_files()  # what is wrong with them is said before anything is read
    if settings.reading.part is not None and not parts:
        raise UsageError("part is for esdedup index; when all parts are in, esdedup scan does the rest")
    return settings


def open_for(store: Address, settings: Settings, *, fresh: str | None = None, must_exist: bool = False) -> Store:
    """Open a store for writing, with the share of the memory that is its database's."""
    if settings.reading.part is not None and not kind_of(store).shared:
        raise UsageError("part is for stores on a server; a store in a file has one writer")
    resources = settings.resources
    return open_store(
        store,
        None if must_exist and not settings.frozen else settings.frozen,
        memory=resources.memory * 3 // 10,
        threads=resources.processes,
        fresh=fresh,
    )


def job_name(checkpoints: Sequence[SourceCheckpoint], settings: Settings) -> str:
    """What makes two commands with `--fresh` the same job: sources as they are, and how they are read and signed."""
    in_parts = settings.reading.part is not None
    named = [
        [
            checkpoint.name,
            checkpoint.path,
            checkpoint.timeless if in_parts else checkpoint.fingerprint,
            checkpoint.qualified,
        ]
        for checkpoint in checkpoints
    ]
    return json.dumps([named, settings.frozen], sort_keys=True)


def find_sources(arguments: Sequence[Address], reading: Reading, keep_going: bool) -> tuple[list[Source], list[str]]:
    """The sources and, with `keep_going`, what is wrong with the arguments that name none."""
    names, missing = [str(argument) for argument in arguments], []
    for name in list(names) if keep_going else []:
        try:
            discover([name], reading)
        except SourceError as error:
            log.error("%s", error)
            missing.append(str(error))
            names.remove(name)
    if missing and not names:
        raise SourceError(missing[0])
    return discover(names, reading), missing


def make_folder(folder: Path) -> None:
    """Make a folder for files, if there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EsdedupError(f"--out {folder}: {error.strerror}; name a folder that can be made") from error


def read_into(
    store: Store,
    sources: list[Source],
    checkpoints: list[SourceCheckpoint],
    settings: Settings,
    *,
    keep_going: bool,
    quiet: bool,
) -> dict[str, int]:
    """Read sources into a store; counts of documents repeated, unchanged and replaced.

    Sources that were read as they are by the last reading are not read again. `StoreSourcesError` where another
    reading is not finished.
    """
    known = store.ledger.sources()
    begun = store.ledger.unfinished_reading()
    if begun is not None:
        pending = [
            checkpoint
            for checkpoint in known
            if checkpoint.number in begun.sources and (not checkpoint.finished or damages([checkpoint]))
        ]
        if any(
            all(checkpoint.path != old.path or checkpoint.name != old.name for checkpoint in checkpoints)
            for old in pending
        ):
            raise StoreSourcesError(
                f"{store.address}: reading {pending[0].path} is not finished; index it again to finish it, "
                "with --keep-going if it is damaged, or begin again with --fresh"
            )
    last = store.ledger.last_reading()
    if last is not None and not any(checkpoint.path == STANDARD_INPUT for checkpoint in checkpoints):
        read = [checkpoint for checkpoint in known if checkpoint.number in last.sources]
        if len(read) == len(checkpoints) and all(
            any(checkpoint.same_as(old) for old in read) for checkpoint in checkpoints
        ):
            for checkpoint in checkpoints:
                checkpoint.skips = next(old for old in read if checkpoint.same_as(old)).skips
            if damages(checkpoints) and not keep_going:
                raise SourceError(f"{damages(checkpoints)[0]}; --keep-going goes on with what stands before")
            return {"new": 0, "replaced": 0, "unchanged": sum(old.documents for old in read), "repeated": 0}
    return index_sources(
        store, sources, checkpoints, settings.reading, settings.resources, keep_going=keep_going, quiet=quiet
    )


def bring_up_to_date(store: Store, settings: Settings, *, quiet: bool) -> dict[str, float]:
    """Make the results those of a scan of what is stored now; seconds by stage, empty if they are already.

    Options that were not asked for are those of the last scan. What has changed since is worked in, if it is
    little; otherwise all is scanned again.
    """
    last = store.results.last_scan()
    scanning = next_scanning(store, settings)
    if last is not None:
        changed = None
        if scanning.matcher.by_tokens and not last["current"] and scanning == Scanning.from_described(last["scanning"]):
            changed = store.corpus.changed_texts()
        if changed is not None:
            return update_results(store, changed, last, settings.resources, quiet=quiet)
    return scan_if_needed(store, scanning, settings.resources, quiet=quiet)


def next_scanning(store: Store, settings: Settings) -> Scanning:
    """The options asked for and, where they do not say, those of the last scan.

    `SettingsError` where they cannot be together, `VectorsError` where a file of word vectors is of no use.
    """
    last = store.ledger.last_scanning()
    if last is None:
        return settings.scanning
    scanning = Scanning.from_described(last).replaced(settings.free)
    scanning.matcher.check_files()
    return scanning


def check_adding(store: Store, settings: Settings) -> None:
    """`StoreError` where nothing can be added to the results of the last scan, or by the matcher asked for."""
    Scanning.from_described(store.ledger.last_scanning() or {}).matcher.check_adding(store.address)
    settings.scanning.matcher.check_adding(store.address)


def scan_if_needed(store: Store, scanning: Scanning, resources: Resources, *, quiet: bool) -> dict[str, float]:
    """Scan, unless the last scan was the same one and nothing has changed since; seconds by stage."""
    last = store.results.last_scan()
    same = last is not None and last["current"] and last["scanning"] == scanning.described()
    if same and (last or {}).get("vectors_state") == scanning.matcher.files_state():
        forget_scan(store)
        return {}
    return scan_store(store, scanning, resources, quiet=quiet)


def publish(store: Store, *, fresh: bool, keep: int = 0) -> None:
    """Let a new generation take the place of the old one, of which scans may have left something."""
    store.publish(keep)
    if fresh:
        forget_scans(store.address)


def refuse_other_sources(store: Store, checkpoints: Sequence[SourceCheckpoint]) -> bool:
    """Whether the store holds just these sources as they are; `StoreSourcesError` where it holds others."""
    known = store.ledger.sources()
    same = len(known) == len(checkpoints) and all(one.same_as(two) for one, two in zip(known, checkpoints, strict=True))
    if known and not same:
        names = ", ".join(checkpoint.path for checkpoint in known[:3]) + (" …" if len(known) > 3 else "")
        raise StoreSourcesError(
            f"{store.address}: holds a run over {names} as it was then; add to it with esdedup add, "
            "or begin again with --fresh"
        )
    return same


def check_choice(name: str, value: str, allowed: Iterable[str]) -> None:
    """`UsageError` for a value that is not one of the allowed ones."""
    if value not in allowed:
        raise UsageError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")


def check_table(table: str) -> None:
    """`UsageError` for a form of tables that there is not."""
    check_choice("table", table, ("jsonl", "parquet"))


def check_count(name: str, count: int | None) -> None:
    """`UsageError` for a number of rows that is less than none."""
    if count is not None and (not isinstance(count, int) or count < 0):
        raise UsageError(f"{name} is {count!r}; allowed: 0 or more")


def check_generations(keep: int, store: Address) -> None:
    """`UsageError` for a number of older generations that cannot be kept."""
    check_count("keep-generations", keep)
    if keep and not kind_of(store).shared:
        raise UsageError("keep-generations is for stores on a server; a file holds one")


def still_to_come(reading: ReadingCheckpoint) -> str:
    """The parts that have not come to their end, as a person would name them in commands."""
    rest = len(reading.missing) - _NAMED
    return " ".join(f"--part {part}" for part in reading.missing[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def require_committed(store: Store) -> None:
    """`StoreError` where a reading is not finished."""
    begun = store.ledger.unfinished_reading()
    if begun is not None and begun.missing:
        raise StoreError(
            f"{store.address}: a reading in parts is not finished; still to come: esdedup index {still_to_come(begun)}"
        )
    if begun is not None:
        raise StoreError(
            f"{store.address}: a reading is not finished; run the same command again first, with --keep-going "
            "if a source is damaged"
        )


def export(
    store: Store,
    folder: Path,
    table: str,
    seconds: dict[str, float],
    memory: MemoryWatch,
    missing: list[str],
    *,
    report: bool,
) -> dict[str, Any]:
    """Write every file of the contract to `folder`; the summary. Without `report`, an old one goes away."""
    clock = time.perf_counter()
    export_results(store, folder, table)
    with whole_file(folder / "cluster-sizes.png") as part:
        part.write_bytes(draw_cluster_sizes(store.results.sizes(), "png"))
    seconds = seconds | {"export": time.perf_counter() - clock}
    for name in (REPORT, *_PLOTS):
        (folder / name).unlink(missing_ok=True)  # of an earlier run, and no longer true
    if report:
        clock = time.perf_counter()
        with whole_file(folder / REPORT) as part:
            part.write_text(report_page(store, described(store, missing)), "utf-8", newline="\n")
        seconds["report"] = time.perf_counter() - clock
    summary = summarize(store, seconds, memory, missing)
    with whole_file(folder / "summary.json") as part:
        part.write_text(json.dumps(summary, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return summary


def summarize(store: Store, seconds: dict[str, float], memory: MemoryWatch, missing: list[str]) -> dict[str, Any]:
    """The content of summary.json."""
    memory.sample()
    return described(store, missing) | {
        "seconds": {stage: round(value, 3) for stage, value in seconds.items()},
        "peak_memory_mb": round(memory.peak / 2**20, 1),
    }


def described(store: Store, missing: Sequence[str] = ()) -> dict[str, Any]:
    """What a store holds and how it was found: the summary, but for what was measured.

    `missing` are sources that were passed over.
    """
    scanned = store.results.last_scan() or {}
    checkpoints = store.ledger.sources()
    skipped = skipped_by_reason(checkpoints)
    skipped |= scanned.get("passed_over", {})
    if scanned.get("hot_tokens"):
        skipped["hot_token"] = scanned["hot_tokens"]
    if scanned.get("ignored_clusters"):
        skipped["ignored_cluster"] = scanned["ignored_clusters"]
    return {
        "version": __version__,
        "settings": {**store.signing.described(), **scanned.get("scanning", {})},
        "sources": [
            {
                "name": checkpoint.name,
                "path": checkpoint.path,
                "documents": checkpoint.documents,
                "skipped": asdict(checkpoint.skips),
            }
            for checkpoint in checkpoints
        ],
        "verified": bool(scanned) and Scanning.from_described(scanned["scanning"]).verifier.compares,
        "counts": store.corpus.counts() | scanned.get("counts", {}),
        "cluster_sizes": {str(size): count for size, count in store.results.sizes().items()},
        "kinds": store.results.kinds() if scanned else {},
        "skipped": dict(sorted(skipped.items())),
        "damaged": [*missing, *damages(checkpoints)],
        "far_reaching_clusters": scanned.get("far_reaching_clusters", 0),
    }


def skipped_by_reason(checkpoints: Sequence[SourceCheckpoint]) -> dict[str, int]:
    """What was left out of all sources together, by reason."""
    total = Skips()
    for checkpoint in checkpoints:
        total.include(checkpoint.skips)
    return dict(sorted(total.counts.items()))
