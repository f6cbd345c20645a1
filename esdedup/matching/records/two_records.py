"""What speaks for and against two records being the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.labelled import columns_of_texts
from esdedup.matching.records.field_kinds import Levels
from esdedup.matching.records.matching import compared, frozen_fields
from esdedup.matching.records.mixture import Weights, probabilities, rarities
from esdedup.matching.records.record_fields import Field
from esdedup.matching.records.record_rows import Rows, rows_of


def waterfall(
    fields: Sequence[Field], weights: Weights, levels: Levels, rarity: float, one: int, two: int
) -> list[dict[str, Any]]:
    """Return a row for each field: its values `a` and `b`, how alike they are (`level`), and the `weight`, a logarithm
    to the base of 2. The first row is what the odds are without a look at the two records.

    Args:
        fields: Of all records.
        weights: As learned.
        levels: Of these two, shape (fields,).
        rarity: What is added as they agree on rare values, a natural logarithm.
        one, two: The numbers of the records.
    """
    prior, parts = weights.parts(levels)
    rows: list[dict[str, Any]] = [_row("all records", None, prior)]
    for number, field in enumerate(fields):
        level = int(levels[number])
        values = [None if field.number[row] < 0 else field.values[int(field.number[row])] for row in (one, two)]
        said = "missing" if level < 0 else field.kind.levels[level]
        rows.append(_row(field.name, said, parts[number], *values))
    if rarity:
        rows.append(_row("rare values" if rarity > 0 else "common values", None, float(rarity / np.log(2))))
    return rows


def _row(field: str, level: str | None, weight: float, a: str | None = None, b: str | None = None) -> dict[str, Any]:
    return {"field": field, "a": a, "b": b, "level": level, "weight": round(weight, 6)}


class Weighing:
    """Weighs pairs of records by what the last scan learned.

    Args:
        learned: By the last scan.
        sentences: All, with hash, group_id and text.
    """

    def __init__(self, learned: Mapping[str, Any], sentences: pa.Table) -> None:
        _, at, which = np.unique(sentences["hash"].to_numpy(), return_index=True, return_inverse=True)
        texts = sentences["text"].combine_chunks().take(pa.array(at))
        self._rows = rows_of(which, sentences["group_id"].to_numpy())
        columns = {name: column.take(pa.array(self._rows.text)) for name, column in columns_of_texts(texts).items()}
        self._texts = texts
        self._fields, self._weights = frozen_fields(columns, learned)
        self._least = float(learned["threshold"])

    def of(self, first: str, second: str) -> dict[str, Any]:
        """Return the `probability` that the records with two texts are the same by themselves, their `fields`, and the
        `min_probability` of a pair.
        """
        held = (pc.index(self._texts, pa.scalar(text, self._texts.type)).as_py() for text in (first, second))
        one, two = _places(self._rows, *held)
        a, b = (np.array([row]) for row in (one, two))
        levels = compared(self._fields, a, b)
        rarity = rarities(self._fields, levels, a)
        return {
            "probability": float(probabilities(self._weights.log_odds(levels, rarity))[0]),
            "min_probability": self._least,
            "fields": waterfall(self._fields, self._weights, levels[0], float(rarity[0]), one, two),
        }


def _places(rows: Rows, one: int, two: int) -> tuple[int, int]:
    """Return a record of each of two texts, of two tables one in each."""
    of_one, of_two = (np.flatnonzero(rows.text == text).tolist() for text in (one, two))
    middle = rows.first_right
    for a in of_one:
        for b in of_two:
            if a != b and (middle is None or (a < middle) != (b < middle)):
                return a, b
    return int(of_one[0]), int(of_two[-1])
