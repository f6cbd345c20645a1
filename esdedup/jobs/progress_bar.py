"""Progress of a job and of its stages: a bar in terminals and notebooks, a line every ten seconds in logs."""

from __future__ import annotations

import logging
import sys
import time
from contextvars import ContextVar
from types import TracebackType
from typing import Any

log = logging.getLogger("esdedup")

_SECONDS_BETWEEN_LINES = 10.0
_MANY = 10_000  # units; fewer are shown to the last one
_BLINK = 0.2  # seconds before a bar appears, if nothing is done
_STAGE_BEGINS = "{desc} [{elapsed}]"
_STAGE = "{desc}: {percentage:3.0f}%|{bar}| {n:,} of {total:,} tasks [{elapsed}]"


_TOLD_FROM = 0.02  # of a job; before that, nothing says how long the rest will take
_AT_ONCE = 2.0  # seconds; what is done by then was mostly done before
_JOB = "{desc}: {percentage:3.0f}%|{bar:20}| {elapsed}{postfix}"
_JOB_OF_UNKNOWN_SIZE = "{desc}: {elapsed}{postfix}"

SHARES: dict[str, dict[str, float]] = {
    "run": {"index": 51, "scan": 14, "save": 4, "write": 6, "lookup": 25},
    "index": {"index": 67, "lookup": 33},
    "scan": {"scan": 60, "save": 15, "write": 25},
    "add": {"index": 70, "update": 5, "write": 5, "lookup": 20},
    "dedupe": {"index": 60, "references": 5, "scan": 20, "save": 5, "write": 10},
}
"""How much of the time of a job its stages take, as measured with ten million sentences of a dump (`scripts/bench
wikipedia`); for other sources it is a guess.
"""


class Job:
    """The bar of a whole job. While it is open, bars of its stages are drawn on it. It may be `without` a stage."""

    def __init__(self, title: str, shown: bool, without: str = "") -> None:
        self._title = title
        self._shares = {stage: share for stage, share in SHARES[title].items() if stage != without}
        self._shown = shown
        self._lines = shown and not _draws()
        self._began = self._stage_began = time.monotonic()
        self._next = self._began + _SECONDS_BETWEEN_LINES
        self._before = 0.0, 0.0  # seconds and share of what a killed command had done, which takes no time now
        self._seconds: dict[str, float] = {}
        self._stage = ""
        self._bar = _bar_class()(
            total=1.0, desc=title, bar_format=_JOB_OF_UNKNOWN_SIZE, leave=False, delay=_BLINK,
            disable=not shown or self._lines,
        )  # fmt: skip

    def begin(self, stage: str) -> None:
        """End the stage that runs, and begin another one."""
        now = time.monotonic()
        if self._stage:
            self._seconds[self._stage] = self._seconds.get(self._stage, 0) + now - self._stage_began
        self._stage, self._stage_began = stage, now
        if stage in self._shares:
            self.reach(0.0, "")

    def has(self, stage: str) -> bool:
        """Whether this is a stage of the job."""
        return stage in self._shares

    def reach(self, part: float | None, note: str) -> None:
        """Say how much of the stage is done; None if its size is not known."""
        names = list(self._shares)
        at = names.index(self._stage)
        shares = list(self._shares.values())
        done = None if part is None else (sum(shares[:at]) + min(part, 1.0) * shares[at]) / sum(shares)
        told = [self._stage, *([note] if note else [])]
        elapsed = time.monotonic() - self._began
        if done is not None and elapsed < _AT_ONCE:
            self._before = elapsed, done
        if done is not None and done - self._before[1] >= _TOLD_FROM:
            pace = (elapsed - self._before[0]) / (done - self._before[1])
            told.append(f"about {self._bar.format_interval(pace * (1 - done))} left")
        if self._lines:
            if time.monotonic() >= self._next:
                self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
                log.info("%s: %s%s", self._title, "" if done is None else f"{done:.0%}, ", ", ".join(told))
            return
        self._bar.bar_format = _JOB if done else _JOB_OF_UNKNOWN_SIZE
        self._bar.set_postfix_str(", ".join(told), refresh=False)
        self._bar.update((done or 0.0) - self._bar.n)

    def __enter__(self) -> Job:
        self._outer = _RUNNING.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _RUNNING.reset(self._outer)
        self.begin("")
        self._bar.close()
        took = time.monotonic() - self._began
        if self._shown and error is None and took >= _SECONDS_BETWEEN_LINES:
            parts = [f"{stage} {self._bar.format_interval(seconds)}" for stage, seconds in self._seconds.items()]
            log.info("%s took %s: %s", self._title, self._bar.format_interval(took), ", ".join(parts))


