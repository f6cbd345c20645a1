"""The saved objects: whole, and in forms that every Kibana from 8.16 on takes."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

from esdedup.kibana.saved_objects import dashboard_body, saved_objects
from scripts import kibana as generator
from tests.system.kibana.objects import (
    BODY,
    BODY_PANELS,
    CHARTS,
    CONTROL_PANELS,
    CONTROLS,
    DASHBOARD,
    OBJECTS,
    PANELS,
    SEARCHES,
    VIEWS,
    Json,
    api_chart,
    chart,
    of_type,
    parsed,
    referred,
    source_of,
    view_of,
)
from tests.system.kibana.requests import clauses

ROOT = Path(__file__).parents[3]
PREFIXES = ["wiki", "wiki2", "my-wiki", "a", "a-members", "a-b_c.d", "0", "members", "esdedup", "w" * 100]

ATTRIBUTES = {
    "index-pattern": {"title", "name", "fields", "fieldFormatMap", "sourceFilters", "runtimeFieldMap"},
    "search": {
        "title", "description", "columns", "sort", "grid", "hideChart", "isTextBasedQuery", "timeRestore",
        "kibanaSavedObjectMeta",
    },
    "dashboard": {
        "title", "description", "panelsJSON", "optionsJSON", "controlGroupInput", "timeRestore",
        "kibanaSavedObjectMeta",
    },
}  # fmt: skip
"""Of those that Kibana's schemas allow, the ones that are used; it refuses others."""


# ---- the file


def test_the_file_is_up_to_date() -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "kibana.py", "--check"], check=True)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_any_prefix_gives_what_the_generator_gives_for_it(prefix: str) -> None:
    assert saved_objects(prefix).decode() == generator.text(prefix)
    assert dashboard_body(prefix).decode() == generator.body(prefix)


def test_stores_do_not_take_each_others_objects() -> None:
    for one, other in combinations(PREFIXES, 2):
        assert not parsed(one).keys() & parsed(other).keys(), (one, other)
        patterns = [view["attributes"]["title"] for view in of_type(parsed(one), "index-pattern").values()]
        assert not set(patterns) & {
            view["attributes"]["title"] for view in of_type(parsed(other), "index-pattern").values()
        }


def test_nothing_changes_from_export_to_export() -> None:
    for one in OBJECTS.values():
        assert one.keys() == {"type", "id", "attributes", "references", "coreMigrationVersion", "typeMigrationVersion"}


def test_no_form_is_newer_than_the_oldest_kibana() -> None:
    """Up to 8.9 forms were numbered by Kibana's own versions, later ones from 10: a Kibana refuses what is newer."""
    for one in OBJECTS.values():
        assert numbers(one["typeMigrationVersion"]) <= (8, 9, 0)
        assert numbers(one["coreMigrationVersion"]) <= (8, 8, 0)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_attributes_are_those_that_kibana_knows() -> None:
    assert {kind for kind, _ in OBJECTS} == ATTRIBUTES.keys()
    for (kind, _), one in OBJECTS.items():
        assert one["attributes"].keys() == ATTRIBUTES[kind]


def test_what_is_json_in_json_can_be_read() -> None:
    for view in VIEWS.values():
        for name in ("fields", "fieldFormatMap", "sourceFilters", "runtimeFieldMap"):
            json.loads(view["attributes"][name])
    for search in SEARCHES.values():
        assert source_of(search).keys() == {"query", "filter", "indexRefName"}
    attributes = DASHBOARD["attributes"]
    assert json.loads(attributes["kibanaSavedObjectMeta"]["searchSourceJSON"])["filter"] == []
    assert json.loads(attributes["optionsJSON"])["useMargins"] is True
    assert json.loads(attributes["controlGroupInput"]["ignoreParentSettingsJSON"])


# ---- references


def test_every_reference_leads_to_an_object_of_the_file() -> None:
    for one in OBJECTS.values():
        for reference in one["references"]:
            assert (reference["type"], reference["id"]) in OBJECTS


def test_every_reference_is_used_and_nothing_else_is() -> None:
    for search in SEARCHES.values():
        assert referred(search).keys() == {source_of(search)["indexRefName"]}
    used = {f"controlGroup_{name}:{CONTROLS[panel['type']]}" for name, panel in CONTROL_PANELS.items()}
    for name, panel in PANELS.items():
        if panel["type"] == "search":
            used.add(f"{name}:{panel['panelRefName']}")
        if panel["type"] == "lens":
            attributes = panel["embeddableConfig"]["attributes"]
            layers = attributes["state"]["datasourceStates"]["formBased"]["layers"]
            inner = referred(attributes)
            assert inner.keys() == {f"indexpattern-datasource-layer-{layer}" for layer in layers}
            assert (
                inner.items()
                <= {known.removeprefix(f"{name}:"): one for known, one in referred(DASHBOARD).items()}.items()
            )
            used |= {f"{name}:{reference}" for reference in inner}
    assert referred(DASHBOARD).keys() == used
    assert all(one["type"] == "index-pattern" for one in DASHBOARD["references"] if "panel_" not in one["name"])


