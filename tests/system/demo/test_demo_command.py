"""The command: everything is found; and the generator of its wiki."""

from __future__ import annotations

import bz2
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from esdedup.cli import main
from scripts.wiki.writing import generate_files

ROOT = Path(__file__).parents[3]


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_demo_finds_everything(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--out", tmp_path, "--workers", "1") == 0
    shown = capfd.readouterr().out
    assert "every planted pair found; no cluster mixes two plants" in shown
    assert "not planted: 0 clusters, and 0 sentences" in shown
    assert {"demo.xml.bz2", "demo.truth.jsonl", "clusters.jsonl"} <= {path.name for path in tmp_path.iterdir()}

    assert run("demo", "--out", tmp_path, "--quiet", "--workers", "1", "--json") == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["complete"] is True
    assert answer["summary"]["counts"]["documents"] == 200
    assert sum(kind["pairs"] for kind in answer["found"]["kinds"]) > 20


def test_a_wiki_is_compressed_by_its_name(tmp_path: Path) -> None:
    for name in ("a.xml", "b.xml.bz2", "c.xml.gz"):
        generate_files(3, 1, tmp_path / name)
    plain = (tmp_path / "a.xml").read_bytes()
    assert bz2.decompress((tmp_path / "b.xml.bz2").read_bytes()) == plain
    assert gzip.decompress((tmp_path / "c.xml.gz").read_bytes()) == plain
    assert len({(tmp_path / f"{name}.truth.jsonl").read_bytes() for name in "abc"}) == 1


def test_the_generator_is_a_command(tmp_path: Path) -> None:
    def generate(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "scripts.wiki", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)

    generate_files(200, 1, tmp_path / "a.xml.bz2")
    assert (ROOT / "esdedup" / "demo" / "data" / "wiki.xml.bz2").read_bytes() == (tmp_path / "a.xml.bz2").read_bytes()
    done = generate("--articles", 3, "--seed", 2, "-o", tmp_path / "b.xml")
    assert done.stdout == f"wrote {tmp_path / 'b.xml'} and {tmp_path / 'b.truth.jsonl'}\n"
    assert "--articles 0: allowed: 1 or more" in generate("--articles", 0, "-o", tmp_path / "c.xml").stderr


def test_what_cannot_be_written(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "-o", "/dev/null/a") == 1
    assert "Traceback" not in capfd.readouterr().err
