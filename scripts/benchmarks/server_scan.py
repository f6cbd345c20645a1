"""A scan on a server beside the same scan on a file: real descriptions, many of them copied, and a generated wiki."""

from __future__ import annotations

import shutil
from itertools import count
from statistics import median
from typing import Any

import esdedup
from esdedup.node.control import running_node
from scripts.benchmarks.bench import Bench, interleaved, ratio
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.elasticsearch import HEAP
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row, at_most
from scripts.benchmarks.sample import SENTENCES, SMALL

WIKI, SMALL_WIKI = 155_000, 20_000
"""Sentences of the generated wiki, of which few are copies."""


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "server-scan"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sources = [bench.data / SENTENCES, dump(bench, articles_of_sentences(bench, SMALL_WIKI if bench.small else WIKI))]
    how: dict[str, Any] = {"unit": "sentence", "lang": "en", "id_column": "line", "text_column": "2"}
    turns = count()
    with running_node(folder / "node", heap=HEAP) as server:
        stores = {"server": f"{server}/whole", "file": str(folder / "whole.duckdb")}
        for store in stores.values():
            esdedup.index(*sources, store=store, limit=SMALL if bench.small else None, **how)

        def scan(name: str) -> float:
            again = f"{0.8 + next(turns) / 1e9:.9f}"  # a scan like the last one has nothing to do
            return run(
                [*ESDEDUP, "scan", "--store", stores[name], "--jaccard", again, "--out", folder, "--quiet"]
            ).seconds

        times = interleaved({name: lambda name=name: scan(name) for name in stores}, bench.runs)  # type: ignore[misc]
        counts = esdedup.status(store=stores["file"])["last_scan"]["counts"]
        kept = esdedup.status(store=stores["file"])["counts"]["sentences_kept"]
    shutil.rmtree(folder)
    clustered = 100 * counts["clustered_sentences"] / kept
    name = f"scan of {kept:,} sentences, {clustered:.0f} % of them clustered, with its files"
    return [
        Row(f"{name}: on a file", median(times["file"]), "s"),
        Row(f"{name}: on a server of this machine", median(times["server"]), "s"),
        at_most(f"{name}: server ÷ file", ratio(times["server"], times["file"]), "x", 1.85),
    ]
