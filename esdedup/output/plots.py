"""The pictures of results: clusters by size, kinds by size, and curves of a plan."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from esdedup.analysis.names import KINDS
from esdedup.evaluation.sample import Curve
from esdedup.evaluation.schemes import Scheme
from esdedup.output.drawing import (
    FORMS,
    KIND_COLOURS,
    LIGHT,
    SHARES,
    SMALL,
    TITLE,
    USUAL,
    WRITING,
    Plot,
    Png,
    log_scale,
)
from esdedup.plurals import plural
from esdedup.store.store import Store

_ROOM = 0.017
"""The share of a bar that one letter takes."""
_WIDTH, _LEFT, _ROW, _TOP = 504.0, 126.0, 24.0, 34.0


def draw_kinds(sizes: Mapping[str, Mapping[int, int]], form: str) -> bytes:
    """Return a `png` or `svg` with one bar for each range of sizes: the share of its clusters of each kind.

    `sizes` are those of the clusters of each kind, as `Store.cluster_sizes` returns them.
    """
    total: dict[int, int] = {}
    for some in sizes.values():
        for size, count in some.items():
            total[size] = total.get(size, 0) + count
    bars = [(size_class, count) for size_class, count in classes(total).items() if count]
    below = _TOP + _ROW * max(len(bars), 1)
    canvas, whole = FORMS[form](_WIDTH, below + 44), _WIDTH - 26 - _LEFT
    for tenth in range(0, 11, 2):
        x = _LEFT + whole * tenth / 10
        canvas.line([(x, below), (x, below + 4)], LIGHT.line)
        canvas.words((x, below + 12), f"{tenth / 10:.0%}", LIGHT.muted)
    canvas.words((_LEFT + whole / 2, below + 30), "share of the clusters of this size", LIGHT.ink, TITLE)
    if len(bars) > 5:
        canvas.words((9, (_TOP + below) / 2), "size (clusters)", LIGHT.ink, TITLE, upwards=True)
    for row, (size_class, count) in enumerate(bars):
        top, begin = _TOP + _ROW * row + 3, _LEFT
        canvas.words((_LEFT - 6, top + _ROW / 2 - 3), f"{size_class}  ({count:,})", LIGHT.muted, USUAL, "end")
        for kind in KINDS:
            some = sizes.get(kind, {})
            share = sum(some[size] for size in some if size_class.first <= size <= size_class.last) / count
            if share:
                canvas.bar((begin, top), whole * share, _ROW - 7, KIND_COLOURS[kind])
            if share > _ROOM * (len(kind) + 1):
                canvas.words((begin + whole * share / 2, top + _ROW / 2 - 3), kind, WRITING, SMALL)
            begin += whole * share
    x = _LEFT
    for kind in KINDS:
        if sizes.get(kind):
            canvas.bar((x, _TOP - 20), 8, 8, KIND_COLOURS[kind])
            canvas.words((x + 12, _TOP - 16), kind, LIGHT.ink, SMALL, "start")
            x += 28 + 4.4 * len(kind)
    return canvas.content()


def draw_cluster_sizes(sizes: Mapping[int, int], form: str) -> bytes:
    """Return a `png` or `svg` with the number of clusters (y) of each size (x).

    A thin line shows the power law that `esdedup.output.plots.power_law` finds among the common sizes.
    """
    sizes = {size: count for size, count in sizes.items() if size > 0}  # a damaged store may have others
    canvas = FORMS[form](504, 324)
    most, longest = max(sizes.values(), default=10), max(sizes, default=10)
    across = log_scale(min(sizes, default=2) / 1.15, max(longest, 3) * 1.15)
    plot = Plot(canvas, across, log_scale(0.7, max(most, 2) * 1.4), left=64)
    plot.frame("size of the cluster", "clusters", plural(sum(sizes.values()), "cluster"))
    law = power_law(sizes)
    if law is not None:
        # down to where a count would be below the axis
        last = min(float(longest), (0.7 / law.factor) ** (1 / law.exponent)) if law.exponent < 0 else longest
        ends = [(size, min(law.factor * size**law.exponent, most * 1.4)) for size in (law.first, last)]
        canvas.line([plot.at(*end) for end in ends], LIGHT.muted, 1, dash=4)
        plot.legend((plot.right - 110, plot.top + 8), [(LIGHT.muted, f"clusters ~ size^{law.exponent:.2f}")])
    for size, count in sizes.items():
        canvas.dot(plot.at(size, count), 2.3, LIGHT.accent)
    return canvas.content()


_SIMILARITIES = np.linspace(0, 1, 400)
_SHADES = 20
_IN_COLUMN = 20


def draw_curves(curves: Sequence[Curve[Scheme]], threshold: float, path: Path) -> None:
    """Write a PNG to `path`: a line for each scheme, and points for the pairs of a sample (larger for more pairs)."""
    canvas = Png(540, 360)
    plot = Plot(canvas, SHARES, SHARES)
    with_points = any(curve.pairs.any() for curve in curves)
    title = "Lines: theory; points: pairs of the sample" if with_points else "In theory"
    plot.frame("Jaccard similarity of two texts", "share of such pairs that is found", title)
    canvas.line([plot.at(threshold, 0), plot.at(threshold, 1)], LIGHT.muted, dash=2)
    shades = [_shade(number) for number in range(len(curves))]
    for curve, shade in zip(curves, shades, strict=True):
        chances = curve.scheme.chance(_SIMILARITIES).tolist()
        canvas.line([plot.at(*each) for each in zip(_SIMILARITIES.tolist(), chances, strict=True)], shade, 1.3)
        seen = curve.pairs > 0
        for jaccard, recall, pairs in zip(curve.jaccard[seen], curve.recall[seen], curve.pairs[seen], strict=True):
            canvas.dot(plot.at(float(jaccard), float(recall)), 0.8 + 0.4 * float(np.log10(pairs)), shade)
    named = [(shade, str(curve.scheme)) for curve, shade in zip(curves, shades, strict=True)]
    for begin in range(0, len(named), _IN_COLUMN):
        plot.legend((plot.left + 10 + 70 * (begin // _IN_COLUMN), plot.top + 10), named[begin : begin + _IN_COLUMN])
    path.write_bytes(canvas.content())


def _shade(number: int) -> str:
    """Return one of many colours that differ."""
    light = 0.35 if number % 2 else 0.5
    parts = colorsys.hls_to_rgb(number * 0.618 % 1 if number < _SHADES else number * 0.382 % 1, light, 0.65)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


_FIRSTS = (2, 3, 4, 5, 10, 20, 50, 100, 200, 500, *(10**power for power in range(3, 12)))
"""The smallest size of each range."""

ENOUGH = 10
"""A size needs this many clusters to count for the power law."""

_FEWEST_SIZES = 3


class SizeClass(NamedTuple):
    """Sizes from `first` to `last`, both included."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first:,}" if self.first == self.last else f"{self.first:,}–{self.last:,}"


