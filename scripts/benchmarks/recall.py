"""Recall and precision against every true pair of the real sentences."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import mean

import numpy as np

import esdedup
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.rows import Row, at_least
from scripts.benchmarks.sample import LIKE_SENTENCES, SENTENCES, SMALL, Sample, read_lines, read_sample, read_truth

BANDS, ROWS = 10, 4
SEEDS = 20


def measure(bench: Bench) -> list[Row]:
    return _default_seed(bench) + _seeds(read_sample(bench.data, bench.small), 3 if bench.small else SEEDS)


def _default_seed(bench: Bench) -> list[Row]:
    out = bench.work / "recall"
    limit = SMALL if bench.small else None
    options = {**LIKE_SENTENCES, "id_column": "line", "text_column": "2", "limit": limit}
    esdedup.run(bench.data / SENTENCES, out=out, fresh=True, **options)
    named = _pairs(out / "pairs.jsonl")
    shutil.rmtree(out)
    first = _first_lines(bench.data)
    found = {(min(a, b), max(a, b)): value for (a, b), value in ((_both(first, pair), value) for pair, value in named)}
    truth = {(a, b): value for a, b, value in read_truth(bench.data) if limit is None or max(a, b) <= limit}
    right = sum(1 for pair, value in found.items() if abs(truth.get(pair, -1.0) - value) < 5e-7)
    by_first = sum(1 for pair, _ in named if _both(first, pair) == pair)
    return [
        at_least("recall, default seed, esdedup run", len(truth.keys() & found.keys()) / len(truth), "", 0.996),
        at_least("precision (a true pair, and its Jaccard to 6 decimals)", right / max(1, len(named)), "", 1.0),
        at_least("pairs that are named by the first lines of both sentences", by_first / max(1, len(named)), "", 1.0),
        Row("pairs found", len(named)),
    ]


def _pairs(path: Path) -> list[tuple[tuple[int, int], float]]:
    with path.open(encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]
    return [((int(pair["a"]), int(pair["b"])), pair["jaccard"]) for pair in pairs]


def _first_lines(data: Path) -> list[int]:
    """For each line, from 1, the first with the same sentence."""
    first: dict[str, int] = {}
    return [0, *(first.setdefault(text, number) for number, text in read_lines(data))]


def _both(first: list[int], pair: tuple[int, int]) -> tuple[int, int]:
    return first[pair[0]], first[pair[1]]


def _seeds(sample: Sample, seeds: int) -> list[Row]:
    """The mean over seeds, and how far it is from theory in standard errors.

    A pair of Jaccard s is found with p = 1 - (1 - s^rows)^bands, so recall is mean(p), with variance
    sum(p (1 - p)) / pairs^2 for one seed and that over the number of seeds for their mean.
    """
    recalls = []
    for seed in range(1, seeds + 1):
        answer = esdedup.cluster_texts(sample.texts, **LIKE_SENTENCES, seed=seed)
        recalls.append(sample.found(answer.a, answer.b)[0])
    chance = 1 - (1 - sample.jaccard**ROWS) ** BANDS
    error = float(np.sqrt((chance * (1 - chance)).sum() / len(chance) ** 2 / seeds))
    theory = float(chance.mean())
    away = abs(mean(recalls) - theory) / error
    return [
        at_least(f"recall, mean of seeds 1 to {seeds}", mean(recalls), "", 0.997),
        Row("recall, least of these seeds", min(recalls)),
        Row("recall in theory, mean of 1 − (1 − s^4)^10 over the true pairs", theory),
        Row(
            "distance of the mean from theory in standard errors, √(Σp(1−p) / pairs² / seeds)",
            away, "", "≤ 3", away <= 3,
        ),
    ]  # fmt: skip
