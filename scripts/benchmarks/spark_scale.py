"""Whole runs on Spark beside the local engine: processor time, shuffle, memory and disk for each sentence."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median

from scripts.benchmarks.bench import Bench, interleaved, ratio
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.processes import ESDEDUP, processor_time
from scripts.benchmarks.rows import Row, at_most
from scripts.benchmarks.spark import MASTER

SIZES, SMALL_SIZES = (1_000_000, 5_000_000, 10_000_000), (20_000, 40_000)
"""Sentences of the generated wikis."""

DUMPS = 8
"""Files of a wiki, each of which is read by a task."""

MANY_TURNS = 1_000_000
"""The largest run that is measured several times."""


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "spark-scale"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows: list[Row] = []
    spent: list[Costs] = []
    for size in SMALL_SIZES if bench.small else SIZES:
        found, costs = _whole_runs(bench, folder, size)
        rows += found
        spent.append(costs)
    least, most = (costs.processor / costs.sentences for costs in (spent[0], spent[-1]))
    grown = spent[-1].sentences / spent[0].sentences
    rows.append(Row(f"processor time for each sentence, of {grown:.1f} times as many", most / least, "x"))
    shutil.rmtree(folder)
    return rows


def _whole_runs(bench: Bench, folder: Path, size: int) -> tuple[list[Row], Costs]:
    """Measure whole runs on both engines. Return what the last one on Spark has cost."""
    sources = [dump(bench, articles_of_sentences(bench, size // DUMPS), seed=1 + number) for number in range(DUMPS)]
    turns, costs = count(), dict[str, Costs]()

    def run(engine: str) -> float:
        out = folder / f"turn-{next(turns)}"
        took = processor_time([*ESDEDUP, "run", *sources, "--out", out, "--engine", engine, "--no-report", "--quiet"])
        costs[engine] = Costs.of(out, took)
        shutil.rmtree(out)
        return took

    engines = {name: lambda name=name: run(name) for name in ("local", MASTER)}  # type: ignore[misc]
    if size > MANY_TURNS:  # once: it takes minutes
        times = {name: [job()] for name, job in engines.items()}
    else:
        times = interleaved(engines, bench.runs)
    spark = costs[MASTER]
    name = f"run of {spark.sentences:,} sentences in {DUMPS} dumps"
    return [
        Row(f"{name}: processor time of the local engine", median(times["local"]), "s"),
        Row(f"{name}: processor time on Spark, with its Java", median(times[MASTER]), "s"),
        at_most(f"{name}: Spark ÷ local", ratio(times[MASTER], times["local"]), "x", 2),
        Row(f"{name}: sent through the shuffle", spark.shuffled / spark.sentences, "B/sentence"),
        Row(f"{name}: lake", spark.lake / spark.sentences, "B/sentence"),
        Row(f"{name}: largest Python process of a task", spark.peak, "MiB"),
        *(Row(f"{name}: tasks of {stage}", spent, "s") for stage, spent in spark.tasks.items()),
        Row(f"{name}: the command beside the tasks", spark.beside, "s"),
    ], spark


@dataclass(frozen=True)
class Costs:
    """What a run has cost, by its summary."""

    sentences: int
    processor: float  # seconds
    shuffled: int  # bytes
    lake: int  # bytes
    peak: float  # MiB
    tasks: dict[str, float]  # seconds, by stage
    beside: float  # seconds that the command took while no stage ran

    @classmethod
    def of(cls, out: Path, processor: float) -> Costs:
        summary = json.loads((out / "summary.json").read_text("utf-8"))
        stages = summary["stages"]
        return cls(
            summary["counts"]["sentences_kept"],
            processor,
            sum(stage["shuffled_bytes"] for stage in stages),
            sum(path.stat().st_size for path in (out / "lake").rglob("*") if path.is_file()),
            max((stage["peak_memory_mb"] for stage in stages), default=0),
            {stage["stage"]: stage["task_seconds"] for stage in stages},
            sum(summary["seconds"].values()) - sum(stage["seconds"] for stage in stages),
        )
