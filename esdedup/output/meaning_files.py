"""Files about what clusters mean: tables of templates, graphs of lineage, lists for a talk page."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from lxml import etree

from esdedup.analysis.templates import Column, Table
from esdedup.files import whole_file

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_MARK = "'"


def write_csv(header: Sequence[str], rows: Iterable[Sequence[Any]], out: TextIO, end: str = "\r\n") -> None:
    """Write a table whose texts are no formulas. Numbers are written as they are."""
    writer = csv.writer(out, lineterminator=end)
    writer.writerow(map(cell_of, header))
    writer.writerows([cell_of(value) for value in row] for row in rows)


def cell_of(value: Any) -> Any:
    """Return what stands for a value in a cell."""
    return f"{_MARK}{value}" if isinstance(value, str) and _looks_like_formula(value) else value


def text_of(cell: str) -> str:
    """Return the text that stands in a cell of `write_csv`."""
    return cell[1:] if cell.startswith(_MARK) and _looks_like_formula(cell[1:]) else cell


def _looks_like_formula(text: str) -> bool:
    return text.lstrip(_MARK).startswith(_FORMULA)


def write_tables(tables: Iterable[Table], folder: Path, form: str) -> list[Path]:
    """Write frames.jsonl and one table for each cluster (`csv` or `parquet`) to `folder`; return their paths.

    Columns are id, document, title, the slots as written, the values of those that are numbers or dates (`SLOT_value`),
    and `fits`: whether frame and cells reproduce the sentence. In CSV, a cell that begins like a formula gets a leading
    apostrophe.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    listing = folder / "frames.jsonl"
    with whole_file(listing) as part, part.open("w", encoding="utf-8", newline="\n") as lines:
        for table in tables:
            path = folder / f"{table.cluster}.{form}"
            columns = _columns(table)
            with whole_file(path) as part_of_table:
                if form == "parquet":
                    pq.write_table(pa.table(columns), part_of_table)
                else:
                    with part_of_table.open("w", encoding="utf-8", newline="") as out:
                        write_csv(list(columns), zip(*columns.values(), strict=True), out)
            slots = [{"name": slot.name, "type": slot.type, "unit": slot.unit} for slot in table.columns]
            row = {"cluster": table.cluster, "frame": table.frame, "slots": slots, "rows": len(table.fits)}
            row |= {"fit": sum(table.fits), "file": path.name}
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            written.append(path)
    return [listing, *written]


def _columns(table: Table) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        name: [sentence[name] for sentence in table.sentences] for name in ("id", "document", "title")
    }
    for slot in table.columns:
        columns[slot.name] = list(slot.cells)
        if slot.values is not None:
            columns[_value_name(slot)] = list(slot.values)
    return columns | {"fits": list(table.fits)}


def _value_name(slot: Column) -> str:
    return f"{slot.name}_value"


_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODES = dict.fromkeys(("sentence", "title", "text", "timestamp", "contributor", "editor", "cluster"), "string")
_EDGES = {"jaccard": "double", "edits": "int", "copied": "boolean"}


def write_graphml(trees: Sequence[dict[str, Any]], path: Path) -> None:
    """Write the members of all trees as nodes, and an edge from each parent to each of its copies."""
    with whole_file(path) as part, etree.xmlfile(str(part), encoding="utf-8") as out:
        out.write_declaration()
        with out.element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns"):
            for of, fields in (("node", _NODES), ("edge", _EDGES)):
                for name, kind in fields.items():
                    out.write(etree.Element("key", {"id": name, "for": of, "attr.name": name, "attr.type": kind}))
            with out.element("graph", edgedefault="directed"):
                number = count()
                for tree in trees:
                    names: dict[str, str] = {}
                    for member in tree["members"]:
                        names[member["id"]] = f"n{next(number)}"
                        values = member | {"sentence": member["id"], "cluster": tree["cluster"]}
                        out.write(_with_data("node", {"id": names[member["id"]]}, values, _NODES))
                    for member in tree["members"]:
                        if member["parent"] in names:
                            ends = {"source": names[member["parent"]], "target": names[member["id"]]}
                            out.write(_with_data("edge", ends, member, _EDGES))


