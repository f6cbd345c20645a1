"""Builds the site of the documentation into site/: what Zensical does not do.

The pages are those of docs/, and the pages beside README.md. They are copied to build/pages, where links lead to their new
places; code that they link to is copied, too. Zensical makes HTML of them. Each page gets a twin in Markdown beside it, and
llms.txt lists all. In the end every link and anchor is checked. Nothing of the site comes from the network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
PAGES, SITE = ROOT / "build" / "pages", ROOT / "site"
INDEX = ROOT / "docs" / "README.md"
BESIDE = {name: f"{name.lower()}.md" for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY")}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
SHIM = "https://unpkg.com/iframe-worker/shim"
WORKER = "assets/javascripts/worker-in-a-frame.js"


def build() -> None:
    """Make site/ anew."""
    copy_pages()
    shutil.rmtree(SITE, ignore_errors=True)
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=ROOT, env=environment,
                          capture_output=True)  # fmt: skip
    if done.returncode:
        sys.exit((done.stdout + done.stderr).decode())
    add_worker()
    for page in ordered():
        shutil.copy(PAGES / page, SITE / page)
    (SITE / "llms.txt").write_text(llms(), "utf-8")


def ordered() -> list[str]:
    """The pages in the order of the site."""

    def pages(entry: Any) -> Iterator[str]:
        if isinstance(entry, str):
            yield entry
        else:
            for each in entry.values() if isinstance(entry, dict) else entry:
                yield from pages(each)

    return list(pages(tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]))


def moved(path: Path) -> str:
    """Where a file of the repository is in the site."""
    name = path.relative_to(ROOT).as_posix()
    if name in ("README.md", "docs/README.md"):
        return "index.md"
    if path.parent == ROOT and path.stem in BESIDE:
        return BESIDE[path.stem]
    if name.startswith("docs/"):
        return name.removeprefix("docs/").replace("README.md", "index.md")
    return f"source/{name}"


def copy_pages() -> None:
    """Copy pages and what they link to."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES, ignore=shutil.ignore_patterns("*.md"))
    shutil.copy(ROOT / "scripts" / "docs_site.css", PAGES / "site.css")
    for page in (*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / f"{name}.md" for name in BESIDE)):
        if page != INDEX:
            place = PAGES / moved(page)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(with_links(page.read_text("utf-8"), page), "utf-8")


def with_links(text: str, page: Path) -> str:
    """A page with its links as they are in the site. What it links to, and is no page, is copied."""

    def new(target: str) -> str:
        path, hash_sign, fragment = target.partition("#")
        if not path or ":" in path:
            return target
        old = (page.parent / path).resolve()
        place = moved(old)
        if old.is_file() and place.startswith("source/"):
            (PAGES / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(old, PAGES / place)
        return os.path.relpath(place, PurePosixPath(moved(page)).parent) + hash_sign + fragment

    return outside_code(text, lambda prose: LINK.sub(lambda found: found[1] + new(found[2]) + found[3], prose))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """A page with `change` made to what is not a block of code."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


def add_worker() -> None:
    """Let search work in files: its script is loaded from the site instead of the network."""
    shutil.copy(ROOT / "scripts" / "docs_site.js", SITE / WORKER)
    for page in SITE.rglob("*.html"):
        up = "../" * (len(page.relative_to(SITE).parts) - 1)
        page.write_text(page.read_text("utf-8").replace(SHIM, f"{up}{WORKER}"), "utf-8")


def llms() -> str:
    """The pages for programs that read: each with the question that it answers, as docs/README.md has them."""
    head, *lines = INDEX.read_text("utf-8").split("\n")
    parts = ["# esdedup", "", "> Find copied and near-duplicate sentences in large text collections.", ""]
    for line in lines:
        if line.startswith("## "):
            parts += ["", line, ""] if parts[-1] else [line, ""]
        elif found := re.match(r"\| \[(.+?)\]\((\S+?)\) \| (.+) \|", line):
            parts.append(f"- [{found[1]}]({moved((INDEX.parent / found[2]).resolve())}): {found[3]}")
    return "\n".join(parts) + "\n"


class Links(HTMLParser):
    """The anchors of a page, and what it loads and links to."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                (self.links if tag == "a" else self.loaded).append(value)


def faults() -> tuple[list[str], list[str]]:
    """What is wrong with the links of the site, and the addresses outside that it links to."""
    pages = {path: Links() for path in sorted(SITE.rglob("*.html")) if path.name != "404.html"}
    for path, page in pages.items():
        page.feed(path.read_text("utf-8"))
    wrong, outside = [], set()
    for path, page in pages.items():
        name = path.relative_to(SITE)
        for link in (*page.links, *page.loaded):
            place, _, fragment = link.partition("#")
            if ":" in place or place.startswith("//"):
                outside.add(link)
                if link in page.loaded:
                    wrong.append(f"{name}: loads {link}")
                continue
            target = (path.parent / unquote(place)).resolve() if place else path
            if not target.is_file():
                wrong.append(f"{name}: {link}: there is no such file")
            elif fragment and target in pages and unquote(fragment) not in pages[target].anchors:
                wrong.append(f"{name}: {link}: there is no such anchor")
    wrong += [f"{name}: {target}: there is no such file" for name, target in twin_links() if not target.is_file()]
    listed = re.findall(r"\]\((\S+?)\)", llms())
    if listed != ordered():
        wrong.append("docs/README.md and zensical.toml differ in their pages or the order of these")
    return wrong, sorted(outside)


def twin_links() -> Iterator[tuple[str, Path]]:
    """The files that the twins and llms.txt link to."""
    for page in (*ordered(), "llms.txt"):
        found: list[str] = []
        outside_code((SITE / page).read_text("utf-8"), lambda prose, found=found: found.append(prose) or prose)  # type: ignore[misc]
        for _, target, _ in LINK.findall("".join(found)):
            place = target.partition("#")[0]
            if place and ":" not in place:
                yield page, (SITE / page).parent / place


if __name__ == "__main__":
    build()
    wrong, outside = faults()
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{SITE / 'index.html'}: {len(ordered())} pages; every link inside was checked. Links outside were not:")
    print("\n".join(outside))
