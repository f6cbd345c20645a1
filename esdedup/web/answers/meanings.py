"""What clusters mean: what contradicts what, and templates as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from esdedup.meaning.templates import Table, table_of
from esdedup.stores.store import ClusterQuery, Store
from esdedup.web.answers.browse import (
    MOST_CONTRADICTIONS,
    MOST_EXPORTED,
    MOST_MEMBERS,
    UnknownError,
    brief_cluster,
    page_of,
    surest,
    whole_cluster,
)
from esdedup.web.answers.shapes import ContradictionList, TemplateTable

CLUSTERS = 10
"""Clusters whose contradictions are a page."""

MOST_ROWS = 500
"""Rows of a template's table that are shown."""


def contradiction_list(
    store: Store, document: str | None = None, article: str | None = None, after: str | None = None
) -> ContradictionList:
    """The contradictions of a page of clusters, the surest cluster first.

    Only those of a `document` (its id) or an `article` (its id or title), if they are given.
    """
    wanted = ClusterQuery(
        having="contradictions", sort="contradiction", document=document, article=article, after=after, limit=CLUSTERS
    )
    heads, following = page_of(store, wanted)
    at = {head["id"]: place for place, head in enumerate(heads)}
    small = tuple(head["id"] for head in heads if head["size"] <= MOST_MEMBERS)
    whole = sorted(store.cluster_rows(ClusterQuery(ids=small)), key=lambda cluster: at[cluster["id"]]) if small else []
    rows = [row for cluster in whole for row in surest(cluster)[:MOST_CONTRADICTIONS]]
    listed = Counter(row["cluster"] for row in rows)
    cut = [head for head in heads if (head["contradictions"] or 0) > listed[head["id"]]]
    return {"contradictions": rows, "cut": cut, "after": following}  # type: ignore[typeddict-item]


def whole_table(store: Store, identity: str, most: int = MOST_EXPORTED) -> Table:
    """The table of a template.

    `UnknownError` where no template has this id, `UsageError` where it has more than `most` sentences.
    """
    cluster = whole_cluster(store, identity, most)
    _require_template(cluster)
    return table_of(cluster)


def template_table(store: Store, identity: str) -> TemplateTable:
    """The first rows of the table of a template; `UnknownError` where no template has this id."""
    head = brief_cluster(store, identity)
    if head["size"] > MOST_MEMBERS:
        _require_template(head)
        return {"cluster": identity, "frame": head["frame"], "columns": [], "rows": [], "more_rows": head["size"]}
    table = whole_table(store, identity)
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
        raise UnknownError(f"the cluster {cluster['id']} is no template")
