"""Labels of values in the texts of records, `name: value | name: value`."""

from __future__ import annotations

from collections.abc import Iterable

ALL = "*"
"""Instead of the names of columns: all but that of the ids."""

NAME_END, END = ": ", " | "
BAR, OTHER_BAR = "|", "¦"


def label_of(name: object, number: int) -> str:
    """Return what a column is called in texts: its name, or its number from 1 if it has none."""
    return str(name).replace(BAR, OTHER_BAR).replace(NAME_END, ":").strip() or str(number)


def labelled_text(labels: Iterable[str], values: Iterable[str]) -> str:
    """Return the text of one record; empty if all values are."""
    stripped = ((label, value.strip()) for label, value in zip(labels, values, strict=True))
    return END.join(f"{label}{NAME_END}{value.replace(BAR, OTHER_BAR)}" for label, value in stripped if value)
