"""Near-duplicate sentences: signatures drawn from one pool (Weissman et al. 2014), random projection (Meng and Zheng,
who did both), and our bands."""

from __future__ import annotations

import json
import shutil
from math import comb
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import numpy.typing as npt

import esdedup
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.memory import ROLLUP, peak
from scripts.benchmarks.presets import preset
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row
from scripts.benchmarks.sample import LIKE_SENTENCES, Sample, read_sample

ARTICLES = Path("wiki/enwiki-106-articles.xml.bz2")
SYSTEMS = {
    "defaults (10 bands of 4)": ("--bands", "10", "--rows", "4", "--jaccard", "0.8"),
    "weissman (10 draws of 10 from 20)": ("--preset", "weissman"),
    "weissman --verify exact": ("--preset", "weissman", "--verify", "exact"),
    "random-projection": ("--preset", "random-projection"),
}
REPORTED = {
    "weissman (10 draws of 10 from 20)": " (the report: 5.8 s for 103 articles, 12,966 sentences)",
    "random-projection": " (the report: 37.9 s for 103 articles, 12,966 sentences)",
}
SEEDS, SMALL_SEEDS = 20, 3

_OF_THE_SYSTEM = ("bands", "rows", "jaccard")
AS_FLAGS = [
    f"--{name.replace('_', '-')}={value}" for name, value in LIKE_SENTENCES.items() if name not in _OF_THE_SYSTEM
]


def sentences(bench: Bench) -> list[Row]:
    sample = read_sample(bench.data, bench.small)
    folder = bench.work / "papers"
    folder.mkdir(parents=True, exist_ok=True)
    lines, truth = folder / "sentences.tsv", folder / "truth.tsv"
    write_sentences(sample, lines)
    columns = (sample.a.tolist(), sample.b.tolist(), sample.jaccard.tolist())
    truth.write_text("".join(f"{a}\t{b}\t{jaccard}\n" for a, b, jaccard in zip(*columns, strict=True)), "utf-8")
    rows: list[Row] = []
    for system in SYSTEMS:
        rows += _measured(bench, system, bench.data / ARTICLES, "exact", REPORTED.get(system, ""))
    for system in SYSTEMS:
        rows += _measured(bench, system, lines, truth, "", *AS_FLAGS)
    shutil.rmtree(folder)
    return rows + _seeds(sample, SMALL_SEEDS if bench.small else SEEDS)


def write_sentences(sample: Sample, path: Path) -> None:
    """A table of the sentences, each named by its place in the sample."""
    path.write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(sample.texts)), "utf-8")


def _measured(bench: Bench, system: str, source: Path, truth: str | Path, reported: str, *options: str) -> list[Row]:
    """One system on one file: the whole command, and what it found of all true pairs of distinct sentences."""
    out = bench.work / "papers" / "out"
    command = [*ESDEDUP, "run", source, *options, *SYSTEMS[system], "--out", out, "--fresh", "--quiet"]
    sampled = run(command, sampled=ROLLUP.exists())
    times = [run(command).seconds for _ in range(1 if bench.small else bench.runs)]
    counts = json.loads((out / "summary.json").read_text("utf-8"))["counts"]
    found = esdedup.evaluate(store=out / "store.duckdb", truth=truth)["truth"]
    shutil.rmtree(out)
    name = "enwiki-106-articles" if source.name == ARTICLES.name else "debian-descriptions"
    what = f"{system} on {name}, {counts['sentences_kept']:,} sentences"
    return [
        Row(f"{what}: the whole command{reported}", median(times), "s"),
        peak(f"{what}: peak of the process tree", sampled),
        Row(f"{what}: pairs", counts["pairs"]),
        Row(f"{what}: clusters", counts["clusters"]),
        *_recalls(what, found),
        Row(f"{what}: precision, Jaccard ≥ 0.8 as the truth", found["precision"]),
    ]


def _recalls(what: str, found: dict[str, Any]) -> list[Row]:
    """Of the pairs at or above 0.8, and at or above 0.9 where there are any."""
    rows = []
    for least in (0.8, 0.9):
        classes = [row for row in found["by_jaccard"] if row["from"] >= least]
        if true := sum(row["true_pairs"] for row in classes):
            share = sum(row["right_pairs"] for row in classes) / true
            rows.append(Row(f"{what}: recall of the {true:,} pairs of Jaccard ≥ {least}", share))
    return rows


def _seeds(sample: Sample, seeds: int) -> list[Row]:
    """The mean over seeds: one seed of the draws finds from half to seven tenths of the pairs."""
    drawn = _recall_of_seeds(sample, seeds, {"unit": "record"} | preset("weissman"))
    banded = _recall_of_seeds(sample, seeds, LIKE_SENTENCES)
    rows = [Row("weissman in theory: chance of a pair of Jaccard 0.9 (the paper: 0.99)", float(_chance(0.9)))]
    for least in (0.8, 0.9):
        jaccard = sample.jaccard[sample.jaccard >= least]
        what = f"on debian-descriptions: recall of the {len(jaccard):,} pairs of Jaccard ≥ {least}"
        rows += [
            Row(f"weissman {what}, mean of seeds 1 to {seeds}", drawn[least]),
            Row(f"weissman {what}, in theory", float(_chance(jaccard).mean())),
            Row(f"weissman {what}, by the paper's formula", float((1 - (1 - jaccard**10) ** 10).mean())),
            Row(f"10 bands of 4 {what}, mean of seeds 1 to {seeds}", banded[least]),
        ]
    return rows


def _chance(jaccard: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The probability that two texts share one of 10 draws of 10 from 20 values.

    The paper has 1 - (1 - s^10)^10, as if no draw had values of another. If n of the 20 agree, each draw is shared with
    C(n, 10) / C(20, 10).
    """
    agree = np.arange(21)
    ways = np.array([comb(20, n) for n in agree])
    missed = (1 - np.array([comb(n, 10) for n in agree]) / comb(20, 10)) ** 10
    share = np.asarray(jaccard)[..., None]
    return 1 - (ways * share**agree * (1 - share) ** (20 - agree)) @ missed


def _recall_of_seeds(sample: Sample, seeds: int, options: dict[str, Any]) -> dict[float, float]:
    """By the least similarity that counts."""
    size = len(sample.texts)
    recalls: dict[float, list[float]] = {0.8: [], 0.9: []}
    for seed in range(1, seeds + 1):
        answer = esdedup.cluster_texts(sample.texts, **{**options, "seed": seed})
        found = np.isin(sample.a * size + sample.b, answer.a * size + answer.b)
        for least, shares in recalls.items():
            shares.append(float(found[sample.jaccard >= least].mean()))
    return {least: mean(shares) for least, shares in recalls.items()}
