"""Word vectors, the signatures made from them, and how near two signatures must be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esdedup.errors import SettingsError
from esdedup.options import Options, option


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
