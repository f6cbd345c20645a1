"""Real dumps cut in halves by page, and their clusters: the design half may be looked at, the test half is for the end.

No page is in both halves, so nothing that is learned from one is known of the other.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

import duckdb
import pyarrow as pa

import esdedup
from esdedup.analysis.classify import shared_in_clusters
from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import content_hashes
from esdedup.errors import NothingCompared
from esdedup.formats.compression.opener import Opened
from esdedup.store.shared_documents import SHARED_IN_CLUSTERS, find_shared

HALVES = ("design", "test")

_HISTORY: dict[str, Any] = {"revisions": "all"}
CORPORA: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "anarchism": (("enwiki-3-pages-history.xml",), _HISTORY),
    "chamorro": (("chwiki-history.xml.7z",), _HISTORY),
    "chinese": (("zhwiki-2018-pages.xml.bz2",), {}),
    "composers": (("enwiki-composers-2009.xml.bz2",), {}),
    "greek": (("elwiki-2023-head.xml.bz2",), {}),
    "heads": (("enwiki-head-a.xml", "enwiki-head-b.xml"), {}),
    "japanese": (("jawiki-2023-head.xml.bz2",), {}),
    "jiaxing": (("jiaxing-20230508.xml.bz2", "jiaxing-20230712.xml.bz2"), _HISTORY),
    "learning": (("enwiki-machine-learning.xml.bz2",), {}),
    "shrines": (("shintowiki-shrines.xml.bz2",), {}),
    "ukrainian": (("ukwiki-2023-head.xml.bz2",), {}),
}
"""Files of wiki/, and how they are read, by the names that the labels use. Their halves are sampled for labels."""

HISTORIES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "editions": (
        ("enwiki-2009-export-0.3.xml", "enwiki-106-articles.xml.bz2", "enwiki-2025-head.xml.bz2"), {},
    ),
    "afar": (("aawiki-history.xml.bz2",), _HISTORY),
    "thousand": (("enwiki-anarchism-history-1000.xml.bz2",), _HISTORY),
}  # fmt: skip
"""More dumps. Labels are of their design halves; the test half of `afar` is read for contradictions."""

LATER = "later"
"""Later revisions of the page of `thousand`, which is of the design half. Verdicts are of pairs that they added."""

OPTIONS: dict[str, Any] = {"jaccard": 0.6, "min_chars": 40, "rows": 3, "bands": 20}

_PAGE = re.compile(rb"<page>.*?</page>", re.DOTALL)
_TITLE = re.compile(rb"<title>(.*?)</title>", re.DOTALL)


class Clustered(NamedTuple):
    """The clusters of one half of a corpus."""

    corpus: str
    half: str
    folder: Path

    def clusters(self) -> Iterator[dict[str, Any]]:
        """Those with more than one text."""
        shared = self._shared()
        with (self.folder / "clusters.jsonl").open(encoding="utf-8") as lines:
            for cluster in map(json.loads, lines):
                if cluster["distinct"] > 1:
                    yield cluster | shared[cluster["id"]]

    def _shared(self) -> dict[str, dict[str, Any]]:
        """What the documents of each cluster share, which the store knows only of contradictions, and its frames."""
        with duckdb.connect() as db:
            db.execute(f"ATTACH '{self.folder / 'store.duckdb'}' AS stored (READ_ONLY); USE stored")
            every = "SELECT id FROM clusters WHERE distinct_texts > 1"
            find_shared(cast("Any", db), every)
            pairs = db.sql(SHARED_IN_CLUSTERS.format(every)).to_arrow_table()
            shared = dict(zip(*(column.to_pylist() for column in shared_in_clusters(pairs).columns), strict=True))
            frames = db.execute("SELECT id, frames FROM clusters").fetchall()
        return {f"{cluster:016x}": {"shared": shared.get(cluster), "frames": many} for cluster, many in frames}


def hashes_of(texts: list[str]) -> list[str]:
    """Content hashes as hexadecimal numbers."""
    return [f"{value:016x}" for value in content_hashes(*text_buffers(pa.array(texts, pa.large_string()))).tolist()]


def half_of(name: str) -> str:
    """The half that a page belongs to, by its title."""
    return HALVES[zlib.crc32(name.encode()) % 2]


def clustered(data: Path, folder: Path, corpus: str, half: str, **options: Any) -> Clustered:
    """Cluster one half of a corpus in `folder`."""
    names, read = (CORPORA | HISTORIES)[corpus]
    sources = [_cut(data / "wiki" / name, folder / "halves", half) for name in names]
    out = folder / f"{corpus}-{half}"
    with suppress(NothingCompared):  # a dump of one page has an empty half
        esdedup.run(*sources, out=out, fresh=True, lookup=False, report=False, **OPTIONS, **read, **options)
    return Clustered(corpus, half, out)


def later(data: Path, folder: Path) -> Clustered:
    """Cluster all revisions of one page in `folder`, of which the thousand are the first."""
    out = folder / LATER
    source = data / "wiki" / "enwiki-anarchism-history-1GB.xml.lzma"
    esdedup.run(source, out=out, fresh=True, lookup=False, report=False, **OPTIONS, **_HISTORY)
    return Clustered(LATER, "design", out)


def _cut(path: Path, folder: Path, half: str) -> Path:
    """Write the pages of one half of a dump to a file, unless that is done."""
    found = folder / half / f"{path.name.partition('.')[0]}.xml"
    if found.exists():
        return found
    found.parent.mkdir(parents=True, exist_ok=True)
    with closing(Opened(path)) as opened:
        whole = b"".join(piece for member in opened.members() for piece in member.pieces)
    pages = list(_PAGE.finditer(whole))
    kept = [page[0] for page in pages if half_of(_title(page[0])) == half]
    part = found.with_suffix(".part")
    part.write_bytes(whole[: pages[0].start()] + b"\n".join(kept) + whole[pages[-1].end() :])
    return part.rename(found)


def _title(page: bytes) -> str:
    match = _TITLE.search(page)
    return match[1].decode("utf-8", "replace") if match else ""
