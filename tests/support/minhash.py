"""The tokens of a text by definition: hash scheme 1 in plain Python, one shingle and one hash function at a time."""

from __future__ import annotations

from functools import cache
from itertools import combinations

GOLDEN = 0x9E3779B97F4A7C15
BASE = 0x9FB21C651E98DF25
WORD = 2**64

Choices = tuple[tuple[int, ...], ...]
"""Which minhash values each token is folded from."""


def mix(value: int) -> int:
    """The finaliser of splitmix64."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB % WORD
    return value ^ value >> 31


def random_words(seed: int, count: int) -> list[int]:
    """The sequence of splitmix64."""
    return [mix((seed + GOLDEN * (at + 1)) % WORD) for at in range(count)]


def shingle(units: list[int]) -> int:
    """A polynomial of the units, mixed with how many they are."""
    value = 0
    for unit in units:
        value = (value * BASE + unit + 1) % WORD
    return mix(value ^ len(units))


def shingles(units: list[int], length: int) -> set[int]:
    """Each window of so many units; of fewer, all of them."""
    return {shingle(units[at : at + length]) for at in range(max(len(units) - length, 0) + 1)}


def banded(bands: int, rows: int) -> Choices:
    """For each token values of its own."""
    return tuple(tuple(range(band * rows, (band + 1) * rows)) for band in range(bands))


def drawn(hashes: int, draw: int, draws: int, seed: int) -> Choices:
    """For each token those of the pool that got the smallest random words."""
    chosen = []
    for token in range(draws):
        words = random_words(seed ^ 0x5851F42D4C957F2D * (token + 1) % WORD, hashes)
        chosen.append(tuple(sorted(sorted(range(hashes), key=words.__getitem__)[:draw])))
    return tuple(chosen)


def tokens(units: list[int], choices: Choices, *, length: int, seed: int, bits: int = 60) -> list[int]:
    """53 bits each, of which the lowest 8 say which token of the text it is."""
    functions = max(max(values) for values in choices) + 1
    words = random_words(seed, 2 * functions)
    hashes = shingles(units, length)
    minima = [
        min((hashed * (times | 1) + plus) % WORD for hashed in hashes) >> 64 - bits
        for times, plus in zip(words[:functions], words[functions:], strict=True)
    ]
    found = []
    for column, values in enumerate(choices):
        state = 0
        for value in values:
            state = (mix(state ^ minima[value]) + GOLDEN) % WORD
        found.append((state >> 64 - 53 + 8) << 8 | column)
    return found


@cache
def tokens_of_text(text: str, choices: Choices, seed: int) -> frozenset[int]:
    """With shingles of 12 characters."""
    return frozenset(tokens([ord(sign) for sign in text], choices, length=12, seed=seed))


def colliding(texts: list[str], choices: Choices, seed: int) -> dict[tuple[str, str], int]:
    """Distinct pairs that share a token, and how many they share."""
    known = [(text, tokens_of_text(text, choices, seed)) for text in sorted(set(texts))]
    return {(one, two): len(mine & others) for (one, mine), (two, others) in combinations(known, 2) if mine & others}
