"""Progress on standard error: one bar for each stage, none without a terminal."""

from __future__ import annotations

import sys
from types import TracebackType

from tqdm import tqdm


class Bar:
    """A bar over `total` units. Nothing is shown if `shown` is False or there is no terminal."""

    def __init__(self, title: str, total: int, unit: str, shown: bool) -> None:
        self._bar = tqdm(
            total=total or None,
            desc=title,
            unit=unit,
            unit_scale=True,
            unit_divisor=1000,
            leave=False,
            disable=not (shown and sys.stderr.isatty()),
        )

    def reach(self, done: int, note: str = "", total: int | None = None) -> None:
        """Set the bar to `done` units and show `note` after it. Pass `total` if it becomes known only now."""
        if total is not None:
            self._bar.total = total
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()
