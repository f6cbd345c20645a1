"""What confidences mean: the share that is right of what is said with each confidence, as a table and as a picture.

`sure` are confidences, 0 to 1, and `truth` says which of them are right; both of shape (n,).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from esdedup.analysis.word_forms import Measures
from esdedup.output.drawing import LIGHT, SHARES, Plot, Png

TENTHS = 10


def reliability(sure: Measures, truth: Any) -> Iterator[tuple[int, int, float, float]]:
    """Yield tenths of confidence: the lower end in tenths, how many cases, the mean of what is said, and the share that
    is right.
    """
    tenths = np.minimum((sure * TENTHS).astype(int), TENTHS - 1)
    for tenth in np.unique(tenths).tolist():
        here = tenths == tenth
        yield tenth, int(here.sum()), float(sure[here].mean()), float(truth[here].mean())


def calibration_error(sure: Measures, truth: Any) -> float:
    """The mean difference between what is said and what is right, over tenths of confidence."""
    return sum(abs(said - right) * count for _, count, said, right in reliability(sure, truth)) / max(1, len(sure))


def picture(sure: Measures, truth: Any) -> bytes:
    """Return a PNG: for each tenth of confidence, what is said and what is right; larger points for more cases."""
    canvas = Png(504, 288)
    plot = Plot(canvas, SHARES, SHARES)
    plot.frame("confidence of a contradiction", "share that is right", "")
    canvas.line([plot.at(0, 0), plot.at(1, 1)], LIGHT.muted, dash=2)
    told = list(reliability(sure, truth))
    if told:
        canvas.line([plot.at(said, right) for _, _, said, right in told], LIGHT.accent)
    for _, count, said, right in told:
        canvas.dot(plot.at(said, right), 1.5 + 1.2 * math.log10(count), LIGHT.ink)
    named = [(LIGHT.muted, "perfect"), (LIGHT.ink, "edits and claims")]
    plot.legend((plot.left + 10, plot.top + 10), named[: 1 + bool(told)])
    return canvas.content()
