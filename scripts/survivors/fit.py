"""Fits the weights of `keep=clean` on two thirds of the clusters: python -m scripts.survivors.fit --data FOLDER.

The best copy of a cluster should have less damage than each other one: logistic regression of pairs, in which each
cluster counts the same. Weights of damage are not below 0.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa

from esdedup.keeping.clean import terms_of
from scripts.survivors import Cluster, clusters, part

WEIGHTS = Path(__file__).parents[2] / "esdedup" / "keeping" / "weights.toml"
EITHER_WAY = "added"
PENALTY, STEPS, RATE = 0.0008, 6_000, 0.05


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--clusters", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    made = clusters(options.clusters, options.seed, options.data)
    chosen = [one for one in made if part(one.name) == "building" and one.policy == "clean"]
    names, differences, shares = _pairs(chosen)
    fitted = _fit(names, differences, shares)
    lines = [f'"{name}" = {weight:.3f}' for name, weight in zip(names, fitted, strict=True) if abs(weight) >= 0.0005]
    head = "# What each term of damage counts; made by scripts/survivors/fit.py.\n[weights]\n"
    WEIGHTS.write_text(head + "\n".join(lines) + "\n", "utf-8")


def _pairs(chosen: list[Cluster]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The terms of each other copy less those of the best one, and the share of its cluster that each pair is."""
    texts = [list(dict.fromkeys(copy.text for copy in cluster.copies)) for cluster in chosen]
    groups = np.repeat(np.arange(len(texts)), [len(each) for each in texts])
    terms = terms_of(pa.array([text for each in texts for text in each], pa.large_string()), groups)
    table = np.stack(list(terms.values()), axis=1)
    differences, shares = [], []
    for number, (cluster, held) in enumerate(zip(chosen, texts, strict=True)):
        rows = table[groups == number]
        best = held.index(next(copy.text for copy in cluster.copies if copy.id in cluster.best))
        others = [place for place in range(len(held)) if place != best]
        differences += [rows[place] - rows[best] for place in others]
        shares += [1 / len(others)] * len(others)
    return list(terms), np.array(differences), np.array(shares)


def _fit(names: list[str], differences: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Gradient descent with Adam, which needs no library."""
    free = np.array([name.startswith(EITHER_WAY) for name in names])
    weights, mean, square = (np.zeros(len(names)) for _ in range(3))
    for step in range(1, STEPS + 1):
        wrong = shares / (1 + np.exp(differences @ weights)) / shares.sum()
        gradient = 2 * PENALTY * weights - differences.T @ wrong
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        weights = weights - RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-9)
        weights = np.where(free, weights, np.maximum(weights, 0))
    return weights


if __name__ == "__main__":
    main()
