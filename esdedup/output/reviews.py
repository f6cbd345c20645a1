"""Contradictions as a list that an editor can post on a talk page. Nothing is edited automatically."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import Any

_Spelled = Callable[[str], str]

_NO_TITLE = re.compile(r"[\[\]{}|<>#~\n]|^\s*$")
"""Characters that a wiki title cannot contain."""

_SHOWN = 5
"""Sentences that are named for a value."""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&@:$])")


def wikitext(rows: Sequence[dict[str, Any]]) -> str:
    """Return the list in wikitext: titles are links, texts are not interpreted as markup."""

    def quoted(text: str) -> str:
        return f"<nowiki>{html.escape(_one_line(text), quote=False)}</nowiki>"

    def linked(title: str) -> str:
        return quoted(title) if _NO_TITLE.search(title) else f"[[:{_one_line(title)}]]"

    return _listed(rows, "== {} ==", "* {}", "** {}", quoted, linked)


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return the list in Markdown, with every character escaped."""

    def quoted(text: str) -> str:
        return _MARKDOWN.sub(r"\\\1", _one_line(text))

    return _listed(rows, "## {}", "- [ ] {}", "  - **{}**", quoted, quoted)


def _listed(
    rows: Sequence[dict[str, Any]], heading: str, item: str, below: str, quoted: _Spelled, linked: _Spelled
) -> str:
    """Return the list in the syntax of `heading`, `item` and `below`."""
    if not rows:
        return "No statements differ.\n"
    lines = [heading.format("Statements that differ"), ""]
    for row in rows:
        lines.append(f"{item.format(quoted(row['frame']))} ({row['fact']}, confidence {row['confidence']:.2f})")
        for place, value in enumerate(row["values"]):
            line = below.format(quoted(value["value"] or "∅")) + _described(row, place)
            lines.append(f"{line}: {_who(value, linked, quoted)}")
    return "\n".join(lines) + "\n"


def _described(row: dict[str, Any], place: int) -> str:
    notes = [name for name, at in (("most say so", row["majority"]), ("the newest", row["newest"])) if at == place]
    return f" ({', '.join(notes)})" if notes else ""


def _who(value: dict[str, Any], linked: _Spelled, quoted: _Spelled) -> str:
    named = []
    for sentence in value["sentences"][:_SHOWN]:
        where = linked(sentence["title"]) if sentence["title"] else quoted(sentence["document"])
        when = [
            quoted(str(sentence[name])) for name in ("source", "revision", "timestamp") if sentence[name] is not None
        ]
        named.append(f"{where} ({', '.join(when)})")
    more = value["count"] - len(named)
    return "; ".join(named) + (f"; {more:,} more" if more > 0 else "")


def _one_line(text: str) -> str:
    return " ".join(text.split())
