"""Records with near-duplicates, and the table that holds them."""

from __future__ import annotations

from pathlib import Path

from tests.support.corpus import corpus


def table(path: Path, rows: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{key}\t{text}\n" for key, text in rows), "utf-8")
    return path


def records(seed: int = 11, count: int = 400) -> list[tuple[str, str]]:
    return [(f"r{number}", text) for number, text in enumerate(corpus(seed, count))]
