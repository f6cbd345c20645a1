"""Near-duplicate documents, as Ahmed 2022 finds them: by how many minhash values agree."""

from __future__ import annotations

import json
import shutil

import esdedup
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.memory import ROLLUP, peak
from scripts.benchmarks.paper_corpus import write_documents
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row, at_most

DOCUMENTS = (30_000, 100_000)
SMALL_DOCUMENTS = (300, 1_000)
NGRAMS = range(1, 7)
SMALL_NGRAMS = (2,)
REPORTED = {
    30_000: (" (the paper: 4,133 s)", " (the paper: 8.9 GB)"),
    100_000: ("", " (the paper: more than 32 GB, and no end)"),
}


def near_documents(bench: Bench) -> list[Row]:
    """Its table 1 on other articles, its tables 2 and 3 with other documents."""
    return [*_ngrams(bench), *_documents(bench)]


def _ngrams(bench: Bench) -> list[Row]:
    """Both set differences for every length of n-grams, with normalised texts and without."""
    nearup, out = bench.data / "nearup", bench.work / "articles"
    options = {"format": "tsv", "separator": " ", "unit": "record", "min_chars": 1, "max_chars": 10_000_000,
               "candidates": "agreement", "verify": "none", "kinds": False}  # fmt: skip
    rows = []
    for length in SMALL_NGRAMS if bench.small else NGRAMS:
        for normalize in ("expanded", "none"):
            esdedup.run(
                nearup / "articles_1000.train", out=out, fresh=True, shingle=f"word:{length}", normalize=normalize,
                **options,
            )  # fmt: skip
            found = esdedup.evaluate(store=out / "store.duckdb", golden=nearup / "articles_1000.truth")["golden"]
            shutil.rmtree(out)
            what = f"documents on articles_1000, {length}-grams, normalize {normalize}"
            both = (found["golden_not_in_output"], found["output_not_in_golden"])
            if (length, normalize) == (2, "expanded"):  # what the paper found to be best, and the preset has
                rows += [
                    at_most(f"{what}: {name}", value, "", 0) for name, value in zip(_DIFFERENCES, both, strict=True)
                ]
            else:
                rows += [Row(f"{what}: {name}", value) for name, value in zip(_DIFFERENCES, both, strict=True)]
    return rows


_DIFFERENCES = ("|G−O|", "|O−G|")


def _documents(bench: Bench) -> list[Row]:
    """The whole command, in a process of its own, on generated documents."""
    rows: list[Row] = []
    folder = bench.work / "documents"
    for count in SMALL_DOCUMENTS if bench.small else DOCUMENTS:
        folder.mkdir(parents=True, exist_ok=True)
        source, golden, out = folder / "documents.tsv", folder / "golden.txt", folder / "out"
        write_documents(count, source, golden)
        command = [*ESDEDUP, "run", source, "--preset", "documents", "--out", out, "--quiet"]
        ran = run(command, sampled=ROLLUP.exists())
        scores = json.loads(
            run([*ESDEDUP, "evaluate", "--store", out / "store.duckdb", "--golden", golden, "--json"]).output
        )["golden"]
        shutil.rmtree(folder)
        what = f"documents on {count:,} generated ones"
        seconds, held = REPORTED.get(count, ("", ""))
        rows += [
            at_most(f"{what}: the whole command{seconds}", ran.seconds, "s", 300),
            peak(f"{what}: peak of the process tree{held}", ran, 2),
            Row(f"{what}: |G−O|, of {scores['golden_clusters']:,}", scores["golden_not_in_output"]),
            Row(f"{what}: |O−G|, of {scores['output_clusters']:,}", scores["output_not_in_golden"]),
        ]
    return rows
