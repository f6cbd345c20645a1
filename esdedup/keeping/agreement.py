"""What copies agree on: which pairs of neighbouring words only one of them has, and which it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import within
from esdedup.columns.kernels import compiled

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.columns.hashing import Bytes, Hashes, Offsets
    from esdedup.keeping.protocol import Keys

_ODD = np.uint64(0x9E3779B97F4A7C15)
_PRIME = np.uint64(1099511628211)  # FNV-1a
_PASSAGE = 8
"""So many pairs of words in a row, which only one copy has, are a passage that was added, or that the others lost.
Fewer are words that differ.
"""


class Agreement(NamedTuple):
    """Of each text, as shares of the pairs of words of its group."""

    lost: Keys  # what most others have, and it lacks
    differing: Keys  # what only it has, here and there
    added: Keys  # what only it has, in passages
    again: Keys  # number of words that follow themselves
    unknown: Keys  # number of words that no other text has, of its group or another one


def agreement_of(texts: pa.LargeStringArray, groups: Numbers) -> Agreement:
    """Compare each text with the others of its group (n,), given by numbers from 0."""
    data, offsets = text_buffers(pc.utf8_lower(texts))
    count = len(texts)
    pairs, ends, again = np.empty(len(data), np.uint64), np.zeros(count + 1, np.int64), np.zeros(count, np.int64)
    words = np.empty(len(data) + count, np.uint64)
    held_pairs = _word_pairs(data, offsets, pairs, ends, again, words)
    unknown = _alone(words, ends + np.arange(count + 1), count)
    pairs, text = pairs[:held_pairs].copy(), np.repeat(np.arange(count), np.diff(ends))
    size = np.bincount(groups)
    length = np.maximum(np.bincount(text, minlength=count), 1)
    usual, longest = medians(length.astype(np.float64), groups), _longest(length, groups)
    number, held, members = _numbered(pairs, text, groups)
    alone = held[number] == 1
    differing, added = _in_runs(alone, text, count)
    own, owner = members
    common = 2 * held[own] > size[groups[owner]] - 1
    has = np.bincount(owner[common], minlength=count)
    first_of = np.unique(own, return_index=True)[1]
    all_common = np.bincount(groups[owner[first_of]], weights=2 * held > size[groups[owner[first_of]]] - 1,
                             minlength=len(size))  # fmt: skip
    lost = (all_common[groups] - has) / usual[groups]
    two = size[groups] == 2
    of_both = np.bincount(groups, weights=added, minlength=len(size))
    lost[two] = ((of_both[groups] - added) / longest[groups])[two]
    alone_in_group = size[groups] == 1
    differing, added = differing / length, added / longest[groups]
    for each in (lost, differing, added):
        each[alone_in_group] = 0
    return Agreement(lost, differing, added, again.astype(np.float64), unknown)


def _alone(words: Hashes, ends: Offsets, texts: int) -> Keys:
    """Count the words of each text that are there only once in all texts. It has `ends[i]:ends[i + 1]` of them."""
    words = words[: ends[-1]]
    order = np.argsort(words)
    new = (
        np.concatenate(([True], words[order][1:] != words[order][:-1], [True])) if len(words) else np.empty(1, np.bool_)
    )
    alone = order[new[:-1] & new[1:]]
    found: Keys = np.bincount(np.searchsorted(ends, alone, side="right") - 1, minlength=texts).astype(np.float64)
    return found


@compiled
def _word_pairs(data: Bytes, offsets: Offsets, pairs: Hashes, ends: Numbers, again: Numbers, words: Hashes) -> int:
    """Write a hash of each two words in a row, and of each word, and count words that follow themselves. Return the
    number of pairs. Each text has one word more than pairs; one without words has the hash 0.

    A word is a run of letters and digits; in scripts of East Asia, each sign is one.
    """
    held = 0
    for text in range(len(again)):
        last = np.uint64(0)
        word = np.uint64(0)
        spoken = held + text
        at, end = offsets[text], offsets[text + 1]
        while at <= end:
            byte = data[at] if at < end else np.uint8(32)
            size = 1 if byte < 192 else 2 if byte < 224 else 3 if byte < 240 else 4
            second = data[at + 1] if size > 1 else np.uint8(0)
            sign = 227 <= byte <= 233 and not (byte == 227 and second == 128)  # U+3040 to U+9FFF
            part = 48 <= byte <= 57 or 97 <= byte <= 122 or byte == 95 or size > 1
            if (byte == 226 and second <= 129) or (byte == 194 and second <= 191) or (byte == 227 and second == 128):
                part = False  # punctuation
            if part and not sign:
                for place in range(at, at + size):
                    word = (word ^ np.uint64(data[place])) * _PRIME + np.uint64(1)
                at += size
                continue
            for turn in range(2):
                if turn == 1:
                    if not sign:
                        break
                    for place in range(at, at + size):
                        word = (word ^ np.uint64(data[place])) * _PRIME + np.uint64(1)
                if word != 0:
                    if last != 0:
                        pairs[held] = last * _ODD ^ word
                        held += 1
                        if last == word:
                            again[text] += 1
                    words[spoken] = word
                    spoken += 1
                    last = word
                    word = np.uint64(0)
            at += size
        if last == 0:
            words[spoken] = 0
        ends[text + 1] = held
    return held


def _numbered(pairs: Hashes, text: Numbers, groups: Numbers) -> tuple[Numbers, Numbers, tuple[Numbers, Numbers]]:
    """Number the pairs of words within their groups. Return the number of each, in how many texts of its group it is,
    and once for each text that has it: its number and the text.
    """
    _, number = np.unique(within(pairs, groups[text]), return_inverse=True)
    texts = len(groups)
    each = np.sort(number * texts + text)  # sorted faster than numpy finds what is unique
    own, owner = np.divmod(each[np.flatnonzero(np.diff(each, prepend=-1))], texts)
    return number, np.bincount(own), (own, owner)


def _in_runs(alone: Numbers, text: Numbers, texts: int) -> tuple[Keys, Keys]:
    """Return how many pairs of each text are `alone` in short runs, and in long ones."""
    if not len(alone):
        return np.zeros(texts), np.zeros(texts)
    begins = np.flatnonzero(np.concatenate(([True], (alone[1:] != alone[:-1]) | (text[1:] != text[:-1]))))
    lengths = np.diff(np.append(begins, len(alone)))
    of, is_alone = text[begins], alone[begins]
    short = is_alone & (lengths < _PASSAGE)
    long = is_alone & (lengths >= _PASSAGE)
    return (
        np.bincount(of[short], weights=lengths[short], minlength=texts).astype(np.float64),
        np.bincount(of[long], weights=lengths[long], minlength=texts).astype(np.float64),
    )


def medians(values: Keys, groups: Numbers) -> Keys:
    """Return the median of each group, given by numbers from 0."""
    order = np.lexsort((values, groups))
    size = np.bincount(groups)
    start = np.cumsum(size) - size
    low, high = (values[order[start + (size - 1 + more) // 2]] for more in (0, 1))
    found: Keys = (low + high) / 2
    return found


def _longest(values: Numbers, groups: Numbers) -> Numbers:
    found = np.zeros(groups.max(initial=-1) + 1, np.int64)
    np.maximum.at(found, groups, values)
    return found
