"""Schemes that fold MinHash values into tokens: what each is expected to find, and which one to use.

Two texts of Jaccard s share one of `bands` tokens of `rows` independent values each with probability 1 - (1 -
s^rows)^bands (Leskovec et al., Mining of Massive Datasets, section 3.4). For draws from one pool of values, the same
formula is an upper bound: draws overlap, so several fail together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from esdedup.errors import UsageError
from esdedup.matching.signing import freeze

Shares = npt.NDArray[np.float64]

UNLIKE = 0.01
"""The assumed similarity of two unrelated sentences."""

_HASH_COST = 45.0
_TOKEN_COST = 500.0
_CANDIDATE_COST = 200.0
"""Nanoseconds to sign a sentence with one more hash, to store and group one more token, and to verify one candidate."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """`tokens` of `rows` values each: bands of their own values, or (`pool`) draws from that many values."""

    tokens: int
    rows: int
    pool: int | None = None

    @classmethod
    def parse(cls, text: str) -> Scheme:
        """Parse `10x4` (bands × rows) or `10x10/20` (draws × values / pool). Raises `UsageError` for anything else."""
        match = re.fullmatch(r"([1-9][0-9]?)x([1-9][0-9]?)(?:/([1-9][0-9]{0,3}))?", text.strip())
        if match is None:
            raise UsageError(f"schemes: {text!r} is not valid; write BANDSxROWS, as in 10x4, or DRAWSxDRAW/HASHES")
        scheme = cls(int(match[1]), int(match[2]), int(match[3]) if match[3] else None)
        freeze(None, scheme.options())  # checks the ranges
        return scheme

    def __str__(self) -> str:
        return f"{self.tokens}x{self.rows}" + (f"/{self.pool}" if self.pool else "")

    @property
    def hashes(self) -> int:
        """MinHash values of a signature."""
        return self.pool or self.tokens * self.rows

    @property
    def words(self) -> str:
        """What a text gets, in words."""
        return f"{self.tokens} tokens of {self.rows} values"

    def options(self) -> dict[str, Any]:
        """The signing options of this scheme."""
        if self.pool:
            return {"hashes": self.pool, "draw": self.rows, "draws": self.tokens}
        return {"bands": self.tokens, "rows": self.rows}

    def chance(self, jaccard: Shares) -> Shares:
        """Return the probability that two texts of each similarity share a token; for draws, an upper bound."""
        return np.asarray(1 - (1 - np.asarray(jaccard, np.float64) ** self.rows) ** self.tokens)


def schemes_of(tokens: int) -> list[Scheme]:
    """Return the possible schemes with up to `tokens` tokens a sentence: all of them or half, and the draws of the
    papers.
    """
    banded = [Scheme(tokens, rows) for rows in range(2, 9)]
    if tokens > 1:
        banded += [Scheme((tokens + 1) // 2, rows) for rows in range(2, 7)]
    return [*banded, Scheme(tokens, 4, 20), Scheme(tokens, 10, 20)]


def expected_recall(scheme: Scheme, jaccard: Shares, threshold: float) -> float:
    """Return the expected share of pairs with these similarities that is found; without any, of evenly spread pairs."""
    similarities = jaccard if len(jaccard) else np.linspace(threshold, 1, 101)
    return float(scheme.chance(similarities).mean())


@dataclass(frozen=True, slots=True)
class SchemeTrial:
    """What a scheme is expected to find and, with a sample, what it found there.

    `unlike` is the share of all pairs of texts that are candidates although they have little in common. Their number
    grows with the square of the texts.
    """

    scheme: Scheme
    expected: float
    unlike: float
    recall: float | None = None
    candidates: int | None = None
    false_candidates: int | None = None
    seconds: float | None = None

    def cost(self, sentences: int) -> float:
        """Return nanoseconds a sentence, for this many sentences, including signing, storing and verifying."""
        verified = self.unlike * sentences / 2
        return _HASH_COST * self.scheme.hashes + _TOKEN_COST * self.scheme.tokens + _CANDIDATE_COST * verified

    def found(self) -> float:
        """Recall as measured, or as expected without a measurement."""
        return self.expected if self.recall is None else self.recall


def recommended(trials: Sequence[SchemeTrial], least_recall: float, sentences: int) -> SchemeTrial:
    """Return the cheapest scheme for this many sentences that finds enough; if none does, the one that finds most.

    Draws are never recommended by expectation alone, which overestimates them.
    """
    trusted = [one for one in trials if one.recall is not None or one.scheme.pool is None] or list(trials)
    enough = [one for one in trusted if one.found() >= least_recall]
    if enough:
        return min(enough, key=lambda one: (one.cost(sentences), str(one.scheme)))
    return max(trusted, key=lambda one: (one.found(), -one.cost(sentences)))
