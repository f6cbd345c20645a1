"""Measures the text that is compared: holes, markup, small beginnings, and the ends of sentences, beside other
libraries.
"""

from __future__ import annotations

import bz2
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import mwparserfromhell

import esdedup
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.rules import Names
from scripts.benchmarks.bench import Bench, interleaved, ratio, seconds
from scripts.benchmarks.blemishes import begins_small, has_markup, is_hole, share
from scripts.benchmarks.peer import Peer
from scripts.benchmarks.rows import Row, at_least, at_most
from scripts.benchmarks.wikitext import articles, jobs

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

TREEBANKS = ("en", "de", "es", "fr", "ja", "zh")
_SPLITTERS = ("sentencex", "pysbd", "syntok")
_WITHOUT_SPACES = ("ja", "zh")  # languages; syntok does not split them

_PEERS = ("wikiextractor", "segment_wiki")
_COMPARED = "enwiki-106-articles.xml.bz2"

_BELOW = 0.005
_CUT_OUT = re.compile("…[\U000e0100-\U000e013f]")


def measure(bench: Bench) -> list[Row]:
    rows: list[Row] = []
    limit = 20 if bench.small else None
    for name, (lang, most) in DUMPS.items():
        rows += _blemishes(bench.data / "wiki", name, lang, most, limit)
    rows += _others(bench)
    for lang in TREEBANKS:
        rows += _boundaries(bench.data / "treebanks" / f"{lang}.jsonl", lang, limit)
    return rows


def _blemishes(wikis: Path, dump: str, lang: str, most: float, limit: int | None) -> list[Row]:
    name = dump.partition(".")[0]
    texts = _units(wikis / dump, limit=limit)
    rows = [
        Row(f"{name}: units", len(texts)),
        at_most(f"{name}: units with a hole", share(is_hole(text, lang) for text in texts), "%", most),
        Row(f"{name}: units with a sign for what was cut out", share(map(bool, map(_CUT_OUT.search, texts))), "%"),
        at_most(f"{name}: units with markup", share(map(has_markup, texts)), "%", 0.05),
    ]
    if lang not in _WITHOUT_SPACES:
        rows.append(at_most(f"{name}: units that begin small", share(map(begins_small, texts)), "%", 2.0))
    return rows


def _units(source: Path, **options: Any) -> list[str]:
    return [row.text for row in esdedup.extract(source, sentences=True, quiet=True, **options)]


def _others(bench: Bench) -> list[Row]:
    """What other libraries make of the same dump, split by us, and how long they take for it on one core."""
    bench.work.mkdir(parents=True, exist_ok=True)
    dump = bench.work / "dump.xml"
    dump.write_bytes(bz2.decompress((bench.data / "wiki" / _COMPARED).read_bytes()))
    texts = articles(dump)
    fast = FastCleaner(Names())
    fast.clean("")  # compiled before any clock starts
    rows: list[Row] = []
    with Peer("with_wikitext", []) as peer:
        for name in _PEERS:
            rows += _shares(name, peer.strings(name, dump=str(dump)), bench.work)
        theirs = partial(peer.run, _PEERS[0], dump=str(dump))
        times = interleaved({"ours": partial(seconds, jobs(fast, texts)[1]["split"]), "theirs": theirs}, bench.runs)
    rows += _shares("strip_code", [mwparserfromhell.parse(text).strip_code() for text in texts], bench.work)
    dump.unlink()
    speed = ratio(times["theirs"], times["ours"])
    return [*rows, at_least("cleaning and splitting, speed of wikiextractor, which does not split", speed, "x", 10.0)]


def _shares(library: str, pages: list[str], work: Path) -> list[Row]:
    path = work / "pages.jsonl"
    path.write_text("".join(json.dumps({"text": page}) + "\n" for page in pages), "utf-8")
    texts = _units(path, unit="sentence", lang="en")
    path.unlink()
    return [
        Row(f"{library}: units", len(texts)),
        Row(f"{library}: units with a hole", share(is_hole(text, "en") for text in texts), "%"),
        Row(f"{library}: units with markup", share(map(has_markup, texts)), "%"),
        Row(f"{library}: units that begin small", share(map(begins_small, texts)), "%"),
    ]


def _boundaries(treebank: Path, lang: str, limit: int | None) -> list[Row]:
    """F1 of the ends of sentences inside paragraphs, beside that of other libraries."""
    with treebank.open(encoding="utf-8") as lines:
        paragraphs = [json.loads(line) for line in lines][:limit]
    texts = [("" if lang in _WITHOUT_SPACES else " ").join(sentences) for sentences in paragraphs]
    found = {}
    with Peer("with_splitters", texts) as peer:
        for library in _SPLITTERS:
            if library != "syntok" or lang not in _WITHOUT_SPACES:
                found[library] = _f1(paragraphs, peer.strings("split", library=library, lang=lang))
    ours = _f1(paragraphs, [esdedup.split(text, lang) for text in texts])
    title = f"ends of sentences, {lang}, F1"
    best = max(found.values())
    return [
        *(Row(f"{title}: {library}", value) for library, value in found.items()),
        at_least(f"{title}: esdedup", ours, "", best - _BELOW),
    ]


def _f1(paragraphs: list[list[str]], found: list[list[str]]) -> float:
    right = both = 0
    for gold, sentences in zip(map(_ends, paragraphs), map(_ends, found), strict=True):
        right, both = right + len(gold & sentences), both + len(gold) + len(sentences)
    return 2 * right / both


def _ends(sentences: list[str]) -> set[int]:
    """Where sentences end inside a paragraph, in characters that are not white space."""
    ends, at = set(), 0
    for sentence in sentences:
        at += len("".join(sentence.split()))
        ends.add(at)
    return ends - {at}
