"""The first questions to a store, which load and compile what all others need."""

from __future__ import annotations

from contextlib import suppress

from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.store import Store
from esdedup.web.answers.browse import cluster_page, page_of
from esdedup.web.answers.check import check, check_text
from esdedup.web.answers.meanings import contradiction_list

_TEXT = "A sentence that is asked for before anybody else asks, so that nobody waits for what the first one needs."


def warm_up(store: Store) -> None:
    """Ask one question of each kind whose answer is thrown away."""
    check(store, _TEXT[:50])
    check_text(store, _TEXT)
    with suppress(LookupError):  # where a scan puts new results in place just now
        if store.results.last_scan() is not None:
            for head in page_of(store, ClusterQuery(min_size=3, limit=1))[0]:
                cluster_page(store, head["id"])
            contradiction_list(store)
