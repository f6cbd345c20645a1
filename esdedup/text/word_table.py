"""Words in a table for compiled code: an open-addressed hash table of 64-bit keys."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from esdedup.columns.kernels import compiled
from esdedup.text import folded_names

Numbers = npt.NDArray[np.int64]

ABSENT = -1

_PRIME = 1099511628211  # FNV-1a

LETTERS: Numbers = np.array(folded_names.FOLDED, dtype=np.int64)
"""The folded letter of every code point that may have case."""


@compiled
def mix(key: int, code: int) -> int:
    """Return `key` with one more character."""
    return (key ^ code) * _PRIME


@compiled
def find(keys: Numbers, values: Numbers, key: int) -> int:
    """Return the value stored under `key`, or `ABSENT`."""
    mask = keys.size - 1
    place = (key ^ (key >> 32)) & mask
    while keys[place] != 0:
        if keys[place] == key:
            return int(values[place])
        place = (place + 1) & mask
    return ABSENT


def key_of(kind: int, name: str) -> int:
    """Return the key that the compiled code computes for `name`, character by character."""
    key = int(kind)
    for char in name:
        key = ((key ^ ord(char)) * _PRIME) & (2**64 - 1)
    return key - 2**64 if key >= 2**63 else key


def hash_table(entries: Mapping[int, int]) -> tuple[Numbers, Numbers]:
    """Return the two arrays that `find` searches, for values by key."""
    size = 1 << (3 * len(entries)).bit_length()
    keys, values = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for key, value in entries.items():
        place = (key ^ (key >> 32)) & (size - 1)
        while keys[place] != 0:
            place = (place + 1) & (size - 1)
        keys[place], values[place] = key, value
    return keys, values
