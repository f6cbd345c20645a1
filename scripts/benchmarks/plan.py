"""What `plan` forecasts, and what the run then takes: on a file, and on a node of this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import esdedup
from esdedup.node.control import running_node
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row

SENTENCES, SMALL_SENTENCES = 1_000_000, 20_000
HEAP = 2 * 2**30
GIB, GB = 2**30, 1e9

_SHARES = {"seconds": 0.4, "memory_bytes": 0.2, "disk_bytes": 0.2}
"""How far from what is taken a forecast may be."""

_UNITS = {"seconds": ("s", 1.0), "memory_bytes": ("GiB of memory", GIB), "disk_bytes": ("GB of disk", GB)}


def measure(bench: Bench) -> list[Row]:
    sentences = SMALL_SENTENCES if bench.small else SENTENCES
    source = dump(bench, articles_of_sentences(bench, sentences))
    folder = bench.work / "plan"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with running_node(folder / "node", heap=HEAP) as server:
        store = f"{server}/plan"
        planned = [
            *ESDEDUP,
            "plan",
            source,
            "--store",
            store,
            "--sentences",
            str(sentences),
            "--schemes",
            "10x4",
            "--json",
        ]
        forecast = json.loads(run([str(part) for part in planned]).output)["forecast"]
        rows = []
        for kind, address in (("embedded", str(folder / "store.duckdb")), ("server", store)):
            rows += _compared(kind, forecast[kind], source, folder / "out", address)
    shutil.rmtree(folder)
    return rows


def _compared(kind: str, forecast: dict[str, float], source: Path, out: Path, store: str) -> list[Row]:
    """A forecast in proportion to the sentences that there are, and the run itself."""
    ran = run([*ESDEDUP, "run", source, "--out", out, "--store", store, "--quiet"], sampled=True)
    kept = json.loads((out / "summary.json").read_text("utf-8"))["counts"]["sentences_kept"]
    shutil.rmtree(out)
    taken = {
        "seconds": ran.seconds,
        "memory_bytes": ran.peak,
        "disk_bytes": esdedup.status(store=store)["disk_bytes"],
    }
    rows = []
    for name, value in taken.items():
        unit, size = _UNITS[name]
        ratio, most = forecast[name] / value, _SHARES[name]
        what = f"{kind} store, {kept:,} sentences, {unit}"
        rows += [
            Row(f"plan, {what}: forecast", forecast[name] / size),
            Row(f"plan, {what}: taken", value / size),
            Row(f"plan, {what}: forecast, times what was taken", ratio, "x", f"1 ± {most}", abs(ratio - 1) <= most),
        ]
    return rows
