"""What a person does with the page, in a real browser."""

from __future__ import annotations

import csv
import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

import esdedup
from tests.system.web.browser import Visit, expect
from tests.system.web.corpus import ARABIC, BRIDGE, HEBREW, SCRIPT, TITLES
from tests.system.web.served import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page


def matches(page: Page) -> Any:
    return page.locator("#result .match")


def expect_held(page: Page, held: list[Any], count: int) -> None:
    """A route is told of a request after the page is."""
    until = time.monotonic() + 30
    while len(held) < count and time.monotonic() < until:
        page.wait_for_timeout(20)
    assert len(held) == count


def field(page: Page, name: str) -> Any:
    return page.locator(f"main [name={name}]")


def test_what_is_typed_is_checked_as_it_stands(page: Page, site: Site) -> None:
    page.goto("/")
    box = page.locator("textarea")
    expect(box).to_be_focused()
    near = SCRIPT.replace("everybody", "nobody")
    box.press_sequentially(near, delay=2)
    # as lists: while the sentence is unfinished, its end differs too
    expect(matches(page).first.locator("del .words")).to_have_text(["nobody"])
    expect(matches(page).first.locator("ins .words")).to_have_text(["everybody"])
    expect(matches(page).first.locator("del .unseen").first).to_have_text("only in your text: ")
    expect(matches(page).first).to_contain_text("<script>alert(1)</script>")
    told = site.post("/api/check", {"text": near}).json
    expect(page.locator("#status")).to_have_text(f"Already said in {told['documents']} articles")
    assert matches(page).count() == len(told["similar"])
    expect(matches(page).first.locator(".scores")).to_contain_text("near-duplicate")
    expect(matches(page).first.locator(".scores")).to_contain_text(re.compile(r"(very|much) like, 0\.\d\d"))
    assert page.locator("#result script").count() == 0
    box.fill("")
    expect(page.locator("#result")).to_be_empty()
    box.fill(HEBREW[:50])
    expect(page.locator(".completions li").first).to_have_attribute("data-text", HEBREW)
    box.fill("Qqqq xyzzy plugh frobnicate.")
    expect(page.locator("#status")).to_have_text("Nothing like it")
    box.fill("q")
    expect(page.locator("#status")).to_have_text("Type at least two characters")
    expect(page.locator("#result .empty")).to_contain_text("Only letters and digits count")
    box.fill("The old bridge")
    expect(page.locator("#status")).to_contain_text("completion")
    expect(page.locator(".completions")).to_contain_text("The old bridge over the river Lorn")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("In 1950 Dr. John Smith of the U.S. N", "/check"),
        ("It stood there. It fell. Then", "/text"),
        ("هل هذا صحيح؟ نعم هذا صحيح؟", "/text"),
        ("One line\nand another", "/text"),
        (SCRIPT, "/check"),
    ],
)
def test_what_is_one_sentence(page: Page, text: str, path: str) -> None:
    page.goto("/")
    with page.expect_request(lambda one: one.method == "POST") as asked:
        page.locator("textarea").fill(text)
    assert asked.value.url.endswith(path)
    expect(page.locator("#result > *")).not_to_have_count(0)


def test_newer_typing_overtakes_a_slow_answer(page: Page) -> None:
    held: list[Any] = []
    page.route("**/check", lambda route: held.append(route))
    page.goto("/")
    box = page.locator("textarea")
    with page.expect_request("**/check"):
        box.fill(SCRIPT)
    with page.expect_event("requestfailed") as failed, page.expect_request("**/check"):
        box.fill(ARABIC)
    expect_held(page, held, 2)
    assert failed.value == held[0].request  # it was called off
    held[1].continue_()
    expect(matches(page).first).to_contain_text(ARABIC[:40])
    page.unroute("**/check")
    expect(matches(page).first).to_contain_text(ARABIC[:40])
    box.fill(ARABIC)
    box.press_sequentially("abcdefgh", delay=10)  # a key and the next: one question
    expect(page.locator("#result")).not_to_have_attribute("aria-busy", "true")


PASTE = """text => {
  const box = document.querySelector("textarea");
  box.focus();
  document.execCommand("insertText", false, text);
  box.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste", bubbles: true }));
}"""


