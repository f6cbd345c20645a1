"""The one accessor of `mappings/`, where every schema lives."""

from __future__ import annotations

from pathlib import Path

SCHEMA_VERSION = 2


def mapping_text(name: str) -> str:
    """The text of `mappings/NAME`: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "mappings" / name
    return (inside if inside.exists() else package.parent / "mappings" / name).read_text("utf-8")