def test_every_data_view_and_search_is_there_for_something() -> None:
    kinds = {view["attributes"]["title"].removeprefix("wiki-") for view in VIEWS.values()}
    assert kinds == {"sentences", "members", "clusters", "pairs"}
    shown = {one["id"] for one in DASHBOARD["references"] if one["type"] == "search"}
    assert shown == SEARCHES.keys()


# ---- panels


def test_panels_lie_beside_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for name, panel in PANELS.items():
        place = panel["gridData"]
        assert place["i"] == name
        assert place["x"] + place["w"] <= 48
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        taken |= cells
    assert len(taken) == 48 * (1 + max(y for _, y in taken))  # no holes


def test_every_panel_says_what_it_is() -> None:
    assert set(CHARTS) == {"sizes", "kinds-over-size", "kinds", "articles", "together"}
    assert {name for name, panel in PANELS.items() if panel["type"] == "search"} == {"contradictions", "sentences"}
    assert PANELS.keys() - CHARTS == {"hint", "contradictions", "sentences"}
    assert all(panel.get("title") for name, panel in PANELS.items() if name != "hint")


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_shows_columns_that_it_asks_for(name: str) -> None:
    one = chart(name)
    shown = one.state["visualization"]
    columns = one.layer["columns"]
    if one.look == "lnsDatatable":
        assert shown["layerId"] == one.layer_id
        assert [column["columnId"] for column in shown["columns"]] == list(columns)
    else:
        assert one.look == "lnsXY"
        [layer] = shown["layers"]
        assert layer["layerId"] == one.layer_id
        assert {layer["xAccessor"], *layer["accessors"], layer.get("splitAccessor")} - {None} == set(columns)
        assert not any(columns[accessor]["isBucketed"] for accessor in layer["accessors"])
    for column in columns.values():
        assert column["customLabel"] is True
        assert column["label"]
        if column["operationType"] == "terms":
            assert not columns[column["params"]["orderBy"]["columnId"]]["isBucketed"]


def test_intervals_of_sizes_leave_nothing_out() -> None:
    for name in ("sizes", "kinds-over-size"):
        ranges = chart(name).layer["columns"]["size"]["params"]["ranges"]
        assert ranges[0]["from"] == 2
        assert ranges[-1]["to"] is None
        assert [one["to"] for one in ranges[:-1]] == [one["from"] for one in ranges[1:]]
        assert [one["label"] for one in ranges[:3]] == ["2", "3", "4 to 5"]
        assert ranges[-1]["label"] == "1,001 and more"


def test_controls_are_for_kind_size_language_and_article() -> None:
    assert {name: panel["explicitInput"]["fieldName"] for name, panel in CONTROL_PANELS.items()} == {
        "kind": "kind", "size": "size", "language": "language", "title": "title",
    }  # fmt: skip
    assert sorted(panel["order"] for panel in CONTROL_PANELS.values()) == [0, 1, 2, 3]
    assert all(panel["explicitInput"]["id"] == name for name, panel in CONTROL_PANELS.items())


# ---- both forms of the dashboard

NAMES = {
    "body": {"title", "description", "options", "query", "pinned_panels", "panels"},
    "options": {"use_margins", "sync_colors", "sync_cursor", "sync_tooltips", "hide_panel_titles"},
    "control": {"id", "type", "grow", "width", "config"},
    "options_list_control": {"data_view_id", "field_name", "title", "search_technique"},
    "range_slider_control": {"data_view_id", "field_name", "title"},
    "panel": {"id", "type", "grid", "config"},
    "markdown": {"content", "settings", "hide_title"},
    "discover_session": {"title", "ref_id"},
    "data_table": {"title", "type", "data_source", "query", "rows", "metrics", "styling"},
    "xy": {"title", "type", "query", "layers", "legend", "styling", "axis"},
    "layer": {"type", "data_source", "x", "y", "breakdown_by"},
    "terms": {"operation", "label", "fields", "limit", "rank_by"},
    "range": {"operation", "label", "field", "ranges"},
    "count": {"operation", "label", "empty_as_null", "filter"},
    "unique_count": {"operation", "label", "field", "empty_as_null", "filter"},
}
"""Of the names that the published schemas of 9.4 and 9.5 allow, the ones that are used: Kibana refuses others.

If you add one, hold mappings/kibana/dashboard.json against openapi/ in https://github.com/elastic/dashboards-api-spec,
whose license forbids a copy here.
"""


