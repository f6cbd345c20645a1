"""Whether work grows with its input, told by calls of functions: a clock would tell how busy the machine is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def assert_linear(work: Callable[[int], object], few: int, many: int) -> None:
    """Assert that `work` with `many` things takes at most twice as many calls for each as with `few`."""
    work(few)  # what is made once
    assert _calls(lambda: work(many)) / many <= 2 * _calls(lambda: work(few)) / few


def _calls(work: Callable[[], object]) -> int:
    seen = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal seen
        seen += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return seen
