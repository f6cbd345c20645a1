"""Trees of copies as a GraphML graph, for tools that draw and measure graphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from lxml import etree

from esdedup.files import whole_file

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
