"""What clusters mean: contradictions, and templates as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from esdedup.analysis.templates import Table, table_of
from esdedup.api.cluster_meaning import drift
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.store import Store
from esdedup.web.answers.browse import (
    MOST_CONTRADICTIONS,
    MOST_MEMBERS,
    UnknownError,
    find_cluster,
    page_of,
    surest,
    whole_cluster,
    with_members,
)
from esdedup.web.answers.shapes import ContradictionList, CorrectionList, TemplateTable

CLUSTERS = 10
"""Clusters on a page of contradictions."""

MOST_TOGETHER = 20_000
"""Limit on the sentences of these clusters. Smaller clusters come first."""

MOST_CORRECTIONS = 200

MOST_ROWS = 500
"""Rows of a template's table that a page shows."""


def contradiction_list(
    store: Store, document: str | None = None, article: str | None = None, after: str | None = None
) -> ContradictionList:
    """Return the contradictions of one page of clusters, the most confident cluster first.

    `document` (an id) or `article` (an id or a title) restricts them to one document.
    """
    query = ClusterQuery(
        having="contradictions", sort="contradiction", document=document, article=article, after=after, limit=CLUSTERS
    )
    heads, following = page_of(store, query)
    at = {head["id"]: place for place, head in enumerate(heads)}
    fitting = sorted((head["size"], head["id"]) for head in heads if head["size"] <= MOST_MEMBERS)
    sizes = accumulate(size for size, _ in fitting)
    small = tuple(identity for (_, identity), size in zip(fitting, sizes, strict=True) if size <= MOST_TOGETHER)
    whole = (
        sorted(store.results.cluster_rows(ClusterQuery(ids=small, shared=True)), key=lambda cluster: at[cluster["id"]])
        if small
        else []
    )
    rows = [row for cluster in whole for row in surest(cluster)[:MOST_CONTRADICTIONS]]
    listed = Counter(row["cluster"] for row in rows)
    cut = [head for head in heads if (head["contradictions"] or 0) > listed[head["id"]]]
    total = None if document or article else store.results.contradictions()
    return {"contradictions": rows, "cut": cut, "after": following, "total": total}  # type: ignore[typeddict-item]


def corrections(store: Store) -> CorrectionList:
    """Return the corrections that did not arrive, the newest first. Needs all contradictions."""
    rows = drift(store=store, stale=True)
    found: Any = [row.to_dict() for row in rows[:MOST_CORRECTIONS]]
    return {"corrections": found, "total": len(rows)}


def whole_table(store: Store, identity: str) -> Table:
    """Return the table of a template.

    Raises `UnknownError` if no template has this id, and `UsageError` if the table is too large to download.
    """
    cluster = whole_cluster(store, identity, "the table that esdedup templates --out DIR writes")
    _require_template(cluster)
    return table_of(cluster)


def template_table(store: Store, identity: str) -> TemplateTable:
    """Return the first rows of a template's table. Raises `UnknownError` if no template has this id."""
    head = find_cluster(store, identity)
    _require_template(head)
    if head["size"] > MOST_MEMBERS:
        return {"cluster": identity, "frame": head["frame"], "columns": [], "rows": [], "more_rows": head["size"]}
    table = table_of(with_members(store, identity))
    rows = [
        {**sentence, "cells": [column.cells[at] for column in table.columns], "fits": fits}
        for at, (sentence, fits) in enumerate(zip(table.sentences[:MOST_ROWS], table.fits, strict=False))
    ]
    return {
        "cluster": table.cluster,
        "frame": table.frame,
        "columns": [{"name": column.name, "type": column.type, "unit": column.unit} for column in table.columns],
        "rows": rows,
        "more_rows": len(table.fits) - len(rows),
    }


def _require_template(cluster: Mapping[str, Any]) -> None:
    if cluster["kind"] != "template":
        raise UnknownError(f"cluster {cluster['id']} is not a template")
