"""The peak memory of whole commands, and how time grows with the corpus."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from scripts.benchmarks.bench import Bench
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.processes import ESDEDUP, Ran, run
from scripts.benchmarks.rows import Row, at_most, without_value

SENTENCES = (500_000, 5_000_000)
SMALL_SENTENCES = (10_000, 100_000)
GIB = 2**30
ROLLUP = Path("/proc/self/smaps_rollup")


def measure(bench: Bench) -> list[Row]:
    if not ROLLUP.exists():
        return [without_value("peak memory", f"there is no {ROLLUP} on this system", "≤ 1.5")]
    rows: list[Row] = []
    times = []
    for sentences in SMALL_SENTENCES if bench.small else SENTENCES:
        path = dump(bench, articles_of_sentences(bench, sentences))
        ran, kept = _run(bench, path)
        times.append(ran.seconds)
        rows += [
            peak(f"generated, {kept:,} sentences: peak of the process tree with --memory 1GiB", ran, 1.5),
            Row(f"generated, {kept:,} sentences: the whole command", ran.seconds, "s"),
        ]
    return [*rows, at_most("time, ten times the sentences", times[1] / times[0], "x", 12)]


def _run(bench: Bench, source: Path, *options: str) -> tuple[Ran, int]:
    """The command as sampled from outside, and the number of sentences that it kept."""
    out = bench.work / "memory"
    ran = run([*ESDEDUP, "run", source, "--out", out, "--fresh", "--memory", "1GiB", "--quiet", *options], sampled=True)
    kept = json.loads((out / "summary.json").read_text("utf-8"))["counts"]["sentences_kept"]
    shutil.rmtree(out)
    return ran, kept


def peak(measure: str, ran: Ran, aim: float | None = None) -> Row:
    """The row of the most memory that a sampled command held."""
    if not ran.peak:
        return without_value(measure, f"there is no {ROLLUP} on this system", "" if aim is None else f"≤ {aim:g}")
    held = ran.peak / GIB
    return Row(measure, held, "GiB") if aim is None else at_most(measure, held, "GiB", aim)
