"""What `similar`, `suggest` and `explain` answer, for other programs."""

from __future__ import annotations

from typing import Any

from esdedup.jobs.questions import explanation, storable
from esdedup.jobs.searching import alike, completions, ready, similar_rows
from esdedup.store.corpus import Filters
from esdedup.store.store import Store
from esdedup.web.answers.browse import UnknownError
from esdedup.web.answers.check import MOST_COMPARED
from esdedup.web.answers.shapes import Completions, SimilarSentences


def similar(
    store: Store, text: str, jaccard: float | None, min_similarity: float, limit: int, filters: Filters
) -> SimilarSentences:
    """Return the sentences of `store` that are similar to `text`, best first."""
    ready(store, quiet=True)
    found = alike(store, text, jaccard, min_similarity, filters, MOST_COMPARED)
    rows: list[Any] = similar_rows(store, found, limit, filters)
    return {"text": found.unit, "similar": rows, "left_out": found.left_out}


def suggest(store: Store, prefix: str, limit: int, filters: Filters) -> Completions:
    """Return the texts of `store` that complete `prefix`, best first."""
    ready(store, quiet=True)
    rows: list[Any] = completions(store, prefix, limit + 1, filters)
    return {"completions": rows[:limit], "more": len(rows) > limit}


def explain(store: Store, a: str, b: str) -> dict[str, Any]:
    """Return why two sentences did or did not match. Raises `UnknownError` if the store does not have one of them."""
    for identity in (a, b):
        if store.corpus.sentence(storable(identity)) is None:
            raise UnknownError(f"no sentence {identity}; its id is DOCUMENT:POSITION, as in the answer of similar")
    return explanation(store, a, b)
