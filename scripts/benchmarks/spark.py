"""Scans on Spark beside the local engine: the same bytes, the processor time of whole commands, and the shuffle."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import subprocess
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from statistics import median

import esdedup
from scripts.benchmarks.bench import Bench, interleaved, ratio
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.processes import ESDEDUP
from scripts.benchmarks.rows import Row, at_most
from scripts.benchmarks.sample import SENTENCES

SIZES, SMALL_SIZES = (1_000_000, 5_000_000), (20_000,)
"""Sentences of the generated wikis."""

FILES = ("pairs.jsonl", "clusters.jsonl", "clusters.txt")
PARTITIONS = (1, 7, 200)
MASTER = "local[2]"

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux: what a command leaves behind becomes a child of this process."""


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "spark"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = [_differing(bench, folder)]
    for size in SMALL_SIZES if bench.small else SIZES:
        rows += _processor_time(bench, folder, size)
    shutil.rmtree(folder)
    return rows


def _differing(bench: Bench, folder: Path) -> Row:
    """Count the result files of real data that differ between the engines."""
    wikis = bench.data / "wiki"
    sources = {
        "descriptions": ([bench.data / SENTENCES], {"unit": "sentence", "id_column": "line", "text_column": "2"}),
        **{path.name: ([path], {}) for path in sorted(wikis.glob("*.xml.bz2"))[: 1 if bench.small else 3]},
    }
    limit = 20_000 if bench.small else None
    differ = 0
    for name, (given, how) in sources.items():
        expected = folder / f"{name}-local"
        esdedup.run(*given, out=expected, limit=limit, report=False, quiet=True, **how)  # type: ignore[arg-type]
        for partitions in PARTITIONS[:1] if bench.small else PARTITIONS:
            out = folder / f"{name}-{partitions}"
            conf = folder / "conf"
            conf.mkdir(exist_ok=True)
            (conf / "spark-defaults.conf").write_text(f"spark.esdedup.partitions {partitions}\n", "ascii")
            shutil.copytree(expected, out)
            # a scan like the last one has nothing to do
            esdedup.scan(store=out / "store.duckdb", jaccard=0.95, quiet=True)
            arguments = [*ESDEDUP, "scan", "--store", out / "store.duckdb", "--out", out, "--engine", MASTER, "--quiet"]
            _run([*arguments, "--jaccard", "0.8"], SPARK_CONF_DIR=str(conf))
            differ += sum((out / file).read_bytes() != (expected / file).read_bytes() for file in FILES)
    names = ", ".join(sources)
    partitions_tried = "one partition" if bench.small else "1, 7 and 200 partitions"
    return at_most(f"result files that differ: {names}; {partitions_tried}", differ, "files", 0)


def _processor_time(bench: Bench, folder: Path, size: int) -> list[Row]:
    source = dump(bench, articles_of_sentences(bench, size))
    turns = count()

    def run(engine: str) -> float:
        out = folder / f"turn-{next(turns)}"
        took = _run([*ESDEDUP, "run", source, "--out", out, "--engine", engine, "--no-report", "--quiet"])
        shutil.rmtree(out)
        return took

    times = interleaved({name: lambda name=name: run(name) for name in ("local", MASTER)}, bench.runs)  # type: ignore[misc]
    name = f"run of {size:,} sentences, whole command"
    return [
        Row(f"{name}: processor time of the local engine", median(times["local"]), "s"),
        Row(f"{name}: processor time on Spark, with its Java", median(times[MASTER]), "s"),
        at_most(f"{name}: Spark ÷ local", ratio(times[MASTER], times["local"]), "x", 2),
    ]


def _run(command: Sequence[str | Path], **environment: str) -> float:
    """Run a command to its end, and to that of all that it leaves behind. Return their processor time."""
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
