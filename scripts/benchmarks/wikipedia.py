"""Whole wikis of up to the size of the English Wikipedia, streamed from the generator, in parts that are kept.

Each part writes what it measured to bench-out/wikipedia. A part that is there is not measured again, so one that was
stopped goes on; delete the folder to start anew. The store of the largest wiki stays there for the next part.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple
from urllib.request import urlopen

import numpy as np
import pyarrow as pa

import esdedup
from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.hashing import content_hashes
from esdedup.matching.signers.minhash import MinHash
from scripts.benchmarks.bench import ROOT, Bench, seconds
from scripts.benchmarks.processes import ESDEDUP, serving, tree_bytes
from scripts.benchmarks.rows import Row, at_least, at_most, write
from scripts.wiki.huge.pages import HugeWiki

SIZES, SMALL_SIZES = (1_000_000, 10_000_000, 136_000_000), (20_000, 100_000)
GIB = 2**30
QUESTIONS, FIRST = 200, 50
"""Questions that are counted, and those before them, which are not."""
THRESHOLD = 0.8
_ASKED_CLUSTERS, _ASKED_MEMBERS = 20_000, 12
"""Planted clusters of which so many members are compared with each other."""
_SECONDS_BETWEEN, _TURNS = 0.2, 15


class Ran(NamedTuple):
    seconds: float
    processor: float  # seconds of the command and all that it started
    generator: float  # seconds of the generator
    memory: int  # peak of bytes
    disk: int  # peak of bytes


def measure(bench: Bench) -> list[Row]:
    folder = ROOT / "bench-out" / ("wikipedia-small" if bench.small else "wikipedia")
    rows: list[Row] = []
    sizes = SMALL_SIZES if bench.small else SIZES
    took = []
    for size in sizes:
        own = folder / str(size)
        made = _part(own, "run", partial(_run, size, own))
        took.append(made[0].value or 0.0)
        rows += made
        rows += _part(own, "recall", partial(recall, size, own / "store.duckdb"))
        for name, part in {"questions": _questions, "month": _month}.items():
            rows += _part(own, name, partial(part, size, own))
        if size != sizes[-1]:
            shutil.rmtree(own / "found", ignore_errors=True)
            esdedup.drop(store=own / "store.duckdb")
    for (one, few), (two, many) in pairwise(zip(sizes, took, strict=True)):
        rows.append(at_most(f"{two:,} sentences, times {one:,}", many / few, "x", 1.065 * two / one))
    return rows


def _part(folder: Path, name: str, work: Callable[[], list[Row]]) -> list[Row]:
    kept = folder / f"{name}.json"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write(work(), kept)
    return [Row(**row) for row in json.loads(kept.read_text("utf-8"))]


def piped(size: int, month: int, folder: Path, words: Sequence[str | Path]) -> Ran:
    """Run a command that reads the wiki from its standard input. `RuntimeError` if it fails."""
    made = [sys.executable, "-m", "scripts.wiki.huge", "--sentences", str(size), "--month", str(month)]
    command = [*ESDEDUP, *map(str, words), "--memory", "4GiB", "--quiet"]
    began = time.perf_counter()
    with (folder / "log").open("wb") as log:
        generator = subprocess.Popen(made, stdout=subprocess.PIPE, cwd=ROOT)
        process = subprocess.Popen(command, stdin=generator.stdout, stdout=log, stderr=log)
    assert generator.stdout is not None
    generator.stdout.close()
    memory = disk = turn = 0
    samples = (folder / "samples.tsv").open("w", encoding="utf-8")  # seconds, bytes of memory and of disk
    while True:
        done, status, used = os.wait4(process.pid, os.WNOHANG)
        if done:
            break
        if turn % _TURNS == 0:  # to look takes a tenth of a second
            held = tree_bytes(process.pid), _size(folder)
            memory, disk = max(memory, held[0]), max(disk, held[1])
            samples.write(f"{time.perf_counter() - began:.0f}\t{held[0]}\t{held[1]}\n")
        turn += 1
        time.sleep(_SECONDS_BETWEEN)
    took = time.perf_counter() - began
    samples.close()
    disk = max(disk, _size(folder))
    _, made_status, making = os.wait4(generator.pid, 0)
    if status or made_status:
        raise RuntimeError((folder / "log").read_text("utf-8", "replace").strip()[-500:])
    spent = [each.ru_utime + each.ru_stime for each in (used, making)]
    return Ran(took, *spent, memory, disk)


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_blocks * 512
        except OSError:
            continue  # it has gone meanwhile
    return total


def _rows(what: str, ran: Ran, size: int) -> list[Row]:
    largest = size == SIZES[-1]
    return [
        Row(f"{what}: the generator beside it, processor time", ran.generator, "s"),
        Row(f"{what}: processor time for a million sentences", ran.processor / size * 1e6, "s"),
        at_most(f"{what}: peak of memory", ran.memory / GIB, "GiB", 4.0),
        at_most(f"{what}: peak of disk", ran.disk / 1e9, "GB", 60.0) if largest else
        Row(f"{what}: peak of disk", ran.disk / 1e9, "GB"),
    ]  # fmt: skip


def _run(size: int, folder: Path) -> list[Row]:
    found, store = folder / "found", folder / "store.duckdb"
    words = ["run", "-", "--format", "wikipedia", "--source-name", "wiki", "--out", found, "--store", store, "--fresh"]
    ran = piped(size, 0, folder, words)
    summary = json.loads((found / "summary.json").read_text("utf-8"))
    counts, what = summary["counts"], f"{size:,} sentences"
    command = f"{what}: the whole command"
    return [
        at_most(command, ran.seconds, "s", 5400) if size == SIZES[-1] else Row(command, ran.seconds, "s"),
        *_rows(what, ran, size),
        *(Row(f"{what}: {stage}", spent, "s") for stage, spent in summary["seconds"].items()),
        Row(f"{what}: the lookup", ran.seconds - sum(summary["seconds"].values()), "s"),
        *(Row(f"{what}: {name}", counts[name]) for name in ("sentences_kept", "candidates", "pairs", "clusters")),
        Row(f"{what}: the store", store.stat().st_size / 1e9, "GB"),
        Row(f"{what}: its lookup", _size(Path(f"{store}.lookup")) / 1e9, "GB"),
    ]


def recall(size: int, store: str | Path) -> list[Row]:
    """Which planted pairs at the threshold were found, beside what the formula of the bands promises."""
    wiki = HugeWiki(size)
    clusters = int(wiki.plan.clusters[-1])
    chosen = random.Random(1).sample(range(clusters), min(_ASKED_CLUSTERS, clusters))
    pairs = [
        pair for cluster in chosen for pair in combinations(dict.fromkeys(wiki.copies(cluster, _ASKED_MEMBERS)), 2)
    ]
    jaccard = np.array([_jaccard(*pair) for pair in pairs])
    hashes = np.stack([content_hashes(*text_buffers(text_column(side))) for side in zip(*pairs, strict=True)])
    with esdedup.open_store(store, read_only=True, threads=2) as opened:
        asked = pa.table({"hash": np.unique(hashes)})
        known = {(row["a"], row["b"]) for batch in opened.results.pair_hashes(asked) for row in batch.to_pylist()}
        stored = np.isin(hashes, opened.corpus.signatures_of("any", asked)["hash"].to_numpy()).all(axis=0)
    jaccard, hashes = jaccard[stored], hashes[:, stored]
    found = np.array([tuple(ends) in known for ends in np.sort(hashes, axis=0).T.tolist()])
    near, what = jaccard >= THRESHOLD, f"{size:,} sentences"
    promised = float(MinHash().chance(jaccard[near]).sum())
    return [
        Row(f"{what}: planted pairs whose sentences are read as they were written", float(stored.mean())),
        Row(f"{what}: planted pairs of Jaccard ≥ {THRESHOLD} that were looked for", int(near.sum())),
        Row(f"{what}: of these found", float(found[near].mean())),
        at_least(f"{what}: found, times what the formula promises", float(found[near].sum()) / promised, "x", 0.997),
        at_least(f"{what}: of the found ones true", float(near[found].mean()), "", 1.0),
    ]


def _jaccard(one: str, two: str) -> float:
    """Jaccard of the sets of 12 consecutive characters, counted here and not by what is measured."""
    a, b = ({text[at : at + 12] for at in range(len(text) - 11)} for text in (one, two))
    return len(a & b) / len(a | b)


def _month(size: int, folder: Path) -> list[Row]:
    """The export of the next month, of which 3 of 100 pages have changed, beside reading it."""
    store, what = folder / "store.duckdb", f"{size:,} sentences, next month"
    ran = piped(size, 1, folder, ["add", "-", "--format", "wikipedia", "--source-name", "wiki", "--store", store])
    began = time.perf_counter()
    made = [sys.executable, "-m", "scripts.wiki.huge", "--sentences", str(size), "--month", "1"]
    generator = subprocess.Popen(made, stdout=subprocess.PIPE, cwd=ROOT)
    read = subprocess.run([sys.executable, "-c", _READ], stdin=generator.stdout, cwd=ROOT, check=True)
    generator.wait()
    reading = time.perf_counter() - began
    assert not read.returncode
    return [
        Row(f"{what}: the whole command", ran.seconds, "s"),
        *_rows(what, ran, size),
        Row(f"{what}: reading it and hashing its pages", reading, "s"),
        at_most(f"{what}: add, times reading it and hashing its pages", ran.seconds / reading, "x", 1.5),
    ]


_READ = """
from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import content_hashes
from esdedup.columns.records import Skips
from esdedup.formats.reading_options import Reading
from esdedup.formats.stream import DocumentStream
from esdedup.formats.locations import discover
with DocumentStream(discover(["-"], Reading.of(format="wikipedia"))[0], Skips(), threads=2) as stream:
    for batch in stream:
        content_hashes(*text_buffers(batch["text"]))
