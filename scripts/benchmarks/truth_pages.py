"""Wikis whose pairs of pages are labelled: half of them for building, half kept for the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import esdedup
from scripts.benchmarks.truth_corpora import Clustered

PAGE_LABELS = Path(__file__).with_name("page_pairs.tsv")
"""Pairs of sentences of two pages by their content hashes, labelled twice, blind."""

_HISTORY: dict[str, Any] = {"revisions": "all"}

PAGE_OPTIONS: dict[str, Any] = {"jaccard": 0.5, "min_chars": 30, "rows": 3, "bands": 20}

DESIGN: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "afar": (("aawiki-history.xml.bz2",), _HISTORY),
    "berlin": (
        tuple(f"berlin/{code}.xml.bz2" for code in ["de", "en", "es", "et", "fr", "it", "ja", "la", "ru", "zh"]),
        {},
    ),
    "chamorro": (("chwiki-history.xml.7z",), _HISTORY),
    "chinese": (("zhwiki-2018-pages.xml.bz2",), {}),
    "english": (("enwiki-106-articles.xml.bz2",), {}),
    "greek": (("elwiki-2023-head.xml.bz2",), {}),
    "latgalian": (("ltgwiki.xml",), {}),
    "shrines": (("shintowiki-shrines.xml.bz2",), {}),
}
KEPT: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "composers": (("enwiki-composers-2009.xml.bz2",), {}),
    "editions": (("enwiki-2009-export-0.3.xml", "enwiki-106-articles.xml.bz2", "enwiki-2025-head.xml.bz2"), {}),
    "heads": (("enwiki-head-a.xml", "enwiki-head-b.xml"), {}),
    "japanese": (("jawiki-2023-head.xml.bz2",), {}),
    "jiaxing": (("jiaxing-20230508.xml.bz2", "jiaxing-20230712.xml.bz2"), _HISTORY),
    "learning": (("enwiki-machine-learning.xml.bz2",), {}),
    "tables": (("enwiki-tables.xml.bz2",), {}),
    "twelf": (("twelfwiki.xml.bz2",), {}),
    "ukrainian": (("ukwiki-2023-head.xml.bz2",), {}),
}
WIKIS = DESIGN | KEPT
HALF_OF = {**dict.fromkeys(DESIGN, "design"), **dict.fromkeys(KEPT, "test")}


def of_wiki(data: Path, folder: Path, wiki: str, **options: Any) -> Clustered:
    """Cluster a wiki in `folder`."""
    names, read = WIKIS[wiki]
    out = folder / f"pages-{wiki}"
    sources = [data / "wiki" / name for name in names]
    esdedup.run(*sources, out=out, fresh=True, lookup=False, report=False, **PAGE_OPTIONS, **read, **options)
    return Clustered(wiki, HALF_OF[wiki], out)
