"""What it costs to find every pair, beside what minhash tokens find."""

from __future__ import annotations

import shutil
from pathlib import Path
from statistics import median
from typing import Any

import esdedup
from scripts.benchmarks.bench import Bench, interleaved, seconds
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.paper_sentences import write_sentences
from scripts.benchmarks.rows import Row
from scripts.benchmarks.sample import LIKE_SENTENCES, read_sample

SENTENCES = (1_000_000, 5_000_000)
SMALL_SENTENCES = (10_000, 50_000)


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "exact"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_sentences(read_sample(bench.data, bench.small), folder / "sentences.tsv")
    rows = _both(folder, "debian-descriptions", folder / "sentences.tsv", bench.runs, **LIKE_SENTENCES)
    for sentences in SMALL_SENTENCES if bench.small else SENTENCES:
        rows += _both(folder, "generated", dump(bench, articles_of_sentences(bench, sentences)), 1)
    shutil.rmtree(folder)
    return rows


def _both(folder: Path, name: str, source: Path, runs: int, **options: Any) -> list[Row]:
    """One store, scanned in turns by tokens and exactly."""
    store = folder / "store.duckdb"
    kept = esdedup.index(source, store=store, fresh=True, **options)["counts"]["sentences_kept"]
    pairs: dict[str, int] = {}

    def scan(candidates: str) -> None:
        pairs[candidates] = esdedup.scan(store=store, candidates=candidates, kinds=False)["counts"]["pairs"]

    ways = ("tokens", "exact")
    times = interleaved({way: lambda way=way: seconds(lambda: scan(way)) for way in ways}, runs)
    tokens, exact = (median(times[way]) for way in ways)
    what = f"{name}, {kept:,} sentences"
    return [
        Row(f"scan by tokens of {what}", tokens, "s"),
        Row(f"scan --exact of {what}", exact, "s"),
        Row(f"scan --exact of {what}, times that by tokens", exact / tokens, "x"),
        Row(f"scan by tokens of {what}: pairs", pairs["tokens"]),
        Row(f"scan --exact of {what}: pairs", pairs["exact"]),
        # its pairs are verified: they are among those
        Row(f"scan by tokens of {what}: recall", pairs["tokens"] / pairs["exact"]),
    ]
