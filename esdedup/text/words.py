"""Split texts into words: Unicode word segments (UAX #29) that begin with a letter, digit or underscore.

This is done for a whole column at once. The texts are joined by line feeds, which no word contains, and one search over
the joined text finds every word and the end of every text.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import regex

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.hashing import Hashes, Offsets, content_hashes
from esdedup.columns.kernels import compiled
from esdedup.text import folded_names

_WORD = regex.compile(r"(?w)\b\w.*?\b|\n")


def find_words(column: pa.LargeStringArray) -> tuple[list[str], Offsets]:
    """Return all words of all texts in order, and offsets (n + 1,): text i has `words[offsets[i]:offsets[i + 1]]`."""
    if len(column) == 0:
        return [], np.zeros(1, np.int64)
    found = _WORD.findall(joined(column))
    ends = np.array([at for at, word in enumerate(found) if word == "\n"], np.int64)
    # the k-th separator is k positions too far, because the separators before it are not words
    offsets = np.concatenate(([0], ends - np.arange(len(ends)), [len(found) - len(ends)])).astype(np.int64)
    return [word for word in found if word != "\n"], offsets


def word_hashes(column: pa.LargeStringArray) -> tuple[Hashes, Offsets]:
    """Return the words of each text as 64-bit hashes, in the layout of `find_words`."""
    words, offsets = find_words(column)
    return content_hashes(*text_buffers(text_column(words))), offsets


def joined(column: pa.LargeStringArray) -> str:
    """Return the texts as one string, separated by line feeds. Line feeds inside a text become spaces."""
    flat = pc.replace_substring(column, "\n", " ")
    return "\n".join(flat.to_pylist())


def holding(column: pa.LargeStringArray, text: str) -> npt.NDArray[np.bool_]:
    """Return which texts contain every word of `text`, and its signs at their positions, ignoring case."""
    asked = np.unique(word_hashes(pa.array([text.lower()], pa.large_string()))[0])
    lowered = [held.lower() for held in column.to_pylist()]
    words, offsets = word_hashes(pa.array(lowered, pa.large_string()))
    holder = np.repeat(np.arange(len(column)), np.diff(offsets))
    pieces = text.lower().split()
    mask = np.array([all(piece in held for piece in pieces) for held in lowered], np.bool_)
    for word in asked:
        has = np.zeros(len(column), np.bool_)
        has[holder[words == word]] = True
        mask &= has
    return mask


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
