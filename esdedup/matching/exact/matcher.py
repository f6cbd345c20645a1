"""All pairs: every two texts at or above the threshold, whatever it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.matching.protocol import Matcher

if TYPE_CHECKING:
    from esdedup.matching.protocol import Evidence, Scan, ScanContext, Scanning


@dataclass(frozen=True)
class AllPairs(Matcher):
    """The prefix-filtered join of all texts with all."""

    name = "exact"
    summary = "all pairs, nothing left to chance"
    verifiers = ("exact",)
    by_tokens = False
    counts_tokens = True

    def scan(self, context: ScanContext) -> Scan:
        """See `esdedup.matching.exact.exact_scan`."""
        from esdedup.matching.exact.exact_scan import ExactScan

        return ExactScan(context)

    def explain(self, found: Mapping[str, Any], scanning: Scanning, evidence: Evidence) -> str:
        """By the verifier alone."""
        missed = scanning.missed(found)
        return f"not a pair: {missed}" if missed else f"a pair: {scanning.reached(found)}"
