"""Texts of a job that stand inside longer ones, or inside longer ones of a reference collection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from esdedup.clustering.clusters import Clusters
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.jobs.against import Reference, distinct_hashes, first_sentences
from esdedup.matching.containment import MEMORY_SHARE, TEXTS_AT_ONCE, find_contained, find_containing
from esdedup.output.drops import apart
from esdedup.resources import Resources
from esdedup.store.preference import Preference
from esdedup.store.store import Store


def find_containing_references(
    store: Store, references: Sequence[Reference], share: float, resources: Resources, known: Hashes
) -> pa.Table:
    """Return the texts of a store that have at least this share of the shingles of a text of a reference, as `APART`.

    Texts that are `known` to stand in a reference are left out.
    """
    new = np.setdiff1d(distinct_hashes(store), known)
    old = [(reference.store, distinct_hashes(reference.store)) for reference in references]
    inner = sum(len(hashes) for _, hashes in old)
    found, shares = find_containing(
        lambda: _texts([*old, (store, new)]), store.signing, inner + len(new), inner, share,
        resources.memory // MEMORY_SHARE, resources.processes,
    )  # fmt: skip
    parts, first = [], 0
    for (reference, hashes), prefix in zip(old, (each.prefix for each in references), strict=True):
        here = np.flatnonzero((found >= first) & (found < first + len(hashes)))
        names, texts = first_sentences(reference, pa.chunked_array([pa.array(hashes[found[here] - first])]), prefix)
        rows = {"hash": pa.array(new[here]), "share": pa.array(np.round(shares[here], 6))}
        parts.append(apart({**rows, "reference": names, "reference_text": texts}, "in_reference"))
        first += len(hashes)
    return pa.concat_tables(parts)


def _texts(held: Sequence[tuple[Store, Hashes]]) -> Iterator[pa.LargeStringArray]:
    """Yield the texts of stores with these hashes, in batches."""
    for store, hashes in held:
        for begin in range(0, len(hashes), TEXTS_AT_ONCE):
            yield store.corpus.texts_in_order(hashes[begin : begin + TEXTS_AT_ONCE])


class Containment:
    """Finds contained texts among those that stay: of a star, its centre. Afterwards `found` has rows of `APART`."""

    def __init__(
        self,
        store: Store,
        references: Sequence[Reference],
        share: float,
        preference: Preference,
        resources: Resources,
        known: Hashes,
    ) -> None:
        self._store = store
        self._references = references
        self._share = share
        self._preference = preference
        self._resources = resources
        self._known = known  # texts that are dropped already
        self.found = apart({"hash": []}, "contained")

    def __call__(self, scratch: Database, clusters: Clusters) -> Hashes:
        """Return the hashes of the contained texts."""
        every = scratch.arrays("SELECT hash FROM texts ORDER BY hash")["hash"].astype(np.uint64)
        gone = np.union1d(self._known, self._others(clusters))
        stay = np.setdiff1d(every, gone)
        sources = [(self._store, stay), *((each.store, distinct_hashes(each.store)) for each in self._references)]
        prefixes = ["", *(reference.prefix for reference in self._references)]

        total = sum(len(hashes) for _, hashes in sources)
        budget = self._resources.memory // MEMORY_SHARE
        result = find_contained(
            lambda: _texts(sources),
            self._store.signing,
            total,
            len(stay),
            self._share,
            budget,
            self._resources.processes,
        )
        outermost = result.outermost(len(stay))
        inner = np.flatnonzero(outermost >= 0)
        ends = outermost[inner]
        parts, first = [], 0
        for number, (store, hashes) in enumerate(sources):
            here = np.flatnonzero((ends >= first) & (ends < first + len(hashes)))
            wanted = pa.chunked_array([pa.array(hashes[ends[here] - first])])
            names, texts = first_sentences(store, wanted, prefixes[number])
            beside = {"reference": names, "reference_text": texts}
            if not number:
                beside = {"kept": names, "kept_hash": pa.array(hashes[ends[here] - first])}
            share = pa.array(np.round(result.share[inner[here]], 6))
            rows = {"hash": pa.array(stay[inner[here]]), "share": share}
            parts.append(apart({**rows, **beside}, "in_reference" if number else "contained"))
            first += len(hashes)
        self.found = pa.concat_tables(parts)
        return stay[inner]

    def _others(self, clusters: Clusters) -> Hashes:
        """Return the texts of stars that are not their centres."""
        hashes, cluster = (clusters.texts[name].to_numpy() for name in ("hash", "cluster"))
        if self._preference.policies.none:
            return np.asarray(hashes)
        order = np.argsort(hashes)
        hashes, cluster = hashes[order], cluster[order]
        rank = np.empty(len(hashes), np.int64)
        rank[self._preference.order(hashes)] = np.arange(len(hashes))
        by_rank = np.argsort(rank)
        _, first = np.unique(cluster[by_rank], return_index=True)
        centres = np.zeros(len(hashes), np.bool_)
        centres[by_rank[first]] = True
        return np.asarray(hashes[~centres])
