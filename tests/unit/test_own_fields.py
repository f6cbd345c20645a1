"""Fields that others added to an index are ignored; fields of ours that differ are named."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from esdedup.store.elasticsearch.own_fields import different_fields

OURS: dict[str, Any] = {
    "properties": {
        "title": {"type": "keyword", "ignore_above": 8000, "fields": {"text": {"type": "text"}}},
        "hash": {"type": "long"},
    }
}


def found(**title: Any) -> dict[str, Any]:
    mapping = deepcopy(OURS)
    mapping["properties"]["title"] |= title
    return mapping


@pytest.mark.parametrize(
    "mapping",
    [
        found(),
        found(fields={"text": {"type": "text"}, "raw": {"type": "wildcard"}}),
        found(meta={"unit": "words"}, copy_to=["all"]),
        {"properties": OURS["properties"] | {"theirs": {"type": "long"}}},
    ],
)
def test_what_others_added_is_no_difference(mapping: dict[str, Any]) -> None:
    assert different_fields(mapping, OURS) == []


@pytest.mark.parametrize(
    "mapping",
    [found(fields={}), found(fields={"text": {"type": "keyword"}}), found(ignore_above=20), found(type="text")],
)
def test_a_changed_field_is_named(mapping: dict[str, Any]) -> None:
    [difference] = different_fields(mapping, OURS)
    assert difference.name == "title"
    assert difference.found != difference.wanted
