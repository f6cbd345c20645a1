"""The saved objects of a store, taken apart."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from esdedup.kibana.saved_objects import dashboard_body, saved_objects

Json = dict[str, Any]

CONTROLS = {"optionsListControl": "optionsListDataView", "rangeSliderControl": "rangeSliderDataView"}
"""How the reference of a control to its data view is called."""


def parsed(prefix: str) -> dict[tuple[str, str], Json]:
    """Every object of a store's file, by type and id."""
    lines = saved_objects(prefix).decode().splitlines()
    found = {(one["type"], one["id"]): one for one in map(json.loads, lines)}
    assert len(found) == len(lines)
    return found


def of_type(found: dict[tuple[str, str], Json], kind: str) -> dict[str, Json]:
    return {identifier: one for (typed, identifier), one in found.items() if typed == kind}


OBJECTS = parsed("wiki")
VIEWS = of_type(OBJECTS, "index-pattern")
SEARCHES = of_type(OBJECTS, "search")
[DASHBOARD] = of_type(OBJECTS, "dashboard").values()
PANELS: dict[str, Json] = {one["panelIndex"]: one for one in json.loads(DASHBOARD["attributes"]["panelsJSON"])}
CONTROL_PANELS: dict[str, Json] = json.loads(DASHBOARD["attributes"]["controlGroupInput"]["panelsJSON"])
BODY: Json = json.loads(dashboard_body("wiki"))
BODY_PANELS: dict[str, Json] = {panel["id"]: panel for panel in BODY["panels"]}
CHARTS = [name for name, panel in PANELS.items() if panel["type"] == "lens"]


def referred(one: Json) -> dict[str, str]:
    """Ids by the names of references."""
    names = {reference["name"]: reference["id"] for reference in one["references"]}
    assert len(names) == len(one["references"])
    return names


class Chart(NamedTuple):
    view: str
    state: Json
    look: str
    layer_id: str
    layer: Json


def chart(name: str) -> Chart:
    attributes = PANELS[name]["embeddableConfig"]["attributes"]
    [(layer_id, layer)] = attributes["state"]["datasourceStates"]["formBased"]["layers"].items()
    view = referred(DASHBOARD)[f"{name}:indexpattern-datasource-layer-{layer_id}"]
    return Chart(view, attributes["state"], attributes["visualizationType"], layer_id, layer)


def source_of(search: Json) -> Json:
    return dict(json.loads(search["attributes"]["kibanaSavedObjectMeta"]["searchSourceJSON"]))


def view_of(search: Json) -> str:
    return referred(search)[source_of(search)["indexRefName"]]


class ApiChart(NamedTuple):
    view: str
    query: str
    look: str
    buckets: list[Json]
    metrics: list[Json]


def api_chart(name: str) -> ApiChart:
    """A chart in the form for the Dashboards API; of its buckets, what divides a bar comes first."""
    config = BODY_PANELS[name]["config"]
    if config["type"] == "data_table":
        source, buckets, metrics, look = config["data_source"], config["rows"], config["metrics"], "table"
    else:
        [layer] = config["layers"]
        buckets = [layer[key] for key in ("breakdown_by", "x") if key in layer]
        source, metrics, look = layer["data_source"], layer["y"], layer["type"]
    return ApiChart(source["ref_id"], config["query"]["expression"], look, buckets, metrics)
