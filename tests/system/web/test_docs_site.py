"""The site of the documentation: its links lead somewhere, and it works in a browser that reaches no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scripts.docs_site import Site, ordered
from tests.system.web.browser import expect

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site(tmp_path_factory.mktemp("site"))
    site.build()
    return site


def test_every_link_leads_somewhere(made: Site) -> None:
    wrong, outside = made.faults()
    assert wrong == []
    assert all(link.startswith("http") for link in outside)
    page = made.site / "tutorials" / "corpus.html"
    page.write_text(page.read_text("utf-8") + '<a href="../nowhere.html"></a><a href="../dedupe.html#no"></a>', "utf-8")
    wrong, _ = made.faults()
    assert [line.rpartition(": ")[0] for line in wrong] == [
        "tutorials/corpus.html: ../nowhere.html",
        "tutorials/corpus.html: ../dedupe.html#no",
    ]


def test_every_page_has_a_twin_and_is_listed(made: Site) -> None:
    listed = (made.site / "llms.txt").read_text("utf-8")
    for page in ordered():
        assert (made.site / page).with_suffix(".html").is_file()
        assert f"({page})" in listed
        assert (made.site / page).read_text("utf-8").startswith("# ")
    pages = {path.relative_to(made.pages).as_posix() for path in made.pages.rglob("*.md")}
    assert pages == set(ordered())


def test_search_answers_in_files_without_a_network(made: Site, browser: Browser) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto((made.site / "tutorials" / "wiki.html").as_uri())
    page.locator("button.md-search__button").first.click()
    page.get_by_placeholder("Search").first.fill("rethreshold")
    expect(page.get_by_text("Deduplicated").first).to_be_visible(timeout=20_000)
    page.keyboard.press("Enter")
    page.wait_for_url("**/python.html**")
    assert all(url.startswith(("file:", "data:", "blob:", "about:")) for url in asked), asked
    page.close()
