"""Counts of the collection, and how many pairs its settings find."""

from __future__ import annotations

import numpy as np

from esdedup.evaluation.observed import observed_curve
from esdedup.evaluation.sample import Curve
from esdedup.jobs.summary import described
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.protocol import Signer
from esdedup.output.sizes import sizes_of_kinds
from esdedup.output.skips import in_words
from esdedup.store.store import Store
from esdedup.web.answers.shapes import Overview


def overview(store: Store) -> Overview:
    """Return the counts of the collection."""
    summary = described(store)
    found = curve(store)
    return {
        "store": store.address,
        "version": summary["version"],
        "records": summary["records"],
        "counts": summary["counts"],
        "cluster_sizes": sorted(store.results.sizes().items()),
        "kinds": summary["kinds"],
        "kind_sizes": {kind: sorted(sizes.items()) for kind, sizes in sizes_of_kinds(store).items()},
        "settings": summary["settings"],
        "curve": [
            {
                "jaccard": round(float(jaccard), 3),
                "chance": round(float(chance), 6),
                "found": None if np.isnan(share) else round(float(share), 6),
                "pairs": int(pairs),
            }
            for jaccard, chance, share, pairs in zip(
                found.jaccard, found.expected, found.recall, found.pairs, strict=True
            )
        ],
        "skipped": [(reason, count, in_words(reason)) for reason, count in summary["skipped"].items()],
        "sources": [{name: source[name] for name in ("name", "documents", "skipped")} for source in summary["sources"]],
        "damaged": summary["damaged"],
        "current": bool((store.results.last_scan() or {}).get("current")),
        "unfinished": _unfinished(store),
    }


def curve(store: Store) -> Curve[Signer]:
    """Return the S-curve of the current settings, with what the pairs of the last scan show about it."""
    scanning = Scanning.from_described(store.ledger.last_scanning() or {})
    counted = scanning.matcher.counts_tokens and store.ledger.last_scanning() is not None
    pairs = store.results.pair_hashes() if counted else iter(())
    return observed_curve(store.signing.signer, pairs, 0.0, by_tokens=scanning.matcher.by_tokens)


def _unfinished(store: Store) -> str | None:
    """Return a note if documents are being read, or if a scan is missing."""
    if store.ledger.unfinished_reading() is not None:
        return "Documents are being read. This page shows the previous state."
    last = store.results.last_scan()
    if last is None:
        return "There are no clusters yet. Run esdedup scan."
    if not last["current"]:
        return "Documents changed since the last scan. These are its clusters. Run esdedup scan to update them."
    return None
