"""The README's console block, run as it stands, prints what it shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_commands_print_what_the_readme_shows(tmp_path: Path) -> None:
    block = README.read_text("utf-8").split("```console\n")[1].split("```")[0]
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    command = bin_folder / "esdedup"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m esdedup "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}

    def run(line: str) -> str:
        done = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("esdedup demo --out demo-out")  # what ./scripts/demo does
    printed = ""
    for line in block.splitlines():
        if line.startswith("$ "):
            printed += f"{line}\n{run(line[2:])}"
    assert printed == block
