"""python -m scripts.benchmarks [NAME…]: measure, print one table, keep the rows as JSON."""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path

from scripts.benchmarks.bench import ROOT, Bench
from scripts.benchmarks.rows import Row, table, without_value, write

TOPICS = {
    "memory_job": "the whole job in memory, against gaoya, rensa, datasketch and text-dedup (takes minutes)",
    "recall": "recall and precision against every true pair",
    "signing": "text to tokens, against rensa",
    "wikitext": "markup to text: speed, and agreement with the reference",
    "text": "text as a reader sees it: holes, markup, ends of sentences",
    "dump": "dump to clusters, against decompressing alone (takes long: 300 MB)",
    "memory": "peak memory and growth (takes long: 5 million sentences, 3 GB of disk)",
    "wikipedia": "whole wikis, up to 136 million sentences, in parts that are kept (takes hours; 60 GB of disk)",
    "everyday": "adding to a store of a million sentences, and asking it (takes minutes)",
    "meaning": "kinds, contradictions, tables, lineage, against people and plants (1 GB of history)",
    "truth": "contradictions and kinds against labels of pages that nothing was tuned on (takes minutes)",
    "papers": "what published systems report, with their presets (takes long: 2 million sentences)",
    "documents": "dedupe of documents, rows and leaks, against text-dedup, datasketch, datatrove (takes long)",
    "survivors": "which copy of a cluster stays, and what it costs (takes minutes: a million rows)",
    "records": "records matched field by field, against known pairs (takes minutes: a million persons)",
    "exact": "every pair, beside what tokens find (takes long: 5 million sentences, 3 GB of disk)",
    "elasticsearch": "the store on a server, with a node of this machine (takes long)",
    "server_scan": "a scan on a server against the same scan on a file (takes minutes)",
    "server_scale": "10 million sentences on one node, run once (takes an hour; 20 GB of disk)",
    "spark": "Spark against the local engine and against MLlib (takes minutes; needs Java)",
    "spark_scale": "whole runs on Spark against the local engine (takes long: 10 million sentences; needs Java)",
    "more_like_this": "what Elasticsearch itself finds, with a node of this machine (takes minutes)",
    "lookups": "the lookup of a file, beside tantivy and a table of DuckDB (takes minutes)",
    "similar": "search as you type, at 20,000 and a million sentences, beside others (takes minutes)",
    "plan": "forecasts of plan against the runs themselves, with a node of this machine (takes minutes)",
    "serve": "the page under load, on a file and on a node of this machine (takes minutes)",
    "attack": "one visitor of the page while others try to keep everybody out (takes minutes)",
    "anywhere": "sources in S3 and in web archives, beside files here (takes minutes: 1 GB)",
    "install": "the wheel in an empty environment, and its demo: how long, how large (needs a package index)",
    "startup": "--help, and compiled code kept between runs",
}


def main() -> None:
    data = Path(os.environ.get("ESDEDUP_TEST_DATA") or ROOT.parent / "shared" / "data")
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Without NAME: all of them.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure")
    parser.add_argument("--list", action="store_true", help="name what can be measured")
    parser.add_argument("--data", type=Path, default=data, help="folder of the real data  [%(default)s]")
    parser.add_argument("--runs", type=int, default=5, help="times each thing is measured  [%(default)s]")
    parser.add_argument("--small", action="store_true", help="small sizes: does it run at all?")
    options = parser.parse_args()
    if options.list:
        for name, what in TOPICS.items():
            print(f"{name:15}{what}")
        return
    if unknown := [name for name in options.names if name not in TOPICS]:
        parser.error(f"no such benchmark: {', '.join(unknown)}; --list names them")
    if options.runs < 1:
        parser.error("--runs must be 1 or more")
    out = ROOT / "bench-out"
    bench = Bench(options.data.resolve(), out / "work", options.runs, options.small)
    rows: list[Row] = []
    for name in options.names or TOPICS:
        print(f"{name}: {TOPICS[name]}", file=sys.stderr)
        began = time.perf_counter()
        try:
            measured: list[Row] = import_module(f"scripts.benchmarks.{name}").measure(bench)
        except Exception as error:  # the other topics are measured all the same
            traceback.print_exc()
            measured = [without_value(name, f"failed: {type(error).__name__}: {error}")]
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
        write(measured, out / f"{name}{'-small' if options.small else ''}.json")
        rows += measured
    print(table(rows))


if __name__ == "__main__":
    main()
