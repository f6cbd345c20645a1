"""Articles that share sentences."""

from __future__ import annotations

from typing import Any

from esdedup.errors import UsageError
from esdedup.output.overlap import overlaps
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.store import Store
from esdedup.web.answers.browse import UnknownError, page_of
from esdedup.web.answers.shapes import ArticleList, ArticlePage

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
