"""Fit esdedup/analysis/weights.toml to labelled pairs of texts.

    python -m scripts.fit_judgements ../shared/data FOLDER

Only design halves are read. FOLDER takes the clusters of real dumps.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import esdedup
from esdedup.analysis import judging
from esdedup.analysis.changes import CHANGES
from esdedup.analysis.comparing import compare, hold_each
from esdedup.analysis.subjects import STANDING
from esdedup.analysis.word_forms import Measures
from scripts.benchmarks.meaning import KIND_CORPORA
from scripts.benchmarks.meaning import LABELS as KIND_LABELS
from scripts.benchmarks.truth import LABELS, VERDICTS, table
from scripts.benchmarks.truth_corpora import CORPORA, HISTORIES, LATER, Clustered, clustered, hashes_of, later
from scripts.benchmarks.truth_pairs import Pair, changes_of, pairs_of

WEIGHTS = Path(judging.__file__).with_name("weights.toml")

SETS = {
    "vitaminc-evidence": 1.0,
    "vitaminc-claims": 1.0,
    "breaking-nli": 0.3,
    "paws-wiki": 1.0,
    "paws-x": 0.5,
    "iterater": 10.0,  # few pairs, but most of what is edited is edited like these
}
"""How much a pair of each set weighs."""

AS_IF, AS_IF_WEIGHT = "vitaminc-evidence", 0.03
OPPOSED = "vitaminc-claims"
"""The sets whose pairs (of the second one, those with opposites) are also taken as if they stood on two pages, and how
much each of them weighs there.
"""

EDITS = ("vitaminc-evidence", "vitaminc-claims", "iterater")
"""The sets of texts about one page."""

PENALTY = 2.0
"""On the squares of the weights."""


def main(data: Path, folder: Path) -> None:
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
    nothing = judging.time_terms(changed[:1], np.array([0.5]))
    no_rows = judging.place_terms(changed[:1], np.zeros((1, len(STANDING))), np.array([2]), np.array([0.5]))
    write(
        tables
        | {
            "places": dict.fromkeys([*no_rows, "constant"], 0.0),
            "times": dict.fromkeys([*nothing, "constant"], 0.0),
            "titles": {"by the texts": 1.0, "constant": 0.0},
        }
    )
    # dumps have few contradictions between pages, so sentences about one subject are taken as if they were on two
    opposites = columns["an opposite"] > 0
    several = columns["two numbers"] > 0  # what only templates do
    as_if = [
        at
        for at, pair in enumerate(pairs)
        if (pair.source == AS_IF and not several[at]) or (pair.source == OPPOSED and opposites[at])
    ]
    likely = judging.by_the_texts(changed).tolist()
    nowhere = np.zeros(len(STANDING))
    told = [Placed(changed[at], nowhere, 2, likely[at], pairs[at].differs) for at in as_if]
    rows = list(of_dumps(data, folder))
    for name, revised in (("places", False), ("times", True)):
        some = [row for row in rows if row.stand[STANDING.index("revisions")] == revised]
        counted = np.append(np.ones(len(some)), np.full(len(told), AS_IF_WEIGHT))
        changed, stand, texts, likely, truth = (
            np.array(column, np.float64) for column in zip(*some, *told, strict=True)
        )
        columns = judging.time_terms(changed, likely) if revised else judging.place_terms(changed, stand, texts, likely)
        tables[name] = fitted(columns, truth, counted)
    edits = np.array([pair.source in EDITS for pair in pairs])
    said = judging.by_the_texts(changes_of([pair for pair in pairs if pair.source in EDITS]))
    tables["titles"] = fitted(judging.title_terms(said), differs[edits], np.ones(len(said)))
    write(tables)


class Placed(NamedTuple):
    """Two texts of a dump: what changed, how they stand to each other, and whether they contradict each other."""

    changed: Measures
    stand: Measures
    texts: int  # of their cluster
    likely: float
    contradicts: bool


def of_dumps(data: Path, folder: Path) -> Iterator[Placed]:
    """Yield pairs that were judged one by one, and of clusters whose kind was judged, the pair that seems surest."""
    judged = [row for row in table(VERDICTS) if row["half"] == "design"]
    verdicts, late = (
        {(row["a"], row["b"]): row["contradicts"] == "yes" for row in judged if (row["corpus"] == LATER) == is_late}
        for is_late in (False, True)
    )
    kinds = {row["a"]: row["kind"] for path in (LABELS, KIND_LABELS) for row in table(path) if row["half"] == "design"}
    for corpus in (*CORPORA, *HISTORIES):
        for cluster in clustered(data, folder, corpus, "design", kinds=False).clusters():
            yield from judged_pairs(cluster, verdicts, kinds)
    for cluster in later(data, folder).clusters():
        yield from judged_pairs(cluster, late, {})
    for corpus, (names, options) in KIND_CORPORA.items():
        out = folder / f"kinds-{corpus}"
        sources = [data / name for name in names]
        esdedup.run(*sources, out=out, kinds=False, lookup=False, report=False, fresh=True, **options)
        for cluster in Clustered(corpus, "design", out).clusters():
            yield from judged_pairs(cluster, {}, kinds)


def judged_pairs(
    cluster: dict[str, Any], verdicts: Mapping[tuple[str, str], bool], kinds: Mapping[str, str]
) -> Iterator[Placed]:
    """Yield the pairs of a cluster that were judged, or the surest pair if the cluster was judged."""
    [held] = hold_each([cluster])
    compared = compare(held, range(len(held.texts)))
    hashes = hashes_of(held.texts)
    likely = judging.by_the_texts(compared.changed)
    kind = next((kinds[value] for value in hashes if value in kinds), None)
    by_kind = None if kind is None else kind == "drift"
    for pair in np.argsort(-likely, kind="stable").tolist():
        one, two = sorted((hashes[int(compared.one[pair])], hashes[int(compared.two[pair])]))
        contradicts = verdicts.get((one, two), by_kind)
        if contradicts is not None and not compared.stand[pair, STANDING.index("together")]:
            yield Placed(
                compared.changed[pair], compared.stand[pair], len(held.texts), float(likely[pair]), contradicts
            )
            by_kind = None


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
    main(Path(sys.argv[1]), Path(sys.argv[2]))
