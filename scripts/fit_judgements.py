"""Fit esdedup/analysis/weights.toml to labelled pairs of texts: `python -m scripts.fit_judgements ../shared/data`.

Only the design half is read: pages, groups or texts whose name has an even checksum.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from esdedup.analysis import judging
from esdedup.analysis.changes import CHANGES
from esdedup.analysis.word_forms import Measures
from scripts.benchmarks.truth_pairs import Pair, changes_of, pairs_of

WEIGHTS = Path(judging.__file__).with_name("weights.toml")

SETS = {
    "vitaminc-evidence": 1.0,
    "vitaminc-claims": 1.0,
    "breaking-nli": 0.3,
    "paws-wiki": 1.0,
    "iterater": 15.0,  # few pairs, but most of what is edited is edited like these
}
"""How much a pair of each set weighs."""

PENALTY = 2.0
"""On the squares of the weights."""


def main(data: Path) -> None:
    pairs = [pair for name in SETS for pair in pairs_of(data, name, "design") if known(pair)]
    differs = np.array([pair.differs for pair in pairs], np.float64)
    counted = np.array([SETS[pair.source] for pair in pairs])
    changed = changes_of(pairs)
    columns = judging.terms(changed)
    moved = changed[:, CHANGES.index("moved")] > 0
    tables = {
        name: fitted({term: values[rows] for term, values in columns.items()}, differs[rows], counted[rows])
        for name, rows in (("still", ~moved), ("moved", moved))
    }
    write(tables | {"places": {}})


def known(pair: Pair) -> bool:
    """Whether a pair tells what is right: an edit that changes the meaning may do so by another fact, or otherwise."""
    return pair.gold != "identical" and not (pair.source == "iterater" and pair.gold == "differs")


def fitted(columns: Mapping[str, Measures], truth: Measures, counted: Measures) -> dict[str, float]:
    """Return the weights of a logistic regression, by Newton's method."""
    rows = judging.with_constant(dict(columns))
    weights, penalty = np.zeros(rows.shape[1]), np.full(rows.shape[1], PENALTY)
    penalty[-1] = 1e-6
    for _ in range(50):
        said = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (counted * (said - truth)) + penalty * weights
        bend = (rows * (counted * said * (1 - said))[:, None]).T @ rows + np.diag(penalty)
        weights -= np.linalg.solve(bend, slope)
    return dict(zip([*columns, "constant"], weights.tolist(), strict=True))


def write(tables: Mapping[str, Mapping[str, float]]) -> None:
    """Write the weights, in tables by name."""
    lines: Sequence[Any] = ["# Written by scripts/fit_judgements.py; docs/truth.md says from what."]
    for name, weights in tables.items():
        lines = [*lines, "", f"[{name}]", *(f'"{term}" = {weight:.3f}' for term, weight in weights.items())]
    WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
