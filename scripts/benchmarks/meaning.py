"""What clusters mean: kinds against hand labels and planted ones, and what judging costs."""

from __future__ import annotations

import csv
import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

import esdedup
from esdedup.analysis.names import KINDS
from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import content_hashes
from esdedup.jobs import scanning
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.contradictions import contradiction_rows
from scripts.benchmarks.lineage import lineage_rows
from scripts.benchmarks.rows import Row, at_least, at_most
from scripts.benchmarks.sample import LIKE_SENTENCES

LABELS = Path(__file__).with_name("kinds.tsv")
"""Clusters by the content hashes of two members, each labelled twice, blind; `kind` settles disagreements."""

ENOUGH = 15
"""Labels that a kind needs to have a bar."""

_LOOSE: dict[str, Any] = {"jaccard": 0.5, "min_chars": 30, "rows": 3, "bands": 20}
KIND_CORPORA: dict[str, tuple[Sequence[str], dict[str, Any]]] = {
    "heads": (("wiki/enwiki-head-a.xml", "wiki/enwiki-head-b.xml"), _LOOSE),
    "e106": (("wiki/enwiki-106-articles.xml.bz2",), _LOOSE),
    "ltg": (("wiki/ltgwiki.xml",), _LOOSE),
    "aa": (("wiki/aawiki-history.xml.bz2",), {**_LOOSE, "revisions": "all"}),
    "deb": (
        ("sentences/debian-descriptions.tsv.gz",),
        {**LIKE_SENTENCES, "id_column": "line", "title_column": "1"},
    ),
}
_ARTICLES, _SMALL_ARTICLES = 2_000, 200
_RESAMPLES = 2_000


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "meaning"
    shutil.rmtree(folder, ignore_errors=True)
    judged = {corpus: _run(bench.data, corpus, folder) for corpus in KIND_CORPORA}
    with LABELS.open(encoding="utf-8", newline="") as lines:
        labels = list(csv.DictReader(lines, delimiter="\t"))
    rows = _agreement(labels) + _against_labels(labels, judged) + _against_plants(bench, folder)
    rows += contradiction_rows(KIND_CORPORA, folder) + _tables(folder)
    return rows + lineage_rows(bench, folder) + _speed(bench, folder)


def _run(data: Path, corpus: str, folder: Path) -> dict[int, str]:
    """The kind that each clustered text of a corpus got, by content hash."""
    names, options = KIND_CORPORA[corpus]
    esdedup.run(*(data / name for name in names), out=folder / corpus, **options)
    return dict(_kinds(folder / corpus))


def _kinds(folder: Path) -> Iterator[tuple[int, str]]:
    with (folder / "clusters.jsonl").open(encoding="utf-8") as lines:
        for cluster in map(json.loads, lines):
            texts = pa.array(sorted({member["text"] for member in cluster["members"]}), pa.large_string())
            for value in content_hashes(*text_buffers(texts)).tolist():
                yield value, cluster["kind"]


def _agreement(labels: Sequence[dict[str, str]]) -> list[Row]:
    """Cohen's kappa of the two blind labels."""
    first, second = Counter(row["first"] for row in labels), Counter(row["second"] for row in labels)
    agreed = sum(row["first"] == row["second"] for row in labels) / len(labels)
    chance = sum(first[kind] * second[kind] for kind in KINDS) / len(labels) ** 2
    return [
        Row("clusters labelled by hand, twice and blind", len(labels)),
        Row("agreement of the two labels, Cohen's kappa", (agreed - chance) / (1 - chance)),
    ]


def _against_labels(labels: Sequence[dict[str, str]], judged: dict[str, dict[int, str]]) -> list[Row]:
    counts = Counter(row["kind"] for row in labels)
    barred = [kind for kind in KINDS if counts[kind] >= ENOUGH]
    rows = []
    for half in ("design", "test"):
        of_half = [row for row in labels if row["half"] == half]
        truth = np.array([row["kind"] for row in of_half])
        found = np.array([judged[row["corpus"]].get(int(row["a"], 16), "missing") for row in of_half])
        if half == "test":
            for kind in KINDS:
                told = Counter(found[truth == kind].tolist())
                as_what = ", ".join(f"{name} {count}" for name, count in told.most_common())
                bar = "" if kind in barred else f"; {counts[kind]} labels in all, no bar"
                rows.append(Row(f"untouched half, {kind}: F1 (judged as {as_what}{bar})", _f1(truth, found, kind)))
        score = _macro_f1(truth, found, barred)
        if half == "design":
            rows.append(Row(f"design half, {len(of_half)} clusters: macro-F1", score))
            continue
        low, high = _interval(truth, found, barred)
        commonest, often = Counter(truth.tolist()).most_common(1)[0]
        rows += [
            at_least(
                f"untouched half, {len(of_half)} clusters: macro-F1 of {', '.join(barred)} "
                f"(bootstrap, 95 %: {low:.2f} to {high:.2f})",
                score, "", 0.80,
            ),
            Row("untouched half: share judged right", float((truth == found).mean())),
            Row(f"untouched half: share of the commonest kind, {commonest}", often / len(of_half)),
        ]  # fmt: skip
    return rows


