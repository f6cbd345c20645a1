"""Two dates of a wiki, each cut into parts at random: `run` and `add --complete` must equal a run over the newer one.

Run it as `python -m tests.support.recuts --cuts 40`; it uses real dumps, and a generated wiki of 2,000 pages.
"""

from __future__ import annotations

import argparse
import bz2
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import esdedup
from tests.support.corpus import corpus
from tests.support.dumps import Page, part

_HEAD = b"<mediawiki>\n<siteinfo><sitename>W</sitename><dbname>%s</dbname>%s</siteinfo>\n"
_NAMESPACES = re.compile(rb"<namespaces>.*?</namespaces>", re.DOTALL)
_PAGES = re.compile(rb"<page>.*?</page>", re.DOTALL)
RESULTS = ("clusters.jsonl", "pairs.jsonl", "clusters.txt")


class Month(NamedTuple):
    """A wiki at a date: what its files begin with, and its pages."""

    head: bytes
    pages: list[bytes]


def read(path: Path) -> Month:
    data = path.read_bytes()
    data = bz2.decompress(data) if path.suffix == ".bz2" else data
    spaces = _NAMESPACES.search(data)
    return Month(_HEAD % (b"somewiki", spaces[0] if spaces else b""), _PAGES.findall(data))


def generated(folder: Path, pages: int) -> tuple[Month, Month]:
    """A wiki of so many pages, and what a month makes of it."""
    source, pool = random.Random(7), corpus(7, 400)
    old = [Page(number, number, " ".join(source.sample(pool, 4))) for number in range(1, pages + 1)]
    new = [
        Page(page.id, page.revision + 10_000, " ".join(source.sample(pool, 4))) if source.random() < 0.03 else page
        for page in old
        if source.random() > 0.01
    ] + [Page(pages + at, 20_000 + at, " ".join(source.sample(pool, 4))) for at in range(1, pages // 100)]
    return tuple(read(part(folder / f"{at}.xml", "somewiki", each)) for at, each in enumerate((old, new)))  # type: ignore[return-value]


def edited(month: Month, source: random.Random) -> Month:
    """What a month makes of a real wiki: pages are edited, gone, and in another order."""
    kept = [page for page in month.pages if source.random() > 0.05]
    return Month(month.head, [
        page.replace(b"</text>", b" It was painted in %d by somebody who lived beside the old mill.</text>" % at)
        if source.random() < 0.1 else page
        for at, page in enumerate(kept)
    ])  # fmt: skip


def cut(month: Month, folder: Path, parts: int, source: random.Random) -> Path:
    """Write a wiki in parts."""
    folder.mkdir(parents=True)
    ends = [0, *sorted(source.sample(range(1, len(month.pages)), parts - 1)), len(month.pages)]
    for number in range(parts):
        data = month.head + b"\n".join(month.pages[ends[number] : ends[number + 1]]) + b"\n</mediawiki>\n"
        ending = source.choice(["xml", "xml.bz2"])
        path = folder / f"somewiki-{folder.name}-pages-articles{number}.{ending}"
        path.write_bytes(bz2.compress(data, 1) if ending == "xml.bz2" else data)
    return folder


def told(folder: Path, old: Month, new: Month, parts: Sequence[int], source: random.Random) -> dict[str, int]:
    """Run over the older month, and add the newer one. Return what was new, changed and gone.

    Raise `AssertionError` if the results are not those of a run over the newer month.
    """
    before, after = (
        cut(month, folder / name, count, source)
        for month, name, count in zip((old, new), ("march", "april"), parts, strict=True)
    )
    options: dict[str, Any] = {"report": False, "quiet": True, "lookup": False}
    store = folder / "store.duckdb"
    esdedup.run(before, out=folder / "grown", store=store, **options)
    added = esdedup.add(after, out=folder / "grown", store=store, complete=True, **options).added
    esdedup.run(after, out=folder / "once", **options)
    for name in RESULTS:
        same = (folder / "grown" / name).read_bytes() == (folder / "once" / name).read_bytes()
        assert same, f"{name} differs: {parts}"
    return {name: added[name] for name in ("new", "replaced", "unchanged", "gone")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=40)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/wiki"))
    given = parser.parse_args()
    source = random.Random(1)
    months: dict[str, tuple[Month, Month]] = {}
    for one, two in (
        ("enwiki-head-a.xml", "enwiki-head-b.xml"),
        ("jiaxing-20230508.xml.bz2", "jiaxing-20230712.xml.bz2"),
    ):
        months[f"{one} and {two}"] = read(given.data / one), read(given.data / two)
    for name in ("ltgwiki.xml", "zhwiki-2018-pages.xml.bz2", "enwiki-composers-2009.xml.bz2"):
        month = read(given.data / name)
        months[f"{name}, edited"] = month, edited(month, source)
    with tempfile.TemporaryDirectory() as folder:
        months["a generated wiki"] = generated(Path(folder), 2000)
    wanted: dict[str, dict[str, int]] = {}
    for number in range(given.cuts):
        name = list(months)[number % len(months)]
        parts = (12, 12) if name == "a generated wiki" else (source.randint(2, 9), source.randint(1, 9))
        with tempfile.TemporaryDirectory() as folder:
            if name not in wanted:
                wanted[name] = told(Path(folder) / "whole", *months[name], (1, 1), source)
                sys.stdout.write(f"{name}: {wanted[name]}\n")
            found = told(Path(folder) / "cut", *months[name], parts, source)
            assert found == wanted[name], (name, parts, found)
    sys.stdout.write(f"{given.cuts} cuts: results equal, and no page new, changed or gone but those\n")


if __name__ == "__main__":
    main()
