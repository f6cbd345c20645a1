"""Answers about the whole collection: its counts, how many pairs its settings find, and which articles share most."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from esdedup.errors import UsageError
from esdedup.evaluation.sample import Curve, observed_curve
from esdedup.jobs.summary import described
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.protocol import Signer
from esdedup.output.overlap import overlaps
from esdedup.output.plots import sizes_of_kinds
from esdedup.output.skips import in_words
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.store import Store
from esdedup.web.answers.browse import UnknownError, cluster_page, page_of
from esdedup.web.answers.check import check, check_text
from esdedup.web.answers.meanings import contradiction_list
from esdedup.web.answers.shapes import ArticleList, ArticlePage, Overview


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


_TEXT = "A sentence that is looked up once at the start, so that no reader waits for code to load and compile."


def warm_up(store: Store) -> None:
    """Run one query of each kind and discard the answer."""
    check(store, _TEXT[:50])
    check_text(store, _TEXT)
    with suppress(LookupError):  # a scan may be publishing new results right now
        if store.results.last_scan() is not None:
            for head in page_of(store, ClusterQuery(min_size=3, limit=1))[0]:
                cluster_page(store, head["id"])
            contradiction_list(store)


MOST_PAIRS = 200
"""Number of listed pairs of articles."""

_CLUSTERS = 50


def article_list(store: Store) -> ArticleList:
    """Return the articles that share the most sentences. Needs all clusters."""
    found = overlaps(store, "documents", None, MOST_PAIRS + 1)
    pairs: Any = found.rows[:MOST_PAIRS]
    return {"pairs": pairs, "more": len(found.rows) > MOST_PAIRS, "common_texts": found.common_texts}


def article_page(store: Store, identity: str) -> ArticlePage:
    """Return what the article with this id shares. Raises `UnknownError` if no sentence of it is stored."""
    try:
        found = overlaps(store, "documents", identity, MOST_PAIRS + 1)
    except UsageError:
        raise UnknownError(f"no article {identity}, or none of its sentences is stored") from None
    clusters, after = page_of(store, ClusterQuery(document=identity, limit=_CLUSTERS))
    pairs: Any = found.rows[:MOST_PAIRS]
    return {
        "id": identity,
        "title": found.title,
        "pairs": pairs,
        "more": len(found.rows) > MOST_PAIRS,
        "clusters": clusters,
        "more_clusters": after is not None,
    }
