"""The command: everything found, and generation alone to a file or standard output."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

import pytest

from esdedup.cli import main


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_demo_finds_everything(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--articles", "60", "--out", tmp_path, "--workers", "1") == 0
    shown = capfd.readouterr().out
    assert "every planted pair found; no cluster mixes two plants" in shown
    assert "not planted: 0 clusters, and 0 sentences" in shown
    assert {"demo.xml.bz2", "demo.truth.jsonl", "clusters.jsonl"} <= {path.name for path in tmp_path.iterdir()}

    assert run("demo", "--articles", "60", "--out", tmp_path, "--quiet", "--workers", "1", "--json") == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["complete"] is True
    assert answer["summary"]["counts"]["documents"] == 60
    assert sum(kind["pairs"] for kind in answer["found"]["kinds"]) > 20


def test_only_generate_compresses_by_name(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    few = ("--articles", "3", "--only-generate", "--quiet")
    for name in ("a.xml", "b.xml.bz2", "c.xml.gz"):
        assert run("demo", *few, "-o", tmp_path / name) == 0
    plain = (tmp_path / "a.xml").read_bytes()
    assert bz2.decompress((tmp_path / "b.xml.bz2").read_bytes()) == plain
    assert gzip.decompress((tmp_path / "c.xml.gz").read_bytes()) == plain
    truths = {(tmp_path / f"{name}.truth.jsonl").read_bytes() for name in "abc"}
    assert len(truths) == 1

    assert run("demo", *few, "-o", "-", "--out", tmp_path / "beside") == 0
    assert capfdbinary.readouterr().out == plain
    assert (tmp_path / "beside" / "demo.truth.jsonl").read_bytes() in truths


def test_usage(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "-o", tmp_path / "a.xml") == 2
    assert run("demo", "--articles", "0", "--out", tmp_path) == 2
    assert run("demo", "--only-generate", "-o", "/dev/null/a.xml") == 1
    assert "Traceback" not in capfd.readouterr().err
