"""Made-up histories of pages whose sentences were copied from one to the next, with what was copied from where."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from xml.sax.saxutils import escape

from scripts.wiki.article_subjects import subject_of
from scripts.wiki.clauses import SentenceMaker

Saved = tuple[str, str | None, Sequence[str]]
"""One revision: time stamp, contributor, sentences."""

_OTHERS = ("Ann", "10.0.0.7", "CopyBot", None)
_LEAST = 160  # characters of a sentence


def moment(day: int) -> str:
    """A time stamp, so many days after the beginning of 2010."""
    return f"{date(2010, 1, 1) + timedelta(day)}T00:00:00Z"


def planted(families: int, seed: int) -> tuple[dict[str, list[Saved]], dict[str, str | None]]:
    """Pages by title, and of each page's copy the page that it came from, null for the first of a family.

    Copies are edited by a word. Somebody takes each out, and somebody else puts it back.
    """
    source = random.Random(seed)
    maker = SentenceMaker(source)
    pages: dict[str, list[Saved]] = {}
    parents: dict[str, str | None] = {}
    for family in range(families):
        maker.about(subject_of(family))
        stood = [(f"F{family}p0", maker.sentence(_LEAST), 0)]
        parents[stood[0][0]] = None
        for copy in range(1, source.randint(2, 5)):
            origin, text, day = source.choice(stood)
            name = f"F{family}p{copy}"
            stood.append((name, _edited(source, maker, text), day + source.randint(1, 40)))
            parents[name] = origin
        for name, text, day in stood:
            own = maker.sentence(_LEAST)
            pages[name] = [
                (moment(0), "First", [maker.sentence(_LEAST)]),
                (moment(day + 1), source.choice(_OTHERS), [own, text]),
                (moment(day + 200), "192.168.1.1", [own]),
                (moment(day + 201), "Ann", [own, text]),
            ]
    return pages, parents


def write_history(path: Path, pages: Mapping[str, Sequence[Saved]]) -> Path:
    """Write an export with all revisions of the pages; its path."""
    parts = ['<mediawiki version="0.11"><siteinfo><namespaces><namespace key="0"/></namespaces></siteinfo>']
    number = 0
    for page, (title, saved) in enumerate(pages.items(), 1):
        parts.append(f"<page><title>{escape(title)}</title><ns>0</ns><id>{page}</id>")
        for stamp, who, sentences in saved:
            number += 1
            text = escape("\n\n".join(sentences))
            parts.append(
                f"<revision><id>{number}</id><timestamp>{stamp}</timestamp>{_contributor(who)}<text>{text}</text>"
                "</revision>"
            )
        parts.append("</page>")
    path.write_text("".join([*parts, "</mediawiki>"]), "utf-8")
    return path


def _contributor(who: str | None) -> str:
    if not who:
        return '<contributor deleted="deleted"/>'
    kind = "ip" if who[0].isdigit() else "username"
    return f"<contributor><{kind}>{escape(who)}</{kind}></contributor>"


def _edited(source: random.Random, maker: SentenceMaker, text: str) -> str:
    """The text with another word inside."""
    words = text.split(" ")
    words[source.randrange(1, len(words) - 1)] = maker.phrase().split(" ")[0]
    return " ".join(words)
