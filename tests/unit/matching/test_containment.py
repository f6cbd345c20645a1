"""Texts inside longer ones, against a comparison of all with all in plain Python."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa
import pytest

from esdedup.columns.arrays import text_column
from esdedup.matching.containment import find_contained
from esdedup.matching.signing import Signing
from esdedup.text.folding import fold

SHARE = 0.8


def _shingles(text: str, length: int) -> set[str]:
    return {text[at : at + length] for at in range(max(1, len(text) - length + 1))}


def texts(seed: int) -> list[str]:
    source = random.Random(seed)
    vocabulary = ["".join(source.choices("abcdefghijklmnop", k=source.randint(2, 8))) for _ in range(800)]
    long = [source.choices(vocabulary, k=source.randint(20, 150)) for _ in range(80)]
    found = [" ".join(words) for words in long]
    for _ in range(120):
        words = source.choice(long)
        begin = source.randrange(len(words) - 10)
        inner = words[begin : begin + source.randint(3, 40)]
        inner[source.randrange(len(inner))] = source.choice((inner[0], "zzz"))
        found.append(" ".join(inner))
    return sorted(set(found))


def brute_force(every: list[str]) -> dict[int, float]:
    """The share of each contained text in the longest text that contains it."""
    plain = fold(text_column(every)).to_pylist()
    kind = [3 if len(_shingles(text, 3)) < 100 else 4 for text in plain]
    sets = [{length: _shingles(text, length) for length in (3, 4)} for text in plain]
    found = {}
    for one in range(len(plain)):
        best = (0, 0.0)
        for two in range(len(plain)):
            length = min(kind[one], kind[two])
            inner, outer = sets[one][length], sets[two][length]
            share = len(inner & outer) / len(inner)
            if one != two and len(inner) < len(outer) and share >= SHARE - 1e-9 and len(outer) > best[0]:
                best = (len(outer), share)
        if best[0]:
            found[one] = round(best[1], 9)
    return found


@pytest.mark.parametrize(("budget", "step"), [(2**15, 7), (2**26, 1000)])
def test_every_contained_text_and_no_other(budget: int, step: int) -> None:
    every = texts(5)
    column = text_column(every)

    def batches() -> Iterator[pa.LargeStringArray]:
        return (column.slice(begin, step) for begin in range(0, len(column), step))

    found = find_contained(batches, Signing.of(unit="record"), len(every), len(every), SHARE, budget)
    expected = brute_force(every)
    assert {at: round(float(found.share[at]), 9) for at in range(len(every)) if found.outer[at] >= 0} == expected
    assert len(expected) > 50