def test_the_dashboard_has_only_names_that_the_api_knows() -> None:
    found = [("body", BODY), ("options", BODY["options"])]
    for control in BODY["pinned_panels"]:
        found += [("control", control), (control["type"], control["config"])]
    for panel in BODY["panels"]:
        config = panel["config"]
        found += [("panel", panel), (config.get("type", panel["type"]), config)]
        found += [("layer", layer) for layer in config.get("layers", [])]
    for name in CHARTS:
        one = api_chart(name)
        found += [(operation["operation"], operation) for operation in (*one.buckets, *one.metrics)]
    for kind, part in found:
        assert part.keys() <= NAMES[kind], kind
    assert {kind for kind, _ in found} == NAMES.keys()


def test_both_forms_have_the_same_panels() -> None:
    assert BODY["title"] == DASHBOARD["attributes"]["title"]
    assert BODY["description"] == DASHBOARD["attributes"]["description"]
    assert list(BODY_PANELS) == list(PANELS)
    for name, panel in PANELS.items():
        assert BODY_PANELS[name]["grid"] | {"i": name} == panel["gridData"]
        assert BODY_PANELS[name]["config"].get("title") == panel.get("title")
        if panel["type"] == "search":
            assert BODY_PANELS[name]["config"]["ref_id"] == referred(DASHBOARD)[f"{name}:{panel['panelRefName']}"]
    hint = PANELS["hint"]["embeddableConfig"]["savedVis"]["params"]["markdown"]
    assert BODY_PANELS["hint"]["config"]["content"] == hint


@pytest.mark.parametrize("name", CHARTS)
def test_both_forms_of_a_chart_ask_for_the_same(name: str) -> None:
    saved, api = chart(name), api_chart(name)
    columns = [saved.layer["columns"][column] for column in saved.layer["columnOrder"]]
    assert (api.view, api.query) == (saved.view, saved.state["query"]["query"])
    operations = [*api.buckets, *api.metrics]
    assert [one["label"] for one in operations] == [column["label"] for column in columns]
    for one, column in zip(operations, columns, strict=True):
        assert one["operation"] == column["operationType"]
        assert field_of(one) in {column["sourceField"], None}
        if one["operation"] == "terms":
            assert one["limit"] == column["params"]["size"]
            ranked = api.metrics[one["rank_by"]["metric_index"]]
            assert ranked["label"] == saved.layer["columns"][column["params"]["orderBy"]["columnId"]]["label"]
        if one["operation"] == "range":
            for above, between in zip(one["ranges"], column["params"]["ranges"], strict=True):
                assert above["label"] == between["label"]
                assert above["gt"] == between["from"] - 0.5
                assert above.get("lte") == (None if between["to"] is None else between["to"] - 0.5)
    if api.look != "table":
        assert saved.state["visualization"]["preferredSeriesType"].removesuffix("_stacked") == api.look


def test_both_forms_have_the_same_controls() -> None:
    for control, (name, panel) in zip(BODY["pinned_panels"], CONTROL_PANELS.items(), strict=True):
        assert control["id"] == name
        assert control["type"].replace("_", "") == panel["type"].lower()
        assert control["config"]["field_name"] == panel["explicitInput"]["fieldName"]
        assert control["config"]["title"] == panel["explicitInput"]["title"]
        view = referred(DASHBOARD)[f"controlGroup_{name}:{CONTROLS[panel['type']]}"]
        assert control["config"]["data_view_id"] == view


def test_every_field_of_both_forms_is_in_the_mappings() -> None:
    """The fields that a chart or control of either form names, and those of searches."""
    named = [(control["config"]["data_view_id"], control["config"]["field_name"]) for control in BODY["pinned_panels"]]
    for name in CHARTS:
        saved, api = chart(name), api_chart(name)
        asked = {column["sourceField"] for column in saved.layer["columns"].values()} - {"___records___"}
        asked |= {field for one in (*api.buckets, *api.metrics) if (field := field_of(one))}
        asked |= {field for field, _, _ in clauses({"language": "kuery", "query": api.query})}
        named += [(api.view, field) for field in asked]
    for search in SEARCHES.values():
        fields = [*search["attributes"]["columns"], *(field for field, _ in search["attributes"]["sort"])]
        named += [(view_of(search), field) for field in fields]
    assert len(named) > 20
    for view, field in named:
        kind = VIEWS[view]["attributes"]["title"].removeprefix("wiki-")
        assert field in json.loads((ROOT / "mappings" / f"{kind}.json").read_text("utf-8"))["properties"], (view, field)


def field_of(operation: Json) -> str | None:
    """The one field of an operation of the Dashboards API, if it has one."""
    [field] = operation.get("fields") or [operation.get("field")]
    return None if field is None else str(field)
