"""Measures the wikitext room: speed, agreement with the reference, pages made to take long."""

from __future__ import annotations

import bz2
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

import mwparserfromhell
import numpy as np
import sentencex
from lxml import etree

from esdedup.wikitext.fast import FastCleaner
from esdedup.wikitext.reference import ReferenceCleaner
from esdedup.wikitext.rules import Names

DUMPS = ("enwiki-106-articles.xml.bz2", "enwiki-head-a.xml", "enwiki-2025-head.xml.bz2")
OPENERS = ("[[a|", "<ref>", "{|", "<math>", "<!--", "{{{a|")

ROUNDS = 5


def articles(path: Path) -> list[str]:
    """Wikitext of the articles of a dump, without redirects."""
    texts = []
    with bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as dump:
        for _, page in etree.iterparse(dump, tag="{*}page", huge_tree=True):
            if page.findtext("{*}ns") == "0" and page.find("{*}redirect") is None:
                texts.append(page.findtext("{*}revision/{*}text") or "")
            page.clear()
    return texts


def measure(data: Path) -> list[dict[str, object]]:
    """One row a measure; `data` is the folder that holds `wiki/`."""
    names = Names()
    fast = FastCleaner(names)
    fast.clean("")  # compiled before any clock starts
    dumps = {name: articles(data / "wiki" / name) for name in DUMPS}
    rows = _speed(fast, dumps[DUMPS[0]])
    with (
        ReferenceCleaner(names, time_limit=60) as corrected,
        ReferenceCleaner(names, corrected=False, time_limit=60) as plain,
    ):
        for name, texts in dumps.items():
            rows += _agreement(name.partition(".")[0], texts, fast, corrected, plain)
    for opener in OPENERS:
        page = opener * (100_000 // len(opener))
        seconds = median(_seconds(lambda page=page: fast.clean(page)) for _ in range(ROUNDS))
        rows.append(_row(f"100 KB of {opener}", seconds, "s", 1.0, at_most=True))
    return rows


def _speed(fast: FastCleaner, texts: list[str]) -> list[dict[str, object]]:
    encoded = [text.encode() for text in texts]
    data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    offsets[1:] = np.cumsum([len(text) for text in encoded])

    def clean() -> None:
        fast.clean_batch(data, offsets)

    def clean_and_split() -> None:
        out, ends = fast.clean_batch(data, offsets)
        for i in range(ends.size - 1):
            sentencex.segment("en", out[ends[i] : ends[i + 1]].tobytes().decode())

    def parse() -> None:
        for text in texts:
            mwparserfromhell.parse(text).strip_code()

    ways: tuple[Callable[[], None], ...] = (clean, clean_and_split, parse)
    times: list[list[float]] = [[], [], []]
    for _ in range(ROUNDS):
        for way, seconds in zip(ways, times, strict=True):
            seconds.append(_seconds(way))
    megabytes = data.size / 1e6
    cleaning, splitting, parsing = (megabytes / median(seconds) for seconds in times)
    return [
        _row("wikitext cleaning, one core", cleaning, "MB/s", 40.0),
        _row("wikitext cleaning, one core (stretch)", cleaning, "MB/s", 120.0),
        _row("wikitext cleaning and sentence splitting, one core", splitting, "MB/s", 30.0),
        _row("wikitext cleaning and sentence splitting, one core (stretch)", splitting, "MB/s", 65.0),
        _row("wikitext cleaning, times mwparserfromhell", cleaning / parsing, "x", 15.0),
    ]


def _agreement(
    name: str, texts: list[str], fast: FastCleaner, corrected: ReferenceCleaner, plain: ReferenceCleaner
) -> list[dict[str, object]]:
    ours, right, uncorrected = Counter[str](), Counter[str](), Counter[str]()
    for text in texts:
        ours += _sentences(fast.clean(text))
        right += _sentences(corrected.clean(text))
        uncorrected += _sentences(plain.clean(text))
    neither = 100 * (ours - right - uncorrected).total() / ours.total()
    return [
        _row(f"{name}: F1 to the corrected reference", _f1(ours, right), "", 0.997),
        _row(f"{name}: F1 to the plain reference", _f1(ours, uncorrected), "", None),
        _row(f"{name}: sentences in neither reference", neither, "%", 0.2, at_most=True),
    ]


def _sentences(text: str) -> Counter[str]:
    collapsed = (" ".join(sentence.split()) for sentence in sentencex.segment("en", text))
    return Counter(sentence for sentence in collapsed if 75 <= len(sentence) <= 600)


def _f1(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / (one.total() + other.total())


def _seconds(way: Callable[[], object]) -> float:
    began = time.perf_counter()
    way()
    return time.perf_counter() - began


def _row(measure: str, value: float, unit: str, aim: float | None, at_most: bool = False) -> dict[str, object]:
    met = None if aim is None else (value <= aim if at_most else value >= aim)
    return {"measure": measure, "value": value, "unit": unit, "aim": aim, "met": met}


if __name__ == "__main__":
    for row in measure(Path(sys.argv[1])):
        sys.stdout.write(f"{row['measure']}: {row['value']:.4g} {row['unit']} (aim {row['aim']}: {row['met']})\n")
