"""Contradictions and templates as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from esdedup.cli.show import printable, shortened, where
from esdedup.meaning.templates import Table

_WIDTH = 160
_VALUES = 6
_ROWS = 4
_CELL = 24


def drift_text(rows: Sequence[dict[str, Any]]) -> str:
    """A few lines a contradiction: the frame, and each value with who says so."""
    if not rows:
        return "no contradictions"
    lines = []
    for row in rows:
        apart = "" if row["difference"] is None else f", {row['difference']:+g}"
        lines.append(f"{row['confidence']:.2f}  {row['slot']}{apart}: {shortened(row['frame'], _WIDTH)}")
        for place, value in enumerate(row["values"][:_VALUES]):
            notes = [name for name, at in (("majority", row["majority"]), ("newest", row["newest"])) if at == place]
            first = value["sentences"][0]
            more = f" and {value['count'] - 1:,} more" if value["count"] > 1 else ""
            when = f", {first['timestamp']}" if first["timestamp"] else ""
            told = f" ({', '.join(notes)})" if notes else ""
            lines.append(f"      {shortened(value['value'], 60)}{told}  {where(first)}{when}{more}")
        if len(row["values"]) > _VALUES:
            lines.append(f"      … {len(row['values']) - _VALUES:,} more values")
    return "\n".join(lines)


def template_text(table: Table) -> str:
    """The frame, and the first rows of its table."""
    kinds = ", ".join(f"{slot.name}: {slot.type}{f' in {slot.unit}' if slot.unit else ''}" for slot in table.columns)
    lines = [
        f"{table.cluster}  {len(table.fits):,} rows, {sum(table.fits):,} fit",
        f"  {shortened(table.frame, 240)}",
        f"  {kinds}",
    ]
    for place, sentence in enumerate(table.sentences[:_ROWS]):
        cells = " | ".join(shortened(slot.cells[place] or "", _CELL) for slot in table.columns)
        lines.append(f"    {printable(sentence['id'])}  {cells}{'' if table.fits[place] else '  (deviates)'}")
    if len(table.sentences) > _ROWS:
        lines.append(f"    … {len(table.sentences) - _ROWS:,} more")
    return "\n".join(lines)
