"""Every page in light and dark, wide and on a phone: contrast, labels, nothing that sticks out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.web.browser import Visit
from tests.web.corpus import ARABIC, BRIDGE, HEBREW, LONG, SCRIPT
from tests.web.served import Site

SIZES = {"wide": {"width": 1200, "height": 800}, "phone": {"width": 390, "height": 844}}
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
TYPED = (SCRIPT.replace("everybody", "nobody"), ARABIC[:50], f"{SCRIPT} {HEBREW} And {BRIDGE.format(1790, 400)}", LONG)


def sound(page: Page) -> None:
    """No rule of WCAG A or AA is broken, and nothing is wider than the window."""
    found = Axe().run(page, options=RULES).response["violations"]
    told = [(one["id"], [(node["target"], node["failureSummary"]) for node in one["nodes"][:3]]) for one in found]
    assert not told, (page.url, told)
    wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1], (page.url, wide)


def keep(page: Page, folder: Path, name: str) -> None:
    """A picture of the whole page; in ESDEDUP_TEST_SHOTS, if that is set."""
    kept = Path(os.environ.get("ESDEDUP_TEST_SHOTS") or folder)
    page.screenshot(path=kept / f"{name}.png", full_page=True)


@pytest.fixture(params=[(size, colours) for size in SIZES for colours in ("light", "dark")], ids="-".join)
def look(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_pages_are_for_all(visit: Visit, site: Site, kind: str, look: tuple[str, str], tmp_path: Path) -> None:
    size, colours = look
    if kind == "server" and look != ("phone", "dark"):
        return  # the same pages, as another test says
    page = visit(viewport=SIZES[size], color_scheme=colours, expected="404")
    for at, path in enumerate(site.pages()):
        page.goto(path)
        page.wait_for_function("[...document.images].every(image => image.complete)")
        sound(page)
        keep(page, tmp_path, f"{kind}-{size}-{colours}-{at:02}")
    page.goto("/")
    for at, text in enumerate(TYPED):
        page.locator("textarea").fill(text)
        if at == 2:
            page.get_by_role("button").click()
            expect(page.locator("#result .copied")).to_have_count(3)
            for line in page.locator("#result summary").all():
                line.click()
        else:
            expect(page.locator("#result .match").first).to_contain_text(text[:12])
        sound(page)
        keep(page, tmp_path, f"{kind}-{size}-{colours}-typed-{at}")


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
