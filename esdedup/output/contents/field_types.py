"""The types of fields: Python's own, with what JSON Schema says beyond them.

Each annotation is a keyword of JSON Schema and its value, or a class. `Annotated[dict[str, Any], Thing]` is an object
with the fields of `Thing`; if that is a class of options, an object with their values.
"""

from __future__ import annotations

from typing import Annotated, Any

from esdedup.analysis.names import KINDS
from esdedup.matching.units import UNITS


class _Missing:
    """Stands in a field that an answer does not have."""

    def __repr__(self) -> str:
        return "missing"


MISSING: Any = _Missing()
"""The value of a field that only some answers have: it is left out of the JSON."""

Count = Annotated[int, ("minimum", 0)]
Count32 = Annotated[int, ("minimum", 0), ("format", "int32")]
"""The format is also that of the column in Parquet files."""

Seconds = Annotated[float, ("minimum", 0)]
Share = Annotated[float, ("minimum", 0), ("maximum", 1)]
ClusterId = Annotated[str, ("pattern", "^[0-9a-f]{16}$")]
Kind = Annotated[str, ("enum", KINDS)]
Unit = Annotated[str, ("enum", tuple(UNITS))]
