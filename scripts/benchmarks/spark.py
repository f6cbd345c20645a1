"""Scans on Spark beside the local engine: the same bytes, the processor time of whole commands, and the shuffle."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.parquet as pq

from scripts.benchmarks.bench import ROOT, Bench, interleaved, ratio
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.processes import ESDEDUP
from scripts.benchmarks.rows import Row, at_least, at_most
from scripts.benchmarks.sample import LIKE_SENTENCES, SENTENCES, read_sample

SIZES, SMALL_SIZES = (1_000_000, 5_000_000, 10_000_000), (20_000, 40_000)
"""Sentences of the generated wikis."""

DUMPS = 8
"""Files of a wiki, each of which is read by a task."""

MANY_TURNS = 1_000_000
"""The largest run that is measured several times."""

TEXTS, SMALL_TEXTS = 50_000, 2_000
"""Texts that are compared with MLlib, which compares each with every one that has one minimum in common."""

FILES = ("pairs.jsonl", "clusters.jsonl", "clusters.txt")
PARTITIONS = (1, 7, 200)
MASTER = "local[2]"

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux: what a command leaves behind becomes a child of this process."""


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "spark"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = [_differing(bench, folder), *_beside_mllib(bench, folder)]
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


def _differing(bench: Bench, folder: Path) -> Row:
    """Count the result files of real data that differ between the engines."""
    wikis = bench.data / "wiki"
    columns = ["--unit", "sentence", "--id-column", "line", "--text-column", "2"]
    sources = {
        "descriptions": [bench.data / SENTENCES, *columns],
        **{path.name: [path] for path in sorted(wikis.glob("*.xml.bz2"))[: 1 if bench.small else 3]},
    }
    limit = ["--limit", "20000"] if bench.small else []
    differ = 0
    for name, given in sources.items():
        command = [*ESDEDUP, "run", *given, *limit, "--no-report", "--quiet", "--out"]
        expected = folder / f"{name}-local"
        _run([*command, expected])
        for partitions in PARTITIONS[:1] if bench.small else PARTITIONS:
            out, conf = folder / f"{name}-{partitions}", folder / "conf"
            conf.mkdir(exist_ok=True)
            (conf / "spark-defaults.conf").write_text(f"spark.esdedup.partitions {partitions}\n", "ascii")
            _run([*command, out, "--engine", MASTER], SPARK_CONF_DIR=str(conf))
            differ += sum((out / file).read_bytes() != (expected / file).read_bytes() for file in FILES)
    names = ", ".join(sources)
    partitions_tried = "one partition" if bench.small else "1, 7 and 200 partitions"
    return at_most(f"result files that differ: {names}; {partitions_tried}", differ, "files", 0)


def _whole_runs(bench: Bench, folder: Path, size: int) -> tuple[list[Row], Costs]:
    """Measure whole runs on both engines. Return what the last one on Spark has cost."""
    sources = [dump(bench, articles_of_sentences(bench, size // DUMPS), seed=1 + number) for number in range(DUMPS)]
    turns, costs = count(), dict[str, Costs]()

    def run(engine: str) -> float:
        out = folder / f"turn-{next(turns)}"
        took = _run([*ESDEDUP, "run", *sources, "--out", out, "--engine", engine, "--no-report", "--quiet"])
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


def _beside_mllib(bench: Bench, folder: Path) -> list[Row]:
    """Compare with the MinHashLSH of Spark itself, on the same texts."""
    sample = read_sample(bench.data, bench.small)
    texts = sample.texts[: SMALL_TEXTS if bench.small else TEXTS]
    pairs = zip(sample.a.tolist(), sample.b.tolist(), strict=True)
    wanted = {_named(a, b) for a, b in pairs if max(a, b) < len(texts)}
    path = folder / "texts.parquet"
    pq.write_table(pa.table({"id": [str(number) for number in range(len(texts))], "text": texts}), path)
    how = [word for name, value in LIKE_SENTENCES.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    took = _run([*ESDEDUP, "run", path, "--out", folder / "ours", "--engine", MASTER, "--no-report", "--quiet", *how])
    ours = _pairs(folder / "ours" / "pairs.jsonl")
    script = [sys.executable, "-m", "scripts.benchmarks.mllib", path, folder / "mllib.jsonl", MASTER]
    theirs_took = _run(script, PYTHONPATH=str(ROOT))
    theirs = _pairs(folder / "mllib.jsonl")
    name = f"{len(texts):,} descriptions, {len(wanted):,} pairs"
    return [
        Row(f"{name}: recall of esdedup", len(ours & wanted) / len(wanted)),
        Row(f"{name}: recall of MLlib's MinHashLSH", len(theirs & wanted) / len(wanted)),
        Row(f"{name}: processor time of esdedup on Spark, with its Java", took, "s"),
        Row(f"{name}: processor time of MLlib, verified, with its Java", theirs_took, "s"),
        at_least(f"{name}: MLlib ÷ esdedup", theirs_took / took, "x", 20),
    ]


def _pairs(path: Path) -> set[tuple[str, str]]:
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return {_named(row["a"], row["b"]) for row in rows}


def _named(a: int | str, b: int | str) -> tuple[str, str]:
    one, two = sorted((str(a), str(b)))
    return one, two


def _run(command: Sequence[str | Path], **environment: str) -> float:
    """Run a command to its end, and to that of all that it leaves behind. Return their processor time.

    This process must have no other children.
    """
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    )  # fmt: skip
    _, said = process.communicate()
    if process.returncode:
        raise RuntimeError(f"exit {process.returncode}: {said.decode(errors='replace').strip()[-500:]}")
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
