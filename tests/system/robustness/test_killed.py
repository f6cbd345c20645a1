"""Commands ended at random moments: the same command finishes, and no file is ever half-written under its name."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import esdedup
from tests.support.records import records, table

MOMENTS = 5
SIGNED = ["--unit", "record", "--min-chars", "0"]
COMMANDS = {
    "index": ["index", "a.tsv", "--store", "s.duckdb", *SIGNED],
    "scan": ["scan", "--store", "s.duckdb", "--out", "out"],
    "add": ["add", "b.tsv", "--store", "s.duckdb", "--out", "out"],
    "dedupe": ["dedupe", "a.tsv", "b.tsv", "-o", "out", *SIGNED],
}


def start(folder: Path, verb: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "esdedup", *COMMANDS[verb], "--quiet"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def prepare(folder: Path, verb: str) -> Path:
    """A folder in which the command can be given."""
    folder.mkdir()
    rows = records(81, 4000)
    table(folder / "a.tsv", rows[:3500])
    table(folder / "b.tsv", rows[3500:])
    if verb in ("scan", "add"):
        esdedup.index(folder / "a.tsv", store=folder / "s.duckdb", unit="record", min_chars=0)
    if verb == "add":
        esdedup.scan(store=folder / "s.duckdb")
    return folder


def files(folder: Path, verb: str) -> dict[str, bytes]:
    """What the finished command leaves, but for what tells of time and of places."""
    if verb == "index":
        esdedup.scan(store=folder / "s.duckdb", out=folder / "out")
    return {
        path.name: path.read_bytes()
        for path in (folder / "out").glob("[!.]*")
        if path.name not in ("store.duckdb", "summary.json", "cluster-sizes.png", "report.html")
    }


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_same_command_finishes(tmp_path: Path, verb: str) -> None:
    begun = prepare(tmp_path / "begun", verb)
    whole = tmp_path / "whole"
    shutil.copytree(begun, whole)
    clock = time.perf_counter()
    child = start(whole, verb)
    assert child.communicate(timeout=60)[1] == ""
    took = time.perf_counter() - clock
    expected = files(whole, verb)
    assert expected["clusters.jsonl" if verb != "dedupe" else "drops.jsonl"]
    moments = random.Random(verb)
    for turn in range(MOMENTS):
        folder = tmp_path / f"killed{turn}"
        shutil.copytree(begun, folder)
        sent = [signal.SIGKILL, signal.SIGINT][turn % 2]
        child = start(folder, verb)
        time.sleep(moments.uniform(0.2, 1) * took)
        child.send_signal(sent)
        errors = child.communicate(timeout=60)[1]
        if sent == signal.SIGINT and child.returncode not in (0, -signal.SIGINT):
            # -2: before Python listens to signals
            assert (child.returncode, errors) == (130, "esdedup: interrupted; run the same command again to finish\n")
        for path in (folder / "out").glob("[!.]*"):
            if path.name in expected:
                assert path.read_bytes() == expected[path.name]
        again = start(folder, verb)
        assert (again.communicate(timeout=60)[1], again.returncode) == ("", 0)
        assert files(folder, verb) == expected
        assert [path.name for path in [*folder.glob(".*"), *(folder / "out").glob(".*")]] == []
        shutil.rmtree(folder)
