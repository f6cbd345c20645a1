"""From what a few small runs took to what a large one will take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunCost:
    """One run: sentences compared, seconds, bytes of memory at the most, bytes on disk at the end."""

    sentences: int
    seconds: float
    memory: int
    disk: int


def forecast(runs: Sequence[RunCost], sentences: int, most_memory: int) -> RunCost:
    """What `sentences` will take, from the smallest and the largest run.

    Time and disk lie on a straight line: no stage compares all with all. Memory grows by a power of the sentences, as
    buffers fill, up to what a run may take.
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
