"""The pairs of a cluster as a drawing: its texts on a ring, a line for each pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from esdedup.web.answers.shapes import Edge

SIZE = 320
"""Width and height, in the units of the drawing."""

_MARGIN = 26


class Line(NamedTuple):
    """A pair. `strength` is 0 for the weakest of all pairs and 1 for equal texts."""

    x1: float
    y1: float
    x2: float
    y2: float
    a: int
    b: int
    jaccard: float | None
    strength: float
    weakest: bool


class Ring(NamedTuple):
    """The positions of the texts, and the lines between them, weaker ones first."""

    size: int
    nodes: list[tuple[float, float]]
    lines: list[Line]


def ring(texts: int, edges: Sequence[Edge]) -> Ring:
    """Place this many texts on a ring, the first at the top."""
    radius, middle = SIZE / 2 - _MARGIN, SIZE / 2
    angles = [2 * math.pi * text / max(texts, 1) for text in range(texts)]
    nodes = [
        (round(middle + radius * math.sin(angle), 1), round(middle - radius * math.cos(angle), 1)) for angle in angles
    ]
    known = [edge["jaccard"] for edge in edges if edge["jaccard"] is not None]
    least = min(known, default=0.0)
    lines = [
        Line(
            *nodes[edge["a"]],
            *nodes[edge["b"]],
            edge["a"],
            edge["b"],
            edge["jaccard"],
            1.0 if edge["jaccard"] is None or least == 1 else round((edge["jaccard"] - least) / (1 - least), 3),
            edge["jaccard"] == least and len(known) > 1,
        )
        for edge in edges
    ]
    lines.sort(key=lambda line: (line.strength, line.a, line.b))
    return Ring(SIZE, nodes, lines)
