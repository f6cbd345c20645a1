"""The examples of the README and the docs, run as they stand, print what they show."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from esdedup.cli.defaults import presets

ROOT = Path(__file__).parents[2]
SHOWN = "http://127.0.0.1:9200/wiki"


@pytest.mark.parametrize(
    "page", ["README.md", "docs/dedupe.md", "docs/text.md", "docs/tour.md", "docs/elasticsearch.md", "docs/search.md"]
)
def test_commands_print_what_the_page_shows(tmp_path: Path, page: str, elastic_url: str, elastic_prefix: str) -> None:
    blocks = [part.split("```")[0] for part in (ROOT / page).read_text("utf-8").split("```console\n")[1:]]
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name, started in (("esdedup", "-m esdedup "), ("python", "")):
        (bin_folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {started}"$@"\n')
        (bin_folder / name).chmod(0o755)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("ESDEDUP_STORE", None)

    def run(line: str) -> str:
        if line.startswith("export "):
            name, value = line.removeprefix("export ").split("=")
            environment[name] = value.replace(SHOWN, f"{elastic_url}/{elastic_prefix}")
            return ""
        done = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    if "demo-out" in "".join(blocks):
        run("esdedup demo --out demo-out")  # what ./scripts/demo does
    assert any("$ " in block for block in blocks)
    for block in blocks:
        printed = "".join(f"{line}\n{run(line[2:])}" for line in block.splitlines() if line.startswith("$ "))
        assert printed == block


def test_the_python_example_runs(tmp_path: Path) -> None:
    [script] = [part.split("```")[0] for part in (ROOT / "README.md").read_text("utf-8").split("```python\n")[1:]]
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 {'drift': 1, 'identical': 1}\n2 ['Alder Bridge")


def test_the_table_in_memory_prints_what_the_page_shows(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "dedupe.md").read_text("utf-8")
    script, shown = (text.split(f"```{kind}\n")[1].split("```")[0] for kind in ("python", "text"))
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (shown, "")


def test_every_preset_has_a_command_that_runs(tmp_path: Path, data_folder: Path) -> None:
    text = (ROOT / "docs" / "papers.md").read_text("utf-8")
    commands = text.split("```sh\n")[1].split("```")[0].splitlines()
    assert {line.split("--preset ")[1].split(" ")[0] for line in commands} == set(presets())
    for line in commands:
        words = [word.replace("DATA", str(data_folder)) for word in shlex.split(line)]
        done = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert any((tmp_path / words[-1]).iterdir())