_RUNNING: ContextVar[Job | None] = ContextVar("job", default=None)


def begin_stage(name: str) -> None:
    """Begin a stage that has no bar of its own, if a job shows its stages."""
    job = _RUNNING.get()
    if job is not None and job.has(name):
        job.begin(name)


class Bar:
    """Progress over `total` units, which are bytes if `unit` is B. Nothing is shown if `shown` is False.

    In a job that has a stage of this title, it is drawn on the bar of the job.
    """

    def __init__(self, title: str, total: int, unit: str, shown: bool) -> None:
        job = _RUNNING.get()
        self._job = job if job is not None and job.has(title) else None
        if self._job is not None:
            self._job.begin(title)
            shown = False
        self._title = title
        self._unit = unit
        self._lines = shown and not _draws()
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
        self._bar = _bar_class()(
            total=total or None,
            desc=title,
            unit=unit,
            unit_scale=unit == "B" or total >= _MANY,
            unit_divisor=1000,
            leave=False,
            delay=_BLINK,
            disable=not shown or self._lines,
        )
        self._total = total
        self._stage = ""

    def reach(self, done: int, note: str = "", total: int | None = None) -> None:
        """Set the progress to `done` units and show `note` after it. Pass `total` if it becomes known only now."""
        if total is not None:
            self._bar.total = self._total = total
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        if self._job is not None:
            self._job.reach(done / self._total if self._total else None, note)
            return
        self._bar.update(done - self._bar.n)
        self._log(f"{self._title}: {self._so_far(done)}{note and f', {note}'}")

    def follow(self, done: int, total: int, note: str = "") -> None:
        """Set the progress and the total, as an `esdedup.matching.engine.Progress`. With a note, they are those of a
        stage, in tasks.
        """
        if note:
            self._follow_stage(done, total, note)
        else:
            self.reach(done, total=total)

    def _follow_stage(self, done: int, total: int, stage: str) -> None:
        if self._job is not None:
            self._job.reach(0.0, f"{stage}, {done:,} of {total:,} tasks" if total else stage)
            return
        title = f"{self._title}: {stage}"
        self._bar.bar_format = _STAGE if total else _STAGE_BEGINS
        self._bar.set_description_str(title, refresh=False)
        self._bar.total = total or None
        if stage != self._stage:
            self._stage = stage
            self._bar.reset()
        self._bar.n = done
        self._bar.refresh()
        self._log(f"{title}{f', {done:,} of {total:,} tasks' if total else ''}")

    def _log(self, line: str) -> None:
        if self._lines and time.monotonic() >= self._next:
            self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
            log.info("%s", line)

    def _so_far(self, done: int) -> str:
        share = f"{done / self._total:.0%}" if self._total else ""
        if self._unit == "B":
            return share or f"{done / 2**20:,.0f} MiB"
        return f"{done:,}" + (f" of {self._total:,} {self._unit}s" if self._total else f" {self._unit}s")

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()


def _draws() -> bool:
    """Whether a bar can be drawn: in a terminal or in a notebook."""
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    return type(sys.stderr).__module__.startswith("ipykernel")


def _bar_class() -> Any:
    """Return the bars of tqdm. Those for notebooks take long to import."""
    if _in_notebook():
        from tqdm.auto import tqdm

        return tqdm
    from tqdm.std import tqdm as plain

    return plain
