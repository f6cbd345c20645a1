"""Verifiers: they decide which candidates are pairs."""

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
"""A matcher's measure of the pairs a[i], b[i], shape (pairs,)."""


@dataclass(frozen=True)
class Verifier(Choice):
    """Decides which candidates are pairs. A limit on word edit distance applies in addition, if texts are compared."""

    compares: ClassVar[bool]
    """Whether texts are compared. If not, every candidate is a pair, and nothing is measured."""

    asks_closeness: ClassVar[bool]
    """Whether it needs the matcher's own measure of closeness; see `near`."""

    gives_probability: ClassVar[bool] = False
    """Whether the matcher's measure is the probability that the two are the same."""

    threshold: ClassVar[str] = "jaccard"
    """The option that decides what is similar enough."""

    def check_with(self, word_edit_distance: int | None) -> None:
        """Raise `SettingsError` if this verifier cannot be combined with this limit (None: no limit)."""

    def least(self, jaccard: float) -> float:
        """Return the lowest Jaccard similarity of a pair, for a threshold of `jaccard`. By default it may be any."""
        return 0.0

    def near(self, measure: Measure, a: Numbers, b: Numbers) -> tuple[Numbers | slice, Similarities | None]:
        """Select the candidates that are close enough by the matcher's own measure of the pairs a[i], b[i].

        Return their indices, and how close each of them is. By default all are selected, without a measurement.
        """
        return slice(None), None

    @abstractmethod
    def reached(self, found: Mapping[str, Any], jaccard: float, compared: str) -> str:
        """Explain why two texts with the measures `found` are a pair. `compared` names what the matcher compares."""

    def missed(self, found: Mapping[str, Any], jaccard: float) -> str:
        """Explain why two texts with the measures `found` cannot be a pair; empty if they can."""
        return ""

    def doubted(self, compared: str) -> str:
        """Explain why a candidate without stored measures may not be a pair; empty if there is no reason."""
        return ""


@dataclass(frozen=True)
class PairRule:
    """The rule by which a candidate is a pair."""

    jaccard: float
    word_edit_distance: int | None
    verifier: Verifier

    @property
    def least(self) -> float:
        """The lowest Jaccard similarity of a pair."""
        return self.verifier.least(self.jaccard)


VERIFIERS: Registry[Verifier] = Registry(
    "verify",
    {
        "exact": "esdedup.matching.verify.verifiers:Exact",
        "cosine": "esdedup.matching.verify.verifiers:Cosine",
        "probability": "esdedup.matching.verify.verifiers:Probable",
        "words": "esdedup.matching.verify.verifiers:WordEdits",
        "none": "esdedup.matching.verify.verifiers:Unverified",
    },
)
