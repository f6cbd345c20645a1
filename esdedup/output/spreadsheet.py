"""Cells of CSV files that esdedup composes, so that a spreadsheet reads them as text.

A cell that begins like a formula gets a leading apostrophe, and so does one that already begins with an apostrophe and
then like a formula: no two texts give the same cell. Sources that esdedup writes again are not touched.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_MARK = "'"


def write_csv(header: Sequence[str], rows: Iterable[Sequence[Any]], out: TextIO, end: str = "\r\n") -> None:
    """Write a table whose texts are no formulas. Numbers are written as they are."""
    writer = csv.writer(out, lineterminator=end)
    writer.writerow(map(cell_of, header))
    writer.writerows([cell_of(value) for value in row] for row in rows)


def cell_of(value: Any) -> Any:
    """Return what stands for a value in a cell."""
    return f"{_MARK}{value}" if isinstance(value, str) and _looks_like_formula(value) else value


def text_of(cell: str) -> str:
    """Return the text that stands in a cell of `write_csv`."""
    return cell[1:] if cell.startswith(_MARK) and _looks_like_formula(cell[1:]) else cell


def _looks_like_formula(text: str) -> bool:
    return text.lstrip(_MARK).startswith(_FORMULA)
