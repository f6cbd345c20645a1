"""Verify candidates: exact Jaccard and word edit distance, on all threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.matching.engine import PAIRS, MatchContext
from esdedup.matching.exact.prefixes import similarities
from esdedup.matching.groups import token_matrix
from esdedup.matching.lsh.collide import Similarities, shared_tokens
from esdedup.matching.lsh.sketches import sketched_sets
from esdedup.matching.signers.text_signer import Kinds, TextSigner
from esdedup.matching.verify.edits import Distances, measured, word_edit_distances
from esdedup.matching.verify.protocol import PairRule


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


Closeness = Callable[[pa.LargeStringArray, Numbers, Numbers], Similarities]
"""How close the texts at indices a[i] and b[i] are by a matcher's own measure, for verifiers that use it."""


def no_closeness(texts: pa.LargeStringArray, a: Numbers, b: Numbers) -> Similarities:
    """The measure of a matcher that has none."""
    raise NotImplementedError("this matcher has no measure of its own")


def compare_listed(
    context: MatchContext, candidates: pa.Table, texts: pa.Table, closeness: Closeness = no_closeness
) -> pa.Table:
    """Verify candidates; an `esdedup.matching.engine.ComparePairs`."""
    numbers = texts["number"].to_numpy()
    column = texts["text"].cast(pa.large_string()).combine_chunks()
    tokens = token_matrix(texts["tokens"], context.signing.tokens)
    verifier = context.rule.verifier
    a, b = (np.searchsorted(numbers, candidates[end].to_numpy()) for end in ("a", "b"))
    near, close = verifier.near(partial(closeness, column), a, b)
    found = verify(context.signer, context.rule, context.threads, column, a[near], b[near])
    a, b = a[near][found.kept], b[near][found.kept]
    columns = {
        "a": numbers[a],
        "b": numbers[b],
        "jaccard": found.jaccard if verifier.compares else pa.nulls(len(a), pa.float64()),
        "word_edit_distance": found.distances if verifier.compares else pa.nulls(len(a), pa.int32()),
        "shared_tokens": shared_tokens(tokens, found.kind, context.signing.signer.tokens, a, b),
    }
    close = found.jaccard if close is None else close[found.kept]
    return pa.table(columns).cast(PAIRS).append_column("closeness", pa.array(close))
