"""Which sentences of clusters still stand on their pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from esdedup.store.store import Store


def mark_current(store: Store, clusters: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return clusters (of a query for what is `shared`) whose members say whether they are `current`: in the newest
    revision of their page, and in the newest dump of their `wiki` that has a page with this title.
    """
    held = list(clusters)
    dumps = dict(zip(*(column.to_pylist() for column in store.corpus.dumps().columns), strict=True))
    titles = sorted({member["title"] for cluster in held for member in cluster["members"] if member["title"]})
    pages = store.corpus.pages(pa.table({"title": pa.array(titles, pa.string())})).to_pylist() if dumps else []
    wikis = {source.number: source.wiki for source in store.ledger.sources()}
    newest: dict[tuple[str, str], str] = {}
    for page in pages:
        key = wikis[page["source"]], page["title"]
        newest[key] = max(newest.get(key, ""), dumps.get(page["source"], ""))
    for cluster in held:
        for member in cluster["members"]:
            member["wiki"] = wikis[member["source_number"]]
            replaced = dumps.get(member["source_number"], "") < newest.get((member["wiki"], member["title"]), "")
            last = member["last_revision"]
            gone = last is not None and member["newest"] is not None and last != member["newest"]
            member["current"] = not replaced and not gone
    return held
