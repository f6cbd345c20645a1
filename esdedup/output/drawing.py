"""Pictures of lines, dots, bars and words: as SVG, whose text stays text, or as PNG. Equal input gives equal bytes."""

from __future__ import annotations

import io
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

from esdedup.output.html import short


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
    "record": "#a83279",
}
"""`WRITING` has enough contrast on each of these."""

SMALL, USUAL, TITLE = 8.0, 9.0, 10.0
"""Sizes of text, in points."""

_LABELLED = ((15, range(1, 10)), (500, (1, 2, 5)), (math.inf, (1,)))
"""The end of a logarithmic axis, and the multiples of powers of ten that are labelled up to it."""

Points = Sequence[tuple[float, float]]


class Canvas(ABC):
    """A picture of this width and height, in points of 1/72 inch. The y axis points down, as in SVG."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height

    @abstractmethod
    def line(self, points: Points, colour: str, width: float = 1.0, dash: float = 0.0) -> None:
        """Draw a line through points; with `dash`, a broken one whose dashes and gaps are as long."""

    @abstractmethod
    def dot(self, at: tuple[float, float], radius: float, colour: str) -> None:
        """Draw a filled circle."""

    @abstractmethod
    def bar(self, at: tuple[float, float], width: float, height: float, colour: str) -> None:
        """Draw a filled rectangle, from its upper left corner."""

    @abstractmethod
    def words(
        self, at: tuple[float, float], text: str, colour: str, size: float = USUAL, anchor: str = "middle",
        *, upwards: bool = False,
    ) -> None:  # fmt: skip
        """Write a line of text whose middle height is at a point, which is its `start`, `middle` or `end`."""

    @abstractmethod
    def content(self) -> bytes:
        """Return the picture as the content of a file."""


class Svg(Canvas):
    """A picture without background."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__(width, height)
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}pt" '
            f'height="{height:g}pt" font-family="sans-serif">'
        ]

    def line(self, points: Points, colour: str, width: float = 1.0, dash: float = 0.0) -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        broken = f' stroke-dasharray="{dash:g}"' if dash else ""
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{broken}/>'
        )

    def dot(self, at: tuple[float, float], radius: float, colour: str) -> None:
        self._parts.append(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:.2f}" fill="{colour}"/>')

    def bar(self, at: tuple[float, float], width: float, height: float, colour: str) -> None:
        self._parts.append(
            f'<rect x="{at[0]:.1f}" y="{at[1]:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'
        )

    def words(
        self, at: tuple[float, float], text: str, colour: str, size: float = USUAL, anchor: str = "middle",
        *, upwards: bool = False,
    ) -> None:  # fmt: skip
        turned = f' transform="rotate(-90 {at[0]:.1f} {at[1]:.1f})"' if upwards else ""
        self._parts.append(
            f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" dy=".35em" font-size="{size:g}" text-anchor="{anchor}" '
            f'fill="{colour}"{turned}>{escape(text)}</text>'
        )

    def content(self) -> bytes:
        return "\n".join([*self._parts, "</svg>\n"]).encode()


class Png(Canvas):
    """A picture on the light ground, 120 dots an inch."""

    _DOTS = 120 / 72
    _FINER = 3  # drawn so many times larger, because Pillow draws without intermediate shades

    def __init__(self, width: float, height: float) -> None:
        from PIL import Image, ImageDraw  # only pictures need it

        super().__init__(width, height)
        self._scale = self._DOTS * self._FINER
        self._image = Image.new("RGB", (round(width * self._scale), round(height * self._scale)), LIGHT.paper)
        self._draw = ImageDraw.Draw(self._image)

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return x * self._scale, y * self._scale

    def line(self, points: Points, colour: str, width: float = 1.0, dash: float = 0.0) -> None:
        thick = max(1, round(width * self._scale))
        for some in _dashes(points, dash) if dash else [points]:
            self._draw.line([self._at(x, y) for x, y in some], fill=colour, width=thick, joint="curve")

    def dot(self, at: tuple[float, float], radius: float, colour: str) -> None:
        x, y = at
        self._draw.ellipse((*self._at(x - radius, y - radius), *self._at(x + radius, y + radius)), fill=colour)

    def bar(self, at: tuple[float, float], width: float, height: float, colour: str) -> None:
        self._draw.rectangle((*self._at(*at), *self._at(at[0] + width, at[1] + height)), fill=colour)

    def words(
        self, at: tuple[float, float], text: str, colour: str, size: float = USUAL, anchor: str = "middle",
        *, upwards: bool = False,
    ) -> None:  # fmt: skip
        from PIL import Image, ImageDraw, ImageFont

        font: Any = ImageFont.load_default(size * self._scale)
        text = text.replace("–", "-")  # which it lacks
        if not upwards:
            self._draw.text(self._at(*at), text, fill=colour, font=font, anchor=_ANCHORS[anchor])
            return
        length, high = round(font.getlength(text)) + 2, round(2 * size * self._scale)
        strip = Image.new("RGB", (length, high), LIGHT.paper)
        ImageDraw.Draw(strip).text((0, high / 2), text, fill=colour, font=font, anchor="lm")
        x, y = self._at(*at)
        self._image.paste(strip.rotate(90, expand=True), (round(x - high / 2), round(y - length / 2)))

    def content(self) -> bytes:
        from PIL import Image

        size = (round(self.width * self._DOTS), round(self.height * self._DOTS))
        out = io.BytesIO()
        self._image.resize(size, Image.Resampling.BOX).save(out, format="png")
        return out.getvalue()


