"""Records with near-duplicates, and the table that holds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.corpus import corpus

SIGNED: dict[str, Any] = {
    "unit": "record", "normalize": "none", "min_chars": 0, "max_chars": 600, "shingle": "char:12", "bands": 10,
    "rows": 4,
}  # fmt: skip
"""One class of texts, whatever their length and script: their pairs are easy to find by definition."""

RECORDS: dict[str, Any] = {**SIGNED, "jaccard": 0.8}
"""The same, with the threshold that `tests.support.corpus` plants pairs for."""


def table(path: Path, rows: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{key}\t{text}\n" for key, text in rows), "utf-8")
    return path


def records(seed: int = 11, count: int = 400) -> list[tuple[str, str]]:
    return [(f"r{number}", text) for number, text in enumerate(corpus(seed, count))]
