"""docs/elasticsearch.md describes every index and every field."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "elasticsearch.md").read_text("utf-8")
MAPPINGS = sorted((ROOT / "mappings").glob("*.json"))


@pytest.mark.parametrize("mapping", MAPPINGS, ids=[path.stem for path in MAPPINGS])
def test_every_field_is_described(mapping: Path) -> None:
    assert f"`PREFIX-{mapping.stem}`" in PAGE
    section = PAGE.split("## Indices and fields")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith(f"| `PREFIX-{mapping.stem}`")]
    internal = section.split("The other fields are for esdedup")[1]
    shown = set(re.findall("`([a-z_]+)`", "".join(rows) + internal))
    for field in json.loads(mapping.read_text("utf-8"))["properties"]:
        assert field in shown or re.search("_(hash|number|a|b)$", field), field


def test_tests_that_docs_link_to_are_there() -> None:
    links = re.findall(r"\]\((\.\./tests/[^)#]+)\)", (ROOT / "docs" / "reliability.md").read_text("utf-8"))
    assert len(links) > 20
    assert [link for link in links if not (ROOT / "docs" / link).is_file()] == []
