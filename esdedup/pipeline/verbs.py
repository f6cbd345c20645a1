"""The verbs: what the commands do, for Python.

Options are the command line's, with underscores: `run("dump.xml.bz2", out="found", jaccard=0.9, workers=4)`.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from esdedup import __version__
from esdedup.errors import EsdedupError, SourceError, StoreError, StoreSourcesError
from esdedup.exports.files import whole_file
from esdedup.exports.tables import export_results
from esdedup.pipeline.indexing import damages, index_sources, source_marks
from esdedup.pipeline.memory import MemoryWatch
from esdedup.pipeline.scanning import scan_store
from esdedup.records import Skips
from esdedup.reports.histogram import draw_cluster_sizes
from esdedup.settings import Reading, Settings
from esdedup.sources.discover import Source, discover
from esdedup.stores.opening import open_store
from esdedup.stores.store import STANDARD_INPUT, SourceMark, Store

log = logging.getLogger("esdedup")

Address = str | Path


def run(
    *sources: Address,
    out: Address,
    store: Address | None = None,
    table: str = "jsonl",
    fresh: bool = False,
    keep_going: bool = False,
    quiet: bool = True,
    **options: Any,
) -> dict[str, Any]:
    """Index `sources`, scan, and write every file of the contract to the folder `out`; the summary.

    With `keep_going`, sources that are missing or damaged are passed over as far as they must, and stand in the
    summary under `damaged`. Without `store` it is OUT/store.duckdb. A job that is finished already only writes its
    files again; other sources into the same store raise `StoreSourcesError`. `options` are those of `Settings.of`.
    """
    settings = Settings.of(**options)
    folder = Path(out)
    _make_folder(folder)
    found, missing = _discover(sources, settings.reading, keep_going)
    marks = source_marks(found, settings.reading)
    with MemoryWatch() as memory, _open(store or folder / "store.duckdb", settings, fresh=fresh) as opened:
        known = opened.sources()
        same = len(known) == len(marks) and all(one.same_as(two) for one, two in zip(known, marks, strict=True))
        if known and not same:
            names = ", ".join(mark.path for mark in known[:3]) + (" …" if len(known) > 3 else "")
            raise StoreSourcesError(
                f"{opened.address}: holds a run over {names} as it was then; add to it with esdedup index and "
                "esdedup scan, or begin again with --fresh"
            )
        seconds: dict[str, float] = {}
        if not same or opened.unfinished() or any(mark.path == STANDARD_INPUT for mark in marks):
            clock = time.perf_counter()
            index_sources(
                opened, found, marks, settings.reading, settings.resources, keep_going=keep_going, quiet=quiet
            )
            seconds["index"] = time.perf_counter() - clock
        seconds |= _scan_if_needed(opened, settings, quiet)
        return _export(opened, folder, table, seconds, memory, missing)


def index(
    *sources: Address,
    store: Address,
    fresh: bool = False,
    keep_going: bool = False,
    quiet: bool = True,
    **options: Any,
) -> dict[str, Any]:
    """Read, split, sign and store `sources`; counts of what the store then holds.

    A document that is in the store already is skipped; one whose text has changed replaces the old one.
    """
    settings = Settings.of(**options)
    found, missing = _discover(sources, settings.reading, keep_going)
    marks = source_marks(found, settings.reading)
    with _open(store, settings, fresh=fresh) as opened:
        if opened.unfinished():
            pending = [mark for mark in opened.sources() if not mark.finished]
            if not all(any(mark.same_as(old) for mark in marks) for old in pending):
                raise StoreSourcesError(
                    f"{opened.address}: reading {pending[0].path} is not finished; index it again to finish it, "
                    "or begin again with --fresh"
                )
        merged = index_sources(
            opened, found, marks, settings.reading, settings.resources, keep_going=keep_going, quiet=quiet
        )
        return {
            "counts": opened.counts() | merged,
            "skipped": _skipped(opened.sources()),
            "damaged": missing + damages(marks),
        }


def scan(
    *, store: Address, out: Address | None = None, table: str = "jsonl", quiet: bool = True, **options: Any
) -> dict[str, Any]:
    """Find pairs and clusters among everything in `store`; write the files to `out` if given; the summary."""
    settings = Settings.of(**options)
    if out is not None:
        _make_folder(Path(out))
    with MemoryWatch() as memory, _open(store, settings, must_exist=True) as opened:
        if opened.unfinished():
            raise StoreError(
                f"{opened.address}: a reading is not finished; run the same command again first, with --keep-going "
                "if a source is damaged"
            )
        scanned = scan_store(opened, settings.scanning, settings.resources, quiet=quiet)
        if out is not None:
            return _export(opened, Path(out), table, dict(scanned["seconds"]), memory, [])
        return _summary(opened, dict(scanned["seconds"]), memory, [])


def status(*, store: Address) -> dict[str, Any]:
    """Counts, settings, sources, last scan, unfinished work and disk of `store`."""
    with open_store(store, read_only=True) as opened:
        return {
            "store": opened.address,
            "settings": opened.signing.describe(),
            "counts": opened.counts(),
            "sources": [
                {"name": mark.name, "path": mark.path, "documents": mark.documents, "finished": mark.finished}
                for mark in opened.sources()
            ],
            "skipped": _skipped(opened.sources()),
            "unfinished": opened.unfinished(),
            "last_scan": opened.last_scan(),
            "disk_bytes": opened.disk_bytes(),
        }


def clusters(
    *,
    store: Address,
    min_size: int = 2,
    document: str | None = None,
    text: str | None = None,
    limit: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Clusters with their members, largest first; those with `document`, or whose texts hold all words of `text`."""
    with open_store(store, read_only=True) as opened:
        if opened.last_scan() is None:
            raise StoreError(f"{opened.address}: not scanned yet; run esdedup scan --store {opened.address}")
        yield from opened.cluster_rows(min_size=min_size, document=document, text=text, limit=limit)


