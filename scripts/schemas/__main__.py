"""Writes the JSON Schemas of all files and answers, and docs/files.md; with --check, fails if one is out of date."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scripts.schemas.contents import ANSWERS, FILES
from scripts.schemas.json_schema import schema_of
from scripts.schemas.page import page

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "esdedup" / "output" / "schemas"
PAGE = ROOT / "docs" / "files.md"


def made() -> dict[Path, str]:
    files = {PAGE: page()}
    for content in (*FILES, *ANSWERS):
        schema = schema_of(content.title.replace("`", ""), content.row)
        text = json.dumps(schema, ensure_ascii=False, indent=1) + "\n"
        files[FOLDER / f"{content.schema}.schema.json"] = text
    return files


if __name__ == "__main__":
    texts = made()
    old = set(FOLDER.glob("*")) - texts.keys()
    if "--check" not in sys.argv:
        FOLDER.mkdir(exist_ok=True)
        for path, text in texts.items():
            path.write_text(text, "utf-8")
        for path in old:
            path.unlink()
    elif wrong := old | {path for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text}:
        sys.exit(f"{', '.join(map(str, sorted(wrong)))}: out of date; run python -m scripts.schemas")
