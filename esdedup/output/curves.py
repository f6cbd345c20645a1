"""S-curves: the probability that two texts share a token, by their similarity, and what a sample shows."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from esdedup.evaluation.sample import Curve
from esdedup.evaluation.schemes import Scheme
from esdedup.output.drawing import LIGHT, SHARES, Plot, Png

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
