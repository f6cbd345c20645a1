"""The histogram of cluster sizes, as in figure 1 of Weissman et al. 2014: both axes logarithmic."""

from __future__ import annotations

from pathlib import Path


def draw_cluster_sizes(sizes: dict[int, int], path: Path) -> None:
    """Write a PNG to `path`: how many clusters (y) there are of each size (x)."""
    # a second of imports that only drawing needs
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5))
    axes = figure.add_axes((0.1, 0.12, 0.86, 0.78))  # an automatic layout would draw everything twice
    axes.set_xlabel("sentences in the cluster")
    axes.set_ylabel("clusters")
    axes.set_title(f"{sum(sizes.values()):,} clusters")
    axes.grid(True, which="both", alpha=0.2)
    if sizes:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.plot(list(sizes), list(sizes.values()), "o", markersize=4, color="#1f5fa8")
    figure.savefig(path, format="png", dpi=120)
