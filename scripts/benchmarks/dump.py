"""A dump to clusters, against decompressing it alone."""

from __future__ import annotations

import bz2
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from lxml import etree

from esdedup.formats.compression.opener import Opened
from esdedup.resources import available_cores
from scripts.benchmarks.bench import Bench, interleaved, ratio, seconds
from scripts.benchmarks.corpora import articles_of_bytes, dump
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row, at_most
from scripts.wiki.density import REAL, markup_density

BYTES, SMALL_BYTES = 310_000_000, 15_000_000
DENSITY_ARTICLES = 500
MOST_RUNS = 3


def measure(bench: Bench) -> list[Row]:
    path = dump(bench, articles_of_bytes(bench, SMALL_BYTES if bench.small else BYTES), ".xml.bz2")
    out = bench.work / "dump"
    command = [*ESDEDUP, "run", path, "--out", out, "--fresh", "--quiet"]
    jobs = {
        "run": lambda: run(command).seconds,
        "lean": lambda: run([*command, "--no-lookup", "--no-kinds"]).seconds,
        "one core": lambda: run(["taskset", "--cpu-list", "0", *command]).seconds,
        "decompress": partial(seconds, partial(_decompress, path)),
    }
    times = interleaved(jobs, min(bench.runs, MOST_RUNS))
    shutil.rmtree(out)
    size, articles = _decompress(path) / 1e6, list(_articles(path, DENSITY_ARTICLES))
    made = markup_density(articles)
    rows = [
        Row("generated dump, uncompressed", size, "MB"),
        *(Row(f"markup of the generated dump (real: {REAL[sort]:.3g}): {sort}", made[sort]) for sort in REAL),
        Row("dump to clusters, the whole command", median(times["run"]), "s"),
        Row("dump to clusters, the whole command on one core", median(times["one core"]), "s"),
        Row("dump to clusters", size / median(times["run"]), "MB/s"),
        Row(f"decompressing alone, {available_cores()} threads", median(times["decompress"]), "s"),
    ]
    return [
        *rows,
        at_most("dump to clusters, times decompressing alone", ratio(times["run"], times["decompress"]), "x", 4),
        at_most("without lookup and kinds, times decompressing", ratio(times["lean"], times["decompress"]), "x", 3),
    ]


def _decompress(path: Path) -> int:
    """Read a source to its end; its bytes, uncompressed."""
    opened = Opened(path, available_cores())
    try:
        return sum(len(piece) for member in opened.members() for piece in member.pieces)
    finally:
        opened.close()


def _articles(path: Path, most: int) -> Iterator[str]:
    """Wikitext of the first articles of a dump."""
    with bz2.open(path) as file:
        for _, page in etree.iterparse(file, tag="{*}page"):
            if page.findtext("{*}ns") == "0" and page.find("{*}redirect") is None:
                yield page.findtext("{*}revision/{*}text") or ""
                most -= 1
            page.clear()
            if not most:
                return