_ANCHORS = {"start": "lm", "middle": "mm", "end": "rm"}

FORMS: dict[str, type[Canvas]] = {"png": Png, "svg": Svg}


def _dashes(points: Points, dash: float) -> Iterator[Points]:
    for (x, y), (to_x, to_y) in pairwise(points):
        length = math.hypot(to_x - x, to_y - y) or 1.0
        for begin in range(0, math.ceil(length / dash), 2):
            ends = (begin * dash / length, min(1.0, (begin + 1) * dash / length))
            yield [(x + share * (to_x - x), y + share * (to_y - y)) for share in ends]


class Scale(NamedTuple):
    """An axis from `low` to `high`, and the values that are labelled."""

    low: float
    high: float
    ticks: dict[float, str]
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """Return how far along the axis a value is."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def log_scale(low: float, high: float) -> Scale:
    """Return a logarithmic axis for counts."""
    subs = next(subs for last, subs in _LABELLED if high <= last)
    powers = range(math.ceil(math.log10(high)) + 1)
    values = [sub * 10**power for power in powers for sub in subs if low <= sub * 10**power <= high]
    return Scale(low, high, {value: f"{value:,}" if value < 100_000 else short(value) for value in values}, True)


SHARES = Scale(0, 1, {share / 5: f"{share / 5:.1f}" for share in range(6)})


class Plot:
    """A plot with axes on a canvas: `left` and `below` are the room for their labels."""

    def __init__(self, canvas: Canvas, x: Scale, y: Scale, left: float = 50.0, below: float = 40.0) -> None:
        self.canvas, self._x, self._y = canvas, x, y
        self.left, self.right = left, canvas.width - 24
        self.top, self.bottom = 30.0, canvas.height - below

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of two values."""
        return (
            self.left + self._x.share(x) * (self.right - self.left),
            self.bottom - self._y.share(y) * (self.bottom - self.top),
        )

    def frame(self, across: str, up: str, title: str) -> None:
        """Draw the grid, the axes and their labels, and the title."""
        draw = self.canvas
        for value, label in self._x.ticks.items():
            x, _ = self.at(value, self._y.low)
            draw.line([(x, self.top), (x, self.bottom + 3)], LIGHT.line, 0.6)
            draw.words((x, self.bottom + 11), label, LIGHT.muted)
        for value, label in self._y.ticks.items():
            _, y = self.at(self._x.low, value)
            draw.line([(self.left - 3, y), (self.right, y)], LIGHT.line, 0.6)
            draw.words((self.left - 6, y), label, LIGHT.muted, anchor="end")
        draw.line([(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)], LIGHT.line)
        draw.words(((self.left + self.right) / 2, self.bottom + 27), across, LIGHT.ink, TITLE)
        draw.words((9, (self.top + self.bottom) / 2), up, LIGHT.ink, TITLE, upwards=True)
        draw.words(((self.left + self.right) / 2, self.top - 14), title, LIGHT.ink, TITLE)

    def legend(self, at: tuple[float, float], named: Sequence[tuple[str, str]]) -> None:
        """Write what colours mean, one below the other."""
        for row, (colour, words) in enumerate(named):
            y = at[1] + 12 * row
            self.canvas.line([(at[0], y), (at[0] + 14, y)], colour, 2)
            self.canvas.words((at[0] + 19, y), words, LIGHT.muted, SMALL, "start")


def on_dark(picture: bytes) -> bytes:
    """Return an SVG in the colours for dark ground."""
    for light, dark in zip(LIGHT, DARK, strict=True):
        picture = picture.replace(light.encode(), dark.encode())
    return picture
