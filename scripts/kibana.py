"""Writes mappings/kibana, what Kibana shows of a store; with --check, fails if a file there is out of date.

esdedup.ndjson has all objects for an import, dashboard.json the dashboard for the API that Kibana has from 9.4 on.
The objects are in the form of Kibana 8.9, so that 8.16, the oldest that stores are for, and all later ones take them:
Kibana brings what is older up to date when it is imported, and refuses what is newer than itself.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from scripts.kibana_dashboard import (
    CHARTS,
    CONTROLS,
    DESCRIPTION,
    HINT,
    HINT_PLACE,
    OPTIONS,
    SHOWN,
    Chart,
    Column,
    Json,
    Place,
    body,
    clusters_search,
    compact,
    contradictions_search,
    heading,
    intervals,
    searches,
    view_id,
)

MAPPINGS = Path(__file__).parents[1] / "mappings"
FILE = MAPPINGS / "kibana" / "esdedup.ndjson"
BODY = MAPPINGS / "kibana" / "dashboard.json"
PREFIX = "wiki"  # of the store that docker-compose.yml and README.md speak of; the command puts another in its place
VIEWS = {
    "sentences": "all sentences",
    "members": "sentences of clusters",
    "clusters": "clusters",
    "pairs": "pairs",
}
VERSIONS = {"index-pattern": "8.0.0", "search": "8.0.0", "dashboard": "8.9.0"}
CORE_VERSION = "8.8.0"

COUNTS = {"size", "distinct", "revision", "last_revision"}  # whole numbers that are as large as a person can read
CLUSTER_NAMES = {"members": "cluster", "clusters": "id", "pairs": "cluster"}


def objects(prefix: str) -> list[Json]:
    """The saved objects for the store of one prefix, each before those that refer to it."""
    searches = [_sentences_of_clusters(prefix), _contradictions(prefix)]
    return [*(_data_view(prefix, kind) for kind in VIEWS), *searches, _dashboard(prefix)]


def text(prefix: str = PREFIX) -> str:
    """The file: one object a line."""
    return "".join(compact(one) + "\n" for one in objects(prefix))


def _saved(kind: str, identifier: str, attributes: Json, references: list[Json]) -> Json:
    return {
        "type": kind,
        "id": identifier,
        "attributes": attributes,
        "references": references,
        "coreMigrationVersion": CORE_VERSION,
        "typeMigrationVersion": VERSIONS[kind],
    }


def _reference(kind: str, identifier: str, name: str) -> Json:
    return {"type": kind, "id": identifier, "name": name}


# ---- data views


def _data_view(prefix: str, kind: str) -> Json:
    """The fields of one kind of index, as its mapping has them.

    The pattern is the store's alias, whole: a wildcard behind it would find the indices themselves, too, those of older
    generations among them, and one before it other stores.
    """
    properties = json.loads((MAPPINGS / f"{kind}.json").read_text("utf-8"))["properties"]
    formats = {name: {"id": "number", "params": {"pattern": "0.000"}} for name, field in properties.items()
               if field["type"] == "double"}  # fmt: skip
    if kind in CLUSTER_NAMES:
        formats[CLUSTER_NAMES[kind]] = {
            "id": "url",
            "params": {"urlTemplate": _link(prefix), "labelTemplate": "{{value}}"},
        }
    attributes = {
        "title": f"{prefix}-{kind}",
        "name": f"esdedup {prefix}: {VIEWS[kind]}",
        "fields": "[]",
        "fieldFormatMap": compact(formats),
        "sourceFilters": compact([{"value": name} for name, field in properties.items() if _is_internal(name, field)]),
        "runtimeFieldMap": "{}",
    }
    return _saved("index-pattern", view_id(prefix, kind), attributes, [])


def _is_internal(name: str, field: Json) -> bool:
    """Whether a field is for esdedup alone: numbers too long for a browser, or what cannot be searched."""
    unsearchable = field.get("index") is False or field.get("doc_values") is False
    return unsearchable or name.endswith("number") or (field["type"] == "long" and name not in COUNTS)


def _link(prefix: str) -> str:
    """From a cluster's id to its sentences, in Discover; relative to Kibana's own path, which may name a space."""
    query = "cluster:{{value}}"
    return f"../app/discover#/view/{clusters_search(prefix)}?_a=(query:(language:kuery,query:'{query}'))"


# ---- saved searches


def _sentences_of_clusters(prefix: str) -> Json:
    return _search(
        prefix, "members", clusters_search(prefix),
        title=f"esdedup {prefix}: clusters and their sentences",
        description="The largest cluster first; of each, the representative first, then the others by similarity.",
        query=SHOWN,
        columns=["cluster", "size", "kind", "min_jaccard", "title", "id", "text"],
        sort=[["size", "desc"], ["cluster", "asc"], ["representative", "desc"], ["parent_jaccard", "desc"]],
    )  # fmt: skip


def _contradictions(prefix: str) -> Json:
    return _search(
        prefix, "clusters", contradictions_search(prefix),
        title=f"esdedup {prefix}: contradictions",
        description="Clusters whose sentences contradict each other, the surest first.",
        query=f"contradictions > 0 and {SHOWN}",
        columns=["id", "contradiction", "contradictions", "kind", "size", "frame", "text"],
        sort=[["contradiction", "desc"], ["contradictions", "desc"], ["id", "asc"]],
    )  # fmt: skip


def _search(
    prefix: str, kind: str, identifier: str, *, title: str, description: str, query: str, columns: list[str],
    sort: list[list[str]],
) -> Json:  # fmt: skip
    name = "kibanaSavedObjectMeta.searchSourceJSON.index"
    source = {"query": _kql(query), "filter": [], "indexRefName": name}
    attributes = {
        "title": title,
        "description": description,
        "columns": columns,
        "sort": sort,
        "grid": {},
        "hideChart": True,
        "isTextBasedQuery": False,
        "timeRestore": False,
        "kibanaSavedObjectMeta": {"searchSourceJSON": compact(source)},
    }
    return _saved("search", identifier, attributes, [_reference("index-pattern", view_id(prefix, kind), name)])


def _kql(query: str) -> Json:
    return {"query": query, "language": "kuery"}


# ---- the dashboard


def _dashboard(prefix: str) -> Json:
    panels, references = [], []
    for panel, refers in (
        _hint(),
        *(_lens(view_id(prefix, chart.view), chart) for chart in CHARTS),
        *(_search_panel(*search) for search in searches(prefix)),
    ):
        panels.append(panel)
        references += refers
    controls, refers = _controls(view_id(prefix, "members"))
    attributes = {
        "title": heading(prefix),
        "description": DESCRIPTION,
        "panelsJSON": compact(panels),
        "optionsJSON": compact({_camel(name): value for name, value in OPTIONS.items()}),
        "controlGroupInput": controls,
        "timeRestore": False,
        "kibanaSavedObjectMeta": {"searchSourceJSON": compact({"query": _kql(""), "filter": []})},
    }
    return _saved("dashboard", f"esdedup-{prefix}", attributes, references + refers)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _controls(view: str) -> tuple[Json, list[Json]]:
    panels, references = {}, []
    for order, (kind, field, title, more) in enumerate(CONTROLS):
        settings = {_camel(name): value for name, value in more.items()}
        panels[field] = {
            "type": f"{_camel(kind)}Control", "order": order, "grow": True, "width": "medium",
            "explicitInput": {"id": field, "fieldName": field, "title": title, "enhancements": {}, **settings},
        }  # fmt: skip
        references.append(_reference("index-pattern", view, f"controlGroup_{field}:{_camel(kind)}DataView"))
    heeded = {"ignoreFilters": False, "ignoreQuery": False, "ignoreTimerange": False, "ignoreValidations": False}
    group = {
        "controlStyle": "oneLine",
        "chainingSystem": "HIERARCHICAL",
        "panelsJSON": compact(panels),
        "ignoreParentSettingsJSON": compact(heeded),
    }
    return group, references


def _panel(kind: str, name: str, place: Place, settings: Json, **more: Any) -> Json:
    x, y, width, height = place
    return {
        "type": kind,
        "gridData": {"x": x, "y": y, "w": width, "h": height, "i": name},
        "panelIndex": name,
        "embeddableConfig": {**settings, "enhancements": {}},
        **more,
    }


def _hint() -> tuple[Json, list[Json]]:
    shown = {
        "title": "", "description": "", "type": "markdown", "uiState": {},
        "params": {"fontSize": 12, "openLinksInNewTab": False, "markdown": HINT},
        "data": {"aggs": [], "searchSource": {"query": _kql(""), "filter": []}},
    }  # fmt: skip
    return _panel("visualization", "hint", HINT_PLACE, {"savedVis": shown, "hidePanelTitles": True}), []


def _search_panel(name: str, title: str, search: str, place: Place) -> tuple[Json, list[Json]]:
    panel = _panel("search", name, place, {}, panelRefName=f"panel_{name}", title=title)
    return panel, [_reference("search", search, f"{name}:panel_{name}")]


def _lens(view: str, chart: Chart) -> tuple[Json, list[Json]]:
    name = chart.name
    columns = {key: _lens_column(column) for key, column in chart.columns.items()}
    layer = {"columns": columns, "columnOrder": list(columns), "incompleteColumns": {}, "sampling": 1}
    inner = f"indexpattern-datasource-layer-{name}"
    attributes = {
        "title": chart.title,
        "type": "lens",
        "visualizationType": "lnsDatatable" if chart.look == "table" else "lnsXY",
        "references": [_reference("index-pattern", view, inner)],
        "state": {
            "visualization": _rows(chart) if chart.look == "table" else _bars(chart),
            "query": _kql(SHOWN),
            "filters": [],
            "datasourceStates": {"formBased": {"layers": {name: layer}}, "textBased": {"layers": {}}},
            "internalReferences": [],
            "adHocDataViews": {},
        },
    }
    panel = _panel("lens", name, chart.place, {"attributes": attributes}, title=chart.title)
    return panel, [_reference("index-pattern", view, f"{name}:{inner}")]


def _rows(chart: Chart) -> Json:
    return {
        "layerId": chart.name,
        "layerType": "data",
        "columns": [{"columnId": name} for name in chart.columns],
        "paging": {"enabled": True, "size": 10},
    }


def _bars(chart: Chart) -> Json:
    everywhere = {"x": True, "yLeft": True, "yRight": True}
    *split, x = chart.buckets()
    series = {"bar_percentage": "bar_percentage_stacked"}.get(chart.look, chart.look)
    data = {"layerId": chart.name, "layerType": "data", "seriesType": series, "xAccessor": x, "accessors": ["clusters"]}
    return {
        "preferredSeriesType": series,
        "layers": [data | ({"splitAccessor": split[0]} if split else {})],
        "legend": {"isVisible": bool(split), "position": "right"},
        "fittingFunction": "None",
        "yLeftExtent": {"mode": "full"},
        "axisTitlesVisibilitySettings": everywhere,
        "tickLabelsVisibilitySettings": everywhere,
        "gridlinesVisibilitySettings": everywhere,
        "labelsOrientation": {"x": 0, "yLeft": 0, "yRight": 0},
        **({"yLeftScale": "log"} if chart.log else {}),
        "valueLabels": "show" if chart.numbers else "hide",
    }


def _lens_column(column: Column) -> Json:
    params: Json = {"emptyAsNull": False}
    if column.operation == "terms":
        params = {
            "size": column.limit, "orderBy": {"type": "column", "columnId": "clusters"}, "orderDirection": "desc",
            "otherBucket": False, "missingBucket": False, "parentFormat": {"id": "terms"},
        }  # fmt: skip
    if column.operation == "range":
        between = [{"from": least, "to": end, "label": label} for least, end, label in intervals()]
        arrow = {"id": "range", "params": {"template": "arrow_right", "replaceInfinity": True}}
        params = {"type": "range", "ranges": between, "maxBars": "auto", "parentFormat": arrow}
    data, scale = ("string", "ordinal") if column.bucket else ("number", "ratio")
    return {
        "label": column.label, "customLabel": True, "operationType": column.operation, "sourceField": column.field,
        "dataType": data, "scale": scale, "isBucketed": column.bucket, "params": params,
    }  # fmt: skip


if __name__ == "__main__":
    for file, made in {FILE: text(), BODY: body(PREFIX)}.items():
        if "--check" not in sys.argv:
            file.write_text(made, "utf-8")
        elif not file.exists() or file.read_text("utf-8") != made:
            sys.exit(f"{file} is out of date; run python scripts/kibana.py")
