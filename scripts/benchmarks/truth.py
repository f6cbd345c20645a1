"""Are statements about clusters true? Contradictions and kinds, against labels of pages that nothing was tuned on."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import esdedup
from esdedup.analysis.names import CONTRADICTION, KINDS
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.calibration import TENTHS, calibration_error, picture, reliability
from scripts.benchmarks.plants import SETTINGS, corrected, planted
from scripts.benchmarks.rows import Row, at_least, at_most
from scripts.benchmarks.truth_corpora import CORPORA, HALVES, LATER, Clustered, clustered, hashes_of, later
from scripts.benchmarks.truth_pages import HALF_OF, of_wiki
from scripts.benchmarks.truth_pairs import Pair, pairs_of

LABELS = Path(__file__).with_name("truth.tsv")
"""Clusters by the content hashes of two texts, labelled blind. `kind` settles; siblings are about different things."""

VERDICTS = Path(__file__).with_name("verdicts.tsv")
"""Pairs of texts by their content hashes: whether a person says that they contradict each other."""

WRITTEN = {"later": "written afterwards: ", "last": "written last: "}
"""Sets of planted edits of sentences that were written for them."""

FIRST, ENOUGH = 20, 0.5
SURE_KINDS = ("number", "negation", "quantity")
"""Kinds of planted edits of which nearly all are to be listed."""
SETS = ("vitaminc-evidence", "vitaminc-claims", "iterater", "paws-wiki", "paws-x")
PAIRS: dict[str, Any] = {
    "unit": "record", "shingle": "char:5", "jaccard": 0.55, "exact": True, "min_chars": 0, "id_column": "id",
    "title_column": "title", "text_column": "text",
}  # fmt: skip


class Said(NamedTuple):
    """What esdedup says of a pair: the kind of its cluster, and its surest contradiction (0: none)."""

    pair: Pair
    kind: str
    confidence: float


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "truth"
    shutil.rmtree(folder, ignore_errors=True)
    half = HALVES[0] if bench.small else HALVES[1]
    corpora = ("heads", "learning") if bench.small else tuple(CORPORA)
    rows = _pairs(bench.data, folder, half)
    for plants in (half,) if bench.small else (half, *WRITTEN):
        where = WRITTEN.get(plants, "")
        found = _plants(bench.data, folder, plants) + _stale(bench.data, folder, plants)
        rows += [replace(row, measure=where + row.measure) for row in found]
    labelled = [clustered(bench.data, folder, corpus, half) for corpus in corpora]
    rows += _kinds(labelled, half)
    # the thousand revisions of one page are all of the design half
    more = [] if bench.small else [clustered(bench.data, folder, "afar", half)]
    rows += _listed("these dumps", [row for corpus in (*labelled, *more) for row in listed(corpus)])
    between = [row for corpus in _wikis(bench, half) for row in listed(corpus) if row["change"] == CONTRADICTION]
    rows += _listed("between pages of wikis of this half", between)
    if not bench.small:
        known = {(row["a"], row["b"]) for row in table(VERDICTS) if row["corpus"] == LATER}
        fitted = [row for row in listed(later(bench.data, folder)) if (row["a"], row["b"]) in known]
        rows += [Row(row.measure, row.value) for row in _listed("revisions that the weights were fitted to", fitted)]
    return rows


def said_of(data: Path, folder: Path, name: str, half: str) -> list[Said]:
    """Compare the texts of each pair as two documents with one title. Pairs that cluster with others are left out: a
    cluster has one kind.
    """
    pairs = [pair for pair in pairs_of(data, name, half) if pair.gold != "identical"]
    source = folder / f"{name}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    with source.open("w", encoding="utf-8") as lines:
        for number, pair in enumerate(pairs):
            for side, text in (("a", pair.a), ("b", pair.b)):
                record = {"id": f"{number}{side}", "title": f"{pair.title or 'Text'} [{number}]", "text": text}
                lines.write(json.dumps(record) + "\n")
    esdedup.run(source, out=folder / name, lookup=False, report=False, **PAIRS)
    cluster_of = {}
    for cluster in map(json.loads, (folder / name / "clusters.jsonl").read_text("utf-8").splitlines()):
        cluster_of |= {member["document"]: cluster for member in cluster["members"]}
    sure: dict[int, float] = {}
    for row in esdedup.drift(store=folder / name / "store.duckdb"):
        numbers = [{_number(one["document"]) for one in value["sentences"]} for value in row["values"]]
        for number in set(chain(*numbers)):
            if sum(number in some for some in numbers) > 1:
                sure[number] = max(sure.get(number, 0.0), row["confidence"])
    found = []
    for number, pair in enumerate(pairs):
        one, two = (cluster_of.get(f"{number}{side}") for side in "ab")
        if one is not None and one is two and one["size"] == 2:
            found.append(Said(pair, one["kind"], sure.get(number, 0.0)))
    return found


def _number(document: str) -> int:
    return int(document[:-1])


def _pairs(data: Path, folder: Path, half: str) -> list[Row]:
    said = {name: said_of(data, folder, name, half) for name in SETS}
    facts = [*said["vitaminc-evidence"], *said["vitaminc-claims"]]
    truth = np.array([one.pair.gold == "contradicts" for one in facts])
    sure = np.array([one.confidence for one in facts])
    listed = sure > 0
    precision, recall = _precision_recall(sure >= ENOUGH, truth)
    (folder / "reliability.png").write_bytes(picture(sure[listed], truth[listed]))
    copies = [one for one in said["iterater"] if one.pair.gold == "same"]
    rows = [
        Row(f"{len(facts):,} edits of Wikipedia and claims: precision of contradictions", precision),
        at_least("recall of contradictions", recall, "", 0.72),
        at_least("F1 of contradictions", _f1(precision, recall), "", 0.86),
        at_most(
            "expected calibration error of the confidence", calibration_error(sure[listed], truth[listed]), "", 0.06
        ),
    ]
    rows += [
        Row(f"said {low / TENTHS} to {(low + 1) / TENTHS}, {count:,} cases: right", right)
        for low, count, _, right in reliability(sure[listed], truth[listed])
    ]
    rows.append(
        at_most(f"{len(copies)} copyedits called drift", _mean([one.kind == "drift" for one in copies]), "", 0.02)
    )
    for name in ("paws-wiki", "paws-x"):
        swapped = said[name]
        differs = np.array([one.pair.gold == "differs" for one in swapped])
        called = np.array([one.kind != "copyediting" for one in swapped])
        score = _f1(*_precision_recall(called, differs))
        rows.append(
            at_least(f"{name}, {len(swapped):,} pairs with swapped words: other meaning told, F1", score, "", 0.75)
        )
    return rows


def _plants(data: Path, folder: Path, half: str) -> list[Row]:
    """Edits that were planted in documents beside real pages: what is listed of them."""
    corpus, plants = planted(data, folder, half)
    by_pair = {plant.hashes: plant for plant in plants}
    sure: dict[tuple[str, str], float] = {}
    others = 0
    for row in esdedup.drift(store=corpus.folder / "store.duckdb"):
        sides = [set(hashes_of([sentence["text"] for sentence in value["sentences"]])) for value in row["values"]]
        told = {
            (min(a, b), max(a, b))
            for one, two in combinations(sides, 2)
            for a in one
            for b in two
            if (min(a, b), max(a, b)) in by_pair
        }
        others += not told
        for pair in told:
            sure[pair] = max(sure.get(pair, 0.0), row["confidence"])
    listed: dict[str, list[bool]] = defaultdict(list)
    cluster_of = {
        value: cluster["id"]
        for cluster in corpus.clusters()
        for value in hashes_of([member["text"] for member in cluster["members"]])
    }
    for pair, plant in by_pair.items():
        a, b = (cluster_of.get(value) for value in pair)
        near = ("near",) if a is not None and a == b else ()
        names = (plant.kind, plant.setting, plant.language, *near) if plant.side == "contradiction" else ()
        for name in (plant.side, *names):
            listed[name].append(pair in sure)
    right = [by_pair[pair].side == "contradiction" for pair, likely in sure.items() if likely >= ENOUGH]
    said, true = np.array(list(sure.values())), np.array([by_pair[pair].side == "contradiction" for pair in sure])
    kinds = sorted({plant.kind for plant in plants if plant.side == "contradiction"})
    return [
        at_least(
            f"{len(listed['contradiction'])} planted contradictions listed", _mean(listed["contradiction"]), "", 0.8
        ),
        Row(f"{len(listed['near'])} of these that are in one cluster: listed", _mean(listed["near"])),
        *(at_least(f"planted: {kind}", _mean(listed[kind]), "", 0.85 if kind in SURE_KINDS else 0.6) for kind in kinds),
        *(Row(f"planted in documents, {setting}", _mean(listed[setting])) for setting in SETTINGS),
        *(
            Row(f"planted in the language {language}", _mean(listed[language]))
            for language in sorted({plant.language for plant in plants})
        ),
        at_most(f"{len(listed['harmless'])} harmless edits listed", _mean(listed["harmless"]), "", 0.03),
        at_least(f"{len(right)} planted edits of confidence {ENOUGH} or more: contradictions", _mean(right), "", 0.95),
        at_most("planted edits: expected calibration error", calibration_error(said, true), "", 0.06),
        *(
            Row(f"planted edits, said {low / TENTHS} to {(low + 1) / TENTHS}, {count:,} cases: right", share)
            for low, count, _, share in reliability(said, true)
        ),
        Row("other contradictions listed among these documents", others),
    ]


def _stale(data: Path, folder: Path, half: str) -> list[Row]:
    """Corrections that were planted in histories, and did not arrive on another page."""
    corpus, plants = corrected(data, folder, half)
    side = {title: plant.side for title, plant in plants}
    listed = [row.stale.page for row in esdedup.drift(store=corpus.folder / "store.duckdb", stale=True)]
    right = [side.get(page) == "contradiction" for page in listed]
    wanted = [title for title, plant in plants if plant.side == "contradiction"]
    return [
        at_least(f"{len(wanted)} planted corrections found", _mean([page in listed for page in wanted]), "", 0.9),
        at_least(f"{len(listed)} listed corrections: right", _mean(right), "", 0.9),
    ]


def _precision_recall(found: Any, truth: Any) -> tuple[float, float]:
    right = int((found & truth).sum())
    return right / max(1, int(found.sum())), right / max(1, int(truth.sum()))


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / max(1e-9, precision + recall)


def _wikis(bench: Bench, half: str) -> list[Clustered]:
    wikis = [wiki for wiki, of in HALF_OF.items() if of == half]
    return [of_wiki(bench.data, bench.work / "truth", wiki) for wiki in wikis[: 3 if bench.small else None]]


def _kinds(corpora: Sequence[Clustered], half: str) -> list[Row]:
    """Kinds of clusters of real dumps."""
    labels = {row["a"]: row for row in table(LABELS) if row["half"] == half}
    truth, kinds, siblings = [], [], []
    for corpus in corpora:
        for cluster in corpus.clusters():
            texts = sorted({member["text"] for member in cluster["members"]})
            for label in [labels[value] for value in hashes_of(texts) if value in labels][:1]:
                truth.append(label["kind"])
                kinds.append(cluster["kind"])
                siblings.append(label["siblings"] == "yes")
    told, found = np.array(truth), np.array(kinds)
    mistakes = Counter((one, other) for one, other in zip(truth, kinds, strict=True) if one != other)
    scores = {kind: _f1(*_precision_recall(found == kind, told == kind)) for kind in KINDS if kind in truth}
    right = _mean((told == found).tolist())
    return [
        at_least(f"{len(told)} clusters of {len(corpora)} dumps: kinds right", right, "", 0.88),
        at_least("kinds, macro-F1", float(np.mean(list(scores.values()))), "", 0.80),
        *(Row(f"kinds, F1 of {kind} ({int((told == kind).sum())} labelled)", score) for kind, score in scores.items()),
        at_least("kinds, F1 of drift", scores.get("drift", 0.0), "", 0.75),
        *(Row(f"{one}, called {other}", count) for (one, other), count in mistakes.most_common()),
        at_most("siblings called drift", int(((found == "drift") & np.array(siblings)).sum()), "", 0),
    ]  # fmt: skip


def listed(corpus: Clustered) -> Iterator[dict[str, Any]]:
    """The contradictions of a corpus, each with the content hashes of two texts that state different values."""
    for row in esdedup.drift(store=corpus.folder / "store.duckdb"):
        texts = [value["sentences"][0]["text"] for value in row["values"][:2]]
        a, b = sorted(hashes_of(texts))
        yield {**row, "corpus": corpus.corpus, "a": a, "b": b}


def _listed(where: str, rows: list[dict[str, Any]]) -> list[Row]:
    verdicts = {(row["a"], row["b"]): row["contradicts"] == "yes" for row in table(VERDICTS)}
    once = {(row["a"], row["b"]): row for row in sorted(rows, key=lambda row: row["confidence"])}
    surest = sorted(once.values(), key=lambda row: (-row["confidence"], row["a"]))
    judged = [(row, verdicts[row["a"], row["b"]]) for row in surest if (row["a"], row["b"]) in verdicts]
    first = [right for _, right in judged[:FIRST]]
    likely = [right for row, right in judged if row["confidence"] >= ENOUGH]
    return [
        at_least(f"contradictions listed in {where}", len(once), "", FIRST),
        Row(f"{where}: those that were judged", len(judged)),
        at_least(f"{where}: precision of the first {len(first)}", _mean(first), "", 0.8),
        at_least(f"{where}: precision of the {len(likely)} of confidence {ENOUGH} or more", _mean(likely), "", 0.7),
    ]  # fmt: skip


def _mean(some: Sequence[bool]) -> float:
    return sum(some) / max(1, len(some))


def table(path: Path) -> list[dict[str, str]]:
    """Read a file of labels."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))
