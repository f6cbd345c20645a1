"""Giant and hostile clusters take bounded time."""

from __future__ import annotations

import time

from tests.unit.analysis.helpers import judged


def test_a_giant_template_and_long_members_without_a_common_word() -> None:
    judged(["a b", "a c"])  # compiles
    began = time.perf_counter()
    giant = [f"The village of N{number} had {number} people in the year of the flood." for number in range(5_000)]
    apart = [" ".join(f"w{number}x{word}" for word in range(90)) for number in range(200)]
    kinds = judged(giant, apart)["kind"].to_pylist()
    assert kinds[0] == "template"
    assert time.perf_counter() - began < 60  # a minute where a second is usual
