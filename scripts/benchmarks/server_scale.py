"""A wiki of 10 million sentences on one node of this machine, run once: loading, scanning, asking; disk and heap."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import urlopen

import orjson

import esdedup
from esdedup.node.control import running_node
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.elasticsearch import HEAP, WIKIPEDIA, opened, questions
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row, at_most
from scripts.benchmarks.wikipedia import GIB, piped, recall

SENTENCES, SMALL_SENTENCES = 10_000_000, 20_000
_SECONDS_BETWEEN = 2.0


def measure(bench: Bench) -> list[Row]:
    size = SMALL_SENTENCES if bench.small else SENTENCES
    folder = bench.work / "server-scale"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    what, rows = f"{size:,} sentences on a server", []
    with running_node(folder / "node", heap=HEAP) as server:
        store = f"{server}/scale"
        words = ["index", "-", "--format", "wikipedia", "--source-name", "wiki", "--store", store]
        with _heap(server) as heap:
            loaded = piped(size, 0, folder, words)
        rows += [
            Row(f"{what}: index", loaded.seconds, "s"),
            Row(f"{what}: index, the generator beside it, processor time", loaded.generator, "s"),
            Row(f"{what}: index, peak of memory", loaded.memory / GIB, "GiB"),
            Row(f"{what}: index, peak of the node's heap", max(heap) / GIB, "GiB"),
        ]
        kept = esdedup.status(store=store)["counts"]["sentences_kept"]
        with opened(store) as held:
            size_on_disk = held._open.indices.bytes_on_disk()
        with _heap(server) as heap:
            scanned = run(
                [*ESDEDUP, "scan", "--store", store, "--quiet", "--memory", "4GiB", "--out", folder / "found"],
                sampled=True,
            )
        summary = orjson.loads((folder / "found" / "summary.json").read_bytes())
        rows += [
            Row(f"{what}: disk of a sentence, as it was loaded", size_on_disk / kept, "bytes"),
            Row(f"{what}: scan with its files", scanned.seconds, "s"),
            *(Row(f"{what}: scan, {stage}", spent, "s") for stage, spent in summary["seconds"].items()),
            Row(f"{what}: scan, peak of memory", scanned.peak / GIB, "GiB"),
            Row(f"{what}: scan, peak of the node's heap", max(heap) / GIB, "GiB"),
            *(Row(f"{what}: {name}", summary["counts"][name]) for name in ("sentences_kept", "pairs", "clusters")),
            *recall(size, store),
        ]
        with opened(store) as held:
            rows += questions(held)
    shutil.rmtree(folder)
    what, times = "forecast, 135.8 M sentences, by 10 million", WIKIPEDIA / kept
    return [
        *rows,
        Row(f"{what}: disk", size_on_disk * times / 1e9, "GB"),
        at_most(f"{what}: index", loaded.seconds * times / 3600, "hours", 3),
        at_most(f"{what}: scan", scanned.seconds * times / 3600, "hours", 1),
    ]


@contextmanager
def _heap(server: str) -> Iterator[list[int]]:
    """What the node's heap holds, asked for every few seconds."""
    seen, ended = [0], threading.Event()

    def look() -> None:
        while not ended.wait(_SECONDS_BETWEEN):
            with urlopen(f"{server}/_nodes/stats/jvm", timeout=60) as answer:
                nodes = orjson.loads(answer.read())["nodes"].values()
            seen.append(max(node["jvm"]["mem"]["heap_used_in_bytes"] for node in nodes))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        ended.set()
        looking.join()
