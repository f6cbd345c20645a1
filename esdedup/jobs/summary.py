"""The files and pictures of a result, and the summary of a store."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from esdedup._version import __version__
from esdedup.files import whole_file
from esdedup.jobs.accounting import RENAMED, accounted, damages, skipped_by_reason
from esdedup.jobs.memory import MemoryWatch
from esdedup.jobs.progress_bar import begin_stage
from esdedup.jobs.steps import make_folder
from esdedup.matching.protocol import Scanning
from esdedup.output.drawing import FORMS
from esdedup.output.out_folder import RESULTS, OutFolder
from esdedup.output.plots import draw_cluster_sizes, draw_kinds, sizes_of_kinds
from esdedup.output.report_page import report_page
from esdedup.output.result_files import export_results
from esdedup.store.store import Store

REPORT = "report.html"

_PLOTS = ("cluster-sizes.svg", "kinds.png", "kinds.svg")
"""Plots that a report writes beside the files of a run."""


def write_results(store: Store, folder: OutFolder, table: str) -> None:
    """Write pairs and clusters to `folder`, and the picture of their sizes."""
    folder.claim(*RESULTS)
    export_results(store, folder.path, table)
    with whole_file(folder.path / "cluster-sizes.png") as part:
        part.write_bytes(draw_cluster_sizes(store.results.sizes(), "png"))


def export(
    store: Store,
    out: OutFolder | None,
    table: str,
    seconds: dict[str, float],
    memory: MemoryWatch,
    missing: list[str],
    *,
    report: bool,
) -> dict[str, Any]:
    """Write every file of the contract to the folder, except those that the scan wrote, as `seconds` say. Return the
    summary. Without `report`, delete an old one. Without a folder, write nothing.
    """
    if out is None:
        return _summarize(store, seconds, memory, missing)
    begin_stage("write")
    folder = out.path
    if "export" not in seconds:
        clock = time.perf_counter()
        write_results(store, out, table)
        seconds = seconds | {"export": time.perf_counter() - clock}
    for name in (REPORT, *_PLOTS):
        (folder / name).unlink(missing_ok=True)  # from an earlier run, and outdated
    if report:
        clock = time.perf_counter()
        with whole_file(folder / REPORT) as part:
            part.write_text(report_page(store, described(store, missing)), "utf-8", newline="\n")
        seconds["report"] = time.perf_counter() - clock
    summary = _summarize(store, seconds, memory, missing)
    with whole_file(folder / "summary.json") as part:
        part.write_text(json.dumps(summary, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return summary


def _summarize(store: Store, seconds: dict[str, float], memory: MemoryWatch, missing: list[str]) -> dict[str, Any]:
    """Return the content of summary.json."""
    memory.sample()
    return described(store, missing) | {
        "seconds": {stage: round(value, 3) for stage, value in seconds.items()},
        "peak_memory_mb": round(memory.peak / 2**20, 1),
        "stages": memory.stages(),
    }


def described(store: Store, missing: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a store contains and how it was found: the summary except for the measurements.

    `missing` are sources that were skipped.
    """
    scanned = store.results.last_scan() or {}
    checkpoints = store.ledger.sources()
    skipped = skipped_by_reason(checkpoints)
    renamed = skipped.pop(RENAMED, 0)
    counts = store.corpus.counts() | scanned.get("counts", {})
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
        "counts": counts,
        "records": accounted(store.signing, checkpoints, counts),
        "renamed": renamed,
        "cluster_sizes": {str(size): count for size, count in store.results.sizes().items()},
        "kinds": store.results.kinds() if scanned else {},
        "skipped": dict(sorted(skipped.items())),
        "damaged": [*missing, *damages(checkpoints)],
        "far_reaching_clusters": scanned.get("far_reaching_clusters", 0),
    }


def indexed(store: Store, merged: dict[str, int], damaged: list[str]) -> dict[str, Any]:
    """Return what a store contains after reading, and the counts of what was read."""
    skipped, counts = skipped_by_reason(store.ledger.sources()), store.corpus.counts()
    return {
        "settings": store.signing.described(),
        "counts": counts | merged,
        "records": accounted(store.signing, store.ledger.sources(), counts),
        "renamed": skipped.pop(RENAMED, 0),
        "skipped": skipped,
        "damaged": damaged,
    }


def loaded(store: Store) -> dict[str, Any]:
    """Return what a store contains after a lake was loaded into it."""
    merged = {"new": store.corpus.counts()["documents"], "replaced": 0, "unchanged": 0, "repeated": 0, "gone": 0}
    return indexed(store, merged, damages(store.ledger.sources()))


def write_report(store: Store, folder: Path) -> list[Path]:
    """Write the results of a store to a folder, as a page and plots. Return their paths. The same results give the same
    bytes.

    report.html needs no other file and no network: counts, kinds, sizes, the most contradictory and the largest
    clusters, templates, what was skipped, the settings and the commands to reproduce it. Beside it are
    cluster-sizes.png and .svg and, if clusters were classified, kinds.png and .svg.
    """
    make_folder(folder)
    pages = {REPORT: report_page(store, described(store)).encode()}
    sizes = store.results.sizes()
    of_kinds = sizes_of_kinds(store)
    for form in FORMS:
        pages[f"cluster-sizes.{form}"] = draw_cluster_sizes(sizes, form)
        if of_kinds:
            pages[f"kinds.{form}"] = draw_kinds(of_kinds, form)
        else:
            (folder / f"kinds.{form}").unlink(missing_ok=True)  # from earlier results, and outdated
    for name, content in pages.items():
        with whole_file(folder / name) as part:
            part.write_bytes(content)
    return [folder / name for name in pages]
