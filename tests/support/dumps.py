"""Dumps of a wiki, by the sentences of each revision."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

Revision = tuple[str, list[str]]  # time stamp and sentences


def dump(path: Path, pages: dict[str, list[Revision]], lang: str = "") -> Path:
    told = f' xml:lang="{lang}"' if lang else ""
    parts = [f'<mediawiki version="0.11"{told}><siteinfo><namespaces><namespace key="0"/></namespaces></siteinfo>']
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
