"""The dashboard in Kibana, declared once, and its form for the Dashboards API: the body of PUT /api/dashboards/{id}.

kibana.py gives it the form of a saved object, which older versions of Kibana import.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

Json = dict[str, Any]
Place = tuple[int, int, int, int]  # x, y, width, height

SIZES = [(2, 3), (3, 4), (4, 6), (6, 11), (11, 21), (21, 51), (51, 101), (101, 1001), (1001, None)]
SHOWN = "ignored : false"  # as in every listing of ours
DESCRIPTION = "Near-duplicate sentences: clusters by size and kind, articles that share most, contradictions."
OPTIONS = {
    "use_margins": True, "sync_colors": True, "sync_cursor": True, "sync_tooltips": False, "hide_panel_titles": False,
}  # fmt: skip
HINT = (
    '**Words**: type them into the search bar above, as in `text : harbour` or `text : "built in"`. '
    "**A cluster**: its id leads to its sentences. "
    "Numbers of clusters are the server's estimates: right up to some 3,000, within a few percent beyond."
)
HINT_PLACE: Place = (0, 0, 48, 5)
CONTROLS = [
    ("options_list", "kind", "Kind", {}),
    ("range_slider", "size", "Size", {}),
    ("options_list", "language", "Language", {}),
    ("options_list", "title", "Article", {"search_technique": "wildcard"}),
]


class Column(NamedTuple):
    """What a chart counts, or what it counts by."""

    label: str
    operation: str
    field: str = "___records___"
    limit: int = 0

    @property
    def bucket(self) -> bool:
        """Whether it is counted by: intervals of numbers, or the most frequent terms."""
        return self.operation in {"range", "terms"}


class Chart(NamedTuple):
    """A chart or table. Its columns come in the order in which they are asked for, buckets before metrics."""

    name: str
    title: str
    place: Place
    look: str  # "table", or the bars as the Dashboards API names them
    columns: dict[str, Column]
    view: str = "members"
    log: bool = False
    numbers: bool = False  # written on the bars

    def buckets(self) -> list[str]:
        """The columns that it counts by: at last the axis or the rows, and before it what divides a bar."""
        return [name for name, column in self.columns.items() if column.bucket]


_SIZE = Column("Sentences of a cluster", "range", "size")
_KIND = Column("Kind", "terms", "kind", 10)
_CLUSTERS = Column("Clusters", "unique_count", "cluster")
CHARTS = [
    Chart("sizes", "Cluster sizes", (0, 5, 24, 13), "bar",
          {"size": _SIZE, "clusters": _CLUSTERS}, log=True, numbers=True),
    Chart("kinds-over-size", "Kinds over size", (24, 5, 24, 13), "bar_percentage",
          {"kind": _KIND, "size": _SIZE, "clusters": _CLUSTERS}),
    Chart("kinds", "Kinds", (0, 18, 16, 13), "bar_horizontal", {"kind": _KIND, "clusters": _CLUSTERS}, numbers=True),
    Chart("articles", "Articles that share most", (16, 18, 16, 13), "table",
          {"title": Column("Article", "terms", "title", 50), "clusters": _CLUSTERS,
           "sentences": Column("Sentences", "count")}),
    # The articles of clusters: of those of one article, if the dashboard is filtered by it.
    Chart("together", "Articles in the same clusters", (32, 18, 16, 13), "table",
          {"title": Column("Article", "terms", "titles", 50), "clusters": Column("Clusters", "count")},
          view="clusters"),
]  # fmt: skip


def searches(prefix: str) -> list[tuple[str, str, str, Place]]:
    """The saved searches that the dashboard shows."""
    return [
        ("contradictions", "Contradictions", contradictions_search(prefix), (0, 31, 48, 15)),
        ("sentences", "Clusters and their sentences", clusters_search(prefix), (0, 46, 48, 22)),
    ]


def intervals() -> list[tuple[int, int | None, str]]:
    """Intervals of sizes, which grow: most clusters are pairs, and the largest may hold thousands."""
    return [(least, end, _interval(least, end)) for least, end in SIZES]


def _interval(least: int, end: int | None) -> str:
    if end is None:
        return f"{least:,} and more"
    return f"{least:,}" if end == least + 1 else f"{least:,} to {end - 1:,}"


def heading(prefix: str) -> str:
    return f"esdedup {prefix}"


def view_id(prefix: str, kind: str) -> str:
    return f"esdedup-{prefix}-{kind}"


def clusters_search(prefix: str) -> str:
    return f"esdedup-{prefix}-clustered"


def contradictions_search(prefix: str) -> str:
    return f"esdedup-{prefix}-contradictions"


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# ---- the form for the Dashboards API

EVERYTHING = {"expression": "", "language": "kql"}


def body(prefix: str) -> str:
    """The dashboard as the Dashboards API takes it. Data views and searches are those of the file of objects."""
    members = view_id(prefix, "members")
    hint = {"content": HINT, "settings": {"open_links_in_new_tab": False}, "hide_title": True}
    panels = [_placed("markdown", "hint", HINT_PLACE, hint)]
    for chart in CHARTS:
        source = {"type": "data_view_reference", "ref_id": view_id(prefix, chart.view)}
        panels.append(_placed("vis", chart.name, chart.place, {"title": chart.title, **_vis(chart, source)}))
    for name, title, search, place in searches(prefix):
        panels.append(_placed("discover_session", name, place, {"title": title, "ref_id": search}))
    controls = [
        {"id": field, "type": f"{kind}_control", "grow": True, "width": "medium",
         "config": {"data_view_id": members, "field_name": field, "title": title, **more}}
        for kind, field, title, more in CONTROLS
    ]  # fmt: skip
    whole = {
        "title": heading(prefix), "description": DESCRIPTION, "options": OPTIONS, "query": EVERYTHING,
        "pinned_panels": controls, "panels": panels,
    }  # fmt: skip
    return compact(whole) + "\n"


def _placed(kind: str, name: str, place: Place, config: Json) -> Json:
    return {"id": name, "type": kind, "grid": dict(zip("xywh", place, strict=True)), "config": config}


def _vis(chart: Chart, source: Json) -> Json:
    columns = {name: _operation(column) for name, column in chart.columns.items()}
    metrics = [columns[name] for name, column in chart.columns.items() if not column.bucket]
    query = {"expression": SHOWN, "language": "kql"}
    *split, x = chart.buckets()
    if chart.look == "table":
        return {
            "type": "data_table", "data_source": source, "query": query, "rows": [columns[x]], "metrics": metrics,
            "styling": {"paging": 10},
        }  # fmt: skip
    layer = {"type": chart.look, "data_source": source, "x": columns[x], "y": metrics}
    return {
        "type": "xy",
        "query": query,
        "layers": [layer | ({"breakdown_by": columns[split[0]]} if split else {})],
        "legend": {"placement": "outside", "position": "right", "visibility": "visible" if split else "hidden"},
        "styling": {"bars": {"data_labels": {"visible": chart.numbers}}},
        **({"axis": {"y": {"scale": "log", "domain": {"type": "full"}}}} if chart.log else {}),
    }


def _operation(column: Column) -> Json:
    operation = {"operation": column.operation, "label": column.label}
    if column.operation == "terms":
        rank = {"type": "metric", "metric_index": 0, "direction": "desc"}
        return {**operation, "fields": [column.field], "limit": column.limit, "rank_by": rank}
    if column.operation == "range":
        # Between whole numbers: the API documents (gt, lte], and Kibana passes them on to Elasticsearch as [from, to).
        between = [
            {"gt": least - 0.5, **({} if end is None else {"lte": end - 0.5}), "label": label}
            for least, end, label in intervals()
        ]
        return {**operation, "field": column.field, "ranges": between}
    field = {"field": column.field} if column.operation == "unique_count" else {}
    return {**operation, **field, "empty_as_null": False, "filter": EVERYTHING}  # in 9.4 the filter is required
