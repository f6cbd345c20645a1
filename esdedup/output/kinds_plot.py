"""The kinds of clusters by size: for each range of sizes, the shares of the kinds."""

from __future__ import annotations

from collections.abc import Mapping

from esdedup.analysis.kind_names import KINDS
from esdedup.output.drawing import KIND_COLOURS, LIGHT, WRITING, new_axes, written
from esdedup.output.sizes import classes

_ROOM = 0.017
"""The share of a bar that one letter takes."""


def draw_kinds(sizes: Mapping[str, Mapping[int, int]], form: str) -> bytes:
    """Return a `png` or `svg` with one bar for each range of sizes: the share of its clusters of each kind.

    `sizes` are those of the clusters of each kind, as `Store.cluster_sizes` returns them.
    """
    total: dict[int, int] = {}
    for some in sizes.values():
        for size, count in some.items():
            total[size] = total.get(size, 0) + count
    bars = [(size_class, count) for size_class, count in classes(total).items() if count]
    figure, axes = new_axes(1.3 + 0.34 * max(len(bars), 1), left=0.25)
    axes.set_xlabel("share of the clusters of this size")
    axes.set_ylabel("size (clusters)" if len(bars) > 5 else "")
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_yticks(range(len(bars)), [f"{size_class}  ({count:,})" for size_class, count in bars])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    for place, (size_class, count) in enumerate(bars):
        begin = 0.0
        for kind in KINDS:
            some = sizes.get(kind, {})
            share = sum(some[size] for size in some if size_class.first <= size <= size_class.last) / count
            axes.barh(place, share, left=begin, height=0.72, color=KIND_COLOURS[kind], edgecolor=LIGHT.paper)
            if share > _ROOM * (len(kind) + 1):
                axes.text(begin + share / 2, place, kind, ha="center", va="center", color=WRITING, fontsize=8)
            begin += share
    kinds = [kind for kind in KINDS if sizes.get(kind)]
    if kinds:
        handles = [axes.barh(0, 0, color=KIND_COLOURS[kind]) for kind in kinds]
        axes.legend(
            handles, kinds, ncols=len(kinds), frameon=False, labelcolor=LIGHT.ink, fontsize=8, loc="lower right",
            bbox_to_anchor=(1.02, 0.98), handlelength=0.9, columnspacing=0.9,
        )  # fmt: skip
    return written(figure, form)
