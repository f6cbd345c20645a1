"""Hashes that come for the first time are found as by a set, also where they share their marks."""

from __future__ import annotations

import numpy as np
import pytest

from esdedup.columns.first_seen import FirstSeen, among


@pytest.mark.parametrize("bits", [64, 20])  # with few, marks are shared
@pytest.mark.parametrize("known", [0, 300])
def test_the_first_of_each(bits: int, known: int) -> None:
    numbers = np.random.default_rng(bits)
    every = numbers.integers(0, 2**bits, 2_000, np.uint64) << np.uint64(64 - bits)
    old, rows = every[:known], np.concatenate([every[known // 2 :], every[::5], every[:1]])
    old = np.unique(old)
    seen = FirstSeen(500)
    parts = np.array_split(rows, 7)
    for part in parts:
        seen.note(part)
    seen.settle(old)
    found = np.concatenate([seen.firsts(part) for part in parts])
    taken, expected = set(old.tolist()), []
    for value in rows.tolist():
        expected.append(value not in taken)
        taken.add(value)
    assert found.tolist() == expected


def test_nothing() -> None:
    nothing = np.empty(0, np.uint64)
    seen = FirstSeen(0)
    seen.note(nothing)
    seen.settle(nothing)
    assert seen.firsts(nothing).tolist() == []


@pytest.mark.parametrize("few", [0, 1, 300])
def test_among(few: int) -> None:
    every = np.random.default_rng(few).integers(0, 2**12, 5_000, np.uint64) << np.uint64(52)
    assert among(every, every[:few]).tolist() == np.isin(every, every[:few]).tolist()
