"""Compare the clusters found with the planted ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from typing import Any

from esdedup.analysis.names import KINDS

_SHINGLE = 12


@dataclass(frozen=True, slots=True)
class KindFound:
    """One kind of planted cluster: their number, their pairs at or above the threshold, and how many of these were
    found.

    A text planted more than once counts as one pair: its copies.
    """

    kind: str
    plants: int
    pairs: int
    found: int

    @property
    def missed(self) -> int:
        """Pairs that are in no cluster."""
        return self.pairs - self.found


@dataclass(frozen=True, slots=True)
class Found:
    """The clusters of a run, compared with the planted ones."""

    kinds: tuple[KindFound, ...]
    mixed: int
    """Clusters with sentences of two or more planted clusters."""
    unplanted: int
    """Clusters without any planted sentence."""
    strangers: int
    """Sentences that were not planted, but are in clusters of planted ones."""

    @property
    def complete(self) -> bool:
        """Whether every planted pair was found, and no cluster mixes two planted ones."""
        return self.mixed == 0 and all(kind.missed == 0 for kind in self.kinds)


def check(truth: Path, clusters: Iterable[Mapping[str, Any]], jaccard: float = 0.8) -> Found:
    """Compare `clusters`, in the format of clusters.jsonl, with the planted `truth`. They are matched by text."""
    plants: dict[bytes, int] = {}
    for plant in _plants(truth):
        for member in plant["members"]:
            plants[_digest(member["text"])] = plant["plant"]
    held: dict[bytes, tuple[int, int]] = {}
    mixed = unplanted = strangers = 0
    for number, cluster in enumerate(clusters):
        copies: dict[bytes, int] = {}
        for member in cluster["members"]:
            digest = _digest(member["text"])
            copies[digest] = copies.get(digest, 0) + 1
        known = [digest for digest in copies if digest in plants]
        held.update((digest, (number, copies[digest])) for digest in known)
        mixed += len({plants[digest] for digest in known}) > 1
        unplanted += not known
        strangers += sum(copies.values()) - sum(copies[digest] for digest in known) if known else 0
    counts = {kind: [0, 0, 0] for kind in KINDS}
    for plant in _plants(truth):
        pairs, found = _pairs([member["text"] for member in plant["members"]], held, jaccard)
        for place, count in enumerate((1, pairs, found)):
            counts[plant["kind"]][place] += count
    return Found(tuple(KindFound(kind, *counts[kind]) for kind in KINDS), mixed, unplanted, strangers)


def _pairs(texts: Sequence[str], held: Mapping[bytes, tuple[int, int]], jaccard: float) -> tuple[int, int]:
    """Return the pairs of one planted cluster at or above the threshold, and how many of them are in one cluster."""
    distinct = {text: texts.count(text) for text in texts}
    pairs = found = 0
    for text, copies in distinct.items():
        if copies > 1:
            pairs += 1
            found += held.get(_digest(text), (0, 0))[1] >= copies
    shingles = {text: _shingles(text) for text in distinct}
    for one, two in combinations(distinct, 2):
        if _jaccard(shingles[one], shingles[two]) >= jaccard:
            pairs += 1
            group = held.get(_digest(one))
            other = held.get(_digest(two))
            found += group is not None and other is not None and group[0] == other[0]
    return pairs, found


def _plants(truth: Path) -> Iterable[dict[str, Any]]:
    with truth.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=12).digest()


def _shingles(text: str) -> set[str]:
    return {text[start : start + _SHINGLE] for start in range(len(text) - _SHINGLE + 1)}


def _jaccard(one: set[str], two: set[str]) -> float:
    shared = len(one & two)
    return shared / (len(one) + len(two) - shared)
