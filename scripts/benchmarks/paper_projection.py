"""Random projection of very many sentences (Meng and Zheng): with all of Wikipedia, theirs ran out of memory."""

from __future__ import annotations

import json
import shutil

from scripts.benchmarks.bench import Bench
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.memory import ROLLUP, peak
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row

SENTENCES, SMALL_SENTENCES = 2_050_000, 10_000  # of which at least 2,000,000 are kept


def projection(bench: Bench) -> list[Row]:
    folder = bench.work / "projection"
    shutil.rmtree(folder, ignore_errors=True)
    wiki = dump(bench, articles_of_sentences(bench, SMALL_SENTENCES if bench.small else SENTENCES))
    store = ("--store", folder / "store.duckdb", "--memory", "1GiB", "--quiet")
    folder.mkdir(parents=True)
    run([*ESDEDUP, "index", wiki, *store])
    scanned = run([*ESDEDUP, "scan", *store, "--preset", "random-projection", "--json"], sampled=ROLLUP.exists())
    shutil.rmtree(folder)
    counts = json.loads(scanned.output)["counts"]
    what = f"random-projection on generated, {counts['sentences_kept']:,} sentences"
    return [
        Row(f"{what}: the whole command scan", scanned.seconds, "s"),
        peak(f"{what}: peak of the process tree with --memory 1GiB (the report: failed for want of it)", scanned, 1.5),
        Row(f"{what}: pairs", counts["pairs"]),
        Row(f"{what}: clusters", counts["clusters"]),
    ]
