"""Records of two sources: what Pal 2014 finds with Solr among restaurants, and what rare pairs of characters find."""

from __future__ import annotations

import csv
import json
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np

import esdedup
from esdedup.errors import NodeError
from esdedup.node.control import running_node
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.presets import preset
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row, at_least, at_most, without_value

SOURCES = ("fodors", "zagats")
COLUMNS = ("name", "addr", "city")
REPORTED = {"shingles": 65, "signature": 64}
COSINES = [round(0.5 + 0.02 * step, 2) for step in range(16)]
SPLITS = 20
WRONG = 0.04
"""The share of wrong pairs that is allowed where --cosine is chosen."""

Matches = set[tuple[str, str]]
"""Ids of Fodor's and of Zagat's."""


def records(bench: Bench) -> list[Row]:
    data, folder = bench.data / "restaurant", bench.work / "records"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with (data / "matches.csv").open(encoding="utf-8", newline="") as lines:
        true = {(row["fodors_id"], row["zagats_id"]) for row in csv.DictReader(lines)}
    truth = folder / "truth.tsv"
    truth.write_text("".join(f"fodors/{one}\tzagats/{two}\n" for one, two in sorted(true)), "utf-8")
    rows = _asked(data, folder / "solr.duckdb", truth, "a file")
    try:
        with running_node(folder / "node") as server:
            rows += _asked(data, f"{server}/solr", truth, "a server")
    except NodeError as error:
        rows.append(without_value("solr on restaurants, a server", str(error)))
    rows += _chosen(data, folder / "records.duckdb", true)
    shutil.rmtree(folder)
    return rows


def _asked(data: Path, store: Path | str, truth: Path, kind: str) -> list[Row]:
    """The article's two ways, on one kind of store."""
    _index(data, store, "solr")
    rows = []
    for by, reported in REPORTED.items():
        ran = run([*ESDEDUP, "scan", "--store", store, "--preset", "solr", "--query-by", by, "--json", "--quiet"])
        seconds = sum(json.loads(ran.output)["seconds"].values())
        found = esdedup.evaluate(store=store, truth=truth)["truth"]
        what = f"solr --query-by {by} on restaurants, {kind}"
        told = f"{what}: true pairs found, of {found['true_pairs'] + found['same_text']} (the article: {reported})"
        rows += [
            at_least(told, found["right_pairs"] + found["same_text"], "", reported),
            Row(f"{what}: of them, with equal texts", found["same_text"]),
            Row(f"{what}: other pairs, also within a source", found["found_pairs"] - found["right_pairs"]),
            Row(f"{what}: scan", seconds, "s"),
        ]
    return rows


def _index(data: Path, store: Path | str, name: str) -> None:
    sources = [data / f"{source}.csv" for source in SOURCES]
    run([*ESDEDUP, "index", *sources, "--store", store, "--preset", name, "--text-column", ",".join(COLUMNS)])


def _chosen(data: Path, store: Path, true: Matches) -> list[Row]:
    """Preset records, with --cosine chosen on one half of Fodor's records and judged on the other, both ways round."""
    _index(data, store, "records-cosine")
    by_text = _ids_by_text(data)
    options = {**preset("records-cosine"), "kinds": False}
    found: dict[float, Matches] = {}
    for cosine in COSINES:
        esdedup.scan(store=store, **{**options, "cosine": cosine})
        found[cosine] = _found(store, by_text)
    ids = sorted(name for texts in by_text.values() for name in texts["fodors"])
    source = np.random.default_rng(1)
    chosen, shares, wrongs = [], [], []
    for _ in range(SPLITS):
        lot = source.permutation(ids).tolist()
        halves = set(lot[: len(lot) // 2]), set(lot[len(lot) // 2 :])
        for known, untouched in (halves, halves[::-1]):
            chosen.append(max(COSINES, key=lambda cosine: _worth(*_judged(found[cosine], true, known))))
            share, wrong = _judged(found[chosen[-1]], true, untouched)
            shares.append(share)
            wrongs.append(wrong)
    what, halved = "records on restaurants", f"the untouched halves of {SPLITS} splits"
    preset_found = found[options["cosine"]]
    at = f"{what}, --cosine {options['cosine']}, nothing held back"
    return [
        at_least(f"{what}: share of the true pairs found, mean of {halved}", float(np.mean(shares)), "", 0.93),
        at_most(f"{what}: share of wrong pairs, mean of {halved}", float(np.mean(wrongs)), "", 0.05),
        Row(f"{what}: share of the true pairs found, least of {halved}", min(shares)),
        Row(f"{what}: share of wrong pairs, most of {halved}", max(wrongs)),
        Row(f"{what}: --cosine as chosen, from {min(chosen)} to {max(chosen)}, mean", float(np.mean(chosen))),
        Row(f"{at}: true pairs found, of {len(true)} (the article: 65)", len(preset_found & true)),
        Row(f"{at}: share of wrong pairs", _judged(preset_found, true, set(ids))[1]),
    ]


def _worth(share: float, wrong: float) -> tuple[float, float]:
    """Most true pairs with no more wrong ones than allowed; of equally many, the fewest wrong ones."""
    return (share if wrong <= WRONG else -wrong, -wrong)


def _judged(found: Matches, true: Matches, half: set[str]) -> tuple[float, float]:
    """The share of the true pairs that was found, and the share of those found that are wrong."""
    found, true = ({pair for pair in pairs if pair[0] in half} for pairs in (found, true))
    return len(found & true) / len(true), len(found - true) / max(1, len(found))


def _ids_by_text(data: Path) -> dict[str, dict[str, list[str]]]:
    """For each text, as the store has it, the ids of the records that hold it, by source."""
    texts: dict[str, dict[str, list[str]]] = defaultdict(lambda: {source: [] for source in SOURCES})
    for source in SOURCES:
        with (data / f"{source}.csv").open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                texts["\t".join(row[column] for column in COLUMNS)][source].append(row["id"])
    return texts


def _found(store: Path, by_text: dict[str, dict[str, list[str]]]) -> Matches:
    """The records that the pairs of a store match, and those of equal texts."""
    text_of = {f"{source}/{name}": text for text, ids in by_text.items() for source in SOURCES for name in ids[source]}
    texts = {(text, text) for text in by_text}
    with esdedup.open_store(store, read_only=True) as opened:
        for batch in opened.results.pair_rows():
            for one, two in zip(batch["a"].to_pylist(), batch["b"].to_pylist(), strict=True):
                texts |= {(text_of[one], text_of[two]), (text_of[two], text_of[one])}
    return {(one, two) for left, right in texts for one in by_text[left]["fodors"] for two in by_text[right]["zagats"]}
