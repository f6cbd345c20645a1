"""Takes pictures of the pages and the report of the demo's data, in a real browser."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import esdedup
from scripts.benchmarks.history import planted, write_history
from scripts.wiki.writing import generate_files

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"

ARTICLES, SEED = 200, 1
WIDTH, HEIGHT, TALL = 1100, 760, 1020
SCREEN = {"width": 1280, "height": 800}  # the overview fits it
STORE = Path("demo-wiki.duckdb")  # the overview names it
WHOLE = ("cluster", "lineage")  # pictures of all of a page, not of what is seen first
TYPED = "Velworth is known for needles and for a summer Christmas market held since September 1852, while the vill"
PASTED = (
    "Velworth is known for needles and for a summer Christmas market held since September 1852, while the village had "
    "6,894 inhabitants in 1872 and eight potteries; the small pencil factory there closed in 1941. "
    "This one is new to the collection, and long enough to be compared with all that stands there. Too short. "
    "Ildberg had 3,667 residents in 1865 and five flour mills; coaches to Clavrath leave from the medieval fish market "
    "every sixteen minutes; the population in 2019 was 6,391."
)


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is missing; run apt-get install chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        os.chdir(name)  # so that no path of this machine is in a picture
        wiki, out = Path("demo.xml.bz2"), Path("results")
        generate_files(ARTICLES, SEED, wiki)
        esdedup.run(wiki, out=out, store=STORE)
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        with served(STORE) as url:
            _take(browser, url, out)
        history = write_history(Path("history.xml"), planted(4, SEED)[0])
        lineage = Path("history.duckdb")
        esdedup.run(history, out=Path("history"), store=lineage, revisions="all")
        with served(lineage) as url:
            _take_lineage(browser, url, lineage)
        browser.close()
        os.chdir(PICTURES)  # the temporary folder is deleted


def _take(browser: Browser, url: str, out: Path) -> None:
    template = next(iter(esdedup.clusters(store=STORE, kind="template")))["id"]
    drift = next(iter(esdedup.clusters(store=STORE, kind="drift", sort="contradiction")))["id"]
    [pair, *_] = esdedup.overlap(store=STORE, limit=1).rows
    page = browser.new_page(viewport={"width": WIDTH, "height": TALL}, color_scheme="light")
    page.goto(url)
    page.locator("#text").press_sequentially(TYPED)
    page.locator("[role=option]").first.wait_for()
    page.keyboard.press("ArrowDown")
    _shoot(page, "check", ".match")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto(url)
    page.fill("#text", PASTED)
    page.click("form.check button")
    page.click("summary >> nth=0")
    _shoot(page, "text", ".sentences")
    for name, path in (
        ("clusters", "clusters"),
        ("cluster", f"clusters/{drift}"),
        ("contradictions", "contradictions"),
        ("template", f"templates/{template}"),
        ("article", f"articles/{pair['a']}"),
    ):
        page.goto(f"{url}{path}")
        _shoot(page, name, "main")
    page.goto((out / "report.html").absolute().as_uri())
    _shoot(page, "report", "main")
    overview = browser.new_page(viewport=SCREEN, color_scheme="light")
    overview.goto(f"{url}overview")
    _shoot(overview, "overview", ".charts")
    phone = browser.new_page(viewport={"width": 390, "height": HEIGHT}, color_scheme="dark", device_scale_factor=2)
    phone.goto(f"{url}clusters/{drift}")
    _shoot(phone, "phone", "main")


def _take_lineage(browser: Browser, url: str, store: Path) -> None:
    """Who said it first, which only dumps with histories tell."""
    most = next(iter(esdedup.clusters(store=store, sort="copies")))["id"]
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    page.goto(f"{url}clusters/{most}")
    _shoot(page, "lineage", ".lineage")


def _shoot(page: Page, name: str, awaited: str) -> None:
    page.wait_for_selector(awaited)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=PICTURES / f"{name}.png", animations="disabled", full_page=name in WHOLE)


@contextmanager
def served(store: Path | str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, "-m", "esdedup", "serve", "--store", str(store), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        told = re.search(r"http://\S+/", process.stderr.readline())
        assert told is not None
        yield told[0]
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
