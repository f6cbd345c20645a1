"""The examples of the README and the docs, run as they stand, print what they show."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from esdedup.jobs.presets import preset_names
from tests.support.commands import said

ROOT = Path(__file__).parents[2]
SHOWN = "http://127.0.0.1:9200/wiki"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ./scripts/demo leaves."""
    folder = tmp_path_factory.mktemp("demo")
    with chdir(folder):
        assert said("demo", "--out", "demo-out").code == 0
    return folder / "demo-out"


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/dedupe.md",
        "docs/text.md",
        "docs/tour.md",
        "docs/elasticsearch.md",
        "docs/search.md",
        "docs/records.md",
        "docs/bugs.md",
    ],
)
def test_commands_print_what_the_page_shows(
    tmp_path: Path, page: str, demo: Path, elastic_url: str, elastic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that is one command of ours runs in this process, every other one in a shell."""
    blocks = [part.split("```")[0] for part in (ROOT / page).read_text("utf-8").split("```console\n")[1:]]
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name, started in (("esdedup", "-m esdedup "), ("python", "")):
        (bin_folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {started}"$@"\n')
        (bin_folder / name).chmod(0o755)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("ESDEDUP_STORE", raising=False)

    def run(line: str) -> str:
        if line.startswith("export "):
            name, value = line.removeprefix("export ").split("=")
            monkeypatch.setenv(name, value.replace(SHOWN, f"{elastic_url}/{elastic_prefix}"))
            return ""
        if line.startswith("esdedup ") and not re.search(r"[|>$*]", line):
            done = said(*shlex.split(line)[1:])
            assert done.code == 0, done.err
            return done.out
        process = subprocess.run(line, shell=True, capture_output=True, text=True)
        assert process.returncode == 0, process.stderr
        return process.stdout

    if "demo-out" in "".join(blocks):
        shutil.copytree(demo, "demo-out")
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


@pytest.mark.parametrize("page", ["dedupe.md", "records.md"])
def test_tables_in_memory_print_what_the_page_shows(page: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    script, shown = (text.split(f"```{kind}\n")[1].split("```")[0] for kind in ("python", "text"))
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (shown, "")


def test_every_preset_has_a_command_that_runs(
    tmp_path: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "papers.md").read_text("utf-8")
    commands = text.split("```sh\n")[1].split("```")[0].splitlines()
    assert {line.split("--preset ")[1].split(" ")[0] for line in commands} == set(preset_names())
    for line in commands:
        name, *words = shlex.split(line.replace("DATA", str(data_folder)))
        assert name == "esdedup"
        done = said(*words)
        assert done.code == 0, done.err
        assert any((tmp_path / words[-1]).iterdir())
