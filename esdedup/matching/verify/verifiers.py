"""The verifiers: by exact Jaccard similarity, by the cosine of a matcher's vectors, by its probability, by words that
differ, and none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.errors import SettingsError
from esdedup.matching.verify.protocol import Verifier
from esdedup.options import option

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.matching.verify.protocol import Measure, Similarities


@dataclass(frozen=True)
class Exact(Verifier):
    """A pair reaches the Jaccard threshold of the scan."""

    name = "exact"
    summary = "by exact Jaccard similarity"
    compares = True
    asks_closeness = False

    def least(self, jaccard: float) -> float:
        """Return the threshold."""
        return jaccard

    def reached(self, found: Mapping[str, Any], jaccard: float, compared: str) -> str:
        """Explain by Jaccard and threshold."""
        return f"Jaccard {found['jaccard']:.3f} reaches {jaccard}"

    def missed(self, found: Mapping[str, Any], jaccard: float) -> str:
        """Explain by Jaccard and threshold."""
        return "" if found["jaccard"] >= jaccard else f"Jaccard {found['jaccard']:.3f} is below {jaccard}"


@dataclass(frozen=True)
class Cosine(Verifier):
    """A pair reaches this cosine: of its sentence vectors, or of its shingles weighted by rarity."""

    name = "cosine"
    summary = "by the cosine of vectors"
    compares = True
    asks_closeness = True
    threshold = "cosine"

    cosine: float = option(0.9, "Minimum cosine of a pair.", unit="S", low=0, high=1, above=True)

    def near(self, measure: Measure, a: Numbers, b: Numbers) -> tuple[Numbers | slice, Similarities | None]:
        """Return the candidates whose cosine, measured by the matcher, reaches the threshold."""
        import numpy as np

        closeness = measure(a, b)
        places = np.flatnonzero(closeness >= self.cosine)
        return places, closeness[places]

    def reached(self, found: Mapping[str, Any], jaccard: float, compared: str) -> str:
        """Explain by the threshold, because the cosine is not stored."""
        return f"the cosine of their {compared} reaches {self.cosine}"

    def doubted(self, compared: str) -> str:
        """Explain by the threshold, because the cosine is not stored."""
        return f"the cosine of their {compared} is below {self.cosine}"


@dataclass(frozen=True)
class Probable(Verifier):
    """A pair is likely enough to be the same. The matcher has decided it."""

    name = "probability"
    summary = "by the probability that two records are the same"
    compares = True
    asks_closeness = True
    gives_probability = True
    threshold = "min-probability"

    def near(self, measure: Measure, a: Numbers, b: Numbers) -> tuple[Numbers | slice, Similarities | None]:
        """Return all candidates with their probabilities."""
        return slice(None), measure(a, b)

    def reached(self, found: Mapping[str, Any], jaccard: float, compared: str) -> str:
        """Explain by the probability."""
        return f"probability {found['probability']:.3f}"


@dataclass(frozen=True)
class WordEdits(Verifier):
    """A pair differs in at most as many words as the scan's limit."""

    name = "words"
    summary = "by words that differ"
    compares = True
    asks_closeness = False

    def check_with(self, word_edit_distance: int | None) -> None:
        """Require a limit."""
        if word_edit_distance is None:
            raise SettingsError("verify words needs word-edit-distance, which is not set")

    def reached(self, found: Mapping[str, Any], jaccard: float, compared: str) -> str:
        """Explain by the distance."""
        return f"{found['word_edit_distance']} words differ"


@dataclass(frozen=True)
class Unverified(Verifier):
    """Nothing is measured."""

    name = "none"
    summary = "every candidate is a pair"
    compares = False
    asks_closeness = False

    def check_with(self, word_edit_distance: int | None) -> None:
        """Reject a limit, because it would have to be measured."""
        if word_edit_distance is not None:
            raise SettingsError("word-edit-distance needs verify exact; now verify is none")

    def reached(self, found: Mapping[str, Any], jaccard: float, compared: str) -> str:
        """Say that nothing was measured."""
        return "nothing was verified"