def _with_data(tag: str, attributes: dict[str, str], values: dict[str, Any], fields: dict[str, str]) -> etree._Element:
    element = etree.Element(tag, attributes)
    for name in fields:
        if values[name] is not None:
            data = etree.SubElement(element, "data", key=name)
            data.text = _clean(str(values[name]).lower() if isinstance(values[name], bool) else str(values[name]))
    return element


def _clean(text: str) -> str:
    """Return the text without characters that XML cannot contain."""
    return _NO_XML.sub("\ufffd", text)


_ATOM = "http://www.w3.org/2005/Atom"
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_NO_TIME = "1970-01-01T00:00:00Z"


def atom_feed(rows: Sequence[Mapping[str, Any]], base: str) -> bytes:
    """Return corrections that did not arrive as an Atom feed (RFC 4287), with links below `base`."""
    newest = max((_moment(row["stale"]) for row in rows), default=_NO_TIME)
    feed = etree.Element("feed", xmlns=_ATOM)
    _element(feed, "title", "Corrections that did not arrive")
    _element(feed, "id", f"{base}stale.atom")
    _element(feed, "updated", newest)
    etree.SubElement(feed, "link", rel="self", href=f"{base}stale.atom")
    for row in rows:
        told = row["stale"]
        entry = etree.SubElement(feed, "entry")
        _element(entry, "title", f"{told['page']}: {told['old'] or '∅'} → {told['new'] or '∅'}")
        place = quote(f"{row['slot']}/{told['page']}/{told['old']}")  # of one slot, several may be corrected
        _element(entry, "id", f"{base}clusters/{row['cluster']}#{place}")
        _element(entry, "updated", _moment(told))
        etree.SubElement(entry, "link", href=f"{base}clusters/{row['cluster']}")
        _element(etree.SubElement(entry, "author"), "name", told["contributor"] or "unknown")
        pages = ", ".join(dict.fromkeys(place["title"] or place["document"] for place in told["standing"]))
        _element(entry, "summary", f"{told['after']} The old value still stands on: {pages}.")
    return etree.tostring(feed, encoding="utf-8", xml_declaration=True)


def _moment(told: Mapping[str, Any]) -> str:
    """Return the time of a correction in the form of a feed, which is that of dumps."""
    try:
        datetime.strptime(told["timestamp"] or "", _TIME)
    except ValueError:
        return _NO_TIME
    return str(told["timestamp"])


def _element(parent: etree._Element, name: str, text: str) -> None:
    etree.SubElement(parent, name).text = _clean(text)


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
    stale = any("stale" in row for row in rows)
    lines = [heading.format("Corrections that did not arrive" if stale else "Statements that differ"), ""]
    for row in rows:
        if "stale" in row:
            lines += _corrected(row, item, below, quoted, linked)
            continue
        lines.append(f"{item.format(quoted(row['frame']))} ({row['fact']}, confidence {row['confidence']:.2f})")
        for place, value in enumerate(row["values"]):
            line = below.format(quoted(value["value"] or "∅")) + _described(row, place)
            lines.append(f"{line}: {_who(value, linked, quoted)}")
    return "\n".join(lines) + "\n"


def _corrected(row: dict[str, Any], item: str, below: str, quoted: _Spelled, linked: _Spelled) -> Iterator[str]:
    told = row["stale"]
    when = [quoted(str(told[name])) for name in ("revision", "timestamp", "contributor") if told[name] is not None]
    changed = f"{quoted(told['old'] or '∅')} → {quoted(told['new'] or '∅')}"
    yield f"{item.format(linked(told['page']))} ({', '.join(when)}): {changed}"
    for place in told["standing"]:
        where = linked(place["title"]) if place["title"] else quoted(place["document"])
        yield f"{below.format(where)}: {quoted(place['text'])}"


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
