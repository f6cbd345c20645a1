"""Candidates by random projection: texts whose signatures differ in few bits (Meng and Zheng 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esdedup.errors import SettingsError, StoreError
from esdedup.matching.protocol import Matcher
from esdedup.options import Options, option

if TYPE_CHECKING:
    from esdedup.matching.engine import Engine, Found, MatchContext
    from esdedup.matching.protocol import Evidence, Scanning


@dataclass(frozen=True)
class ProjectionOptions(Options):
    """Options of random projection (Meng and Zheng 2018, section 4.3)."""

    vectors: str | None = option(
        None, "File of word vectors in word2vec's format.", unit="FILE", pattern=r"(?s:.+)",
        expected="name a file of word vectors", usual="drawn from the seed",
    )  # fmt: skip
    vector_length: int = option(400, "Length of randomly drawn word vectors.", unit="N", low=1, high=4096)
    signature_bits: int = option(100, "Number of bits of a signature (random hyperplanes).", unit="N", low=1, high=128)
    permutations: int = option(
        10, "Number of random bit orders in which signatures are sorted.", unit="N", low=1, high=1000
    )
    window: int = option(
        10, "Number of neighbors that a signature is compared with, in each order.", unit="N", low=1, high=1000
    )
    hamming: int = option(5, "Maximum number of bits that differ in a candidate.", unit="N", low=0, high=128)

    def check_together(self) -> None:
        """Check that no more bits may differ than there are."""
        if self.hamming > self.signature_bits:
            raise SettingsError(f"hamming is {self.hamming}; allowed: 0 to {self.signature_bits}")
        if self.vectors is not None:  # the next command may run in another folder
            object.__setattr__(self, "vectors", str(Path(self.vectors).absolute()))

    def described(self) -> dict[str, Any]:
        """Return the settings. If there is a file of vectors, it determines their length."""
        held = super().described()
        return {name: value for name, value in held.items() if name != "vector-length" or self.vectors is None}


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
        if evidence.paired():
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
