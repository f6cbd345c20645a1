"""Candidates by agreement: texts whose signatures agree on more than a share of their values (Ahmed 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from esdedup.matching.protocol import Matcher
from esdedup.options import option

if TYPE_CHECKING:
    from esdedup.matching.engine import Engine, Found, MatchContext
    from esdedup.matching.protocol import Evidence, Scanning
    from esdedup.matching.signers.text_signer import TextSigner


@dataclass(frozen=True)
class Agreement(Matcher):
    """Counts agreeing values exactly, with an inverted index instead of a matrix of all texts by all texts."""

    name = "agreement"
    summary = "texts whose signatures mostly agree"
    verifiers = ("exact", "none")
    by_tokens = False
    counts_tokens = False
    runs_anywhere = False

    signature: int = option(200, "Number of MinHash values of a text.", unit="N", low=1, high=1024)
    agreement: float = option(
        0.5, "Pairs agree on more than this share of the values.", unit="S", low=0, high=1, below=True
    )

    @property
    def least_agreeing(self) -> int:
        """The smallest number of values that is more than the share of them."""
        # decimal arithmetic: 29 of 100 is not more than 0.29, but the binary fraction of 0.29 is slightly smaller
        return int(Fraction(str(self.agreement)) * self.signature) + 1

    def threshold(self) -> float:
        """Return the share of values: two texts have equal values with the probability of their Jaccard similarity."""
        return self.agreement

    def find(self, engine: Engine, context: MatchContext) -> Found:
        """See `esdedup.papers.agreement.agreement_scan`."""
        from esdedup.papers.agreement.agreement_scan import AgreementScan

        return AgreementScan(engine, context, self.signature, self.least_agreeing).find()

    def explain(self, found: Mapping[str, Any], scanning: Scanning, evidence: Evidence) -> str:
        """Explain by the values that agree."""
        agree = f"{found['values_agreeing']} of {self.signature} values of their signatures agree"
        if found["values_agreeing"] < self.least_agreeing:
            return f"not a pair: {agree}, and it takes {self.least_agreeing}"
        if missed := scanning.missed(found):
            return f"not a pair: candidates, but {missed}"
        return f"a pair: {agree}, and {scanning.reached(found)}"

    def measures(self, signer: TextSigner, one: str, two: str, evidence: Evidence) -> dict[str, Any]:
        """Return how many values agree."""
        from esdedup.papers.agreement.agreement_scan import agreeing_values

        return {"values_agreeing": agreeing_values(signer, self.signature, one, two)}
