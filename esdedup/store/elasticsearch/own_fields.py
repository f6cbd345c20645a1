"""Compare the fields of an index with those that esdedup needs. Fields that others added are ignored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

_HARMLESS = frozenset({"enabled", "fields", "meta", "copy_to", "index_prefixes"})
"""Parameters that servers leave out as defaults, or that others may add to a field without changing what it holds."""


LOOKUP = frozenset({"start", "forms"})
"""Fields that an index does not have that was made without a lookup."""

_ONLY_EARLIER = "head"
_EARLIER: dict[str, Any] = {
    "position": {"type": "integer"},
    "text": {"type": "text"},
    "revision": {"type": "long"},
    "last_revision": {"type": "long"},
    "start": {"type": "keyword", "ignore_above": 8000, "doc_values": False},
    _ONLY_EARLIER: {"type": "keyword", "index": False},
    "tokens": {"type": "long"},
    "bytes": {"type": "integer", "index": False},
    "place": {"type": "long", "index": False},
}
"""How the index of sentences was made before it took less disk, where that differs."""


def is_earlier(found: Mapping[str, Any]) -> bool:
    """Whether a mapping is that of sentences as it was made before. It is read, but no longer written."""
    return _ONLY_EARLIER in found.get("properties", {})


def has_lookup(found: Mapping[str, Any]) -> bool:
    """Whether sentences with this mapping can be looked up."""
    return set(found.get("properties", {})) >= LOOKUP


def without_lookup(mapping: dict[str, Any]) -> dict[str, Any]:
    """Return the mapping of sentences without what only the lookup needs."""
    fields = {name: field for name, field in mapping["properties"].items() if name not in LOOKUP}
    text = {name: value for name, value in fields["text"].items() if name != "index_prefixes"}
    return mapping | {"properties": fields | {"text": text}}


class FieldDifference(NamedTuple):
    """A field of an index that is not as esdedup made it."""

    name: str
    found: str
    wanted: str

    def __str__(self) -> str:
        return f"the field {self.name} is {self.found}, and esdedup needs {self.wanted}"


def different_fields(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[FieldDifference]:
    """Return the fields of the mapping `wanted` that differ in the mapping `found`.

    A runtime field with the name of one of them is a difference too: queries would see it instead of what is stored.
    """
    there, ours = found.get("properties", {}), wanted["properties"] | (_EARLIER if is_earlier(found) else {})
    runtime = found.get("runtime") or {}
    differences = [
        FieldDifference(name, _in_words(there.get(name)), _in_words(ours[name]))
        for name in ours
        if not _same(there.get(name), ours[name]) and not (name in LOOKUP and name not in there)
    ]
    differences += [
        FieldDifference(name, "computed by a runtime field", _in_words(ours[name])) for name in ours if name in runtime
    ]
    source = found.get("_source", {})
    left_out = source.get("includes") or (source.get("excludes") and not is_earlier(found))
    stored = source.get("enabled", True) in (True, "true") and source.get("mode", "stored").lower() == "stored"
    if left_out or not stored:
        differences.append(FieldDifference("_source", _in_words(source), "the whole document"))
    return differences


def _same(there: Any, ours: Any) -> bool:
    if not isinstance(there, Mapping) or not isinstance(ours, Mapping):
        return bool(there == ours)
    subfields, found = ours.get("fields", {}), there.get("fields", {})  # others may have added some
    return (
        all(_same(there.get(name), value) for name, value in ours.items() if name not in _HARMLESS)
        and all(_same(found.get(name), value) for name, value in subfields.items())
        and all(name in ours or name in _HARMLESS for name in there)
    )


def _in_words(field: Mapping[str, Any] | None) -> str:
    if field is None:
        return "missing"
    return json.dumps({name: value for name, value in field.items() if name == "fields" or name not in _HARMLESS})
