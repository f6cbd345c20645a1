"""Progress of a stage: a bar in terminals and notebooks, a line every ten seconds in logs."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType

from tqdm.auto import tqdm

log = logging.getLogger("esdedup")

_SECONDS_BETWEEN_LINES = 10.0


class Bar:
    """Progress over `total` units, which are bytes if `unit` is B. Nothing is shown if `shown` is False."""

    def __init__(self, title: str, total: int, unit: str, shown: bool) -> None:
        self._title = title
        self._unit = unit
        self._lines = shown and not _draws()
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
        self._bar = tqdm(
            total=total or None,
            desc=title,
            unit=unit,
            unit_scale=True,
            unit_divisor=1000,
            leave=False,
            disable=not shown or self._lines,
        )
        self._total = total

    def reach(self, done: int, note: str = "", total: int | None = None) -> None:
        """Set the progress to `done` units and show `note` after it. Pass `total` if it becomes known only now."""
        if total is not None:
            self._bar.total = self._total = total
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)
        if self._lines and time.monotonic() >= self._next:
            self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
            log.info("%s: %s%s", self._title, self._so_far(done), note and f", {note}")

    def follow(self, done: int, total: int, note: str = "") -> None:
        """Set the progress and the total, as an `esdedup.matching.engine.Progress`."""
        self.reach(done, note, total)

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
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel")
