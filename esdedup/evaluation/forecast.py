"""Forecast the cost of a large run from a few small ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunCost:
    """The cost of one run: sentences compared, seconds, peak bytes of memory, bytes on disk at the end."""

    sentences: int
    seconds: float
    memory: int
    disk: int


def forecast(runs: Sequence[RunCost], sentences: int, most_memory: int) -> RunCost:
    """Forecast the cost of `sentences` from the smallest and the largest run.

    Time and disk grow linearly, because no stage compares all texts with all. Memory grows by a power of the sentences
    while buffers fill, up to the limit of a run.
    """
    first, last = min(runs, key=_sentences), max(runs, key=_sentences)
    if first.sentences == last.sentences:
        share = sentences / max(1, last.sentences)
        return RunCost(sentences, last.seconds * share, min(int(last.memory), most_memory), int(last.disk * share))

    def line(one: float, two: float) -> float:
        slope = max(0.0, (two - one) / (last.sentences - first.sentences))
        return two + slope * (sentences - last.sentences)

    growth = math.log(max(1.0, last.memory / first.memory)) / math.log(last.sentences / first.sentences)
    power = min(1.0, growth)
    return RunCost(
        sentences,
        line(first.seconds, last.seconds),
        min(int(last.memory * (sentences / last.sentences) ** power), max(most_memory, last.memory)),
        int(line(first.disk, last.disk)),
    )


def _sentences(run: RunCost) -> int:
    return run.sentences
