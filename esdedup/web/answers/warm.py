"""The first queries to a store. They load and compile what all others need."""

from __future__ import annotations

from contextlib import suppress

from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.store import Store
from esdedup.web.answers.browse import cluster_page, page_of
from esdedup.web.answers.check import check, check_text
from esdedup.web.answers.meanings import contradiction_list

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
