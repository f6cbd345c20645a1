"""The text on which most copies agree, word by word: it repairs what a scanner misread in each copy elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import regex
from rapidfuzz.distance import Levenshtein

VOTERS = 3
"""Copies that a consensus needs."""
_MOST_VOTERS = 15
"""The first copies of a cluster, which are asked."""
_ANCHOR = 7
"""Words, spaces and signs in a row that two copies have in common: between such stretches, letters are aligned."""
_IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u9fff"
_WORDS = regex.compile(rf"[{_IDEOGRAPHS}]|[^\W{_IDEOGRAPHS}]+|\s+|[^\w\s]")


def consensus(texts: Sequence[str]) -> str:
    """Return the text on which most of three and more copies agree.

    The copy that differs least from all others is followed, except where most have something else for one of its words.
    Of equally many votes, those for its own word win, then those of the first copy.
    """
    texts = texts[:_MOST_VOTERS]
    words = [_WORDS.findall(text) for text in texts]
    distances = np.zeros((len(texts), len(texts)))
    for one, two in zip(*np.triu_indices(len(texts), 1), strict=True):
        distances[one, two] = distances[two, one] = Levenshtein.distance(words[one], words[two])
    middle = int(distances.sum(axis=1).argmin())
    said = [_said(words[middle], each) for each in words]
    return "".join(_elected(own, votes) for own, *votes in zip(words[middle], *said, strict=True))


def _elected(own: str, votes: Sequence[str]) -> str:
    counts = Counter(votes)
    most = max(counts.values())
    return own if counts[own] == most else next(word for word in votes if counts[word] == most)


def _said(middle: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return what a text has for each word of the middle one. What is added goes with the word before it."""
    equal = [edit for edit in Levenshtein.opcodes(middle, words) if edit.tag == "equal"]
    anchors = [edit for edit in equal if edit.src_end - edit.src_start >= _ANCHOR]
    said: list[str] = []
    own = other = 0
    for edit in anchors:
        said += _by_letters(middle[own : edit.src_start], words[other : edit.dest_start], said)
        said += words[edit.dest_start : edit.dest_end]
        own, other = edit.src_end, edit.dest_end
    return said + _by_letters(middle[own:], words[other:], said)


def _by_letters(middle: Sequence[str], words: Sequence[str], before: list[str]) -> list[str]:
    """As `_said`, of a few words that differ. What is added where the middle text has none goes with that `before`."""
    whole, text = "".join(middle), "".join(words)
    if not whole:
        before[-1:] = [each + text for each in before[-1:]]
        return []
    at = np.zeros(len(whole) + 1, np.int64)
    for edit in Levenshtein.opcodes(whole, text):
        steps = np.arange(edit.src_end - edit.src_start) if edit.tag in ("equal", "replace") else 0
        at[edit.src_start : edit.src_end] = edit.dest_start + steps
    at[-1] = len(text)
    cuts = at[np.cumsum([0, *map(len, middle)])].tolist()
    cuts[0] = 0
    return [text[begin:end] for begin, end in pairwise(cuts)]
