"""The peak memory of the whole process tree, sampled."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType

import psutil

_SECONDS_BETWEEN = 1.0  # a sample takes up to a tenth of a second for a large process tree


class MemoryWatch:
    """Samples the tree's memory while it is open. `peak` is in bytes.

    Uses the proportional set size if the system has it (Linux), so shared memory counts once.
    """

    def __init__(self) -> None:
        self.peak = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def sample(self) -> None:
        """Take one sample now."""
        self.peak = max(self.peak, tree_bytes())

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
