"""What all plots of results share: their look on light and dark ground, and files with reproducible bytes."""

from __future__ import annotations

import io
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from esdedup.output.html import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Look(NamedTuple):
    """Colours of a plot: those of the style sheet of pages."""

    paper: str
    ink: str
    muted: str
    line: str
    accent: str


LIGHT = Look("#ffffff", "#1d1c1a", "#5f5b54", "#dcd9d2", "#1f5fa8")
DARK = Look("#16181b", "#e9e7e2", "#a9a59c", "#363a40", "#8ab8f0")

WRITING = "#fefefe"
"""The colour of text on coloured ground, whatever is behind the plot."""

KIND_COLOURS = {
    "template": "#2f6cb5",
    "identical": "#6d6d69",
    "copyediting": "#0f7a6d",
    "drift": "#b8431d",
    "references": "#8250b0",
    "other": "#8a6512",
}
"""`WRITING` has enough contrast on each of these."""


_ALONE = Lock()  # settings of matplotlib apply to the whole process


def new_axes(height: float, left: float = 0.1) -> tuple[Figure, Axes]:
    """Return a figure of this height (inches) with one plot, `left` of its width from the edge."""
    # this import takes a second, and only plots need it
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, height), facecolor=LIGHT.paper)
    # an automatic layout would draw everything twice
    axes = figure.add_axes((left, 0.54 / height, 0.95 - left, 1 - 1 / height), facecolor="none")
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(LIGHT.line)
    axes.tick_params(which="both", color=LIGHT.line, labelcolor=LIGHT.muted, labelsize=9)
    axes.xaxis.label.set_color(LIGHT.ink)
    axes.yaxis.label.set_color(LIGHT.ink)
    axes.title.set_color(LIGHT.ink)
    axes.title.set_fontsize(10)
    return figure, axes


def counted(value: float, _: float) -> str:
    """Format a count at an axis; empty below one."""
    return "" if value < 1 else f"{value:,.0f}" if value < 100_000 else short(value)


def written(figure: Figure, form: str) -> bytes:
    """Return the figure as a file for light ground, `png` or `svg`.

    An SVG has a transparent background, and its text stays text.
    """
    from matplotlib import rc_context

    out = io.BytesIO()
    if form == "png":
        figure.savefig(out, format="png", dpi=120)
    else:
        # otherwise ids would be random, and the time would be written
        with _ALONE, rc_context({"svg.hashsalt": "esdedup", "svg.fonttype": "none"}):
            figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return out.getvalue()


def on_dark(picture: bytes) -> bytes:
    """Return an SVG in the colours for dark ground."""
    for light, dark in zip(LIGHT, DARK, strict=True):
        picture = picture.replace(light.encode(), dark.encode())
    return picture