def test_a_pasted_text_is_checked_sentence_by_sentence(page: Page) -> None:
    page.goto("/")
    new = "Nobody has ever written this sentence, and nobody ever will again in any of all worlds."
    like = SCRIPT.replace("everybody who opened it", "anybody who visited us")
    page.evaluate(PASTE, f"{SCRIPT} {new} {BRIDGE.format(1790, 400)} {like}")
    expect(page.locator("#result .copied")).to_have_count(2)
    expect(page.locator("#result .new")).to_have_text(new)
    expect(page.locator("#result .similar .who")).to_contain_text("similar to a sentence in")
    expect(page.locator("#status")).to_contain_text("2 of 4 sentences are in the collection")
    expect(page.locator("#status")).to_contain_text("1 more is similar to a sentence there.")
    first = page.locator("#result .copied").first
    expect(first.locator("mark")).to_have_text(SCRIPT)
    expect(first.locator(".who")).to_contain_text("word for word in")
    expect(first.locator(".who a").first).to_have_attribute("href", re.compile("^/articles/"))
    expect(first.locator("summary")).to_have_count(0)  # nothing differs


def test_a_long_text_is_checked_while_one_waits(page: Page, site: Site) -> None:
    texts = [row["text"] for one in esdedup.clusters(store=site.store) for row in one["members"]]
    text = " ".join(dict.fromkeys(texts))
    text = (text * (20_000 // len(text) + 1))[:20_000]
    page.goto("/")
    began = time.monotonic()
    page.evaluate(PASTE, text)
    expect(page.locator("#status")).to_contain_text("are in the collection")
    assert time.monotonic() - began < 5  # two seconds on an idle machine
    assert page.locator("#result .copied .who a").count() > 50


def test_what_was_typed_is_there_again_after_a_look_at_something_else(page: Page) -> None:
    page.goto("/")
    page.locator("textarea").fill(SCRIPT)
    matches(page).first.locator(".who a").first.click()
    expect(page.locator("h2").first).to_have_text("Shares sentences with")
    page.go_back()
    expect(page.locator("textarea")).to_have_value(SCRIPT)
    expect(matches(page).first).to_contain_text("<script>alert(1)</script>")


def test_clusters_are_filtered_sorted_and_paged_in_the_address(page: Page, site: Site) -> None:
    page.goto("/clusters")
    heads = page.locator(".heads .head")
    expect(heads).to_have_count(20)
    first = heads.first.inner_text()
    page.locator("a[rel=next]").click()
    expect(page).to_have_url(re.compile("after=[0-9a-f]{16}&page=2$"))
    total = len(list(esdedup.clusters(store=site.store)))
    until = min(total, 40)
    expect(heads).to_have_count(until - 20)
    expect(page.locator(".range")).to_have_text(f"21–{until} of {total} clusters")
    second, address = heads.first.inner_text(), page.url
    heads.first.locator("a").first.click()
    expect(page.locator("h1")).to_contain_text("sentences")
    page.go_back()
    expect(page).to_have_url(address)
    expect(heads.first).to_have_text(second, use_inner_text=True)
    page.get_by_text("First page").click()
    expect(heads.first).to_have_text(first, use_inner_text=True)

    [bridge] = [one for one in esdedup.clusters(store=site.store) if "The old bridge" in one["members"][0]["text"]]
    field(page, "kind").select_option(bridge["kind"])
    field(page, "sort").select_option("jaccard")
    field(page, "text").fill("old bridge")
    page.get_by_role("button", name="Show").click()
    expect(heads).to_have_count(1)
    expect(heads.first).to_contain_text("The old bridge over the river Lorn")
    expect(field(page, "kind")).to_have_value(bridge["kind"])
    expect(field(page, "sort")).to_have_value("jaccard")
    expect(field(page, "text")).to_have_value("old bridge")
    field(page, "min_size").fill("")
    field(page, "text").fill('nothing <like> "this"')
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".empty")).to_be_visible()
    expect(field(page, "text")).to_have_value('nothing <like> "this"')


