"""S-curves: the probability that two texts share a token, by their similarity, and what a sample shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from esdedup.evaluation.sample import Curve
from esdedup.evaluation.schemes import Scheme
from esdedup.matching.signers.protocol import Signer
from esdedup.output.drawing import LIGHT, new_axes, written
from esdedup.output.html import short


def draw_curves(curves: Sequence[Curve[Scheme]], threshold: float, path: Path) -> None:
    """Write a PNG to `path`: a line for each scheme, and points for the pairs of a sample (larger for more pairs)."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 5))
    axes = figure.add_axes((0.09, 0.11, 0.88, 0.81))
    axes.set_xlabel("Jaccard similarity of two texts")
    axes.set_ylabel("share of such pairs that is found")
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.02, 1.02)
    axes.grid(True, alpha=0.2)
    axes.axvline(threshold, color="#888888", linestyle=":", linewidth=1)
    similarities = np.linspace(0, 1, 400)
    axes.set_prop_cycle(color=[colormaps["tab20"](shade) for shade in range(20)])
    for curve in curves:
        [line] = axes.plot(similarities, curve.scheme.chance(similarities), linewidth=1.3, label=str(curve.scheme))
        measured = curve.pairs > 0
        axes.scatter(
            curve.jaccard[measured],
            curve.recall[measured],
            s=6 + 6 * np.log10(curve.pairs[measured]),
            color=line.get_color(),
        )
    axes.legend(title="tokens × values", fontsize=8, title_fontsize=8, loc="upper left", ncols=2)
    with_points = any(curve.pairs.any() for curve in curves)
    axes.set_title("Lines: theory; points: pairs of the sample" if with_points else "In theory", fontsize=10)
    figure.savefig(path, format="png", dpi=120)


def draw_curve(curve: Curve[Signer], threshold: float, form: str) -> bytes:
    """Return a `png` or `svg` of one scheme: its probability in theory, and points for observed pairs."""
    figure, axes = new_axes(4)
    axes.set_xlabel("Jaccard similarity of two texts")
    axes.set_ylabel("chance to share a token")
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.02, 1.04)
    axes.grid(True, color=LIGHT.line, alpha=0.6, linewidth=0.6)
    similarities = np.linspace(0, 1, 400)
    axes.plot(similarities, curve.scheme.chance(similarities), color=LIGHT.accent, linewidth=1.4, label="in theory")
    axes.axvline(threshold, color=LIGHT.muted, linestyle=":", linewidth=1, label=f"threshold {threshold:g}")
    seen = (curve.pairs > 0) & ~np.isnan(curve.recall)
    if seen.any():
        pairs = f"pairs of the last scan, {short(int(curve.pairs.sum()))}"
        sizes = 10 + 14 * np.log10(curve.pairs[seen])
        axes.scatter(curve.jaccard[seen], curve.recall[seen], s=sizes, color=LIGHT.ink, zorder=3, label=pairs)
    axes.legend(frameon=False, labelcolor=LIGHT.muted, fontsize=9, loc="upper left")
    axes.set_title(curve.scheme.words)
    return written(figure, form)
