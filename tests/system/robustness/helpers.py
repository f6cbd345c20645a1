"""Commands run here and in children of their own, and what one line of theirs must look like."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.commands import Said
from tests.support.corpus import corpus
from tests.support.sources import export, page, revision

ROOT = Path(__file__).parents[3]


def child(
    *arguments: object, cwd: Path, code: str = "from esdedup.cli import main; main()", timeout: float = 60, **more: Any
) -> Said:
    """The command line in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout, **more,
    )  # fmt: skip
    return Said(done.returncode, done.stdout, done.stderr)


def one_line(answer: Said, code: int = 1) -> str:
    """The one line that a refused command says."""
    assert answer.code == code, answer.err
    assert answer.out == ""
    return only_line(answer.err)


def only_line(text: str) -> str:
    assert text.startswith("esdedup: "), text
    assert text.endswith("\n")
    assert text.count("\n") == 1, text
    assert "Traceback" not in text
    return text


def wiki_pages(count: int, sentences: int = 25) -> list[str]:
    return [page(n, f"Page {n}", revision(n, " ".join(corpus(n, sentences)))) for n in range(1, count + 1)]


@cache
def wiki(count: int) -> bytes:
    return export(*wiki_pages(count))


def outputs(folder: Path) -> dict[str, bytes]:
    """The files of `--out` that equal work makes equal."""
    return {name: (folder / name).read_bytes() for name in ("clusters.jsonl", "clusters.txt", "pairs.jsonl")}


def places(summary: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    return {source["name"]: source["skipped"]["places"] for source in summary["sources"]}
