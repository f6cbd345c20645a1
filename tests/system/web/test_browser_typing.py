"""What happens while a person types: completions by keyboard, answers in their order, and input of any kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.system.web.browser import Visit, expect
from tests.system.web.corpus import ARABIC, HEBREW, SCRIPT
from tests.system.web.served import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

BRIDGE = "The old bridge over the river Lorn was built in"

TYPE = """text => {
  const box = document.querySelector("textarea");
  box.value = text;
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
}"""


@pytest.fixture
def kind() -> str:
    """What the browser does is the same on every store."""
    return "embedded"


def options(page: Page) -> Any:
    return page.locator("[role=listbox] [role=option]")


def chosen(page: Page) -> Any:
    return page.locator("[role=option][aria-selected=true]")


def test_completions_by_keyboard(page: Page, site: Site) -> None:
    page.goto("/")
    box = page.locator("textarea")
    box.press_sequentially(BRIDGE)
    told = site.post("/api/check", {"text": BRIDGE}).json["completions"]
    for place, one in enumerate(told[:6]):  # what was typed before had other completions
        expect(options(page).nth(place)).to_have_attribute("data-text", one["text"])
    expect(options(page)).to_have_count(min(len(told), 6))
    expect(options(page).first).to_contain_text(f"in {told[0]['documents']} article")
    expect(page.locator("#status")).to_contain_text("The arrow keys choose one.")
    expect(chosen(page)).to_have_count(0)

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(chosen(page)).to_have_attribute("data-text", told[1]["text"])
    expect(box).to_be_focused()
    expect(box).to_have_attribute("aria-activedescendant", chosen(page).get_attribute("id"))
    assert page.locator(f"#{box.get_attribute('aria-controls')}").get_attribute("role") == "listbox"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(chosen(page)).to_have_count(0)  # back in the text
    assert box.get_attribute("aria-activedescendant") is None
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(box).to_have_value(told[0]["text"])
    expect(page.locator("#status")).to_contain_text("Already said in")
    expect(page.locator("#result .match .badge").first).to_have_text("word for word")
    expect(options(page)).to_have_count(0)
    page.keyboard.press("Enter")  # there is nothing to choose, so this is the end of a line
    expect(box).to_have_value(told[0]["text"] + "\n")


def test_completions_are_closed_until_one_types_on(page: Page) -> None:
    page.goto("/")
    box = page.locator("textarea")
    box.press_sequentially(BRIDGE)
    expect(options(page).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("[data-completions]")).to_be_hidden()
    expect(box).to_have_value(BRIDGE)
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(chosen(page)).to_have_count(0)
    box.press_sequentially(" 17")
    expect(options(page).first).to_be_visible()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")  # moves in the text, because there is more of it
    expect(chosen(page)).to_have_count(0)
    box.press("End")
    options(page).nth(1).click()
    expect(box).to_be_focused()
    expect(box).to_have_value(re.compile(rf"^{BRIDGE} 17\d\d and carries"))


def test_answers_never_come_out_of_order(page: Page) -> None:
    """Not even if a request cannot be called off: here the browser pays no heed to that."""
    page.goto("/")
    page.evaluate("""() => {
      const real = window.fetch;
      window.answers = [];
      window.fetch = async (path, how) => {
        const answer = await real(path, { ...how, signal: undefined });
        await new Promise(resolve => window.answers.push(resolve));
        return answer;
      };
    }""")
    box = page.locator("textarea")
    for at, text in enumerate((SCRIPT, ARABIC, HEBREW), 1):
        box.fill(text)
        page.wait_for_function("at => window.answers.length === at", arg=at)
    page.evaluate("window.answers[2]()")
    said = page.locator("#result .match .text").first
    expect(said).to_contain_text(HEBREW[:40])
    page.evaluate("window.answers[0](), window.answers[1]()")
    page.wait_for_timeout(300)
    expect(said).to_contain_text(HEBREW[:40])
    expect(page.locator("#result")).not_to_have_attribute("aria-busy", "true")
    box.fill("")
    expect(page.locator("#result")).to_be_empty()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "^$"),
        (" \n\t ", "^$"),
        ("<script>alert(1)</script><img src=x onerror=alert(2)>", "like this|similar|Nothing"),
        ("The page said\0 <script>alert(1)</script>\x07\x1b[31m", "like this|similar"),
        ("The old \u202eegdirb\u202c bridge \u2066over\u200f the river \u202eLorn", "like this|similar"),
        ("\ud83d and \udc00 alone, \ufffe\uffff", "like this|similar|Nothing"),
        ("👩‍👩‍👧‍👦🇫🇷🧑🏽‍🚀", "like this|similar|Nothing"),
        ("x" * 20_000, "too short or too long"),
        ("long " * 40_000, "too short or too long"),
        ("long " * 40_001, "200,000 characters"),
        ("!?…", "Type at least two characters"),
        ("水", "Nothing like it"),
    ],
    ids=range(12),
)
def test_any_input(visit: Visit, text: str, said: str) -> None:
    page = visit(expected="Failed to load resource")
    page.goto("/")
    units = [int.from_bytes(one, "little") for one in _pairs(text.encode("utf-16-le", "surrogatepass"))]
    made = "units => { let text = ''; for (const unit of units) text += String.fromCharCode(unit); return text; }"
    page.evaluate(f"units => ({TYPE})(({made})(units))", units)
    expect(page.locator("#status")).to_have_text(re.compile(said))
    expect(page.locator("#result")).not_to_have_attribute("aria-busy", "true")
    if text.strip():
        expect(page.locator("#result > *")).not_to_have_count(0)
    assert page.locator("#result :is(script, img)").count() == 0
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def _pairs(data: bytes) -> list[bytes]:
    return [data[at : at + 2] for at in range(0, len(data), 2)]
