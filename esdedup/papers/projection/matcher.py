"""Candidates by random projection: texts whose signatures differ in few bits (Meng and Zheng 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.errors import StoreError
from esdedup.matching.protocol import Matcher
from esdedup.papers.projection.projection_options import ProjectionOptions

if TYPE_CHECKING:
    from esdedup.matching.engine import Engine, Found, MatchContext
    from esdedup.matching.protocol import Evidence, Scanning


@dataclass(frozen=True)
class Projection(ProjectionOptions, Matcher):
    """Signs sentence vectors with random hyperplanes, and compares signatures that are neighbors in sorted orders."""

    name = "projection"
    summary = "sentence vectors whose signatures differ in few bits"
    verifiers = ("exact", "cosine", "none")
    by_tokens = False
    counts_tokens = True
    runs_anywhere = False

    def check_files(self) -> None:
        """Raise `VectorsError` if the file of word vectors is unusable."""
        self.files_state()

    def files_state(self) -> int | None:
        """Return a number that changes when the file of word vectors changes."""
        if self.vectors is None:
            return None
        from esdedup.papers.projection.word_vectors import VectorsFile

        return VectorsFile(self.vectors).state

    def check_adding(self, address: str) -> None:
        """Any two texts may be candidates, and `add` finds by tokens."""
        raise StoreError(
            f"{address}: add needs candidates tokens (minhash), and these are by projection; run esdedup index "
            f"SOURCE… --store {address}, then esdedup scan with the same options"
        )

    def caution(self) -> str | None:
        """Pairs are not those at a Jaccard similarity."""
        return "similar compares by Jaccard similarity; pairs of the last scan are by projection, and may differ"

    def find(self, engine: Engine, context: MatchContext) -> Found:
        """See `esdedup.papers.projection.projection_scan`."""
        from esdedup.papers.projection.projection_scan import ProjectionScan

        return ProjectionScan(engine, context, self).find()

    def explain(self, found: Mapping[str, Any], scanning: Scanning, evidence: Evidence) -> str:
        """By the pairs of the last scan: the bits of the signatures are not kept."""
        bits = f"{self.hamming} of {self.signature_bits} bits"
        if evidence.pair():
            reached = scanning.reached(found, "vectors")
            return f"a pair: by projection, their signatures differ in at most {bits}, and {reached}"
        if missed := scanning.missed(found):
            return f"not a pair: {missed}"
        reasons = [
            f"by projection, their signatures differ in more than {bits}",
            "were in no order neighbors",
            scanning.verifier.doubted("vectors"),
            "one has no word that counts",
        ]
        return f"not a pair: {', or '.join(filter(None, reasons))}"
