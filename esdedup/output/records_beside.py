"""Records beside each other: a line for each, a column for each field. And what was learned of their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from typing import Any, TypedDict

import pyarrow as pa

from esdedup.columns.labelled import columns_of_texts
from esdedup.matching.records.learned import check_learned

_LONGEST_VALUE = 120


class Cell(TypedDict):
    """A value, and whether it differs from that of the first record."""

    text: str
    differs: bool


class Beside(TypedDict):
    """Fields, and the cells of each record."""

    names: list[str]
    cells: list[list[Cell]]


def records_beside(texts: Sequence[str]) -> Beside:
    """Return the fields of the texts of records."""
    columns = columns_of_texts(pa.array(texts, pa.large_string()))
    values = [[value or "" for value in column.to_pylist()] for column in columns.values()]
    of_fields: list[list[Cell]] = [
        [{"text": value[:_LONGEST_VALUE], "differs": _differs(value, held[0])} for value in held] for held in values
    ]
    return {"names": list(columns), "cells": list(map(list, zip(*of_fields, strict=True)))}


def _differs(one: str, other: str) -> bool:
    return bool(one and other) and one.casefold().split() != other.casefold().split()


def weights_of(learned: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return for each field its `name` and `levels`, the highest first: the name, the shares among the same records
    (`same`) and among others (`other`), and the `weight`, a logarithm to the base of 2.
    """
    if learned is None:
        return []
    check_learned(learned)
    shares, classes = learned["shares"], learned["levels"]
    found = []
    for place, field in enumerate(learned["fields"]):
        levels = []
        for level in range(len(field["levels"]) - 1, -1, -1):
            of_others = zip(shares[:-1], classes, strict=False)
            other = sum(share * fields[place][level] for share, fields in of_others) / sum(shares[:-1])
            same = classes[-1][place][level]
            levels.append({"name": field["levels"][level], "same": same, "other": other, "weight": log2(same / other)})
        found.append({"name": field["field"], "kind": field["kind"], "levels": levels})
    return found
