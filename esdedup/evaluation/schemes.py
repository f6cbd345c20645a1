"""Ways to fold minhash values into tokens: what each is expected to find, and which of them to take.

Two texts of Jaccard s share one of `bands` tokens of `rows` independent values each with probability
1 - (1 - s^rows)^bands (Leskovec et al., Mining of Massive Datasets, section 3.4). For draws from one pool of values the
same formula is an upper bound: they overlap, so that several fail together.
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
"""The similarity that two sentences are taken to have that have nothing to do with each other."""

_HASH_COST = 45.0
_TOKEN_COST = 500.0
_CANDIDATE_COST = 200.0
"""Nanoseconds: to sign a sentence with one hash more, to store and group one token more, to verify one candidate."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """`tokens` of `rows` values each: bands of their own values, or (`pool`) draws from that many values."""

    tokens: int
    rows: int
    pool: int | None = None

    @classmethod
    def parse(cls, text: str) -> Scheme:
        """Read `10x4` (bands × rows) or `10x10/20` (draws × values / pool); `UsageError` for anything else."""
        match = re.fullmatch(r"([1-9][0-9]?)x([1-9][0-9]?)(?:/([1-9][0-9]{0,3}))?", text.strip())
        if match is None:
            raise UsageError(f"schemes: {text!r} is none; write BANDSxROWS, as in 10x4, or DRAWSxDRAW/HASHES")
        scheme = cls(int(match[1]), int(match[2]), int(match[3]) if match[3] else None)
        freeze(None, scheme.options())  # whether there may be so many
        return scheme

    def __str__(self) -> str:
        return f"{self.tokens}x{self.rows}" + (f"/{self.pool}" if self.pool else "")

    @property
    def hashes(self) -> int:
        """Minhash values of a signature."""
        return self.pool or self.tokens * self.rows

    @property
    def words(self) -> str:
        """What a text gets, in words."""
        return f"{self.tokens} tokens of {self.rows} values"

    def options(self) -> dict[str, Any]:
        """The signing options that name it."""
        if self.pool:
            return {"hashes": self.pool, "draw": self.rows, "draws": self.tokens}
        return {"bands": self.tokens, "rows": self.rows}

    def chance(self, jaccard: Shares) -> Shares:
        """The probability that two texts of each similarity share a token; for draws, an upper bound."""
        return np.asarray(1 - (1 - np.asarray(jaccard, np.float64) ** self.rows) ** self.tokens)


def schemes_of(tokens: int) -> list[Scheme]:
    """What may be done with up to `tokens` tokens a sentence: all of them or half, and the draws of the papers."""
    banded = [Scheme(tokens, rows) for rows in range(2, 9)]
    if tokens > 1:
        banded += [Scheme((tokens + 1) // 2, rows) for rows in range(2, 7)]
    return [*banded, Scheme(tokens, 4, 20), Scheme(tokens, 10, 20)]


def expected_recall(scheme: Scheme, jaccard: Shares, threshold: float) -> float:
    """The share of pairs with these similarities that is found; without any, of pairs spread evenly above it."""
    similarities = jaccard if len(jaccard) else np.linspace(threshold, 1, 101)
    return float(scheme.chance(similarities).mean())


@dataclass(frozen=True, slots=True)
class SchemeTrial:
    """What a scheme is expected to find and, where there is a sample, what it found there.

    `unlike` is the share of all pairs of texts that are candidates though they have little in common: what grows with
    the square of the texts.
    """

    scheme: Scheme
    expected: float
    unlike: float
    recall: float | None = None
    candidates: int | None = None
    false_candidates: int | None = None
    seconds: float | None = None

    def cost(self, sentences: int) -> float:
        """Nanoseconds a sentence, where there are so many, by what signing, storing and verifying take."""
        verified = self.unlike * sentences / 2
        return _HASH_COST * self.scheme.hashes + _TOKEN_COST * self.scheme.tokens + _CANDIDATE_COST * verified

    def found(self) -> float:
        """Recall as measured, or as expected where there was nothing to measure."""
        return self.expected if self.recall is None else self.recall


def recommended(trials: Sequence[SchemeTrial], least_recall: float, sentences: int) -> SchemeTrial:
    """The cheapest scheme for so many sentences that finds enough; if none does, the one that finds most.

    Draws are never recommended on expectation alone, which overstates them.
    """
    trusted = [one for one in trials if one.recall is not None or one.scheme.pool is None] or list(trials)
    enough = [one for one in trusted if one.found() >= least_recall]
    if enough:
        return min(enough, key=lambda one: (one.cost(sentences), str(one.scheme)))
    return max(trusted, key=lambda one: (one.found(), -one.cost(sentences)))
