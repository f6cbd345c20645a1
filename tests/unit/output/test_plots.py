"""Plots: files of both forms that are whole and always the same, and the numbers behind them."""

from __future__ import annotations

import pytest
from lxml import etree

from esdedup.analysis.names import KINDS
from esdedup.output.drawing import DARK, KIND_COLOURS, LIGHT, WRITING, on_dark
from esdedup.output.html import style
from esdedup.output.plots import SizeClass, classes, draw_cluster_sizes, draw_kinds, power_law
from tests.support.colours import contrast

SIZES = {size: 100_000 // size**2 for size in range(2, 200)} | {40_000: 1}
OF_KINDS = {"drift": {2: 14}, "identical": {2: 20, 3: 4}, "template": {6: 5, 14: 1}}


@pytest.mark.parametrize("sizes", [SIZES, {2: 1}, {}])
def test_histograms_are_whole_and_the_same_again(sizes: dict[int, int]) -> None:
    picture = draw_cluster_sizes(sizes, "svg")
    assert etree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
    assert picture == draw_cluster_sizes(sizes, "svg")
    assert picture != on_dark(picture)
    etree.fromstring(on_dark(picture))
    assert draw_cluster_sizes(sizes, "png").startswith(b"\x89PNG")


@pytest.mark.parametrize("sizes", [OF_KINDS, {}, {"template": SIZES}])
def test_plots_of_kinds_are_whole_and_the_same_again(sizes: dict[str, dict[int, int]]) -> None:
    picture = draw_kinds(sizes, "svg")
    told = "".join(etree.fromstring(picture).itertext())
    assert [kind for kind in KINDS if kind in told] == [kind for kind in KINDS if kind in sizes]
    assert picture == draw_kinds(sizes, "svg")
    assert draw_kinds(sizes, "png").startswith(b"\x89PNG")


def test_pictures_hold_text_and_nothing_from_elsewhere() -> None:
    for picture in (draw_cluster_sizes(SIZES, "svg"), draw_kinds(OF_KINDS, "svg")):
        tree = etree.fromstring(picture)
        told = "".join(tree.itertext())
        assert "size of the cluster" in told or "share of the clusters" in told
        assert not [name for node in tree.iter() for name in node.attrib if name.endswith("href")]


def test_a_power_law_is_found_again() -> None:
    law = power_law({size: round(10**7 * size**-2.5) for size in range(2, 100)} | {5000: 1})
    assert law is not None
    assert law.exponent == pytest.approx(-2.5, abs=0.01)
    assert law.factor == pytest.approx(10**7, rel=0.05)
    assert (law.first, law.last) == (2, 99)
    assert power_law({2: 100, 3: 50, 4: 9}) is None


def test_classes_hold_every_cluster_once() -> None:
    found = classes(SIZES)
    assert sum(found.values()) == sum(SIZES.values())
    assert found[SizeClass(5, 9)] == sum(SIZES[size] for size in range(5, 10))
    assert str(next(iter(found))) == "2"
    assert str(list(found)[-1]) == "10,000–99,999"
    assert classes({}) == {}


def test_plots_have_the_colours_of_pages_and_contrast() -> None:
    for look in (LIGHT, DARK):
        assert all(colour in style() for colour in look)
        assert contrast(look.muted, look.paper) >= 4.5
        assert contrast(look.accent, look.paper) >= 3
    assert list(KIND_COLOURS) == list(KINDS)
    assert all(contrast(WRITING, colour) >= 4.5 for colour in KIND_COLOURS.values())
