"""Writes mappings/kibana/esdedup.ndjson, what Kibana shows of a store; with --check, fails if it is out of date.

The objects are in the form of Kibana 8.9, so that 8.16, the oldest that stores are for, and all later ones take them:
Kibana brings what is older up to date when it is imported, and refuses what is newer than itself.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

MAPPINGS = Path(__file__).parents[1] / "mappings"
FILE = MAPPINGS / "kibana" / "esdedup.ndjson"
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
SIZES = [(2, 3), (3, 4), (4, 6), (6, 11), (11, 21), (21, 51), (51, 101), (101, 1001), (1001, None)]
SHOWN = "ignored : false"  # as in every listing of ours

Json = dict[str, Any]


def objects(prefix: str) -> list[Json]:
    """The saved objects for the store of one prefix, each before those that refer to it."""
    searches = [_sentences_of_clusters(prefix), _contradictions(prefix)]
    return [*(_data_view(prefix, kind) for kind in VIEWS), *searches, _dashboard(prefix)]


def text(prefix: str = PREFIX) -> str:
    """The file: one object a line."""
    return "".join(_compact(one) + "\n" for one in objects(prefix))


def _saved(kind: str, identifier: str, attributes: Json, references: list[Json]) -> Json:
    return {
        "type": kind,
        "id": identifier,
        "attributes": attributes,
        "references": references,
        "coreMigrationVersion": CORE_VERSION,
        "typeMigrationVersion": VERSIONS[kind],
    }


def _view_id(prefix: str, kind: str) -> str:
    return f"esdedup-{prefix}-{kind}"


def _reference(kind: str, identifier: str, name: str) -> Json:
    return {"type": kind, "id": identifier, "name": name}


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
        "fieldFormatMap": _compact(formats),
        "sourceFilters": _compact([{"value": name} for name, field in properties.items() if _is_internal(name, field)]),
        "runtimeFieldMap": "{}",
    }
    return _saved("index-pattern", _view_id(prefix, kind), attributes, [])


def _is_internal(name: str, field: Json) -> bool:
    """Whether a field is for esdedup alone: numbers too long for a browser, or what cannot be searched."""
    unsearchable = field.get("index") is False or field.get("doc_values") is False
    return unsearchable or name.endswith("number") or (field["type"] == "long" and name not in COUNTS)


def _link(prefix: str) -> str:
    """From a cluster's id to its sentences, in Discover; relative to Kibana's own path, which may name a space."""
    query = "cluster:{{value}}"
    return f"../app/discover#/view/{_clusters_search_id(prefix)}?_a=(query:(language:kuery,query:'{query}'))"


# ---- saved searches


def _clusters_search_id(prefix: str) -> str:
    return f"esdedup-{prefix}-clustered"


def _contradictions_search_id(prefix: str) -> str:
    return f"esdedup-{prefix}-contradictions"


def _sentences_of_clusters(prefix: str) -> Json:
    return _search(
        prefix, "members", _clusters_search_id(prefix),
        title=f"esdedup {prefix}: clusters and their sentences",
        description="The largest cluster first; of each, the representative first, then the others by similarity.",
        query=SHOWN,
        columns=["cluster", "size", "kind", "min_jaccard", "title", "id", "text"],
        sort=[["size", "desc"], ["cluster", "asc"], ["representative", "desc"], ["parent_jaccard", "desc"]],
    )  # fmt: skip


def _contradictions(prefix: str) -> Json:
    return _search(
        prefix, "clusters", _contradictions_search_id(prefix),
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
        "kibanaSavedObjectMeta": {"searchSourceJSON": _compact(source)},
    }
    return _saved("search", identifier, attributes, [_reference("index-pattern", _view_id(prefix, kind), name)])


def _kql(query: str) -> Json:
    return {"query": query, "language": "kuery"}


# ---- the dashboard

HINT = (
    '**Words**: type them into the search bar above, as in `text : harbour` or `text : "built in"`. '
    "**A cluster**: its id leads to its sentences. "
    "Numbers of clusters are the server's estimates: right up to some 3,000, within a few percent beyond."
)


def _dashboard(prefix: str) -> Json:
    members = _view_id(prefix, "members")
    panels, references = [], []
    for panel, refers in (
        _hint(),
        _lens(members, *_cluster_sizes(), place=(0, 5, 24, 13)),
        _lens(members, *_kinds_over_size(), place=(24, 5, 24, 13)),
        _lens(members, *_kinds(), place=(0, 18, 16, 13)),
        _lens(members, *_articles(), place=(16, 18, 16, 13)),
        _lens(_view_id(prefix, "clusters"), *_together(), place=(32, 18, 16, 13)),
        _found("contradictions", "Contradictions", _contradictions_search_id(prefix), place=(0, 31, 48, 15)),
        _found("sentences", "Clusters and their sentences", _clusters_search_id(prefix), place=(0, 46, 48, 22)),
    ):
        panels.append(panel)
        references += refers
    controls, refers = _controls(members)
    options = {
        "useMargins": True, "syncColors": True, "syncCursor": True, "syncTooltips": False, "hidePanelTitles": False,
    }  # fmt: skip
    attributes = {
        "title": f"esdedup {prefix}",
        "description": "Near-duplicate sentences: clusters by size and kind, articles that share most, contradictions.",
        "panelsJSON": _compact(panels),
        "optionsJSON": _compact(options),
        "controlGroupInput": controls,
        "timeRestore": False,
        "kibanaSavedObjectMeta": {"searchSourceJSON": _compact({"query": _kql(""), "filter": []})},
    }
    return _saved("dashboard", f"esdedup-{prefix}", attributes, references + refers)


def _controls(view: str) -> tuple[Json, list[Json]]:
    panels, references = {}, []
    for order, (kind, field, title, more) in enumerate([
        ("optionsList", "kind", "Kind", {}),
        ("rangeSlider", "size", "Size", {}),
        ("optionsList", "language", "Language", {}),
        ("optionsList", "title", "Article", {"searchTechnique": "wildcard"}),
    ]):  # fmt: skip
        panels[field] = {
            "type": f"{kind}Control", "order": order, "grow": True, "width": "medium",
            "explicitInput": {"id": field, "fieldName": field, "title": title, "enhancements": {}, **more},
        }  # fmt: skip
        references.append(_reference("index-pattern", view, f"controlGroup_{field}:{kind}DataView"))
    heeded = {"ignoreFilters": False, "ignoreQuery": False, "ignoreTimerange": False, "ignoreValidations": False}
    group = {
        "controlStyle": "oneLine",
        "chainingSystem": "HIERARCHICAL",
        "panelsJSON": _compact(panels),
        "ignoreParentSettingsJSON": _compact(heeded),
    }
    return group, references


def _panel(kind: str, name: str, place: tuple[int, int, int, int], settings: Json, **more: Any) -> Json:
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
    return _panel("visualization", "hint", (0, 0, 48, 5), {"savedVis": shown, "hidePanelTitles": True}), []


def _found(name: str, title: str, search: str, place: tuple[int, int, int, int]) -> tuple[Json, list[Json]]:
    panel = _panel("search", name, place, {}, panelRefName=f"panel_{name}", title=title)
    return panel, [_reference("search", search, f"{name}:panel_{name}")]


def _lens(
    view: str, name: str, title: str, look: str, visualization: Json, columns: Json, place: tuple[int, int, int, int]
) -> tuple[Json, list[Json]]:
    """A chart or table; its columns come in the order in which they are asked for, buckets before metrics."""
    layer = {"columns": columns, "columnOrder": list(columns), "incompleteColumns": {}, "sampling": 1}
    inner = f"indexpattern-datasource-layer-{name}"
    attributes = {
        "title": title,
        "type": "lens",
        "visualizationType": look,
        "references": [_reference("index-pattern", view, inner)],
        "state": {
            "visualization": visualization,
            "query": _kql(SHOWN),
            "filters": [],
            "datasourceStates": {"formBased": {"layers": {name: layer}}, "textBased": {"layers": {}}},
            "internalReferences": [],
            "adHocDataViews": {},
        },
    }
    panel = _panel("lens", name, place, {"attributes": attributes}, title=title)
    return panel, [_reference("index-pattern", view, f"{name}:{inner}")]


Chart = tuple[str, str, str, Json, Json]  # name, title, look, visualization, columns


def _cluster_sizes() -> Chart:
    columns = {"size": _ranges("size", "Sentences of a cluster"), "clusters": _clusters()}
    bars = _bars("sizes", "bar", x="size", yLeftScale="log", valueLabels="show")
    return "sizes", "Cluster sizes", "lnsXY", bars, columns


def _kinds_over_size() -> Chart:
    columns = {
        "kind": _terms("kind", "Kind", 10),
        "size": _ranges("size", "Sentences of a cluster"),
        "clusters": _clusters(),
    }
    bars = _bars("kinds-over-size", "bar_percentage_stacked", x="size", split="kind", valueLabels="hide")
    return "kinds-over-size", "Kinds over size", "lnsXY", bars, columns


def _kinds() -> Chart:
    columns = {"kind": _terms("kind", "Kind", 10), "clusters": _clusters()}
    return "kinds", "Kinds", "lnsXY", _bars("kinds", "bar_horizontal", x="kind", valueLabels="show"), columns


def _articles() -> Chart:
    columns = {"title": _terms("title", "Article", 50), "clusters": _clusters(), "sentences": _sentences()}
    return "articles", "Articles that share most", "lnsDatatable", _rows("articles", columns), columns


def _together() -> Chart:
    """The articles of clusters: of those of one article, if the dashboard is filtered by it."""
    columns = {"title": _terms("titles", "Article", 50), "clusters": _column(
        "Clusters", "count", "___records___", "number", "ratio", bucket=False, emptyAsNull=False
    )}  # fmt: skip
    return "together", "Articles in the same clusters", "lnsDatatable", _rows("together", columns), columns


def _rows(layer: str, columns: Json) -> Json:
    return {
        "layerId": layer,
        "layerType": "data",
        "columns": [{"columnId": name} for name in columns],
        "paging": {"enabled": True, "size": 10},
    }


def _bars(layer: str, series: str, x: str, split: str | None = None, **more: Any) -> Json:
    everywhere = {"x": True, "yLeft": True, "yRight": True}
    data = {"layerId": layer, "layerType": "data", "seriesType": series, "xAccessor": x, "accessors": ["clusters"]}
    return {
        "preferredSeriesType": series,
        "layers": [data | ({} if split is None else {"splitAccessor": split})],
        "legend": {"isVisible": split is not None, "position": "right"},
        "fittingFunction": "None",
        "yLeftExtent": {"mode": "full"},
        "axisTitlesVisibilitySettings": everywhere,
        "tickLabelsVisibilitySettings": everywhere,
        "gridlinesVisibilitySettings": everywhere,
        "labelsOrientation": {"x": 0, "yLeft": 0, "yRight": 0},
        **more,
    }


def _column(label: str, operation: str, field: str, data: str, scale: str, *, bucket: bool, **params: Any) -> Json:
    return {
        "label": label, "customLabel": True, "operationType": operation, "sourceField": field, "dataType": data,
        "scale": scale, "isBucketed": bucket, "params": params,
    }  # fmt: skip


def _sentences() -> Json:
    return _column("Sentences", "count", "___records___", "number", "ratio", bucket=False, emptyAsNull=False)


def _clusters() -> Json:
    return _column("Clusters", "unique_count", "cluster", "number", "ratio", bucket=False, emptyAsNull=False)


def _terms(field: str, label: str, size: int) -> Json:
    return _column(
        label, "terms", field, "string", "ordinal", bucket=True, size=size,
        orderBy={"type": "column", "columnId": "clusters"}, orderDirection="desc",
        otherBucket=False, missingBucket=False, parentFormat={"id": "terms"},
    )  # fmt: skip


def _ranges(field: str, label: str) -> Json:
    """Intervals of sizes, which grow: most clusters are pairs, and the largest may hold thousands."""
    between = [{"from": least, "to": end, "label": _interval(least, end)} for least, end in SIZES]
    return _column(
        label, "range", field, "string", "ordinal", bucket=True, type="range", ranges=between, maxBars="auto",
        parentFormat={"id": "range", "params": {"template": "arrow_right", "replaceInfinity": True}},
    )  # fmt: skip


def _interval(least: int, end: int | None) -> str:
    if end is None:
        return f"{least:,} and more"
    return f"{least:,}" if end == least + 1 else f"{least:,} to {end - 1:,}"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        FILE.write_text(text(), "utf-8")
    elif not FILE.exists() or FILE.read_text("utf-8") != text():
        sys.exit(f"{FILE} is out of date; run python scripts/kibana.py")
