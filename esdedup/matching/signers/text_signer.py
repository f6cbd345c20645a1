"""Turn texts into shingles and tokens, with one set of frozen settings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signing import Shingling, Signing
from esdedup.text.normalize import normalize
from esdedup.text.shingles import Shingled, shingle_sets
from esdedup.text.words import word_hashes


class TextSigner:
    """Turns texts into tokens, and into the shingle sets that verify them, with one set of frozen settings."""

    def __init__(self, signing: Signing) -> None:
        self.signing = signing
        self.shingling = Shingling.parse(signing.shingle)

    def shingled(self, texts: pa.LargeStringArray) -> Shingled:
        """Normalize the texts, and split them into words if shingles consist of words."""
        column = normalize(texts, self.signing.normalize, self.signing.lang)
        if self.shingling.kind == "word":
            words, offsets = word_hashes(column)
            return Shingled(np.empty(0, np.uint8), offsets, words, True, self.shingling.length)
        data, offsets = text_buffers(column)
        return Shingled(data, offsets, np.empty(0, np.uint64), False, self.shingling.length)

    def tokens(self, shingled: Shingled) -> Tokens:
        """Return the tokens of each text, shape (n, tokens), in 0 .. 2^53 - 1. Each text needs at least one shingle."""
        return self.signing.signer.sign(shingled, self.signing.seed, self.signing.hash_bits)

    def sets(self, shingled: Shingled) -> tuple[Hashes, Offsets]:
        """Return the sorted distinct shingles of each text, flat, and their offsets."""
        return shingle_sets(*shingled)
