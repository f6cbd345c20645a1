"""The charts of the overview and the graph of a cluster as numbers. Templates draw them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from esdedup.analysis.names import KINDS
from esdedup.output.html import number
from esdedup.output.plots import SizeClass
from esdedup.store.cluster_queries import MOST
from esdedup.web.answers.shapes import Edge, Point

_FIRSTS = (2, 3, 4, 5, 10, 20, 50, 100, 1_000, 10_000)
"""The smallest size of each row: so few that each is high enough to be hit with a finger."""

WIDTH, HEIGHT = 360, 260
"""Of a chart, in the units of the drawing."""

LEFT, BOTTOM = 34, 34
"""Room for the labels of the S-curve."""


class Segment(NamedTuple):
    """The clusters of one kind in a row: where their part begins and how long it is, as shares of the row."""

    kind: str
    clusters: int
    begin: float
    length: float


class Row(NamedTuple):
    """Clusters of some sizes. `length` is the share of the longest bar, on a logarithmic scale."""

    label: str
    first: int
    last: int
    clusters: int
    length: float
    kinds: list[Segment]


class Drawn(NamedTuple):
    """A point of the S-curve."""

    x: float
    y: float
    radius: float
    point: Point


def size_rows(sizes: Sequence[tuple[int, int]], kinds: Mapping[str, Sequence[tuple[int, int]]]) -> list[Row]:
    """Return the rows with clusters, smallest first, from the number of clusters of each size and each kind."""
    counted = []
    for first, last in zip(_FIRSTS, [*(behind - 1 for behind in _FIRSTS[1:]), MOST], strict=True):
        count = _between(sizes, first, last)
        if count:
            counted.append((first, last, count, {kind: _between(kinds.get(kind, ()), first, last) for kind in KINDS}))
    most = max((count for _, _, count, _ in counted), default=0)
    return [
        Row(_label(first, last), first, last, count, math.log1p(count) / math.log1p(most), _segments(some, count))
        for first, last, count, some in counted
    ]


def _label(first: int, last: int) -> str:
    return f"{first:,}+" if last == MOST else str(SizeClass(first, last))


def row_height(rows: int) -> int:
    """Return the height of each row, so that together they are about as high as the S-curve."""
    return max(26, min(36, HEIGHT // max(rows, 1)))


def label_room(rows: Sequence[Row]) -> int:
    """Return how much of the width the labels of the rows need."""
    return 12 + 7 * max(len(row.label) for row in rows)


def bar_room(rows: Sequence[Row]) -> int:
    """Return how long the longest bar may be, so that its number fits beside it."""
    return WIDTH - label_room(rows) - 10 - 8 * max(len(number(row.clusters)) for row in rows)


def _between(sizes: Sequence[tuple[int, int]], first: int, last: int) -> int:
    return sum(count for size, count in sizes if first <= size <= last)


def _segments(counts: Mapping[str, int], whole: int) -> list[Segment]:
    found: list[Segment] = []
    begin = 0.0
    for kind, count in counts.items():
        if count:
            found.append(Segment(kind, count, begin, count / whole))
            begin += count / whole
    return found


def across(jaccard: float) -> float:
    """Return where a similarity is, from left to right."""
    return round(LEFT + jaccard * (WIDTH - LEFT - 8), 1)


def up(share: float) -> float:
    """Return where a share is, from top to bottom."""
    return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - 10), 1)


def curve_line(points: Sequence[Point]) -> str:
    """Return the points of the line in theory, as SVG writes them."""
    return " ".join(f"{across(point['jaccard'])},{up(point['chance'])}" for point in points)


def curve_dots(points: Sequence[Point]) -> list[Drawn]:
    """Return the points of measured pairs, larger for more of them."""
    return [
        Drawn(across(one["jaccard"]), up(one["found"]), round(2.5 + 0.8 * math.log10(one["pairs"]), 1), one)
        for one in points
        if one["found"] is not None and one["pairs"]
    ]


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
