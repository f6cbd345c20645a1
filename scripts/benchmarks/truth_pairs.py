"""Pairs of similar texts that others have labelled, cut in halves by page: one for building, one for judging."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from esdedup.analysis.align import align
from esdedup.analysis.changes import changes
from esdedup.analysis.word_forms import Measures, split_words
from esdedup.analysis.word_meanings import meant
from esdedup.columns.arrays import text_column
from scripts.benchmarks.truth_corpora import half_of

_SWAPPED = ("paws-wiki", "paws-x")


class Pair(NamedTuple):
    """Two texts, and what others say of them: `same`, `contradicts`, `differs`, `identical`."""

    source: str
    title: str | None
    group: str  # pages, groups or texts are never in both halves
    lang: str
    a: str
    b: str
    gold: str

    @property
    def differs(self) -> bool:
        """Whether they say different things; where words are swapped, that is all that may differ."""
        return self.gold == "contradicts" or (self.gold == "differs" and self.source in _SWAPPED)


def pairs_of(data: Path, name: str, half: str) -> list[Pair]:
    """One half of a set of pairs, by page."""
    with gzip.open(data / "pairs" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    pairs = [
        Pair(
            name, row.get("page"), row.get("page") or row.get("group") or row["a"], row["lang"], row["a"], row["b"],
            row["gold"],
        )
        for row in rows
    ]  # fmt: skip
    return [pair for pair in pairs if half_of(pair.group) == half]


def changes_of(pairs: Sequence[Pair]) -> Measures:
    """What changed in each pair, as rows of `esdedup.analysis.changes.CHANGES`."""
    words = split_words(text_column([text for pair in pairs for text in (pair.a, pair.b)]))
    first = np.arange(0, 2 * len(pairs), 2)
    clusters = np.append(first, 2 * len(pairs))
    return changes(words, meant(words), clusters, align(words, clusters, first), first, first + 1)
