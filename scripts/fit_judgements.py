"""Fit esdedup/analysis/weights.toml to labelled pairs of texts.

    python -m scripts.fit_judgements ../shared/data FOLDER

Only design halves are read. FOLDER takes the clusters of real dumps.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import esdedup
from esdedup.analysis import judging
from esdedup.analysis.changes import CHANGES
from esdedup.analysis.comparing import compare, hold_each
from esdedup.analysis.drift import contradictions_among
from esdedup.analysis.subjects import STANDING
from esdedup.analysis.word_forms import Measures
from scripts.benchmarks.meaning import KIND_CORPORA
from scripts.benchmarks.meaning import LABELS as KIND_LABELS
from scripts.benchmarks.plants import planted
from scripts.benchmarks.truth import LABELS, VERDICTS, table
from scripts.benchmarks.truth_corpora import CORPORA, HISTORIES, LATER, Clustered, clustered, hashes_of, later
from scripts.benchmarks.truth_pages import DESIGN, PAGE_LABELS, of_wiki
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

PLANT = 5.0
"""How much a planted edit weighs, beside these pairs."""

REAL = 1.5
"""How much a pair of pages of a real wiki weighs, beside a planted edit: few of them contradict each other."""

EDITS = ("vitaminc-evidence", "vitaminc-claims", "iterater")
"""The sets of texts about one page."""

_PATTERNED = 3
"""Texts of a pattern of which each is compared with each."""

REVISED, SAVED, PLANTED_LATER = ("vitaminc-evidence", "iterater"), 0.05, 0.1
"""The sets of sentences before and after a revision, and what they and planted edits weigh beside judged revisions."""

PENALTY = 2.0
"""On the squares of the weights."""


def main(data: Path, folder: Path) -> None:
    pairs = [pair for name in SETS for pair in pairs_of(data, name, "design") if known(pair)]
    start(pairs)
    planted_rows = list(of_plants(data, folder))
    changed = np.vstack([changes_of(pairs), *(row.changed for row in planted_rows)])
    differs = np.array([*(pair.differs for pair in pairs), *(row.contradicts for row in planted_rows)], np.float64)
    counted = np.array([*(SETS[pair.source] for pair in pairs), *(PLANT for _ in planted_rows)])
    tables = of_texts(changed, differs, counted)
    write(tables | others(changed))
    # what is likely by the texts has changed
    dumps = [*of_dumps(data, folder), *of_pages(data, folder)]
    apart = [row for row in dumps if not row.revised] + planted_rows
    later = [row for row in dumps if row.revised]
    counted = np.append(np.full(len(apart) - len(planted_rows), REAL), np.ones(len(planted_rows)))
    tables["places"] = fitted(judging.place_terms(*columns_of(apart)), truth_of(apart), counted)
    tables["times"] = of_times(later, pairs, planted_rows)
    edits = [pair for pair in pairs if pair.source in EDITS]
    said = judging.by_the_texts(changes_of(edits))
    truth = np.array([pair.differs for pair in edits], np.float64)
    tables["titles"] = fitted(judging.title_terms(said), truth, np.ones(len(said)))
    write(tables)


def start(pairs: Sequence[Pair]) -> None:
    """Write weights with all terms, so that clusters can be judged at all."""
    some = changes_of(pairs[:1])
    no_texts = dict.fromkeys([*judging.terms(some), "constant"], 0.0)
    write({"still": no_texts, "moved": no_texts} | others(some))


def others(changed: Measures) -> dict[str, dict[str, float]]:
    """Return weights of where texts stand, from before they are fitted."""
    half = np.array([0.5])
    places = judging.place_terms(changed[:1], np.zeros((1, len(STANDING))), np.array([2.0]), np.ones(1), half)
    times = judging.time_terms(changed[:1], half)
    return {
        "places": dict.fromkeys([*places, "constant"], 0.0),
        "times": dict.fromkeys([*times, "constant"], 0.0),
        "titles": {"by the texts": 1.0, "constant": 0.0},
    }


def of_texts(changed: Measures, differs: Measures, counted: Measures) -> dict[str, dict[str, float]]:
    """Fit the weights of what changed between texts: where words have moved, and where none have."""
    columns = judging.terms(changed)
    moved = changed[:, CHANGES.index("moved")] > 0
    return {
        name: fitted({term: values[rows] for term, values in columns.items()}, differs[rows], counted[rows])
        for name, rows in (("still", ~moved), ("moved", moved))
    }


def of_times(later: Sequence[Placed], pairs: Sequence[Pair], planted_rows: Sequence[Placed]) -> dict[str, float]:
    """Fit the weights of two revisions of a page: to judged ones, and less to edits of Wikipedia and planted ones."""
    saved = [pair for pair in pairs if pair.source in REVISED]
    changed = np.vstack([columns_of(later)[0], changes_of(saved), columns_of(planted_rows)[0]])
    truth = [truth_of(later), np.array([pair.differs for pair in saved], np.float64), truth_of(planted_rows)]
    weights = zip((1.0, SAVED, PLANTED_LATER), truth, strict=True)
    counted = np.concatenate([np.full(len(some), weight) for weight, some in weights])
    return fitted(judging.time_terms(changed, judging.by_the_texts(changed)), np.concatenate(truth), counted)


class Placed(NamedTuple):
    """Two texts of a dump: what changed, how they stand to each other, and whether they contradict each other."""

    changed: Measures
    stand: Measures
    texts: int  # of their cluster
    frames: int
    contradicts: bool
    wiki: str

    @property
    def revised(self) -> bool:
        """Whether they stand in two revisions of a page."""
        return bool(self.stand[STANDING.index("revisions")])


def columns_of(rows: Sequence[Placed]) -> tuple[Measures, ...]:
    """Return what changed, how texts stand, the sizes of clusters, their frames, and the likelihoods by the texts."""
    changed = np.array([row.changed for row in rows])
    sizes = (np.array([getattr(row, name) for row in rows], np.float64) for name in ("texts", "frames"))
    return changed, np.array([row.stand for row in rows]), *sizes, judging.by_the_texts(changed)


def truth_of(rows: Sequence[Placed]) -> Measures:
    return np.array([row.contradicts for row in rows], np.float64)


def of_dumps(data: Path, folder: Path) -> Iterator[Placed]:
    """Yield pairs that were judged one by one, and of clusters whose kind was judged, the pair that seems surest."""
    judged = [row for row in table(VERDICTS) if row["half"] == "design"]
    verdicts, late = (
        {(row["a"], row["b"]): row["contradicts"] == "yes" for row in judged if (row["corpus"] == LATER) == is_late}
        for is_late in (False, True)
    )
    kinds = {row["a"]: row["kind"] for path in (LABELS, KIND_LABELS) for row in table(path) if row["half"] == "design"}
    for corpus in (*CORPORA, *HISTORIES):
        yield from judged_pairs(clustered(data, folder, corpus, "design"), verdicts, kinds)
    yield from judged_pairs(later(data, folder), late, {})
    for corpus, (names, options) in KIND_CORPORA.items():
        out = folder / f"kinds-{corpus}"
        sources = [data / name for name in names]
        esdedup.run(*sources, out=out, lookup=False, report=False, fresh=True, **options)
        yield from judged_pairs(Clustered(corpus, "design", out), {}, kinds)


def of_pages(data: Path, folder: Path) -> Iterator[Placed]:
    """Yield labelled pairs of sentences of two pages."""
    verdicts = {(row["a"], row["b"]): row["contradicts"] == "yes" for row in table(PAGE_LABELS)}
    for wiki in DESIGN:
        yield from judged_pairs(of_wiki(data, folder, wiki), verdicts, {})


def of_plants(data: Path, folder: Path) -> Iterator[Placed]:
    """Yield planted pairs, but for those whose values are the same in another form, which are never compared; and pairs
    of a pattern, which do not contradict each other.
    """
    corpus, plants = planted(data, folder, "design")
    verdicts = {plant.hashes: plant.side == "contradiction" for plant in plants}
    for cluster in corpus.clusters():
        texts = {member["text"] for member in cluster["members"] if member["document"].endswith("-1")}
        for one, two in combinations(sorted(hashes_of(sorted(texts)))[:_PATTERNED], 2):
            verdicts.setdefault((one, two), False)
    yield from judged_pairs(corpus, verdicts, {}, listed=True)


def judged_pairs(
    corpus: Clustered, verdicts: Mapping[tuple[str, str], bool], kinds: Mapping[str, str], *, listed: bool = False
) -> Iterator[Placed]:
    """Yield the pairs of clusters that were judged, or the surest pair of a cluster that was judged.

    With `listed`, only pairs that would be listed as contradictions if they were likely.
    """
    wanted = {value for pair in verdicts for value in pair} | set(kinds)
    for cluster in corpus.clusters():
        if wanted.isdisjoint(hashes_of([member["text"] for member in cluster["members"]])):
            continue
        [held] = hold_each([cluster])
        compared = compare(held, range(len(held.texts)))
        hashes = hashes_of(held.texts)
        likely = judging.by_the_texts(compared.changed)
        kind = next((kinds[value] for value in hashes if value in kinds), None)
        by_kind = None if kind is None else kind == "drift"
        for pair in np.argsort(-likely, kind="stable").tolist():
            places = int(compared.one[pair]), int(compared.two[pair])
            one, two = sorted(hashes[place] for place in places)
            contradicts = verdicts.get((one, two), by_kind)
            if contradicts is None or compared.stand[pair, STANDING.index("together")]:
                continue
            sure = compared._replace(likely=np.arange(len(compared.one)) == pair)
            if not listed or any(contradictions_among(held, sure, places)):
                yield Placed(
                    compared.changed[pair],
                    compared.stand[pair],
                    len(held.texts),
                    held.frames,
                    contradicts,
                    corpus.corpus,
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
    judging.weights_of_terms.cache_clear()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
