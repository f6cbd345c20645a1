"""Texts inside longer ones, against a comparison of all with all in plain Python."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from esdedup.columns.arrays import text_column
from esdedup.matching.containment import find_contained, find_containing
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
    chinese = ["".join(source.choices("北京是中华人民共和国的首都", k=source.randint(20, 90))) for _ in range(20)]
    return sorted({*found, *chinese, *(text[3:12] for text in chinese), *(f"{text[:18]}文" for text in chinese)})


def brute_force(every: list[str], length_of: Callable[[str], int]) -> dict[int, float]:
    """The share of each contained text in the longest text that contains it."""
    plain = fold(text_column(every)).to_pylist()
    sets = [{length: _shingles(text, length) for length in (4, 5, 8)} for text in plain]
    found = {}
    for one in range(len(plain)):
        best = (0, 0.0)
        for two in range(len(plain)):
            length = length_of(plain[one])
            inner, outer = sets[one][length], sets[two][length]
            share = len(inner & outer) / len(inner)
            if one != two and len(inner) < len(outer) and share >= SHARE - 1e-9 and len(outer) > best[0]:
                best = (len(outer), share)
        if best[0]:
            found[one] = round(best[1], 9)
    return found


@pytest.mark.parametrize(("budget", "step", "threads"), [(2**15, 7, 2), (2**26, 1000, 1)])
@pytest.mark.parametrize("shingle", [None, "char:5"])
def test_every_contained_text_and_no_other(budget: int, step: int, threads: int, shingle: str | None) -> None:
    every = texts(5)
    column = text_column(every)

    def batches() -> Iterator[pa.LargeStringArray]:
        return (column.slice(begin, step) for begin in range(0, len(column), step))

    signing = Signing.of(unit="record", shingle=shingle)
    found = find_contained(batches, signing, len(every), len(every), SHARE, budget, threads)
    expected = brute_force(every, lambda text: 5 if shingle else 8 if text[0].isascii() else 4)
    assert {at: round(float(found.share[at]), 9) for at in range(len(every)) if found.outer[at] >= 0} == expected
    assert len(expected) > 50


@pytest.mark.parametrize(("budget", "step"), [(2**13, 7), (2**26, 1000)])
def test_what_contains_one_of_the_first_texts(budget: int, step: int) -> None:
    every = texts(6)
    random.Random(6).shuffle(every)
    inner, column = len(every) // 2, text_column(every)

    def batches() -> Iterator[pa.LargeStringArray]:
        return (column.slice(begin, step) for begin in range(0, len(column), step))

    plain = fold(column).to_pylist()
    expected = {}
    for one in range(inner, len(every)):
        for two in range(inner):
            length = 8 if every[two][0].isascii() else 4
            sets = [_shingles(plain[at], length) for at in (one, two)]
            share = len(sets[0] & sets[1]) / len(sets[1])
            if share >= SHARE - 1e-9:
                expected[one] = max(expected.get(one, 0.0), round(share, 9))
    found, share = find_containing(batches, Signing.of(unit="record"), len(every), inner, SHARE, budget, 2)
    assert {inner + at: round(float(share[at]), 9) for at in range(len(found)) if found[at] >= 0} == expected
    assert len(expected) > 20
