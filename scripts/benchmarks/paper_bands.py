"""The notebook "Document deduplication using Locality Sensitive Hashing with minhash": which number of bands?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from scripts.benchmarks.bench import Bench
from scripts.benchmarks.paper_sentences import write_sentences
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row
from scripts.benchmarks.sample import read_sample

REPORTED = {"20x5": " (the notebook: 110 candidates, 27 true pairs among 1,000 news stories)"}


def bands(bench: Bench) -> list[Row]:
    """On news articles as there, and on sentences, of which many more are near-duplicates."""
    folder = bench.work / "bands"
    folder.mkdir(parents=True, exist_ok=True)
    sample = read_sample(bench.data, bench.small)
    write_sentences(sample, folder / "sentences.tsv")
    articles = bench.data / "nearup" / "articles_1000.train"
    rows = [
        *_swept("articles_1000", articles, REPORTED, "--format", "tsv", "--separator", " "),
        *_swept("debian-descriptions", folder / "sentences.tsv", {}, "--sample", str(len(sample.texts))),
    ]
    shutil.rmtree(folder)
    return rows


def _swept(name: str, source: Path, reported: dict[str, str], *options: str) -> list[Row]:
    """Pairs of Jaccard >= 0.9, as in the notebook, and how many of them each number of bands finds."""
    command = [*ESDEDUP, "plan", source, "--preset", "lsh", "--jaccard", "0.9", *options, "--json", "--quiet"]
    plan = json.loads(run(command).output)
    true = plan["sample"]["true_pairs"]
    rows = []
    for row in sorted(plan["schemes"], key=lambda row: row["tokens"]):
        what = f"lsh {row['scheme']} on {name}"
        rows += [
            Row(f"{what}: candidates{reported.get(row['scheme'], '')}", row["candidates"]),
            Row(
                f"{what}: true pairs among them, of the {true:,} of Jaccard ≥ 0.9",
                row["candidates"] - row["false_candidates"],
            ),
            Row(f"{what}: recall against exact all-pairs", row["recall"]),
        ]
    return rows
