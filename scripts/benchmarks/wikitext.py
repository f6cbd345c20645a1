"""Measures the wikitext room: speed, agreement with the reference, pages made to take long."""

from __future__ import annotations

import bz2
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import mwparserfromhell
import numpy as np
from lxml import etree

from esdedup.text.segment import segment, split
from esdedup.text.splitting import Splitting
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.reference import ReferenceCleaner
from esdedup.text.wikitext.rules import Names
from scripts.benchmarks.bench import Bench, interleaved, ratio, seconds
from scripts.benchmarks.rows import Row, at_least, at_most

DUMPS = ("enwiki-106-articles.xml.bz2", "enwiki-head-a.xml", "enwiki-2025-head.xml.bz2")
_SPLITTING = Splitting("sentence", "en")
OPENERS = ("[[a|", "<ref>", "{|", "<math>", "<!--", "{{{a|")

SMALL = 20
"""Articles of a dump in a smoke test."""


def articles(path: Path) -> list[str]:
    """Wikitext of the articles of a dump, without redirects."""
    texts = []
    with bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as dump:
        for _, page in etree.iterparse(dump, tag="{*}page", huge_tree=True):
            if page.findtext("{*}ns") == "0" and page.find("{*}redirect") is None:
                texts.append(page.findtext("{*}revision/{*}text") or "")
            page.clear()
    return texts


def measure(bench: Bench) -> list[Row]:
    names = Names()
    fast = FastCleaner(names)
    fast.clean("")  # compiled before any clock starts
    most = SMALL if bench.small else None
    dumps = {name: articles(bench.data / "wiki" / name)[:most] for name in DUMPS}
    rows = _speed(fast, dumps[DUMPS[0]], bench.runs)
    with (
        ReferenceCleaner(names, time_limit=60) as corrected,
        ReferenceCleaner(names, corrected=False, time_limit=60) as plain,
    ):
        for name, texts in dumps.items():
            rows += _agreement(name.partition(".")[0], texts, fast, corrected, plain)
    for opener in OPENERS:
        page = opener * (100_000 // len(opener))
        took = median(seconds(partial(fast.clean, page)) for _ in range(bench.runs))
        rows.append(at_most(f"100 KB of {opener}", took, "s", 1.0))
    return rows


def jobs(fast: FastCleaner, texts: list[str]) -> tuple[int, dict[str, Callable[[], None]]]:
    """The bytes of texts, and what is done with them: `clean`, and `split`, which cleans and splits."""
    encoded = [text.encode() for text in texts]
    data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    offsets[1:] = np.cumsum([len(text) for text in encoded])

    def clean() -> None:
        fast.clean_batch(data, offsets)

    def clean_and_split() -> None:
        out, ends = fast.clean_batch(data, offsets)
        segment([out[ends[i] : ends[i + 1]].tobytes().decode() for i in range(ends.size - 1)], _SPLITTING)

    return data.size, {"clean": clean, "split": clean_and_split}


def _speed(fast: FastCleaner, texts: list[str], runs: int) -> list[Row]:
    size, ours = jobs(fast, texts)

    def parse() -> None:
        for text in texts:
            mwparserfromhell.parse(text).strip_code()

    times = interleaved({name: partial(seconds, job) for name, job in {**ours, "parse": parse}.items()}, runs)
    megabytes = size / 1e6
    cleaning, splitting = (megabytes / median(times[name]) for name in ("clean", "split"))
    return [
        at_least("wikitext cleaning, one core", cleaning, "MB/s", 40.0),
        at_least("wikitext cleaning, one core (stretch)", cleaning, "MB/s", 120.0),
        at_least("wikitext cleaning and sentence splitting, one core", splitting, "MB/s", 30.0),
        at_least("wikitext cleaning and sentence splitting, one core (stretch)", splitting, "MB/s", 65.0),
        at_least("wikitext cleaning, times mwparserfromhell", ratio(times["parse"], times["clean"]), "x", 15.0),
    ]


def _agreement(
    name: str, texts: list[str], fast: FastCleaner, corrected: ReferenceCleaner, plain: ReferenceCleaner
) -> list[Row]:
    ours, right, uncorrected = Counter[str](), Counter[str](), Counter[str]()
    for text in texts:
        ours += _sentences(fast.clean(text))
        right += _sentences(corrected.clean(text))
        uncorrected += _sentences(plain.clean(text))
    neither = 100 * (ours - right - uncorrected).total() / ours.total()
    return [
        at_least(f"{name}: F1 to the corrected reference", _f1(ours, right), "", 0.997),
        Row(f"{name}: F1 to the plain reference", _f1(ours, uncorrected), ""),
        at_most(f"{name}: sentences in neither reference", neither, "%", 0.2),
    ]


def _sentences(text: str) -> Counter[str]:
    collapsed = (" ".join(sentence.split()) for sentence in split(text, _SPLITTING))
    return Counter(sentence for sentence in collapsed if 75 <= len(sentence) <= 600)


def _f1(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / (one.total() + other.total())
