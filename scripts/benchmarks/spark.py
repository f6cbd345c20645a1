"""Runs on Spark beside the local engine, with the same bytes, and beside what Spark itself offers."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import esdedup
from scripts.benchmarks.bench import ROOT, Bench
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.processes import ESDEDUP, processor_time
from scripts.benchmarks.rows import Row, at_least, at_most
from scripts.benchmarks.sample import LIKE_SENTENCES, SENTENCES, read_sample

SENTENCES_OF_WIKI, SMALL_SENTENCES_OF_WIKI = 200_000, 2_000
"""Sentences that MLlib finishes in minutes: it compares each with every one that has one minimum in common."""

FILES = ("pairs.jsonl", "clusters.jsonl", "clusters.txt")
PARTITIONS = (1, 7, 200)
MASTER = "local[2]"


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "spark"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = [_differing(bench, folder), *_descriptions(bench, folder), *_wiki(bench, folder)]
    shutil.rmtree(folder)
    return rows


def _differing(bench: Bench, folder: Path) -> Row:
    """Count the result files of real data that differ between the engines."""
    wikis = bench.data / "wiki"
    columns = ["--unit", "sentence", "--id-column", "line", "--text-column", "2"]
    sources = {
        "descriptions": [bench.data / SENTENCES, *columns],
        **{path.name: [path] for path in sorted(wikis.glob("*.xml.bz2"))[: 1 if bench.small else 3]},
    }
    limit = ["--limit", "20000"] if bench.small else []
    differ = 0
    for name, given in sources.items():
        command = [*ESDEDUP, "run", *given, *limit, "--no-report", "--quiet", "--out"]
        expected = folder / f"{name}-local"
        processor_time([*command, expected])
        for partitions in PARTITIONS[:1] if bench.small else PARTITIONS:
            out, conf = folder / f"{name}-{partitions}", folder / "conf"
            conf.mkdir(exist_ok=True)
            (conf / "spark-defaults.conf").write_text(f"spark.esdedup.partitions {partitions}\n", "ascii")
            processor_time([*command, out, "--engine", MASTER], SPARK_CONF_DIR=str(conf))
            differ += sum((out / file).read_bytes() != (expected / file).read_bytes() for file in FILES)
    names = ", ".join(sources)
    partitions_tried = "one partition" if bench.small else "1, 7 and 200 partitions"
    return at_most(f"result files that differ: {names}; {partitions_tried}", differ, "files", 0)


def _descriptions(bench: Bench, folder: Path) -> list[Row]:
    sample = read_sample(bench.data, bench.small)
    pairs = zip(sample.a.tolist(), sample.b.tolist(), strict=True)
    return _beside_mllib(folder, "descriptions", sample.texts, {_named(a, b) for a, b in pairs})


def _wiki(bench: Bench, folder: Path) -> list[Row]:
    wiki = dump(bench, articles_of_sentences(bench, SMALL_SENTENCES_OF_WIKI if bench.small else SENTENCES_OF_WIKI))
    store, out = folder / "wiki.duckdb", folder / "wiki"
    esdedup.index(wiki, store=store, lookup=False)
    with esdedup.open_store(store, read_only=True) as opened:
        held: Any = opened
        texts = [text for (text,) in held._db.rows("SELECT any_value(text) FROM sentences GROUP BY hash ORDER BY hash")]
    pq.write_table(_table(texts), folder / "wiki.parquet")
    esdedup.run(folder / "wiki.parquet", out=out, candidates="exact", report=False, **LIKE_SENTENCES)
    return _beside_mllib(folder, "generated sentences", texts, _pairs(out / "pairs.jsonl"))


def _beside_mllib(folder: Path, what: str, texts: Sequence[str], wanted: set[tuple[str, str]]) -> list[Row]:
    """Compare with the MinHashLSH of Spark itself, on the same texts, of which these pairs are `wanted`."""
    path = folder / "texts.parquet"
    pq.write_table(_table(texts), path)
    how = [word for name, value in LIKE_SENTENCES.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    took = processor_time(
        [*ESDEDUP, "run", path, "--out", folder / "ours", "--fresh", "--engine", MASTER, "--no-report", "--quiet", *how]
    )
    ours = _pairs(folder / "ours" / "pairs.jsonl")
    script = [sys.executable, "-m", "scripts.benchmarks.mllib", path, folder / "mllib.jsonl", MASTER]
    theirs_took = processor_time(script, PYTHONPATH=str(ROOT))
    theirs = _pairs(folder / "mllib.jsonl")
    name = f"{len(texts):,} {what}, {len(wanted):,} pairs"
    return [
        Row(f"{name}: recall of esdedup", len(ours & wanted) / len(wanted)),
        Row(f"{name}: recall of MLlib's MinHashLSH", len(theirs & wanted) / len(wanted)),
        Row(f"{name}: processor time of esdedup on Spark, with its Java", took, "s"),
        Row(f"{name}: processor time of MLlib, verified, with its Java", theirs_took, "s"),
        at_least(f"{name}: MLlib ÷ esdedup", theirs_took / took, "x", 20),
    ]


def _table(texts: Sequence[str]) -> pa.Table:
    return pa.table({"id": [str(number) for number in range(len(texts))], "text": texts})


def _pairs(path: Path) -> set[tuple[str, str]]:
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return {_named(row["a"], row["b"]) for row in rows}


def _named(a: int | str, b: int | str) -> tuple[str, str]:
    one, two = sorted((str(a), str(b)))
    return one, two
