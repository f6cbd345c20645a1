"""A store's tokens into its pairs and clusters."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.clustering.reach import far_members
from esdedup.clustering.union import Clusters, find_clusters
from esdedup.database import Database
from esdedup.pairs.collider import Collider
from esdedup.pipeline.progress import Bar
from esdedup.settings import Resources, Scanning
from esdedup.signers.bands import Signer
from esdedup.stores.store import Store

log = logging.getLogger("esdedup")

_FAR_BELOW = 0.3
"""A cluster reaches too far when a member's similarity to the representative is this much under the threshold."""


def scan_store(store: Store, scanning: Scanning, resources: Resources, *, quiet: bool) -> dict[str, Any]:
    """Find pairs and clusters, put them in the place of the old ones; the summary kept with them."""
    seconds: dict[str, float] = {}
    clock = time.perf_counter()
    signer = Signer(store.signing)
    # a file store spills beside itself, where there is room for the store; others where temporary files go
    beside = Path(store.address).resolve().parent
    with (
        tempfile.TemporaryDirectory(prefix=".esdedup-", dir=beside if beside.is_dir() else None) as spill,
        Database(memory=resources.memory * 2 // 5, threads=resources.processes, spill=Path(spill)) as scratch,
    ):
        collider = Collider(scratch, signer, scanning, resources.memory // 5, resources.processes)
        with Bar("scan", 0, "range", not quiet) as bar:
            found = collider.collide(
                store.signatures(scanning.across), store.texts, lambda done, all_: bar.reach(done, total=all_)
            )
        seconds["collide"] = time.perf_counter() - clock
        clock = time.perf_counter()
        clusters = find_clusters(scratch, scanning.linkage, scanning.verify == "exact")
        far = 0
        if scanning.verify == "exact" and scanning.linkage == "single":
            far = _warn_of_far_members(store, signer, clusters, scanning, resources)
        seconds["cluster"] = time.perf_counter() - clock
        clock = time.perf_counter()
        pairs = scratch.count("SELECT count(*) FROM pairs")
        if found.hot_tokens:
            log.warning(
                "%d tokens are held by very many texts; each of their texts was compared with a bounded "
                "number of others: %s",
                found.hot_tokens,
                "; ".join(found.hot_places),
            )
        summary = {
            "scanning": scanning.describe(),
            "counts": {
                "collisions": found.collisions,
                "candidates": found.candidates,
                "pairs": pairs,
                "clusters": clusters.clusters.num_rows,
                "clustered_sentences": int(np.sum(clusters.clusters["size"].to_numpy())),
            },
            "hot_tokens": found.hot_tokens,
            "far_reaching_clusters": far,
            "seconds": seconds,
        }
        store.replace_results(_named_pairs(scratch), clusters, summary)
        seconds["save"] = time.perf_counter() - clock
    return summary


def _named_pairs(scratch: Database) -> Iterator[pa.RecordBatch]:
    return scratch.batches(
        "SELECT one.hash AS a, two.hash AS b, jaccard, word_edit_distance, shared_tokens "
        "FROM pairs p JOIN texts one ON one.number = p.a JOIN texts two ON two.number = p.b ORDER BY p.a, p.b"
    )


def _warn_of_far_members(
    store: Store, signer: Signer, clusters: Clusters, scanning: Scanning, resources: Resources
) -> int:
    far = far_members(store.texts, signer, clusters, scanning.jaccard - _FAR_BELOW, resources.memory // 5)
    if far:
        worst = min(far.items(), key=lambda item: (item[1], item[0]))
        log.warning(
            "%d clusters reach far (single linkage): in cluster %016x a member has Jaccard %.2f with the "
            "representative; --linkage star keeps such ends apart",
            len(far),
            *worst,
        )
    return len(far)
