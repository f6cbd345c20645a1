"""Measures the text that is compared: holes, markup, small beginnings, and the ends of sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import esdedup
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.blemishes import begins_small, has_markup, is_hole, share
from scripts.benchmarks.rows import Row, at_least, at_most

# What is measured, the language of its articles, and the most holes that we want, in percent.
DUMPS = {
    "enwiki-106-articles.xml.bz2": ("en", 0.3),
    "enwiki-machine-learning.xml.bz2": ("en", 1.0),
    "enwiki-composers-2009.xml.bz2": ("en", 1.0),
    "shintowiki-shrines.xml.bz2": ("en", 1.0),
    "twelfwiki.xml.bz2": ("en", 1.0),
    "ukwiki-2023-head.xml.bz2": ("uk", 0.5),
    "elwiki-2023-head.xml.bz2": ("el", 0.5),
    "jawiki-2023-head.xml.bz2": ("ja", 1.0),
    "berlin/fr.xml.bz2": ("fr", 0.5),
    "berlin/it.xml.bz2": ("it", 0.5),
    "berlin/es.xml.bz2": ("es", 1.0),
    "berlin/de.xml.bz2": ("de", 1.0),
    "berlin/et.xml.bz2": ("et", 1.0),
}

TREEBANKS = {"en": 0.877, "de": 0.968, "es": 0.989, "fr": 0.973, "ja": 0.997, "zh": 0.989}
"""The best F1 of sentencex, pysbd and syntok, by language."""

_BELOW = 0.005
_CUT_OUT = re.compile("…[\U000e0100-\U000e013f]")


def measure(bench: Bench) -> list[Row]:
    rows: list[Row] = []
    for name, (lang, most) in DUMPS.items():
        rows += _blemishes(bench.data / "wiki", name, lang, most, limit=20 if bench.small else None)
    return rows + [_boundaries(bench.data / "treebanks" / f"{lang}.jsonl", lang) for lang in TREEBANKS]


def _blemishes(wikis: Path, dump: str, lang: str, most: float, limit: int | None) -> list[Row]:
    name = dump.partition(".")[0]
    texts = [row.text for row in esdedup.extract(wikis / dump, sentences=True, limit=limit, quiet=True)]
    rows = [
        Row(f"{name}: units", len(texts)),
        at_most(f"{name}: units with a hole", share(is_hole(text, lang) for text in texts), "%", most),
        Row(f"{name}: units with a sign for what was cut out", share(map(bool, map(_CUT_OUT.search, texts))), "%"),
        at_most(f"{name}: units with markup", share(map(has_markup, texts)), "%", 0.05),
    ]
    if lang not in ("ja", "zh"):
        rows.append(at_most(f"{name}: units that begin small", share(map(begins_small, texts)), "%", 2.0))
    return rows


def _boundaries(treebank: Path, lang: str) -> Row:
    right = found = true = 0
    for sentences in _paragraphs(treebank):
        ours, gold = _ends(esdedup.split(("" if lang in ("ja", "zh") else " ").join(sentences), lang)), _ends(sentences)
        right, found, true = right + len(ours & gold), found + len(ours), true + len(gold)
    best = TREEBANKS[lang]
    return at_least(
        f"ends of sentences, {lang}, F1 (best of the peers {best})", 2 * right / (found + true), "", best - _BELOW
    )


def _paragraphs(treebank: Path) -> Iterator[list[str]]:
    with treebank.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _ends(sentences: list[str]) -> set[int]:
    """Where sentences end inside a paragraph, in characters that are not white space."""
    ends, at = set(), 0
    for sentence in sentences:
        at += len("".join(sentence.split()))
        ends.add(at)
    return ends - {at}