def test_lists_go_on_and_back_without_scripts(visit: Visit, site: Site) -> None:
    page = visit(java_script_enabled=False)
    total = len(list(esdedup.clusters(store=site.store)))
    page.goto("/clusters?limit=6")
    pages = [page.locator(".heads").inner_text()]
    while page.locator("a[rel=next]").count():
        page.locator("a[rel=next]").click()
        pages.append(page.locator(".heads").inner_text())
        first = 6 * len(pages) - 5
        expect(page.locator(".range")).to_have_text(f"{first}–{min(first + 5, total)} of {total} clusters")
    assert len(set(pages)) == len(pages) == -(-total // 6)
    for at in reversed(range(len(pages) - 1)):
        page.locator("a[rel=prev]").click()
        assert page.locator(".heads").inner_text() == pages[at]
    expect(page.locator("a[rel=prev]")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/clusters\?limit=6$"))
    page.locator("a[rel=next]").click()
    page.goto(page.url.replace("page=2", "page=0&back=<script>"))
    expect(page.locator("a[rel=prev]")).to_have_count(0)
    page.get_by_text("First page").click()
    assert page.locator(".heads").inner_text() == pages[0]
    page.goto("/articles?page=9999")
    expect(page.locator("tbody tr")).not_to_have_count(0)
    if page.locator("a[rel=prev]").count():
        page.locator("a[rel=prev]").click()
        expect(page.locator("a[rel=next]")).to_have_count(1)


def test_a_cluster_its_articles_and_its_file(page: Page, site: Site, tmp_path: Path) -> None:
    page.goto("/contradictions")
    told = page.locator(".contradiction").first
    expect(told.locator("tbody tr")).not_to_have_count(0)
    told.get_by_role("link", name="its cluster").click()
    expect(page).to_have_url(re.compile("/clusters/[0-9a-f]{16}$"))
    [whole] = [one for one in esdedup.clusters(store=site.store) if "The old bridge" in one["members"][0]["text"]]
    identity = whole["id"]
    page.goto(f"/clusters/{identity}")
    expect(page.locator("h1")).to_contain_text(f"{len(TITLES)} sentences")  # each article says it
    expect(page.locator(".aligned li:not(.more)")).to_have_count(whole["distinct"])
    assert page.locator(".aligned .slot").count() > 0
    expect(page.locator(".graph circle")).to_have_count(whole["distinct"])
    assert page.locator(".graph line.weakest").count() >= 1
    for form in ("json", "csv"):
        with page.expect_download() as download:
            page.get_by_role("link", name=form.upper(), exact=True).click()
        assert download.value.suggested_filename == f"{identity}.{form}"
        download.value.save_as(tmp_path / form)
    assert json.loads((tmp_path / "json").read_text("utf-8")) == whole.to_dict()
    with (tmp_path / "csv").open(encoding="utf-8", newline="") as lines:
        assert len(list(csv.DictReader(lines))) == whole["size"]

    link = page.locator(".who a[href*='script']").first
    link.click()
    assert unquote(page.url).endswith("/articles/odd/script")
    expect(page.locator("h1")).to_have_text('"><script>alert("title")</script>')
    expect(page.locator(".heads .head")).not_to_have_count(0)
    outside = page.locator("a.outside").first
    expect(outside).to_have_attribute("href", re.compile("^https://wiki.example/"))
    expect(outside).to_have_attribute("rel", "noreferrer")
    page.get_by_role("link", name="All its clusters").click()
    expect(field(page, "article")).not_to_have_value("")  # whose clusters these are
    expect(page.locator(".heads .head")).not_to_have_count(0)


def test_who_said_it_first(page: Page, site: Site) -> None:
    page.goto("/clusters?sort=copies")
    page.locator(".heads .head a").first.click()
    lines = page.locator(".lineage li")
    tree = esdedup.lineage(store=site.store)["trees"][0]
    expect(lines).to_have_count(len(tree["members"]))
    expect(lines.first.locator("time")).to_have_attribute("datetime", tree["members"][0]["timestamp"])
    expect(lines.first.locator("time")).to_have_text(tree["members"][0]["timestamp"][:16].replace("T", " "))
    first = tree["members"][0]
    expect(page.locator(".lineage .depth-1").first).to_contain_text(f"copied from {first['id']}")
    expect(page.locator(".lineage .depth-1").first).not_to_have_text(re.compile(r"by \S+copied"))


def test_templates_articles_and_the_overview(page: Page, site: Site) -> None:
    page.goto("/templates")
    field(page, "min_size").fill("2")
    page.get_by_role("button", name="Show").click()
    page.locator(".heads a").first.click()
    table = next(iter(esdedup.templates(store=site.store, min_subjects=2)))
    expect(page.locator("tbody tr")).to_have_count(len(table.sentences))
    expect(page.locator("thead th")).to_have_count(len(table.columns) + 1)
    page.get_by_role("link", name="Articles", exact=True).click()
    pairs = min(200, len(esdedup.overlap(store=site.store).rows))
    expect(page.locator("tbody tr")).to_have_count(min(50, pairs))
    expect(page.locator(".range")).to_contain_text(f"{pairs} pairs")
    page.get_by_role("link", name="Overview").click()
    expect(page.locator(".charts svg")).to_have_count(3)
    clusters = list(esdedup.clusters(store=site.store))
    drifted = sum(one["kind"] == "drift" for one in clusters)
    page.get_by_role("link", name=f"drift {drifted}").click()
    expect(page.locator(".range")).to_have_text(f"{drifted} clusters")
    page.go_back()
    pairs = sum(one["size"] == 2 for one in clusters)
    page.get_by_role("link", name=f"{pairs} clusters of 2 sentences", exact=True).click()
    expect(page).to_have_url(re.compile("min_size=2&max_size=2$"))


def test_by_keys_alone(page: Page) -> None:
    page.goto("/clusters")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(field(page, "kind")).to_be_focused()  # behind the head
    order = []
    for _ in range(8):
        order.append(page.evaluate("document.activeElement.name || document.activeElement.tagName"))
        page.keyboard.press("Tab")
    assert order == ["kind", "min_size", "max_size", "article", "text", "sort", "BUTTON", "A"]
    page.keyboard.press("/")
    expect(field(page, "article")).to_be_focused()
    page.goto("/")
    page.locator("h1").click()
    page.keyboard.press("/")
    box = page.locator("textarea")
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    page.keyboard.type("and/or")
    expect(box).to_have_value("and/or")
    page.keyboard.press("Tab")
    each = page.get_by_role("button", name="Check each sentence")
    expect(each).to_be_focused()
    box.fill(SCRIPT.replace("everybody", "nobody"))
    each.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#result summary").first).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Check it as one")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#result .who a").first).to_be_focused()
    page.locator("#result summary").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#result .diff").first).to_be_visible()


def test_without_scripts(visit: Visit) -> None:
    page = visit(java_script_enabled=False)
    page.goto("/")
    page.locator("textarea").fill(f"{SCRIPT} {BRIDGE.format(1790, 400)}")
    page.get_by_role("button", name="Check each sentence").click()
    assert page.url.endswith("/text")
    expect(page.locator(".copied")).to_have_count(2)
    page.goto("/")
    page.locator("textarea").fill("The old bridge over")
    page.get_by_role("button", name="Check it as one").click()
    assert page.url.endswith("/check")
    expect(page.locator("main .completions li").first).to_contain_text("The old bridge over the river Lorn")
    expect(page.locator("main .match").first).to_contain_text("The old bridge over")
    page.goto("/clusters")
    field(page, "kind").select_option("identical")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".heads .head")).not_to_have_count(0)
    page.locator(".heads .head a").first.click()
    expect(page.locator(".aligned li")).not_to_have_count(0)


def test_a_server_that_is_busy_or_gone(visit: Visit) -> None:
    page = visit(expected="Failed to load resource")
    page.goto("/")
    busy = "<main><h1>Not now</h1><p class=lead>Busy.</p></main>"
    page.route("**/check", lambda route: route.fulfill(status=503, body=busy))
    page.locator("textarea").fill(SCRIPT)
    expect(page.locator("#status")).to_have_text("Busy.")
    expect(page.locator("#result")).to_have_text("Busy.")
    page.unroute("**/check")
    page.route("**/check", lambda route: route.abort())
    page.locator("textarea").fill(ARABIC)
    expect(page.locator("#status")).to_have_text("The server does not answer.")
    expect(page.locator("#result")).to_have_text("The server does not answer.")
    page.unroute("**/check")
    page.locator("textarea").fill(HEBREW)
    expect(matches(page).filter(has_text=HEBREW).first).to_contain_text("word for word")
