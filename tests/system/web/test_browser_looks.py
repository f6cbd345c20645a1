"""Every page in light and dark, wide and on a phone: contrast, labels, nothing that sticks out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.system.web.browser import Visit, expect
from tests.system.web.corpus import ARABIC, BRIDGE, HEBREW, LONG, SCRIPT
from tests.system.web.served import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDE, PHONE = {"width": 1200, "height": 800}, {"width": 390, "height": 844}
ALL = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
LOOKS = {
    "type": "rule",
    "values": ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"],
}
TYPED = (SCRIPT.replace("everybody", "nobody"), ARABIC[:50], f"{SCRIPT} {HEBREW} And {BRIDGE.format(1790, 400)}", LONG)


def sound(page: Page, keep: Path) -> None:
    """No rule of WCAG A or AA is broken, and nothing is wider than the window: wide and light, narrow and dark."""
    from axe_playwright_python.base import AXE_SCRIPT

    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    for size, colours, rules in ((WIDE, "light", ALL), (PHONE, "dark", LOOKS)):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=colours)  # type: ignore[arg-type]
        found = page.evaluate("async rules => (await axe.run(document, {runOnly: rules})).violations", rules)
        told = [(one["id"], [(node["target"], node["failureSummary"]) for node in one["nodes"][:3]]) for one in found]
        assert not told, (page.url, colours, told)
        wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide[0] <= wide[1], (page.url, wide)
        shots = os.environ.get("ESDEDUP_TEST_SHOTS")
        where = Path(shots) / keep.name if shots else keep
        page.screenshot(path=where.with_suffix(f".{colours}.png"), full_page=shots is not None)


@pytest.fixture
def kind() -> str:
    """Pages are the same on every store, as another test says."""
    return "embedded"


def test_pages_are_for_all(visit: Visit, site: Site, tmp_path: Path) -> None:
    page = visit(expected="404")
    for at, path in enumerate(site.pages()):
        page.goto(path)
        page.wait_for_function("[...document.images].every(image => image.complete)")
        sound(page, tmp_path / f"page-{at:02}")


def test_answers_are_for_all(page: Page, tmp_path: Path) -> None:
    page.goto("/")
    for at, text in enumerate(TYPED):
        page.locator("textarea").fill(text)
        if at == 2:
            page.get_by_role("button", name="Check each sentence").click()
            expect(page.locator("#result .copied")).to_have_count(3)
            for line in page.locator("#result summary").all():
                line.click()
        else:
            expect(page.locator("#result .match .text").first).to_contain_text(text[:12])
        sound(page, tmp_path / f"typed-{at}")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_overview_fits_one_screen(visit: Visit, colours: str) -> None:
    page = visit(viewport={"width": 1280, "height": 800}, color_scheme=colours)
    page.goto("/overview")
    size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert size == [1280, 800]
    tops = page.evaluate(
        "[...document.querySelectorAll('.charts section')].map(one => one.getBoundingClientRect().top)"
    )
    assert len(tops) == 3 and len(set(tops)) == 1  # side by side
    for folded in page.locator("details").all():
        assert folded.get_attribute("open") is None
        folded.locator("summary").click()
        expect(folded.locator("table, p").first).to_be_visible()


def test_differences_are_seen_without_colours(visit: Visit, tmp_path: Path) -> None:
    page = visit(forced_colors="active")
    page.goto("/")
    page.locator("textarea").fill(SCRIPT.replace("everybody", "nobody"))
    line = "element => getComputedStyle(element).textDecorationLine"
    sign = "element => getComputedStyle(element, '::before').content"
    for mark, decoration, shown in (("del", "line-through", "−"), ("ins", "underline", "+")):
        found = page.locator(f"#result .match {mark}").first
        assert found.locator(".words").evaluate(line) == decoration
        assert shown in found.evaluate(sign)
        assert found.evaluate("element => getComputedStyle(element).borderTopStyle") != "none"


def test_text_from_right_to_left(page: Page) -> None:
    page.goto("/")
    box = page.locator("textarea")
    box.fill(HEBREW)
    expect(page.locator("#result .match .text").first).to_contain_text(HEBREW[:20])
    direction = "element => getComputedStyle(element).direction"
    assert box.evaluate(direction) == "rtl"
    assert page.locator("#result .match .text").first.evaluate(direction) == "rtl"
    assert page.locator("#result .match .who").first.evaluate(direction) == "ltr"
    page.goto("/clusters?text=" + ARABIC.split()[0])
    assert page.locator(".head .text").first.evaluate(direction) == "rtl"
    page.locator(".head a").first.click()
    assert page.locator(".aligned .text").first.evaluate(direction) == "rtl"
