"""What a run has written: its files, and what their lines hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def results(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in ("clusters.jsonl", "clusters.txt", "pairs.jsonl")}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
