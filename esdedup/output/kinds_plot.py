"""The kinds of clusters by size: for each range of sizes, the shares of the kinds."""

from __future__ import annotations

from collections.abc import Mapping

from esdedup.analysis.kind_names import KINDS
from esdedup.output.drawing import FORMS, KIND_COLOURS, LIGHT, SMALL, TITLE, USUAL, WRITING
from esdedup.output.sizes import classes

_ROOM = 0.017
"""The share of a bar that one letter takes."""
_WIDTH, _LEFT, _ROW, _TOP = 504.0, 126.0, 24.0, 34.0


def draw_kinds(sizes: Mapping[str, Mapping[int, int]], form: str) -> bytes:
    """Return a `png` or `svg` with one bar for each range of sizes: the share of its clusters of each kind.

    `sizes` are those of the clusters of each kind, as `Store.cluster_sizes` returns them.
    """
    total: dict[int, int] = {}
    for some in sizes.values():
        for size, count in some.items():
            total[size] = total.get(size, 0) + count
    bars = [(size_class, count) for size_class, count in classes(total).items() if count]
    below = _TOP + _ROW * max(len(bars), 1)
    canvas, whole = FORMS[form](_WIDTH, below + 44), _WIDTH - 26 - _LEFT
    for tenth in range(0, 11, 2):
        x = _LEFT + whole * tenth / 10
        canvas.line([(x, below), (x, below + 4)], LIGHT.line)
        canvas.words((x, below + 12), f"{tenth / 10:.0%}", LIGHT.muted)
    canvas.words((_LEFT + whole / 2, below + 30), "share of the clusters of this size", LIGHT.ink, TITLE)
    if len(bars) > 5:
        canvas.words((9, (_TOP + below) / 2), "size (clusters)", LIGHT.ink, TITLE, upwards=True)
    for row, (size_class, count) in enumerate(bars):
        top, begin = _TOP + _ROW * row + 3, _LEFT
        canvas.words((_LEFT - 6, top + _ROW / 2 - 3), f"{size_class}  ({count:,})", LIGHT.muted, USUAL, "end")
        for kind in KINDS:
            some = sizes.get(kind, {})
            share = sum(some[size] for size in some if size_class.first <= size <= size_class.last) / count
            if share:
                canvas.bar((begin, top), whole * share, _ROW - 7, KIND_COLOURS[kind])
            if share > _ROOM * (len(kind) + 1):
                canvas.words((begin + whole * share / 2, top + _ROW / 2 - 3), kind, WRITING, SMALL)
            begin += whole * share
    x = _LEFT
    for kind in KINDS:
        if sizes.get(kind):
            canvas.bar((x, _TOP - 20), 8, 8, KIND_COLOURS[kind])
            canvas.words((x + 12, _TOP - 16), kind, LIGHT.ink, SMALL, "start")
            x += 28 + 4.4 * len(kind)
    return canvas.content()
