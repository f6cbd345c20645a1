"""Dumps of a wiki, by the sentences of each revision."""

from __future__ import annotations

import bz2
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

Revision = tuple[str, list[str]]  # time stamp and sentences


def dump(path: Path, pages: dict[str, list[Revision]], lang: str = "", wiki: str = "") -> Path:
    told = f' xml:lang="{lang}"' if lang else ""
    site = f"<dbname>{wiki}</dbname>" if wiki else ""
    parts = [
        f'<mediawiki version="0.11"{told}><siteinfo>{site}<namespaces><namespace key="0"/></namespaces></siteinfo>'
    ]
    number = 0
    for page, (title, revisions) in enumerate(pages.items(), 1):
        parts.append(f"<page><title>{escape(title)}</title><ns>0</ns><id>{page}</id>")
        for stamp, sentences in revisions:
            number += 1
            text = escape("\n\n".join(sentences))
            parts.append(f"<revision><id>{number}</id><timestamp>{stamp}</timestamp><text>{text}</text></revision>")
        parts.append("</page>")
    path.write_text("".join([*parts, "</mediawiki>"]), "utf-8")
    return path


class Page(NamedTuple):
    """A page of a wiki in one state."""

    id: int
    revision: int
    text: str


def part(path: Path, wiki: str, pages: Iterable[Page]) -> Path:
    """One of the files that a wiki is exported to, compressed if its name says so."""
    rows = [f"<mediawiki><siteinfo><dbname>{wiki}</dbname><namespaces/></siteinfo>"]
    for page in pages:
        stamp = f"2026-{1 + page.revision // 1000 % 12:02}-01T00:00:00Z"
        rows.append(
            f"<page><title>Page {page.id}</title><ns>0</ns><id>{page.id}</id><revision><id>{page.revision}</id>"
            f"<timestamp>{stamp}</timestamp><text>{escape(page.text)}</text></revision></page>"
        )
    data = "".join([*rows, "</mediawiki>"]).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bz2.compress(data) if path.suffix == ".bz2" else data)
    return path
