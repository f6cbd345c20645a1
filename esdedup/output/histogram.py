"""The histogram of cluster sizes, as in figure 1 of Weissman et al. 2014: both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping

from esdedup.output.drawing import LIGHT, counted, new_axes, written
from esdedup.output.sizes import power_law
from esdedup.plurals import plural

_LABELLED = ((15, range(1, 10)), (500, (1, 2, 5)), (math.inf, (1,)))
"""The end of an axis, and the multiples of powers of ten that are labelled up to it."""


def draw_cluster_sizes(sizes: Mapping[int, int], form: str) -> bytes:
    """Return a `png` or `svg` with the number of clusters (y) of each size (x).

    A thin line shows the power law that `esdedup.output.sizes.power_law` finds among the common sizes.
    """
    from matplotlib.ticker import LogLocator

    sizes = {size: count for size, count in sizes.items() if size > 0}  # a damaged store may have others
    figure, axes = new_axes(4.5, left=0.13)
    axes.set_xlabel("size of the cluster")
    axes.set_ylabel("clusters")
    axes.set_title(plural(sum(sizes.values()), "cluster"))
    axes.grid(True, color=LIGHT.line, alpha=0.6, linewidth=0.6)
    if sizes:
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis, most in ((axes.xaxis, max(sizes)), (axes.yaxis, max(sizes.values()))):
            axis.set_major_locator(LogLocator(subs=next(subs for last, subs in _LABELLED if most <= last)))
            axis.set_major_formatter(counted)
            axis.set_minor_formatter("")
        law = power_law(sizes)
        if law is not None:
            ends = [law.first, max(sizes)]
            heights = [law.factor * size**law.exponent for size in ends]
            label = f"clusters ∝ size$^{{{law.exponent:.2f}}}$"
            axes.plot(ends, heights, "--", linewidth=1, color=LIGHT.muted, label=label, zorder=1)
            axes.legend(frameon=False, labelcolor=LIGHT.muted, fontsize=9)
        axes.plot(
            list(sizes), list(sizes.values()), "o", markersize=4.5, color=LIGHT.accent, markeredgewidth=0, alpha=0.85
        )
        axes.set_ylim(bottom=0.7)
    return written(figure, form)
