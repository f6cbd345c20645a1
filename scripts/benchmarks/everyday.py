"""What comes after the first run: adding to a large store, and asking it."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import esdedup
from esdedup.store.store import Store
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.rows import Row, at_most

SENTENCES, SMALL_SENTENCES = 1_000_000, 20_000
NEW_SHARE = 0.01
QUESTIONS = 200


def measure(bench: Bench) -> list[Row]:
    sentences = SMALL_SENTENCES if bench.small else SENTENCES
    folder = bench.work / "everyday"
    shutil.rmtree(folder, ignore_errors=True)
    old, new = _split(dump(bench, articles_of_sentences(bench, sentences)), folder)
    full: list[float] = []
    for _ in range(max(1, bench.runs // 2)):
        clock = time.perf_counter()
        esdedup.index(old, new, store=folder / "full.duckdb", fresh=True)
        summary = esdedup.scan(store=folder / "full.duckdb")
        full.append(time.perf_counter() - clock)
    base = folder / "base.duckdb"
    esdedup.index(old, store=base, source_name=old.stem)
    esdedup.scan(store=base)
    added: list[float] = []
    for _ in range(bench.runs):
        grown = folder / "grown.duckdb"
        shutil.copy(base, grown)
        clock = time.perf_counter()
        done = esdedup.add(new, store=grown, source_name=new.stem)
        added.append(time.perf_counter() - clock)
    assert done["counts"] == summary["counts"], "an add must end where one run does"
    kept = done["counts"]["sentences_kept"]
    came = kept - esdedup.status(store=base)["counts"]["sentences_kept"]
    rows = [
        Row(f"index and scan, {kept:,} sentences", median(full), "s"),
        Row(f"add, {came:,} of them new", median(added), "s"),
        at_most("add, times index and scan of everything", median(added) / median(full), "x", 1 / 20),
    ]
    with esdedup.open_store(grown, read_only=True, threads=2) as store:
        rows += _questions(store, kept)
    shutil.rmtree(folder)
    return rows


def _questions(store: Store, kept: int) -> list[Row]:
    source = random.Random(1)
    members = [member["text"] for cluster in esdedup.clusters(store=store, limit=2000) for member in cluster["members"]]
    texts = source.sample(members, min(QUESTIONS, len(members)))
    edited = [text.replace(" ", "  ", 1) + " And so on." for text in texts]
    prefixes = [text[: source.randint(4, 30)] for text in texts]
    return [
        _asked(f"similar, {kept:,} sentences", edited, lambda text: esdedup.similar(text, store=store, limit=20)),
        _asked(f"suggest, {kept:,} sentences", prefixes, lambda text: esdedup.suggest(text, store=store)),
    ]


def _asked(what: str, questions: list[str], ask: Callable[[str], Any]) -> Row:
    times = []
    for question in questions:
        clock = time.perf_counter()
        ask(question)
        times.append(time.perf_counter() - clock)
    return at_most(f"{what}: median of {len(questions)} questions, in process", 1000 * median(times), "ms", 20)


def _split(wiki: Path, folder: Path) -> tuple[Path, Path]:
    """The dump as two: most of its pages, and the last ones."""
    folder.mkdir(parents=True)
    with wiki.open("rb") as lines:
        pages = sum(b"</page>" in line for line in lines)
    old, new = folder / "old.xml", folder / "new.xml"
    with wiki.open("rb") as lines, old.open("wb") as first, new.open("wb") as second:
        done, head = 0, True
        for line in lines:
            head = head and b"<page>" not in line
            if head or b"</mediawiki>" in line:
                first.write(line)
                second.write(line)
                continue
            (first if done < pages * (1 - NEW_SHARE) else second).write(line)
            done += b"</page>" in line
    return old, new
