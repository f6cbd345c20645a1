"""Progress of a stage: a bar in terminals and notebooks, a line every ten seconds in logs."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import Any

log = logging.getLogger("esdedup")

_SECONDS_BETWEEN_LINES = 10.0
_MANY = 10_000  # units; fewer are shown to the last one
_BLINK = 0.2  # seconds before a bar appears, if nothing is done
_STAGE_BEGINS = "{desc} [{elapsed}]"
_STAGE = "{desc}: {percentage:3.0f}%|{bar}| {n:,} of {total:,} tasks [{elapsed}]"


class Bar:
    """Progress over `total` units, which are bytes if `unit` is B. Nothing is shown if `shown` is False."""

    def __init__(self, title: str, total: int, unit: str, shown: bool) -> None:
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
