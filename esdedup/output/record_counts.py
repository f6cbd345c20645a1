"""The counts of records, as one line for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def in_words(records: Mapping[str, Any], unit: str) -> str:
    """Return the counts as one line, and a second one if something was not compared."""
    left_out = records["not_compared"]
    total = sum(left_out.values())
    if "kept" in records:
        dropped = {reason.replace("_", " "): count for reason, count in records["dropped"].items() if count}
        named = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items())
        middle = f"{records['kept']:,} kept · {sum(dropped.values()):,} dropped" + (f" ({named})" if named else "")
    else:
        middle = f"{records['compared']:,} compared"
    first = f"{records['in']:,} {unit}{'s' * (records['in'] != 1)} in · {middle} · {total:,} not compared"
    why = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    return f"{first}\nnot compared: {why}" if why else first
