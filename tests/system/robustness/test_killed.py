"""Commands ended at any of their calls: the same command finishes, and no file is ever half-written under its name."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import esdedup
from tests.support.full import FULL, few
from tests.support.records import records, table
from tests.system.robustness.helpers import ROOT

MOMENTS = 20 if FULL else 1
ENDINGS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
STUCK = 900  # seconds: no command here takes long on any machine, and only one that stands still is ended
SIGNED = ["--unit", "record", "--min-chars", "0"]
COMMANDS = {
    "index": ["index", "a.tsv", "--store", "s.duckdb", *SIGNED],
    "scan": ["scan", "--store", "s.duckdb", "--out", "out"],
    "add": ["add", "b.tsv", "--store", "s.duckdb", "--out", "out"],
    "dedupe": ["dedupe", "a.tsv", "b.tsv", "-o", "out", *SIGNED],
    "proven": [
        "dedupe",
        "a.tsv",
        "b.tsv",
        "-o",
        "out",
        "--keep",
        "clean",
        "--merge",
        "2=most",
        "--certificate",
        "out/cert.json",
        *SIGNED,
    ],
    "against": ["dedupe", "a.tsv", "--against", "b.tsv", "--contained", "0.9", "-o", "out", *SIGNED],
}


# counts what the package calls; tells of the call with a number, or at its end how many there were
CODE = """
import os, sys
told, moment, count = int(sys.argv.pop(1)), int(sys.argv.pop(1)), 0

def watch(frame, event, _):
    global count
    if event in ("call", "c_call") and PACKAGE in frame.f_code.co_filename:
        count += 1
        if count == moment:
            os.write(told, b"now")

import numba, pyarrow.compute, duckdb  # whose own calls are not looked at
from esdedup.cli import main
PACKAGE = os.path.dirname(sys.modules["esdedup"].__file__)
sys.setprofile(watch)
try:
    main()
finally:
    sys.setprofile(None)
    if not moment:
        os.write(told, str(count).encode())
"""


def watched(folder: Path, verb: str, moment: int, ending: signal.Signals | None = None) -> tuple[bytes, int, str]:
    """What a command told of its calls, its exit code and standard error; the signal is sent as soon as it tells."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", buffering=0) as told:
        child = subprocess.Popen(
            [sys.executable, "-c", CODE, str(writer), str(moment), *COMMANDS[verb], "--quiet"],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, pass_fds=[writer],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        os.close(writer)
        said = told.read(20)  # nothing where the command ended before
        if said and ending is not None:
            child.send_signal(ending)
        return said, *ended(child)


def ended(child: subprocess.Popen[str]) -> tuple[int, str]:
    try:
        errors = child.communicate(timeout=STUCK)[1]
    finally:
        child.kill()
    return child.returncode, errors


def start(folder: Path, verb: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "esdedup", *COMMANDS[verb], "--quiet"],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def prepare(folder: Path, verb: str) -> Path:
    """A folder in which the command can be given."""
    folder.mkdir()
    rows = records(81, 300)
    table(folder / "a.tsv", rows[:260])
    table(folder / "b.tsv", rows[260:])
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


@pytest.mark.parametrize("verb", few(COMMANDS, 4))
def test_the_same_command_finishes(tmp_path: Path, verb: str) -> None:
    begun = prepare(tmp_path / "begun", verb)
    whole = tmp_path / "whole"
    shutil.copytree(begun, whole)
    told, code, errors = watched(whole, verb, 0)
    assert (code, errors) == (0, "")
    calls = int(told)
    assert calls > 1000
    expected = files(whole, verb)
    assert expected["drops.jsonl" if "dedupe" in COMMANDS[verb] else "clusters.jsonl"]
    moments, cut_short = random.Random(verb), 0
    for turn in range(MOMENTS):
        folder = tmp_path / f"killed{turn}"
        shutil.copytree(begun, folder)
        sent = ENDINGS[(list(COMMANDS).index(verb) + turn) % len(ENDINGS)]
        _, code, errors = watched(folder, verb, int(moments.uniform(0.05, 1) * calls), sent)
        if sent == signal.SIGINT and code != 0:
            assert (code, errors) == (130, "esdedup: interrupted; run the same command again to finish\n")
        elif code != 0:
            assert (code, errors) == (-sent, "")
        cut_short += code != 0
        for path in (folder / "out").glob("[!.]*"):
            if path.name in expected:
                assert path.read_bytes() == expected[path.name]
        assert ended(start(folder, verb)) == (0, "")
        assert files(folder, verb) == expected
        hidden = {path.name for path in [*folder.glob(".*"), *(folder / "out").glob(".*")]}
        assert hidden == ({".esdedup.json"} if "dedupe" in COMMANDS[verb] else set())
        shutil.rmtree(folder)
    assert cut_short
