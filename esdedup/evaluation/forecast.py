"""Forecast the cost of a large run from a few small ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunCost:
    """The cost of one run: sentences compared, seconds, peak bytes of memory, bytes on disk at the end.

    Of a run on a cluster, also the seconds while its stages ran, those of all their tasks together, and the bytes that
    went through the shuffle.
    """

    sentences: int
    seconds: float
    memory: int
    disk: int
    stage_seconds: float = 0
    task_seconds: float = 0
    shuffled: int = 0


def forecast(runs: Sequence[RunCost], sentences: int, most_memory: int, cores: int | None = None) -> RunCost:
    """Forecast the cost of `sentences` from the smallest and the largest run.

    Time and disk grow linearly, because no stage compares all texts with all. Memory grows by a power of the sentences
    while buffers fill, up to the limit of a run. On `cores` other cores than those of the runs, the tasks of a cluster
    share these.
    """
    first, last = min(runs, key=_sentences), max(runs, key=_sentences)
    alone, share = first.sentences == last.sentences, sentences / max(1, last.sentences)

    def line(of: Callable[[RunCost], float]) -> float:
        growth = of(last) - of(first)
        if alone or growth <= 0:  # starting took longer than the work: the whole run in proportion is an upper bound
            return of(last) * share
        return of(last) + growth / (last.sentences - first.sentences) * (sentences - last.sentences)

    growth = 0.0
    if not alone:
        growth = math.log(max(1.0, last.memory / first.memory)) / math.log(last.sentences / first.sentences)
    beside, tasks = line(lambda run: run.seconds - run.stage_seconds), line(lambda run: run.task_seconds)
    stages = line(lambda run: run.stage_seconds) if cores is None else tasks / cores
    return RunCost(
        sentences,
        beside + stages,
        min(int(last.memory * share ** min(1.0, growth)), max(most_memory, last.memory)),
        int(line(lambda run: run.disk)),
        stages,
        tasks,
        int(line(lambda run: run.shuffled)),
    )


def _sentences(run: RunCost) -> int:
    return run.sentences
