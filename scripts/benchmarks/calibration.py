"""What confidences mean: the share that is right of what is said with each confidence, as a table and as a picture.

`sure` are confidences, 0 to 1, and `truth` says which of them are right; both of shape (n,).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from esdedup.analysis.word_forms import Measures
from esdedup.output.drawing import LIGHT, new_axes, written

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
    figure, axes = new_axes(4)
    axes.set_xlabel("confidence of a contradiction")
    axes.set_ylabel("share that is right")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.plot([0, 1], [0, 1], color=LIGHT.muted, linestyle=":", linewidth=1, label="perfect")
    told = list(reliability(sure, truth))
    if not told:
        return written(figure, "png")
    _, counts, said, right = zip(*told, strict=True)
    axes.plot(said, right, color=LIGHT.accent, linewidth=1)
    axes.scatter(said, right, s=6 + 14 * np.log10(counts), color=LIGHT.ink, zorder=3, label="edits and claims")
    axes.legend(frameon=False, labelcolor=LIGHT.muted, fontsize=9, loc="upper left")
    return written(figure, "png")