def _f1(truth: Any, found: Any, kind: str) -> float:
    right = int(((truth == kind) & (found == kind)).sum())
    return 2 * right / max(1, int((truth == kind).sum() + (found == kind).sum()))


def _macro_f1(truth: Any, found: Any, kinds: Sequence[str]) -> float:
    return float(np.mean([_f1(truth, found, kind) for kind in kinds]))


def _interval(truth: Any, found: Any, kinds: Sequence[str]) -> tuple[float, float]:
    source = np.random.default_rng(1)
    scores = []
    for _ in range(_RESAMPLES):
        chosen = source.integers(0, len(truth), len(truth))
        scores.append(_macro_f1(truth[chosen], found[chosen], kinds))
    low, high = np.quantile(scores, [0.025, 0.975])
    return float(low), float(high)


def _against_plants(bench: Bench, folder: Path) -> list[Row]:
    """Planted clusters of a generated wiki, by the kind that they were planted as."""
    from scripts.wiki.writing import generate_files

    articles = _SMALL_ARTICLES if bench.small else _ARTICLES
    wiki = folder / "planted.xml.bz2"
    generate_files(articles, 1, wiki)
    esdedup.run(wiki, out=folder / "planted", revisions="all")
    judged = dict(_kinds(folder / "planted"))
    rows = []
    right, total = Counter[str](), Counter[str]()
    with (folder / "planted.truth.jsonl").open(encoding="utf-8") as lines:
        for plant in map(json.loads, lines):
            texts = pa.array([member["text"] for member in plant["members"]], pa.large_string())
            kinds = {judged[value] for value in content_hashes(*text_buffers(texts)).tolist() if value in judged}
            total[plant["kind"]] += bool(kinds)
            right[plant["kind"]] += kinds == {plant["kind"]}
    for kind in KINDS:
        rows.append(Row(f"planted, {total[kind]:,} clusters of {kind}: judged so", right[kind] / max(1, total[kind])))
    return rows


def _tables(folder: Path) -> list[Row]:
    """The tables of planted templates, against what their slots were filled with."""
    planted = {}
    with (folder / "planted.truth.jsonl").open(encoding="utf-8") as lines:
        for plant in map(json.loads, lines):
            planted |= {member["text"]: member["cells"] for member in plant["members"] if "cells" in member}
    store = folder / "planted" / "store.duckdb"
    texts = {
        member["id"]: member["text"]
        for cluster in esdedup.clusters(store=store, kind="template")
        for member in cluster["members"]
    }
    tables, slots, cells = 0, 0, [0, 0]
    for table in esdedup.templates(store=store):
        rows = list(zip(*(column.cells for column in table.columns), strict=True))
        wanted = [planted.get(texts[sentence["id"]]) for sentence in table.sentences]
        if not any(wanted):
            continue  # planted as another kind: that is counted there
        tables += 1
        slots += all(row is not None and len(row) == len(table.columns) for row in wanted)
        for row, truth in zip(rows, wanted, strict=True):
            cells[0] += sum(cell == told for cell, told in zip(row, truth or (), strict=False))
            cells[1] += max(len(row), len(truth or ()))
    return [
        at_least(f"planted, {tables} template tables: those with the slots that were planted", slots / tables, "", 1),
        at_least(f"planted, {cells[1]:,} cells of these tables: right", cells[0] / cells[1], "", 1),
    ]


def _speed(bench: Bench, folder: Path) -> list[Row]:
    """What judging costs: clusters of more than one text each second on one core, and its share of a run."""
    judging, judge = [0.0, 0.0], scanning.CLASSIFIER

    def timed(members: pa.Table) -> pa.Table:
        began = time.process_time()
        told = judge.kinds(members)
        judging[0] += time.process_time() - began
        judging[1] += told.num_rows
        return told

    shares, speeds = [], []
    names, options = KIND_CORPORA["deb"]
    for _ in range(bench.runs):
        took = {}
        for kinds in (True, False):
            judging[:] = [0.0, 0.0]
            scanning.CLASSIFIER = judge._replace(kinds=timed)
            try:
                sources = [bench.data / name for name in names]
                summary = esdedup.run(*sources, out=folder / "timed", fresh=True, kinds=kinds, **options)
                took[kinds] = summary["seconds"]
            finally:
                scanning.CLASSIFIER = judge
            if kinds:
                speeds.append(judging[1] / judging[0])
        shares.append((took[True]["save"] - took[False]["save"]) / sum(took[True].values()))
    return [
        at_least("judging, clusters of more than one text", median(speeds), "clusters/s", 4_000),
        at_most("kinds, contradictions and origins, share of run on debian-descriptions", median(shares), "", 0.3),
    ]
