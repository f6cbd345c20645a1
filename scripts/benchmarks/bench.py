"""What every topic is told, and the clock they share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Bench:
    data: Path  # real data: wiki/ and sentences/
    work: Path  # for what a topic writes
    runs: int
    small: bool  # a smoke test: sizes shrunk, figures without meaning


def seconds(job: Callable[[], object]) -> float:
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def interleaved(jobs: Mapping[str, Callable[[], float]], runs: int, uncounted: int = 1) -> dict[str, list[float]]:
    """Seconds that each job says it took, in turns (A B A B …), after turns that do not count."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(-uncounted, runs):
        for name, job in jobs.items():
            took = job()
            if turn >= 0:
                times[name].append(took)
    return times


def ratio(above: Iterable[float], below: Iterable[float]) -> float:
    """The median of the ratios within each turn."""
    return median(one / two for one, two in zip(above, below, strict=True))
