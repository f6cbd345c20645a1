"""The histogram of cluster sizes, as in figure 1 of Weissman et al. 2014: both axes logarithmic."""

from __future__ import annotations

from collections.abc import Mapping

from esdedup.output.drawing import FORMS, LIGHT, Plot, log_scale
from esdedup.output.sizes import power_law
from esdedup.plurals import plural


def draw_cluster_sizes(sizes: Mapping[int, int], form: str) -> bytes:
    """Return a `png` or `svg` with the number of clusters (y) of each size (x).

    A thin line shows the power law that `esdedup.output.sizes.power_law` finds among the common sizes.
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
