"""Who said it first: planted copies that come back, and what indexing a whole history costs."""

from __future__ import annotations

import bz2
import lzma
import time
from pathlib import Path
from statistics import median

import esdedup
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.history import planted, write_history
from scripts.benchmarks.memory import GIB
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row, at_least, at_most

_HISTORY = Path("wiki/enwiki-anarchism-history-1GB.xml.lzma")
_SMALL_HISTORY = Path("wiki/enwiki-anarchism-history-1000.xml.bz2")
_FAMILIES, _FEW_FAMILIES = 2_000, 100
_PIECE = 2**20


def lineage_rows(bench: Bench, folder: Path) -> list[Row]:
    """Copies of a planted history found; speed and memory on a real one, beside decompressing it."""
    pages, parents = planted(_FEW_FAMILIES if bench.small else _FAMILIES, 7)
    wiki = write_history(folder / "history.xml", pages)
    esdedup.run(wiki, out=folder / "history", revisions="all", jaccard=0.6, rows=3, bands=20)
    found = esdedup.lineage(store=folder / "history" / "store.duckdb")
    told = {}
    for tree in found["trees"]:
        titles = {member["id"]: member["title"] for member in tree["members"]}
        told |= {member["title"]: titles.get(member["parent"]) for member in tree["members"] if member["copied"]}
    copies = {title: origin for title, origin in parents.items() if origin is not None}
    right = sum(told.get(title) == origin for title, origin in copies.items()) / len(copies)
    wrong = sum(copies.get(title) != origin for title, origin in told.items()) / len(told)
    rows = [
        at_least(f"lineage, planted history of {len(pages):,} pages: copies with the right source", right, "", 0.95),
        Row("lineage, planted history: copies told that were none", wrong),
    ]
    for name in [_SMALL_HISTORY] if bench.small else [_SMALL_HISTORY, _HISTORY]:
        rows += _indexing(bench, name, folder)
    return rows


def _indexing(bench: Bench, name: Path, folder: Path) -> list[Row]:
    """A history, in turns with decompressing it."""
    path, store = bench.data / name, folder / "article.duckdb"
    shares, speeds, peaks = [], [], []
    command = [
        *ESDEDUP,
        "index",
        path,
        "--revisions",
        "all",
        "--store",
        store,
        "--fresh",
        "--memory",
        "1GiB",
        "--quiet",
    ]
    for _ in range(bench.runs):
        began, size = time.perf_counter(), 0
        with (lzma if path.suffix == ".lzma" else bz2).open(path) as data:
            while piece := data.read(_PIECE):
                size += len(piece)
        decompressing = time.perf_counter() - began
        ran = run(command)
        speeds.append(size / ran.seconds / 1e6)
        shares.append(decompressing / ran.seconds)
        peaks.append(run(command, sampled=True).peak)
        store.unlink()
    return [
        Row(f"indexing {path.name} with all revisions", median(speeds), "MB/s"),
        at_least(f"{path.name}: indexing, of the speed of decompressing it", median(shares), "x", 0.3),
        at_most(f"{path.name}: peak of the process tree with --memory 1GiB", max(peaks) / GIB, "GiB", 1.5),
    ]
