"""What a job takes: the peak memory of the whole process tree, sampled, and what its stages cost elsewhere."""

from __future__ import annotations

import contextlib
import threading
import time
from types import TracebackType
from typing import Any

import psutil

from esdedup.engines import ENGINES

_SECONDS_BETWEEN = 1.0  # a sample takes up to a tenth of a second for a large process tree


class MemoryWatch:
    """Samples the tree's memory while it is open. `peak` is in bytes. `place` is where an engine runs.

    Uses the proportional set size if the system has it (Linux), so shared memory counts once.
    """

    def __init__(self, place: str = "local") -> None:
        self.peak = 0
        self._place = place
        self._began = time.time()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def sample(self) -> None:
        """Take one sample now."""
        self.peak = max(self.peak, tree_bytes())

    def stages(self) -> list[dict[str, Any]]:
        """Return what the stages of the job have cost where the engine runs, if that is elsewhere."""
        costs = ENGINES[self._place].costs_since(self._began)
        return [
            {
                "stage": cost.stage,
                "seconds": round(cost.seconds, 3),
                "tasks": cost.tasks,
                "task_seconds": round(cost.task_seconds, 3),
                "shuffled_bytes": cost.shuffled_bytes,
                "spilled_bytes": cost.spilled_bytes,
                "peak_memory_mb": round(cost.peak_memory_bytes / 2**20, 1),
            }
            for cost in costs
        ]

    def _watch(self) -> None:
        while not self._stop.wait(_SECONDS_BETWEEN):
            self.sample()

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self.sample()


def tree_bytes() -> int:
    """Return the memory of this process and its descendants, in bytes."""
    this = psutil.Process()
    total = 0
    for process in [this, *this.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            info = process.memory_full_info()
            total += int(getattr(info, "pss", 0) or info.uss)
    return total
