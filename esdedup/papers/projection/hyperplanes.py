"""Sentence vectors, their signatures by random hyperplanes, and neighboring signatures in a sorted order.

Meng and Zheng, "Similar Sentence Detection Using MinHash and Random Projection on Wikipedia", section 3.2: a sentence
is the mean of its words' vectors. Bit i of its signature says on which side of hyperplane i it is (Charikar 2002). The
signatures are sorted after each of several permutations of their bits, and each is compared with those before it
(Ravichandran et al. 2005).

The batches of sentences do not affect the result: words are added in the order of their hashes, and products are whole
numbers, whose sums a double represents exactly in any order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esdedup.columns.hashing import Hashes, Offsets, mix, ones, random_words
from esdedup.columns.kernels import compiled
from esdedup.papers.projection.word_vectors import Vectors

Sums = npt.NDArray[np.float64]
Signatures = npt.NDArray[np.uint64]
"""Shape (n, 2): the first 64 bits of each signature, most significant first, and up to 64 more."""

Numbers = npt.NDArray[np.int64]

_VECTOR_BITS = 25  # with 15 of the hyperplanes and 12 of the length of a vector, sums stay below 2^53
_PLANE_UNIT = 2**12
_PLANE_MOST = 2**15 - 1  # eight standard deviations

_WORDS_STREAM, _PLANES_STREAM, _PERMUTATIONS_STREAM = 1, 2, 3


def _stream(seed: int, which: int) -> np.uint64:
    """Return a separate seed for each use of random numbers."""
    return np.uint64(random_words(np.uint64(seed), 4)[which])


# -- sentence vectors -------------------------------------------------------------------------------------------------


def hashed_key(seed: int) -> np.uint64:
    """Return the key from which `add_hashed` draws the vectors of words."""
    return _stream(seed, _WORDS_STREAM)


@compiled
def add_hashed(words: Hashes, weights: Sums, offsets: Offsets, key: np.uint64, sums: Sums) -> None:
    """Add the weighted words of each text to `sums` (n, length). Text i has `words[offsets[i]:offsets[i + 1]]`.

    A word's vector consists of +1 and -1, drawn from the key and its hash (Achlioptas 2003), so nothing is stored.
    """
    length = sums.shape[1]
    blocks = (length + 63) // 64
    for text in range(len(offsets) - 1):
        for at in range(offsets[text], offsets[text + 1]):
            weight = weights[at]
            bits = random_words(mix(words[at] ^ key), blocks)
            for block in range(blocks):
                word = bits[block]
                for place in range(64 * block, min(length, 64 * block + 64)):
                    one = np.int64(word >> np.uint64(place & 63)) & 1
                    sums[text, place] += weight * np.float64(2 * one - 1)


@compiled
def add_rows(rows: Vectors, first: int, codes: Numbers, offsets: Offsets, reached: Offsets, sums: Sums) -> None:
    """Add the vectors of each text's words to `sums` (n, length). `rows` are the vectors of the words from `first`.

    `codes` are the words of the texts in order, ascending in each text; those below 0 have no vector. `reached` (n,)
    says up to where each text was added, and is advanced, so rows may come in parts.
    """
    end = first + len(rows)
    for text in range(len(sums)):
        at = reached[text]
        while at < offsets[text + 1] and codes[at] < end:
            if codes[at] >= 0:
                for place in range(sums.shape[1]):
                    sums[text, place] += np.float64(rows[codes[at] - first, place])
            at += 1
        reached[text] = at


@compiled
def cosines(sums: Sums, a: Numbers, b: Numbers) -> Sums:
    """Return the cosine of the vectors a[i] and b[i], shape (pairs,)."""
    out = np.empty(len(a), np.float64)
    for index in range(len(a)):
        dot, one, two = 0.0, 0.0, 0.0
        for place in range(sums.shape[1]):
            left, right = sums[a[index], place], sums[b[index], place]
            dot += left * right
            one += left * left
            two += right * right
        out[index] = min(1.0, dot / (np.sqrt(one) * np.sqrt(two)))
    return out


# -- signatures -------------------------------------------------------------------------------------------------------


def hyperplanes(seed: int, length: int, bits: int) -> Sums:
    """Return normal vectors of `bits` random hyperplanes, shape (length, bits): Gaussian, in whole 4096ths."""
    words = random_words(_stream(seed, _PLANES_STREAM), 2 * length * bits).reshape(2, length, bits)
    one, two = ((words >> np.uint64(11)) + np.uint64(1)) * 2.0**-53  # in (0, 1]
    gaussian = np.sqrt(-2.0 * np.log(one)) * np.cos(2.0 * np.pi * two)  # Box and Muller 1958
    return np.asarray(np.clip(np.rint(gaussian * _PLANE_UNIT), -_PLANE_MOST, _PLANE_MOST))


def sign(sums: Sums, planes: Sums) -> tuple[Signatures, npt.NDArray[np.bool_]]:
    """Return the signature of each vector, and whether it has one: a zero vector has no direction.

    Bit i is 1 if the product with hyperplane i is not negative (equation 1). `sums` is rounded in place.
    """
    directed = _round(sums, 2.0**_VECTOR_BITS)
    return _pack(sums @ planes), directed


@compiled
def _round(sums: Sums, most: float) -> npt.NDArray[np.bool_]:
    """Scale each vector to whole numbers of at most `most`. Return which vectors are not zero, shape (n,)."""
    directed = np.zeros(len(sums), np.bool_)
    for text in range(len(sums)):
        greatest = 0.0
        for place in range(sums.shape[1]):
            greatest = max(greatest, abs(sums[text, place]))
        if greatest == 0.0:
            continue
        directed[text] = True
        for place in range(sums.shape[1]):
            sums[text, place] = np.rint(sums[text, place] / greatest * most)
    return directed


@compiled
def _pack(products: Sums) -> Signatures:
    out = np.zeros((len(products), 2), np.uint64)
    for text in range(len(products)):
        for bit in range(products.shape[1]):
            if products[text, bit] >= 0:
                out[text, bit >> 6] |= np.uint64(1) << np.uint64(63 - (bit & 63))
    return out


# -- neighboring signatures --------------------------------------------------------------------------------------------


def permutation(seed: int, which: int, bits: int) -> Numbers:
    """Return the order of the bits in permutation `which`, shape (bits,)."""
    key = random_words(_stream(seed, _PERMUTATIONS_STREAM), which + 1)[which]
    return np.argsort(random_words(key, bits), kind="stable")


@compiled
def permute(signatures: Signatures, order: Numbers) -> Signatures:
    """Return the signatures with bit `order[i]` at position i."""
    out = np.zeros_like(signatures)
    for text in range(len(signatures)):
        for bit in range(len(order)):
            source = order[bit]
            value = (signatures[text, source >> 6] >> np.uint64(63 - (source & 63))) & np.uint64(1)
            out[text, bit >> 6] |= value << np.uint64(63 - (bit & 63))
    return out


@compiled
def near_in_order(
    signatures: Signatures, numbers: Numbers, first: int, window: int, most: int
) -> npt.NDArray[np.int32]:
    """Compare each sorted signature, from row `first`, with the `window` rows before it; return pairs, shape (found,
    2).

    Pairs are (smaller, greater) of `numbers` (n,), with at most `most` different bits. Rows before `first` were
    compared in an earlier call.
    """
    out = np.empty(((len(numbers) - first) * window, 2), np.int32)
    found = 0
    for row in range(first, len(numbers)):
        for other in range(max(0, row - window), row):
            apart = np.int64(ones(signatures[row, 0] ^ signatures[other, 0]))
            apart += np.int64(ones(signatures[row, 1] ^ signatures[other, 1]))
            if apart <= most:
                out[found, 0] = min(numbers[row], numbers[other])
                out[found, 1] = max(numbers[row], numbers[other])
                found += 1
    return out[:found]
