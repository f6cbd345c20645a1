"""Verify candidates: exact Jaccard and word edit distance, on all threads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.matching.exact.prefixes import similarities
from esdedup.matching.lsh.collide import Similarities
from esdedup.matching.lsh.sketches import sketched_sets
from esdedup.matching.signers.text_signer import Kinds, TextSigner
from esdedup.matching.verify.edits import Distances, word_edit_distances
from esdedup.matching.verify.protocol import PairRule
from esdedup.matching.verify.threads import measured


class Verified(NamedTuple):
    """The candidates that are similar enough, by their indices among all candidates, and their measures. `kind` is of
    all texts.
    """

    kept: Numbers
    jaccard: Similarities
    distances: Distances
    kind: Kinds


def verify(
    signer: TextSigner, rule: PairRule, threads: int, texts: pa.LargeStringArray, a: Numbers, b: Numbers
) -> Verified:
    """Verify the candidates a[i], b[i] (indices into `texts`): by Jaccard with `verify exact`, and by words if they are
    limited. The caller checks all other rules.
    """
    sets, least = sketched_sets(signer, texts, threads).trimmed(), rule.least
    jaccard = measured(threads, lambda one, two: similarities(one, two, *sets, least), a, b)
    kept = np.flatnonzero(jaccard >= least)
    distances = word_edit_distances(texts, a[kept], b[kept], threads)
    if rule.word_edit_distance is not None:
        near = distances <= rule.word_edit_distance
        kept, distances = kept[near], distances[near]
    return Verified(kept, jaccard[kept], distances, sets.kind)
