"""Verification by the cosine of a matcher's vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.matching.verify.protocol import Verifier
from esdedup.options import option

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.matching.verify.protocol import Measure, Similarities


@dataclass(frozen=True)
class Cosine(Verifier):
    """A pair reaches this cosine: of its sentence vectors, or of its shingles weighted by rarity."""

    name = "cosine"
    summary = "by the cosine of vectors"
    compares = True
    asks_closeness = True
    threshold = "cosine"

    cosine: float = option(0.9, "Minimum cosine of a pair.", unit="S", low=0, high=1, above=True)

    def least(self, jaccard: float) -> float:
        """Return 0: pairs may have any Jaccard."""
        return 0.0

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
