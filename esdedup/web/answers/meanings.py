"""What clusters mean: what contradicts what, and templates as data."""

from __future__ import annotations

from esdedup.meaning.drift import contradictions
from esdedup.meaning.templates import Table, table_of
from esdedup.stores.store import ClusterQuery, Store
from esdedup.web.answers.browse import UnknownError, page_of, whole_cluster
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
    place = {head["id"]: at for at, head in enumerate(heads)}
    whole = sorted(store.cluster_rows(ClusterQuery(ids=tuple(place))), key=lambda cluster: place[cluster["id"]])
    rows = [row for cluster in whole for row in sorted(contradictions(cluster), key=lambda row: -row["confidence"])]
    return {"contradictions": rows, "after": following}  # type: ignore[typeddict-item]


def whole_table(store: Store, identity: str) -> Table:
    """The table of a template; `UnknownError` where no template has this id."""
    cluster = whole_cluster(store, identity)
    if cluster["kind"] != "template":
        raise UnknownError(f"the cluster {identity} is no template")
    return table_of(cluster)


def template_table(store: Store, identity: str) -> TemplateTable:
    """The first rows of the table of a template; `UnknownError` where no template has this id."""
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
