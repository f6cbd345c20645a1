"""Takes the pictures of the tutorials and of the first page of the site: what one sees after their steps."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import esdedup
from esdedup.node.control import running_node
from scripts.screenshots import PICTURES, TYPED, served

TUTORIALS = PICTURES.parent / "tutorials"
VIEW = {"width": 1100, "height": 760}
NOTEBOOK = (
    "<style>body{font:15px sans-serif;margin:24px}table{border-collapse:collapse}pre{background:#f4f4f4;padding:8px}"
    "td,th{padding:4px 12px;text-align:left;border-bottom:1px solid #ddd}</style>"
)


def main() -> None:
    wanted = sys.argv[1:] or ["certificate", "records", "notebook", "contradictions", "server"]
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is missing; run apt-get install chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        os.chdir(name)  # so that no path of this machine is in a picture
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for picture in wanted:
            globals()[picture](browser)
        browser.close()
        os.chdir(PICTURES)  # the temporary folder is deleted


def certificate(browser: Browser) -> None:
    esdedup.sample("documents").write(".")
    esdedup.dedupe("documents.jsonl", out="proven", certificate="cert.json", report=True)
    shoot(opened(browser, Path("cert.html").absolute().as_uri()), "certificate")


def records(browser: Browser) -> None:
    table = re.search(r"'END'\n(.*?)END\n", (TUTORIALS / "records.md").read_text("utf-8"), re.DOTALL)
    assert table is not None
    Path("customers.csv").write_text(table[1], "utf-8")
    esdedup.run("customers.csv", out="linked", preset="records")
    page = opened(browser, Path("linked/report.html").absolute().as_uri())
    couple = page.locator("summary", has_text="Tom Fisher").first
    couple.click()
    couple.evaluate("each => each.scrollIntoView()")
    shoot(page, "records")


def notebook(browser: Browser) -> None:
    esdedup.sample("wiki").write(".")
    summary = esdedup.run("wiki.xml", out="found", store="wiki.duckdb")
    hits = esdedup.similar("Velworth is known for needles and for a summer market.", store="wiki.duckdb", limit=3)
    page = opened(browser, "about:blank")
    page.set_content(
        f"{NOTEBOOK}<pre>summary</pre>{summary._repr_html_()}"
        f"<pre>esdedup.similar('Velworth is known for needles…', store='wiki.duckdb')</pre>{hits._repr_html_()}"
    )
    shoot(page, "notebook")


def contradictions(browser: Browser) -> None:
    esdedup.sample("wiki").write(".")
    esdedup.run("wiki.xml", out="found", store="wiki.duckdb")
    with served(Path("wiki.duckdb")) as url:
        shoot(opened(browser, f"{url}contradictions"), "says-otherwise")
        page = opened(browser, url)
        page.locator("#text").press_sequentially(TYPED)
        page.locator("[role=option]").first.wait_for()
        page.keyboard.press("Escape")
        page.wait_for_selector(".match")
        page.set_viewport_size({"width": 1100, "height": 412})
        shoot(page, "at-a-glance")


def server(browser: Browser) -> None:
    esdedup.sample("wiki").write(".")
    with running_node(Path("node"), port=9200) as address:
        store = f"{address}/wiki"
        esdedup.index("wiki.xml", store=store)
        esdedup.scan(store=store)
        with served(store) as url:
            page = opened(browser, f"{url}overview")
            page.wait_for_selector(".charts")
            shoot(page, "server")


def opened(browser: Browser, url: str) -> Page:
    page = browser.new_page(viewport=VIEW, color_scheme="light")
    page.set_default_timeout(120_000)
    page.goto(url)
    return page


def shoot(page: Page, name: str) -> None:
    """A picture of what is seen first, of 64 colours."""
    page.wait_for_load_state("networkidle")
    with Image.open(io.BytesIO(page.screenshot(animations="disabled"))) as picture:
        picture.convert("RGB").quantize(64).save(PICTURES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