"""


def _questions(size: int, folder: Path) -> list[Row]:
    """Questions to a store, one after the other, and to a page. The second time they are warm: what they need is in the
    memory of the machine.
    """
    wiki, numbers, what = HugeWiki(size), random.Random(2), f"{size:,} sentences"
    texts = [wiki.sentence(numbers.randrange(wiki.sentences)) for _ in range(QUESTIONS + FIRST)]
    edited = [text.replace(" ", "  ", 1) + " And so on." for text in texts]
    path = folder / "store.duckdb"
    with esdedup.open_store(path, read_only=True, threads=2) as store:
        asked = [[seconds(partial(esdedup.similar, text, store=store, limit=20)) for text in edited] for _ in range(2)]
    with serving(path) as (port, _):
        pages = [seconds(partial(_read, f"http://127.0.0.1:{port}/clusters")) for _ in range(10)]
    cold, warm = (times[FIRST:] for times in asked)
    return [
        at_most(f"{what}: similar, median of {QUESTIONS} questions", 1000 * median(warm), "ms", 25.0),
        at_most(f"{what}: similar, 99th percentile", 1000 * quantiles(warm, n=100)[98], "ms", 150.0),
        Row(f"{what}: similar, median when they are asked for the first time", 1000 * median(cold), "ms"),
        Row(
            f"{what}: similar, 99th percentile when they are asked for the first time",
            1000 * quantiles(cold, n=100)[98],
            "ms",
        ),
        Row(f"{what}: similar, the first question", asked[0][0], "s"),
        Row(f"{what}: the page of clusters of serve, median", 1000 * median(pages[5:]), "ms"),
        Row(f"{what}: the page of clusters of serve, the first time", pages[0], "s"),
    ]


def _read(address: str) -> bytes:
    with urlopen(address, timeout=3600) as answer:
        return bytes(answer.read())
