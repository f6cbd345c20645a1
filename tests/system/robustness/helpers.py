"""Commands run here and in children of their own, and what one line of theirs must look like."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from esdedup.cli import main
from tests.support.corpus import corpus
from tests.support.sources import export, page, revision

ROOT = Path(__file__).parents[3]


class Said(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str


def said(*arguments: object) -> Said:
    """The command line in this process: an exception that it lets through fails the test."""
    # as the real ones are: what cannot be encoded is an error on the one and shown on the other
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", newline="", write_through=True)
    logger = logging.getLogger("esdedup")
    before = logger.handlers[:], logger.propagate, logger.level
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(list(map(str, arguments)))
    except SystemExit as end:
        assert isinstance(end.code, int)
        return Said(end.code, _written(out), _written(err))
    finally:
        logger.handlers[:], logger.propagate, level = before
        logger.setLevel(level)
    raise AssertionError("the command line always ends by SystemExit")


def _written(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


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