def drop(*, store: Address) -> None:
    """Delete what esdedup made in `store`, and nothing else."""
    with open_store(store) as opened:
        opened.drop()


# -- steps that the verbs share -----------------------------------------------------------------------------


def _open(store: Address, settings: Settings, *, fresh: bool = False, must_exist: bool = False) -> Store:
    resources = settings.resources
    return open_store(
        store,
        None if must_exist and not settings.frozen else settings.frozen,
        memory=resources.memory * 3 // 10,
        threads=resources.processes,
        fresh=fresh,
    )


def _discover(sources: Sequence[Address], reading: Reading, keep_going: bool) -> tuple[list[Source], list[str]]:
    """The sources and, with `keep_going`, what is wrong with the arguments that name none."""
    arguments, missing = [str(source) for source in sources], []
    for argument in list(arguments) if keep_going else []:
        try:
            discover([argument], reading)
        except SourceError as error:
            log.error("%s", error)
            missing.append(str(error))
            arguments.remove(argument)
    if missing and not arguments:
        raise SourceError(missing[0])
    return discover(arguments, reading), missing


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EsdedupError(f"--out {folder}: {error.strerror}; name a folder that can be made") from error


def _scan_if_needed(store: Store, settings: Settings, quiet: bool) -> dict[str, float]:
    last = store.last_scan()
    if last is not None and last["scanning"] == settings.scanning.describe():
        return {}
    return dict(scan_store(store, settings.scanning, settings.resources, quiet=quiet)["seconds"])


def _export(
    store: Store, folder: Path, table: str, seconds: dict[str, float], memory: MemoryWatch, missing: list[str]
) -> dict[str, Any]:
    clock = time.perf_counter()
    export_results(store, folder, table)
    with whole_file(folder / "cluster-sizes.png") as part:
        draw_cluster_sizes(store.cluster_sizes(), part)
    seconds["export"] = time.perf_counter() - clock
    summary = _summary(store, seconds, memory, missing)
    with whole_file(folder / "summary.json") as part:
        part.write_text(json.dumps(summary, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return summary


def _summary(store: Store, seconds: dict[str, float], memory: MemoryWatch, missing: list[str]) -> dict[str, Any]:
    """The content of summary.json."""
    scanned = store.last_scan() or {}
    marks = store.sources()
    skipped = _skipped(marks)
    if scanned.get("hot_tokens"):
        skipped["hot_token"] = scanned["hot_tokens"]
    memory.sample()
    return {
        "version": __version__,
        "settings": {**store.signing.describe(), **scanned.get("scanning", {})},
        "sources": [
            {"name": mark.name, "path": mark.path, "documents": mark.documents, "skipped": asdict(mark.skips)}
            for mark in marks
        ],
        "verified": scanned.get("scanning", {}).get("verify") == "exact",
        "counts": store.counts() | scanned.get("counts", {}),
        "cluster_sizes": {str(size): count for size, count in store.cluster_sizes().items()},
        "kinds": {},
        "skipped": dict(sorted(skipped.items())),
        "damaged": missing + damages(marks),
        "far_reaching_clusters": scanned.get("far_reaching_clusters", 0),
        "seconds": {stage: round(value, 3) for stage, value in seconds.items()},
        "peak_memory_mb": round(memory.peak / 2**20, 1),
    }


def _skipped(marks: Sequence[SourceMark]) -> dict[str, int]:
    total = Skips()
    for mark in marks:
        total.include(mark.skips)
    return dict(sorted(total.counts.items()))
