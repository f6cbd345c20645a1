"""Verifiers: what makes a pair of a candidate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from esdedup.options import Choice, Registry

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from esdedup.columns.arrays import Numbers

    Similarities = npt.NDArray[np.float64]

Measure: TypeAlias = "Callable[[Numbers, Numbers], Similarities]"
"""What a matcher measures of the pairs a[i], b[i]: shape (pairs,)."""


@dataclass(frozen=True)
class Verifier(Choice):
    """Says which candidates are pairs. A limit on word edit distance applies beside any that compares texts."""

    compares: ClassVar[bool]
    """Whether texts are compared at all; if not, every candidate is a pair and nothing is measured."""

    asks_closeness: ClassVar[bool]
    """Whether it asks for the matcher's own measure of closeness, see `near`."""

    def check_with(self, word_edit_distance: int | None) -> None:
        """Raise `SettingsError` where this verifier and that limit (None: no limit) do not go together."""

    @abstractmethod
    def least(self, jaccard: float) -> float:
        """The least Jaccard similarity of a pair, where the threshold of the scan is `jaccard`."""

    def near(self, measure: Measure, a: Numbers, b: Numbers) -> tuple[Numbers | slice, Similarities | None]:
        """Which candidates are close enough by the matcher's own measure of the pairs a[i], b[i].

        Their places, and how close each of those is. By default the measure is not asked, and all are.
        """
        return slice(None), None

    @abstractmethod
    def reached(self, found: Mapping[str, Any], jaccard: float, compared: str) -> str:
        """In words, why two texts with the measures `found` are a pair; `compared` is what the matcher compares."""

    def missed(self, found: Mapping[str, Any], jaccard: float) -> str:
        """In words, why two texts with the measures `found` cannot be a pair; empty if they can."""
        return ""

    def doubted(self, compared: str) -> str:
        """In words, why a candidate of which no measure is kept may not be a pair; empty if there is no such reason."""
        return ""


@dataclass(frozen=True)
class PairRule:
    """What makes a pair of a candidate."""

    jaccard: float
    word_edit_distance: int | None
    verifier: Verifier

    @property
    def least(self) -> float:
        """The least Jaccard similarity of a pair."""
        return self.verifier.least(self.jaccard)


VERIFIERS: Registry[Verifier] = Registry(
    "verify",
    {
        "exact": "esdedup.matching.verify.jaccard:Exact",
        "cosine": "esdedup.matching.verify.cosine:Cosine",
        "words": "esdedup.matching.verify.word_edits:WordEdits",
        "none": "esdedup.matching.verify.unverified:Unverified",
    },
)
