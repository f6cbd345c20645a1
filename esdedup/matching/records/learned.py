"""What was learned of records, as a store keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esdedup.errors import StoreError
from esdedup.matching.records.field_kinds import KINDS, Kind

EVERY_KIND: dict[str, Kind] = {**KINDS, **{part.name: part for kind in KINDS.values() for part in kind.parts}}
"""The kinds of fields: those of columns, and the parts of free text."""


def check_learned(learned: Mapping[str, Any]) -> None:
    """Raise `StoreError` unless every field has a known kind and a share for each of its levels in each class."""
    fields, shares, classes = learned["fields"], learned["shares"], learned["levels"]
    sizes = [len(EVERY_KIND[each["kind"]].levels) for each in fields if each["kind"] in EVERY_KIND]
    numbers = [*shares, *(share for of_class in classes for field in of_class for share in field)]
    sound = (
        len(classes) == len(shares) >= 2
        and len(sizes) == len(fields)
        and all([len(field) for field in of_class] == sizes for of_class in classes)
        and [len(each["levels"]) for each in fields] == sizes
        and set(learned["kinds"].values()) <= set(KINDS)
        and all(0 < number <= 1 for number in numbers)
    )
    if not sound:
        raise StoreError("what the last scan learned of records is damaged; scan again")
