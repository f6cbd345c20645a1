"""Contradictions and templates as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from esdedup.cli.show import shortened, where
from esdedup.plurals import plural
from esdedup.terminal import printable

if TYPE_CHECKING:
    from esdedup.analysis.templates import Table
    from esdedup.output.contents.meaning_answers import Contradiction, Correction, Lineage, Passage

_WIDTH = 160
_VALUES = 6
_ROWS = 4
_CELL = 24
_DEEPEST = 12
_LIKELY = 0.5
"""What is less likely is called possible."""
_MEMBERS = 20


def drift_text(rows: Sequence[Contradiction]) -> str:
    """A few lines for each contradiction: the frame, and each value with its sentences."""
    lines = []
    for row in rows:
        apart = "" if row["difference"] is None else f", {row['difference']:+g}"
        about = f"{shortened(row['subject'], 60)}: " if row["subject"] else ""
        possible = "possible " if row["confidence"] < _LIKELY else ""
        lines.append(f"{row['confidence']:.2f}  {possible}{row['change']}, {about}{row['fact']}{apart}")
        lines.append(f"      {shortened(row['frame'], _WIDTH)}")
        lines.append(f"      {row['why']}")
        if row.get("stale") is not None:
            lines += _stale_lines(row["stale"])
            continue
        for place, value in enumerate(row["values"][:_VALUES]):
            notes = [name for name, at in (("majority", row["majority"]), ("newest", row["newest"])) if at == place]
            first = value["sentences"][0]
            more = f" and {value['count'] - 1:,} more" if value["count"] > 1 else ""
            when = f", {first['timestamp']}" if first["timestamp"] else ""
            described = f" ({', '.join(notes)})" if notes else ""
            lines.append(f"      {shortened(value['value'] or '∅', 60)}{described}  {where(first)}{when}{more}")
        if len(row["values"]) > _VALUES:
            lines.append(f"      … {plural(len(row['values']) - _VALUES, 'more value')}")
    return "\n".join(lines)


def _stale_lines(stale: Correction) -> list[str]:
    """Who changed a value and when, and where the old one still stands."""
    who = f" by {printable(stale['contributor'])}" if stale["contributor"] else ""
    when = f" on {stale['timestamp']}" if stale["timestamp"] else ""
    old, new = (shortened(stale[name] or "∅", 60) for name in ("old", "new"))
    places = [where(place) for place in stale["standing"]]
    more = f" and {len(places) - _VALUES:,} more" if len(places) > _VALUES else ""
    return [
        f"      changed in {shortened(stale['page'], 60)}{who}{when}: {old} → {new}",
        f"      still {old}: {'; '.join(places[:_VALUES])}{more}",
    ]


def template_text(table: Table) -> str:
    """The frame, and the first rows of its table."""
    kinds = ", ".join(f"{slot.name}: {slot.type}{f' in {slot.unit}' if slot.unit else ''}" for slot in table.columns)
    lines = [
        f"{table.cluster}  {plural(len(table.fits), 'row')}, {plural(sum(table.fits), 'fits', 'fit')}",
        f"  {shortened(table.frame, 240)}",
        f"  {kinds}",
    ]
    for place, sentence in enumerate(table.sentences[:_ROWS]):
        cells = " | ".join(shortened(slot.cells[place] or "", _CELL) for slot in table.columns)
        lines.append(f"    {printable(sentence['id'])}  {cells}{'' if table.fits[place] else '  (deviates)'}")
    if len(table.sentences) > _ROWS:
        lines.append(f"    … {len(table.sentences) - _ROWS:,} more")
    return "\n".join(lines)


def lineage_text(found: Lineage) -> str:
    """Each tree with the earliest sentence first and its copies below, or passages without a link to their source, then
    who made the copies.
    """
    lines = []
    for tree in found["trees"] if "unattributed" not in found else ():
        copies = plural(tree["copies"], "copy", "copies")
        lines.append(f"{tree['cluster']}  {copies}: {shortened(tree['members'][0]['text'], _WIDTH)}")
        below: dict[str | None, list[dict[str, Any]]] = {}
        for member in tree["members"]:
            below.setdefault(member["parent"], []).append(member)
        left = [(member, 0) for member in reversed(below.get(None, []))]
        shown = 0
        while left and shown < _MEMBERS:
            member, depth = left.pop()
            shown += 1
            lines.append("  " * (1 + min(depth, _DEEPEST)) + _appearance(member))
            left += [(child, depth + 1) for child in reversed(below.get(member["id"], []))]
        if shown < len(tree["members"]):
            lines.append(f"  … {len(tree['members']) - shown:,} more")
    if not found["ordered"] and found["shared"]:
        shared = plural(found["shared"], "cluster has", "clusters have")
        return (
            "who copied from whom cannot be known: a single plain dump shows no order in time; index the history of "
            f"its pages (--revisions all), or dumps of two dates\n{shared} sentences of several documents; "
            "esdedup overlap lists the documents that share them"
        )
    if "unattributed" not in found:
        lines = lines or ["nothing was copied from page to page"]
    else:
        lines += _passage_lines(found["unattributed"])
        if found["uncertain"]:
            more = plural(found["uncertain"], "more passage stands on a page", "more passages stand on pages")
            lines.append(f"not listed: {more} with so many links that the older page may be among them")
    lines.append(
        "copies in the whole store, added by: "
        + ", ".join(f"{editor} {count:,}" for editor, count in found["editors"].items())
    )
    if found["undated"]:
        lines.append(f"left out: {plural(found['undated'], 'sentence')} without a time")
    return "\n".join(lines)


def _passage_lines(passages: Sequence[Passage]) -> list[str]:
    """Each passage that was copied without a link, with its first sentence."""
    if not passages:
        return ["no passage of three sentences was copied without a link to its page"]
    lines = []
    for one in passages:
        names = (one["title"] or one["document"], one["source_title"] or one["source_document"])
        here, there = (shortened(name, 60) for name in names)
        who = f" by {printable(one['contributor'])}" if one["contributor"] else ""
        when = f" on {printable(one['timestamp'])}" if one["timestamp"] else ""
        lines.append(f"{here}: {plural(len(one['texts']), 'sentence')} of {there}, without a link, added{who}{when}")
        lines.append(f"      {shortened(one['texts'][0], _WIDTH)}")
    return lines


def _appearance(member: dict[str, Any]) -> str:
    where = member["id"] + (f" [{member['title']}]" if member["title"] else "")
    who = f"{member['contributor'] or 'unknown'} ({member['editor']})"
    described = f"{printable(member['timestamp'])}  {printable(where)}, {printable(who)}"
    if member["parent"] is None:
        return described
    edits = member["edits"]
    apart = {None: "not compared", 0: "the same words", 1: "1 word apart"}.get(edits, f"{edits} words apart")
    what = "copied" if member["copied"] else "kept" if edits == 0 else "edited"
    return f"{described}, {what}, {apart}"
