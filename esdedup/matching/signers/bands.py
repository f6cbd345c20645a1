"""Signatures into tokens: which minhash values each token is folded from, and the signer itself.

Bands: token k takes the k-th run of `rows` values, all independent; two texts of Jaccard s share a token
with probability 1 - (1 - s^rows)^bands. Draws: token k takes a random choice of `draw` values from one
pool (Weissman et al. 2014); the choices overlap, so the same formula overstates.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import Bytes, Hashes, Offsets, random_words
from esdedup.matching.signers.minhash import Choices, Tokens, family, fold, minhash_values
from esdedup.settings import Shingling, Signing
from esdedup.text.normalize import normalize
from esdedup.text.shingles import shingle_sets
from esdedup.text.words import word_hashes


class Shingled(NamedTuple):
    """Texts in the form that the kernels shingle: see `esdedup.text.shingles.unit_windows`."""

    data: Bytes
    offsets: Offsets
    words: Hashes
    by_word: bool
    length: int


class Signer:
    """Turns texts into tokens, and into the shingle sets that verify them, by one set of frozen settings."""

    def __init__(self, signing: Signing) -> None:
        self.signing = signing
        self.shingling = Shingling.parse(signing.shingle)
        self.choices = token_choices(signing)
        self._multipliers, self._addends = family(signing.seed, int(self.choices.max()) + 1)

    def shingled(self, texts: pa.LargeStringArray) -> Shingled:
        """The texts normalised, and cut into words where shingles are of words."""
        column = normalize(texts, self.signing.normalize, self.signing.lang)
        if self.shingling.kind == "word":
            words, offsets = word_hashes(column)
            return Shingled(np.empty(0, np.uint8), offsets, words, True, self.shingling.length)
        data, offsets = text_buffers(column)
        return Shingled(data, offsets, np.empty(0, np.uint64), False, self.shingling.length)

    def tokens(self, shingled: Shingled) -> Tokens:
        """Tokens of each text, shape (n, tokens), in 0 .. 2^53 - 1. Texts need at least one shingle."""
        values = minhash_values(*shingled, self._multipliers, self._addends, self.signing.hash_bits)
        return fold(values, self.choices)

    def sets(self, shingled: Shingled) -> tuple[Hashes, Offsets]:
        """The sorted distinct shingles of each text, flat, and their offsets."""
        return shingle_sets(*shingled)


@cache
def _draw(seed: int, hashes: int, draw: int, token: int) -> tuple[int, ...]:
    """The `draw` members of the pool with the smallest random words: a choice without replacement."""
    words = random_words(np.uint64(seed) ^ np.uint64((token + 1) * 0x5851F42D4C957F2D & (2**64 - 1)), hashes)
    return tuple(sorted(int(index) for index in np.argsort(words, kind="stable")[:draw]))


def token_choices(signing: Signing) -> Choices:
    """The minhash values that each token is folded from: shape (tokens, values of a token)."""
    if signing.hashes is not None and signing.draw is not None and signing.draws is not None:
        return np.array(
            [_draw(signing.seed, signing.hashes, signing.draw, token) for token in range(signing.draws)],
            np.int64,
        )
    bands, rows = signing.bands or 0, signing.rows or 0
    return np.arange(bands * rows, dtype=np.int64).reshape(bands, rows)
