"""The hash functions of hash scheme 1, in integer arithmetic that is the same on every platform.

`content_hash` is XXH64 (seed 0) of a text's UTF-8 bytes: the identity of a distinct text. `mix` is the splitmix64
finalizer, which is applied to all seeds, shingles and tokens.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from esdedup.columns.kernels import compiled

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

_PART = 2**22
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)


@compiled
def mix(value: np.uint64) -> np.uint64:
    """Spread every input bit over all 64 output bits (splitmix64's finalizer; a bijection)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled
def ones(word: np.uint64) -> np.uint64:
    """Return the number of bits of `word` that are 1."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def random_words(seed: np.uint64, count: int) -> Hashes:
    """Return `count` pseudo-random 64-bit words from `seed`: the splitmix64 sequence."""
    words = np.empty(count, np.uint64)
    state = seed
    for index in range(count):
        state += _GOLDEN
        words[index] = mix(state)
    return words


@compiled
def _rotate(value: np.uint64, bits: int) -> np.uint64:
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


@compiled
def _round(lane: np.uint64, word: np.uint64) -> np.uint64:
    return _rotate(lane + word * _P2, 31) * _P1


@compiled
def _merge(result: np.uint64, lane: np.uint64) -> np.uint64:
    return (result ^ _round(np.uint64(0), lane)) * _P1 + _P4


@compiled
def _word(data: Bytes, at: int, size: int) -> np.uint64:
    word = np.uint64(0)
    first = np.uint64(at)  # an unsigned index is not checked for negative values, so the bytes are loaded at once
    for index in range(size):
        word |= np.uint64(data[first + np.uint64(index)]) << np.uint64(8 * index)
    return word


@compiled
def xxh64(data: Bytes, start: int, end: int) -> np.uint64:
    """Return XXH64 with seed 0 of `data[start:end]`."""
    length = end - start
    at = start
    if length >= 32:
        lane1, lane2, lane3, lane4 = _P1 + _P2, _P2, np.uint64(0), np.uint64(0) - _P1
        while at + 32 <= end:
            lane1 = _round(lane1, _word(data, at, 8))
            lane2 = _round(lane2, _word(data, at + 8, 8))
            lane3 = _round(lane3, _word(data, at + 16, 8))
            lane4 = _round(lane4, _word(data, at + 24, 8))
            at += 32
        result = _rotate(lane1, 1) + _rotate(lane2, 7) + _rotate(lane3, 12) + _rotate(lane4, 18)
        result = _merge(_merge(_merge(_merge(result, lane1), lane2), lane3), lane4)
    else:
        result = _P5
    result += np.uint64(length)
    while at + 8 <= end:
        result = _rotate(result ^ _round(np.uint64(0), _word(data, at, 8)), 27) * _P1 + _P4
        at += 8
    if at + 4 <= end:
        result = _rotate(result ^ (_word(data, at, 4) * _P1), 23) * _P2 + _P3
        at += 4
    while at < end:
        result = _rotate(result ^ (np.uint64(data[at]) * _P5), 11) * _P1
        at += 1
    result = (result ^ (result >> np.uint64(33))) * _P2
    result = (result ^ (result >> np.uint64(29))) * _P3
    return result ^ (result >> np.uint64(32))


@compiled
def content_hashes(data: Bytes, offsets: Offsets) -> Hashes:
    """Return XXH64 of each text, shape (n,), for texts `data[offsets[i]:offsets[i + 1]]`."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for index in range(len(hashes)):
        hashes[index] = xxh64(data, offsets[index], offsets[index + 1])
    return hashes


def within(hashes: Hashes, owner: npt.NDArray[np.int64]) -> Hashes:
    """Return hashes that are equal only for equal `hashes` (n,) of the same owner."""
    found: Hashes = hashes ^ (owner.astype(np.uint64) * _GOLDEN)
    return found


def file_hash(path: Path) -> str:
    """Return a hash of a file's bytes, 16 hex digits: XXH64 of the XXH64 of its parts of 4 MiB."""
    parts = []
    with path.open("rb", buffering=0) as file:
        while part := file.read(_PART):
            parts.append(content_hashes(np.frombuffer(part, np.uint8), np.array([0, len(part)]))[0])
    whole = np.array(parts, np.uint64).view(np.uint8)
    return f"{int(content_hashes(whole, np.array([0, len(whole)]))[0]):016x}"
