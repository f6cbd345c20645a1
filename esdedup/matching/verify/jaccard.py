"""Verification by exact Jaccard similarity of shingle sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from esdedup.matching.verify.protocol import Verifier


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
