"""When Python runs a kernel itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from esdedup.columns import kernels


@pytest.fixture(autouse=True)
def nothing_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_spent", [0.0])


def plus_one(values: npt.NDArray[np.int64]) -> int:
    return len(values) + 1


def kernel_after(*sizes: int) -> Any:
    kernel: Any = kernels._Kernel(plus_one)
    for size in sizes:
        kernel._run_plain(size, np.zeros(size, np.int64))
    return kernel


def test_a_call_with_one_value_does_not_say_how_long_many_take() -> None:
    for size in (1, 700, 900, 10_000, 300_000):
        assert kernel_after(1)._is_little(size) == kernel_after()._is_little(size) == (size <= kernels._LITTLE)


def test_more_is_run_step_by_step() -> None:
    known = kernel_after(500)
    assert known._is_little(10_000)  # which took no time
    assert not known._is_little(100_000)
    assert kernel_after(500, 10_000)._is_little(100_000)