class PowerLaw(NamedTuple):
    """The number of clusters of a size is `factor * size ** exponent`, as observed from size `first` to `last`."""

    factor: float
    exponent: float
    first: int
    last: int


def sizes_of_kinds(store: Store) -> dict[str, dict[int, int]]:
    """Return the number of clusters of each size, for each kind."""
    return {kind: store.results.sizes(kind) for kind in store.results.kinds()}


def classes(sizes: Mapping[int, int]) -> dict[SizeClass, int]:
    """Return the number of clusters in each range of sizes, up to the last range that is not empty."""
    found = {}
    for first, behind in zip(_FIRSTS, (*_FIRSTS[1:], 10**12), strict=True):
        if first <= max(sizes, default=0):
            found[SizeClass(first, behind - 1)] = sum(sizes[size] for size in sizes if first <= size < behind)
    return found


def power_law(sizes: Mapping[int, int]) -> PowerLaw | None:
    """Fit a line by least squares through the logarithms of sizes and counts; None if fewer than three sizes count.

    Only sizes with at least `ENOUGH` clusters count, each equally. Larger sizes have single clusters, which would make
    any line flat. The line guides the eye; it is not a test of whether sizes follow a power law.
    """
    common = sorted(size for size, count in sizes.items() if count >= ENOUGH)
    if len(common) < _FEWEST_SIZES:
        return None
    logs = np.log10(common), np.log10([sizes[size] for size in common])
    exponent, height = np.polyfit(*logs, 1)
    return PowerLaw(float(10**height), float(exponent), common[0], common[-1])
