"""Real output for docs/examples/towns.xml, by its name. What was measured is replaced."""

from __future__ import annotations

import io
import json
import os
import shlex
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from esdedup.cli import main
from scripts.files_page.contents import ANSWERS, FILES

TOWNS = Path(__file__).parents[2] / "docs" / "examples" / "towns.xml"

QUESTION = {
    "id": "a",
    "text": "The mills were closed in the winter after the great flood, and their machines were sold.",
}

MEASURED = {"seconds": 0.1, "peak_memory_mb": 250.0, "disk_bytes": 3682304}
"""What differs from run to run."""


def examples() -> dict[str, Any]:
    """The first line of each file and of each answer."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("towns.xml").write_bytes(TOWNS.read_bytes())
        Path("questions.jsonl").write_text(json.dumps(QUESTION) + "\n", "utf-8")
        found = {each.name: _answer(each.example.splitlines()) for each in ANSWERS if each.example}
        found |= {each.name: _first(Path(each.example).read_text("utf-8")) for each in FILES if each.example}
        found["annotation"] = _first(Path("marked/towns.jsonl").read_text("utf-8"))["esdedup"]
        return {name: _steady(value, os.path.realpath(folder)) for name, value in found.items()}


def _answer(commands: list[str]) -> Any:
    """The first line that the last of these commands prints with `--json`."""
    for command in commands[:-1]:
        _run(*shlex.split(command))
    return _first(_run(*shlex.split(commands[-1]), "--json"))


def _run(*arguments: str) -> str:
    out, messages = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(messages):
        try:
            main([*arguments, "--quiet"])
        except SystemExit as end:
            assert not end.code, messages.getvalue()
    return out.getvalue()


def _first(text: str) -> Any:
    """The first JSON value of a text."""
    return json.JSONDecoder().raw_decode(text)[0]


def _steady(value: Any, folder: str) -> Any:
    """The value without what differs from run to run."""
    if isinstance(value, dict):
        return {name: _measured(name, item, folder) for name, item in value.items()}
    if isinstance(value, list):
        return [_steady(item, folder) for item in value]
    return value.replace(folder, "/data") if isinstance(value, str) else value


def _measured(name: str, value: Any, folder: str) -> Any:
    if name in MEASURED and isinstance(value, dict):
        return dict.fromkeys(value, MEASURED[name])
    return _steady(value, folder) if name not in MEASURED or value is None else MEASURED[name]
