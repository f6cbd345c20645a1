"""Compare one text with many."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.verify.edits import word_edit_distances

Similarities = npt.NDArray[np.float64]


class Comparison(NamedTuple):
    """The comparison of a text with n others: columns of shape (n,).

    `containment` is the share of the text's shingles that the other text contains.
    """

    shared_tokens: Numbers
    jaccard: Similarities
    containment: Similarities
    word_edit_distance: npt.NDArray[np.int32]


def compare(signer: TextSigner, text: str, others: pa.LargeStringArray) -> Comparison:
    """Compare `text` with each of `others`. A text without shingles has nothing in common with any."""
    texts = pa.concat_arrays([pa.array([text], pa.large_string()), others])
    shingled = signer.shingled(texts)
    flat, bounds = signer.sets(shingled)
    tokens = signer.tokens(shingled)
    sizes = np.diff(bounds)
    # each set is a run of distinct values: count those that the first set contains
    common = np.add.reduceat(np.append(np.isin(flat, flat[: bounds[1]]), 0), bounds[:-1]) * (sizes > 0)
    union = sizes[0] + sizes - common
    jaccard = common / np.maximum(union, 1)
    containment = common / max(int(sizes[0]), 1)
    shared = (tokens == tokens[0]).sum(axis=1) * (sizes > 0) * (sizes[0] > 0)
    rows = np.arange(1, len(texts))
    distances = word_edit_distances(texts, np.zeros(len(rows), np.int64), rows)
    return Comparison(shared[1:], jaccard[1:], containment[1:], distances)


def diff_words(one: str, two: str) -> list[tuple[str, str]]:
    """Return runs of words (separated by spaces): `=` in both texts, `-` only in `one`, `+` only in `two`."""
    a, b = one.split(" "), two.split(" ")
    runs: list[tuple[str, str]] = []
    for what, begin, end, first, last in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if what == "equal":
            runs.append(("=", " ".join(a[begin:end])))
            continue
        if end > begin:
            runs.append(("-", " ".join(a[begin:end])))
        if last > first:
            runs.append(("+", " ".join(b[first:last])))
    return runs
