"""What was measured: rows, printed as one table and kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    measure: str
    value: float | None  # None: could not be measured, `measure` says why
    unit: str = ""
    aim: str = ""
    met: bool | None = None  # None: there is no aim, or no value


def at_least(measure: str, value: float, unit: str, aim: float) -> Row:
    return Row(measure, value, unit, f"≥ {aim:g}", value >= aim)


def at_most(measure: str, value: float, unit: str, aim: float) -> Row:
    return Row(measure, value, unit, f"≤ {aim:g}", value <= aim)


def without_value(measure: str, why: str, aim: str = "") -> Row:
    return Row(f"{measure} ({why})", None, aim=aim)


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown."""
    lines = ["| measure | value | aim | met |", "|---|---|---|---|"]
    for row in rows:
        met = {True: "yes", False: "**no**", None: ""}[row.met]
        measure = row.measure.replace("|", "\\|")
        lines.append(f"| {measure} | {_value(row)} | {row.aim} | {met} |")
    return "\n".join(lines)


def write(rows: Sequence[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1) + "\n", "utf-8")


def _value(row: Row) -> str:
    if row.value is None:
        return "n/a"
    if row.value == int(row.value) or abs(row.value) >= 1000:
        number = f"{row.value:,.0f}"
    else:
        number = f"{row.value:.6g}" if 0.9 < row.value < 1 else f"{row.value:.4g}"
    return f"{number} {row.unit}".strip()
