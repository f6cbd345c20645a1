"""Real output for docs/examples/towns.xml, by the name of its schema. What was measured is replaced."""

from __future__ import annotations

import io
import json
import os
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from esdedup.cli import main

TOWNS = Path(__file__).parents[2] / "docs" / "examples" / "towns.xml"

SIMILAR = "The mills were closed in the winter after the great flood, and their machines were sold."

MEASURED = {"seconds": 0.1, "peak_memory_mb": 250.0, "disk_bytes": 3682304}
"""What differs from run to run."""

WRITTEN = {
    "documents": "towns.jsonl",
    "clusters": "found/clusters.jsonl", "pairs": "found/pairs.jsonl", "summary": "found/summary.json",
    "drops": "clean/drops.jsonl", "cleaned-pages": "clean/towns.jsonl", "frames": "tables/frames.jsonl",
}  # fmt: skip


def examples() -> dict[str, Any]:
    """The first line of each file and of each answer."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("towns.xml").write_bytes(TOWNS.read_bytes())
        found = _answers()
        found |= {name: _first(Path(path).read_text("utf-8")) for name, path in WRITTEN.items()}
        found["annotation"] = _first(Path("marked/towns.jsonl").read_text("utf-8"))["esdedup"]
        return {name: _steady(value, os.path.realpath(folder)) for name, value in found.items()}


def _answers() -> dict[str, Any]:
    there = ("--store", "found/store.duckdb")
    few = ("--store", "few.duckdb")
    found = {
        "run": _said("run", "towns.xml", "--out", "found", "--revisions", "all", "--jaccard", "0.7"),
        "index": _said("index", "towns.xml", "--limit", "3", *few),
        "first scan": _said("scan", "--out", "earlier", "--jaccard", "0.7", *few),
        "add": _said("add", "towns.xml", "--matches", "1", *few),
        "clusters-listed": _said("clusters", "--since", "earlier", *few),
        "remove": _said("remove", "4", *few),
        "status": _said("status", *there),
        "doctor": _said("doctor", *there),
        "extract": _said("extract", "towns.xml", "-o", "towns.jsonl"),
        "similar": _said("similar", SIMILAR, *there),
        "similar-to-each": _said("similar", "--file", _questions(), *there),
        "suggest": _said("suggest", "in 1904", *there),
        "explain": _said("explain", "1:1", "4:0", *there),
        "overlap": _said("overlap", *there),
        "drift": _said("drift", *there),
        "templates": _said("templates", *there),
        "lineage": _said("lineage", "--limit", "1", *there),
        "dedupe": _said("dedupe", "towns.xml", "--out", "clean", "--jaccard", "0.7"),
        "evaluate": _said("evaluate", "--truth", "exact", "--golden", "found/clusters.txt", *there),
        "plan": _said("plan", "--schemes", "10x4"),
        "report": _said("report", "--out", "report", *there),
        "kibana-import": _said("kibana", "import", "--out", "towns.ndjson", "--store", "http://127.0.0.1:9200/towns"),
        "node-status": _said("node", "status", "--data", "node"),
    }
    _run("dedupe", "towns.xml", "--out", "marked", "--annotate", "--jaccard", "0.7")
    _run("templates", "--out", "tables", *there)
    del found["first scan"]
    return found


def _questions() -> str:
    Path("questions.jsonl").write_text(json.dumps({"id": "a", "text": SIMILAR}) + "\n", "utf-8")
    return "questions.jsonl"


def _said(*arguments: str) -> Any:
    """The first line that a command prints with `--json`."""
    return _first(_run(*arguments, "--json"))


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
