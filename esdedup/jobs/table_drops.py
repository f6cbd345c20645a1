"""Which rows of a compared table are dropped, at a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.clustering.clusters import find_roots
from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.components import roots, unite
from esdedup.columns.hashing import Hashes
from esdedup.jobs.table_dedupe import Compared
from esdedup.matching.containment import TEXTS_AT_ONCE, find_contained
from esdedup.matching.lsh.collide import Similarities
from esdedup.matching.signing import Signing


class Drops(NamedTuple):
    """The dropped rows in their order, and the clusters: the cluster of each compared row, -1 without one."""

    row: Numbers
    kept: Numbers  # the row kept for each; -1 for none
    reference: Numbers  # the text of a reference that each stands in; -1 for none
    reason: list[str]
    jaccard: Similarities  # not a number where it is not known
    share: Similarities  # of its shingles, in what contains it; not a number for others
    cluster: Hashes
    cluster_of: Numbers


@dataclass(frozen=True)
class Containing:
    """What is needed to find texts that stand inside longer ones."""

    texts: pa.LargeStringArray  # the distinct texts, as `Compared` numbers them
    signing: Signing
    share: float
    budget: int  # bytes
    threads: int

    def find(self, stay: Flags, there: Flags) -> tuple[Numbers, Similarities]:
        """Return for each text the one that contains it, -1 for none, and the share of its shingles.

        Only what would `stay` can be contained, in what stays or is `there`, in a reference.
        """
        order = np.concatenate([np.flatnonzero(stay), np.flatnonzero(there)])
        inner = int(stay.sum())

        def batches() -> Iterator[pa.LargeStringArray]:
            for begin in range(0, len(order), TEXTS_AT_ONCE):
                yield self.texts.take(pa.array(order[begin : begin + TEXTS_AT_ONCE]))

        found = find_contained(batches, self.signing, len(order), inner, self.share, self.budget, self.threads)
        outermost = found.outermost(inner)
        outer, share = np.full(len(stay), -1), np.full(len(stay), np.nan)
        held = np.flatnonzero(outermost >= 0)
        outer[order[held]], share[order[held]] = order[outermost[held]], found.share[held]
        return outer, share


def decide(compared: Compared, keep: str, threshold: float, containing: Containing | None) -> Drops:
    """Decide which rows are dropped: of each cluster, one row stays, as `keep` says (`first`, `longest` or `none`)."""
    texts, rows = len(compared.hash), len(compared.row)
    referenced = (compared.reference >= 0) & (compared.reference_jaccard >= threshold)
    strong = (compared.jaccard >= threshold) & ~referenced[compared.a] & ~referenced[compared.b]
    a, b = compared.a[strong], compared.b[strong]
    rank = np.arange(rows) if keep != "longest" else np.lexsort((np.arange(rows), -compared.length)).argsort()
    best = np.full(texts, rows)
    np.minimum.at(best, compared.text, rank)
    if keep == "none":
        label = find_roots(texts, a, b, compared.jaccard[strong], compared.linkage)
    else:
        parent = np.arange(texts, dtype=np.int32)
        unite(parent, a, b)
        label = compared.linkage.roots(roots(parent, np.arange(texts)), lambda: (a, b), lambda: np.argsort(best))
    label[referenced] = np.flatnonzero(referenced)
    centre_rank = np.full(texts, rows)
    np.minimum.at(centre_rank, label, best)
    row_of_rank = np.argsort(rank)
    size = np.bincount(label[compared.text], minlength=texts)
    own = label[compared.text]
    clustered = size[own] > 1
    kept = row_of_rank[np.minimum(centre_rank[own], max(rows - 1, 0))]  # an index of compared rows
    centre = compared.text[kept]
    stays = ~clustered if keep == "none" else compared.text == centre
    outer, share = np.full(texts, -1), np.full(texts, np.nan)
    if containing is not None:
        candidates = np.zeros(texts, np.bool_)
        candidates[compared.text[stays & ~referenced[compared.text]]] = True
        outer, share = containing.find(candidates, compared.there)
    apart = referenced | (outer >= 0)
    first = (kept == np.arange(rows)) & (keep != "none")
    dropped = np.flatnonzero((clustered & ~first) | apart[compared.text])
    text, of_star = compared.text[dropped], ~apart[compared.text[dropped]]
    identical = text == centre[dropped]
    similarity = np.where(identical, 1.0, _similarity(compared, text, centre[dropped], threshold))
    similarity = np.where(referenced[text], compared.reference_jaccard[text], similarity)
    similarity[outer[text] >= 0] = np.nan
    reasons = np.where(identical, "identical", "near")
    reasons = np.where(outer[text] >= 0, "contained", np.where(referenced[text], "in_reference", reasons))
    first_row = np.full(texts, rows)
    np.minimum.at(first_row, compared.text, np.arange(rows))
    ours = (outer[text] >= 0) & (first_row[outer[text]] < rows)
    kept_rows = np.full(len(dropped), -1)
    if keep != "none":
        kept_rows[of_star] = compared.row[kept[dropped[of_star]]]
    kept_rows[ours] = compared.row[first_row[outer[text[ours]]]]
    reference = np.where(referenced[text], compared.reference[text], np.where(ours, -1, outer[text]))
    return Drops(
        compared.row[dropped],
        kept_rows,
        reference,
        reasons.tolist(),
        similarity,
        share[text],
        compared.hash[own[dropped]],
        np.where(clustered & ~referenced[compared.text], own, -1),
    )


def _similarity(compared: Compared, one: Numbers, two: Numbers, threshold: float) -> Similarities:
    """Return the Jaccard of pairs of texts; not a number for those that are no pair at the threshold."""
    if len(compared.a) == 0:
        return np.full(len(one), np.nan)
    texts = len(compared.hash)
    known, asked = compared.a * texts + compared.b, np.minimum(one, two) * texts + np.maximum(one, two)
    order = np.argsort(known)
    at = order[np.minimum(np.searchsorted(known, asked, sorter=order), len(known) - 1)]
    return np.where((known[at] == asked) & (compared.jaccard[at] >= threshold), compared.jaccard[at], np.nan)
