"""Signers: they turn the shingles of a text into tokens, so that similar texts are likely to share one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from esdedup.options import Choice, Registry

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from esdedup.text.shingles import Shingled

    F = TypeVar("F", float, npt.NDArray[np.float64])


@dataclass(frozen=True)
class Signer(Choice):
    """Makes the same number of tokens for every text.

    Tokens are integers from 0 to 2^53 - 1. Their low six bits are their column, so tokens of different columns are
    never equal. They depend only on the shingles, the seed and the signer's own options.
    """

    alternatives: ClassVar[tuple[frozenset[str], ...]]
    """Groups of its options that exclude each other."""

    @property
    @abstractmethod
    def tokens(self) -> int:
        """Number of tokens of a text, at most 64."""

    @abstractmethod
    def chance(self, jaccard: F) -> F:
        """Return the probability that two texts of this Jaccard similarity (a number, or an array) share a token."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The tokens of a text, in words."""

    @abstractmethod
    def sign(self, shingled: Shingled, seed: int, hash_bits: int) -> npt.NDArray[np.int64]:
        """Return the tokens of each text, shape (texts, tokens). Every text has at least one shingle."""

    def with_options(self, given: Mapping[str, Any]) -> Self:
        """Return this signer with some options replaced."""
        return replace(self, **given)


SIGNERS: Registry[Signer] = Registry(
    "signer",
    {
        "minhash": "esdedup.matching.signers.minhash:MinHash",
    },
)
