"""Which articles share sentences with which."""

from __future__ import annotations

from esdedup.errors import UsageError
from esdedup.exports.overlap import Overlap, overlaps
from esdedup.stores.store import ClusterQuery, Store
from esdedup.web.answers.browse import UnknownError, page_of
from esdedup.web.answers.shapes import ArticleList, ArticlePage
from esdedup.web.live import Edition

MOST_PAIRS = 200
"""Pairs of articles that are listed."""


def article_list(edition: Edition, store: Store) -> ArticleList:
    """The articles that share most; worked out once for an edition, from all clusters."""
    found: Overlap = edition.answer("articles", lambda: overlaps(store, "documents", None, MOST_PAIRS))
    return {"pairs": found.rows, "common_texts": found.common_texts}  # type: ignore[typeddict-item]


def article_page(edition: Edition, store: Store, identity: str) -> ArticlePage:
    """What the article with this id shares; `UnknownError` where no sentence of it is stored."""
    try:
        found: Overlap = edition.answer(
            ("article", identity), lambda: overlaps(store, "documents", identity, MOST_PAIRS)
        )
    except UsageError:
        raise UnknownError(f"no article {identity}, or none of its sentences is stored") from None
    clusters, _ = page_of(store, ClusterQuery(document=identity, limit=50))
    sides = [(row["a"], row["a_title"]) for row in found.rows] + [(row["b"], row["b_title"]) for row in found.rows]
    title = next((title for name, title in sides if name == identity), None)
    return {"id": identity, "title": title, "pairs": found.rows, "clusters": clusters}  # type: ignore[typeddict-item]
