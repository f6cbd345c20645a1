"""Builds the site of the documentation into site/: what Zensical does not do.

The pages are those of docs/, and the pages beside README.md. They are copied to build/pages, where links lead to their
new places; code that they link to is copied, too. Zensical makes HTML of them. Each page gets a twin in Markdown beside
it, and llms.txt lists all. In the end every link and anchor is checked. Nothing of the site comes from the network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "docs" / "README.md"
BESIDE = {name: f"{name.lower()}.md" for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY")}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
SHIM = re.compile(r"https://[^\"]+/iframe-worker/shim")
WORKER = "assets/javascripts/worker-in-a-frame.js"


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
    return f"source/{name.removeprefix('.')}"  # hidden folders are not copied


def parts(text: str) -> list[str]:
    """A page in parts: prose, and between two of them a block of code."""
    return re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)


def llms() -> str:
    """The pages for programs that read: each with the question that it answers, as docs/README.md has them."""
    listed = ["# esdedup", "", "> Find copied and near-duplicate sentences in large text collections.", ""]
    for line in INDEX.read_text("utf-8").splitlines():
        if line.startswith("## "):
            listed += ["", line, ""] if listed[-1] else [line, ""]
        elif found := re.match(r"\| \[(.+?)\]\((\S+?)\) \| (.+) \|", line):
            listed.append(f"- [{found[1]}]({moved((INDEX.parent / found[2]).resolve())}): {found[3]}")
    return "\n".join(listed) + "\n"


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


@dataclass(frozen=True)
class Site:
    """The site, made in a folder: `pages` are what Zensical reads, `site` is what it writes."""

    folder: Path = ROOT

    @property
    def pages(self) -> Path:
        """The pages with their links as they are in the site."""
        return self.folder / "build" / "pages"

    @property
    def site(self) -> Path:
        """The site."""
        return self.folder / "site"

    def build(self) -> None:
        """Make site/ anew."""
        self.copy_pages()
        if self.folder != ROOT:
            shutil.copy(ROOT / "zensical.toml", self.folder)
        shutil.rmtree(self.site, ignore_errors=True)
        command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
        environment = {**os.environ, "NO_COLOR": "1"}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True)
        if done.returncode:
            sys.exit((done.stdout + done.stderr).decode())
        self.add_worker()
        for page in ordered():
            shutil.copy(self.pages / page, self.site / page)
        (self.site / "llms.txt").write_text(llms(), "utf-8")

    def copy_pages(self) -> None:
        """Copy pages and what they link to."""
        shutil.rmtree(self.pages, ignore_errors=True)
        shutil.copytree(ROOT / "docs", self.pages, ignore=shutil.ignore_patterns("*.md"))
        shutil.copy(ROOT / "scripts" / "docs_site.css", self.pages / "site.css")
        for page in (*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / f"{name}.md" for name in BESIDE)):
            if page != INDEX:
                place = self.pages / moved(page)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(self.with_links(page.read_text("utf-8"), page), "utf-8")

    def with_links(self, text: str, page: Path) -> str:
        """A page with its links as they are in the site. What it links to, and is no page, is copied."""

        def new(target: str) -> str:
            path, hash_sign, fragment = target.partition("#")
            if not path or ":" in path:
                return target
            old = (page.parent / path).resolve()
            place = moved(old)
            if old.is_file() and place.startswith("source/"):
                (self.pages / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(old, self.pages / place)
            return os.path.relpath(place, PurePosixPath(moved(page)).parent) + hash_sign + fragment

        found = parts(text)
        found[::2] = [LINK.sub(lambda link: link[1] + new(link[2]) + link[3], prose) for prose in found[::2]]
        return "".join(found)

    def add_worker(self) -> None:
        """Let search work in files: its script is loaded from the site instead of the network."""
        shutil.copy(ROOT / "scripts" / "docs_site.js", self.site / WORKER)
        for page in self.site.rglob("*.html"):
            up = "../" * (len(page.relative_to(self.site).parts) - 1)
            page.write_text(SHIM.sub(f"{up}{WORKER}", page.read_text("utf-8")), "utf-8")

    def faults(self) -> tuple[list[str], list[str]]:
        """What is wrong with the links of the site, and the addresses outside that it links to."""
        pages = {path: Links() for path in sorted(self.site.rglob("*.html")) if path.name != "404.html"}
        for path, page in pages.items():
            page.feed(path.read_text("utf-8"))
        wrong, outside = [], set()
        for path, page in pages.items():
            name = path.relative_to(self.site)
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
        wrong += [
            f"{name}: {target}: there is no such file" for name, target in self.twin_links() if not target.is_file()
        ]
        listed = re.findall(r"\]\((\S+?)\)", llms())
        if listed != ordered():
            wrong.append("docs/README.md and zensical.toml differ in their pages or the order of these")
        return wrong, sorted(outside)

    def twin_links(self) -> Iterator[tuple[str, Path]]:
        """The files that the twins and llms.txt link to."""
        for page in (*ordered(), "llms.txt"):
            prose = "".join(parts((self.site / page).read_text("utf-8"))[::2])
            for _, target, _ in LINK.findall(prose):
                place = target.partition("#")[0]
                if place and ":" not in place:
                    yield page, (self.site / page).parent / place


if __name__ == "__main__":
    made = Site()
    made.build()
    wrong, outside = made.faults()
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{made.site / 'index.html'}: {len(ordered())} pages; every link inside was checked. Links outside were not:")
    print("\n".join(outside))
