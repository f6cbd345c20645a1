"""Texts of every script and length, against a comparison of all with all in plain Python."""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations, product
from typing import Any

import pytest

from esdedup.columns.arrays import text_column
from esdedup.matching.protocol import Scanning
from esdedup.matching.signing import Signing
from esdedup.text.folding import fold
from tests.support.collisions import collide
from tests.support.full import few

LEAST = 0.3
RECORDS = Signing.of(unit="record")
LETTERS = {
    "latin": "abcdefghijklmnopqrstuvwxyz",
    "thai": "กขคงจฉชซญดตถทธนบปพฟมยรลวสหอ",
    "han": "".join(map(chr, range(0x4E00, 0x4F00))),
    "hangul": "".join(map(chr, range(0xAC00, 0xAD00))),
}

WEIGHTS = {"latin": 1, "thai": 1, "han": 2, "hangul": 2}


def words(script: str, count: int, source: random.Random) -> list[str]:
    long = 2 if script in ("han", "hangul") else 6
    return ["".join(source.choices(LETTERS[script], k=source.randint(1, 2 * long))) for _ in range(count)]


def planted(seed: int) -> list[str]:
    """Texts of one script or two, of all lengths, each with copies that are a little shorter, longer or different. Many
    are near a border: of about a hundred or a thousand letters, or with one half in each script.
    """
    source = random.Random(seed)
    texts = []
    for script, other in product(LETTERS, LETTERS):
        for count in (1, 3, 8, *range(11, 20), 30, 40, *(range(120, 150) if script == other == "latin" else ())):
            if script == other:
                original = words(script, count, source)
            else:
                # by weight half and half
                one = words(script, count // 2, source)
                letters = sum(map(len, one)) * WEIGHTS[script] // WEIGHTS[other]
                two = "".join(words(other, count * 2, source))[:letters]
                parts = [*one, *(two[at : at + 5] for at in range(0, len(two), 5))]
                original = source.sample(parts, len(parts))
            texts.append(" ".join(original))
            for _ in range(3):
                copy = list(original)
                for _ in range(source.randint(1, max(1, len(copy) // 8))):
                    where = source.randrange(len(copy) + 1)
                    copy[where : where + source.randint(0, 1)] = words(source.choice((script, other)), 1, source)
                texts.append(" ".join(copy))
    return sorted(set(filter(None, texts)))


def shingles(text: str, length: int) -> set[str]:
    return {text[at : at + length] for at in range(max(1, len(text) - length + 1))}


def length_of(text: str, folded: str) -> int:
    """The length of the text's shingles, as docs/units.md says."""
    dense = sum(2 for sign in text if sign in LETTERS["han"] + LETTERS["hangul"])
    unspaced = sum(sign in LETTERS["thai"] for sign in text)
    spaced = sum(sign in LETTERS["latin"] for sign in text)
    if 2 * spaced > dense + unspaced + spaced:
        return 3 if len(shingles(folded, 3)) < 100 else 4 if len(shingles(folded, 4)) < 1000 else 5
    return 2 if dense >= unspaced else 3


@cache
def similar_pairs(seed: int) -> dict[tuple[str, str], float]:
    """All pairs of the planted texts that have at least the least Jaccard that is asked for."""
    texts = planted(seed)
    folded = dict(zip(texts, fold(text_column(texts)).to_pylist(), strict=True))
    lengths = {text: length_of(text, folded[text]) for text in texts}
    sets = {(text, length): shingles(folded[text], length) for text in texts for length in (2, 3, 4, 5)}
    found = {}
    for a, b in combinations(texts, 2):
        length = min(lengths[a], lengths[b])
        one, two = sets[a, length], sets[b, length]
        similarity = len(one & two) / len(one | two)
        if similarity >= LEAST:
            found[a, b] = similarity
    return found


def brute_force(seed: int, jaccard: float) -> dict[tuple[str, str], float]:
    return {pair: round(found, 9) for pair, found in similar_pairs(seed).items() if found >= jaccard}


def found_by(texts: list[str], **scanning: Any) -> dict[tuple[str, str], float | None]:
    budget = scanning.pop("budget", 2**26)
    rows, _ = collide(texts, signing=RECORDS, scanning=Scanning.of(**scanning), budget=budget)
    return {(min(a, b), max(a, b)): jaccard and round(jaccard, 9) for a, b, jaccard, _, _ in rows}


@pytest.mark.parametrize("jaccard", few([LEAST, 0.5, 0.75, 0.9], 1))
def test_the_exact_scan_finds_every_pair(jaccard: float) -> None:
    texts = planted(1)
    expected = brute_force(1, jaccard)
    assert found_by(texts, jaccard=jaccard, candidates="exact") == expected
    assert len(expected) > 50


@pytest.mark.parametrize("budget", few([2**16, 2**26], 1))
def test_tokens_find_almost_every_pair_across_every_border(budget: int) -> None:
    texts = planted(3)
    expected, found = brute_force(3, 0.75), found_by(texts, jaccard=0.75, budget=budget)
    assert found.items() <= expected.items()
    assert len(found) >= 0.995 * len(expected)
    folded = fold(text_column(texts)).to_pylist()
    length = {text: length_of(text, form) for text, form in zip(texts, folded, strict=True)}
    for sides in ({3, 4}, {4, 5}, {2, 3}, {2, 4}):
        across = [pair for pair in expected if {length[text] for text in pair} == sides]
        assert len(across) >= 10, sides
        assert sum(pair in found for pair in across) >= 0.98 * len(across), sides
