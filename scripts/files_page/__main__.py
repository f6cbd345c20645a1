"""Writes docs/files.md; with --check, fails if it is out of date."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.files_page.page import page

PAGE = Path(__file__).parents[2] / "docs" / "files.md"

if __name__ == "__main__":
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, "utf-8")
    elif PAGE.read_text("utf-8") != text:
        sys.exit(f"{PAGE}: out of date; run python -m scripts.files_page")
