"""Examples of pages, run as they stand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.commands import said

ROOT = Path(__file__).parents[2]
SHOWN = "http://127.0.0.1:9200/wiki"
"""The address of a store in pages."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> list[tuple[str, str]]:
    """The kind and the text of each block of code."""
    return [(kind, text) for kind, text in BLOCK.findall((ROOT / page).read_text("utf-8"))]


class Terminal:
    """A folder in which commands of a page are typed: an own command runs in this process, every other in a shell."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, store: str = "") -> None:
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        for name, started in (("esdedup", "-m esdedup "), ("python", "")):
            (bin_folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {started}"$@"\n')
            (bin_folder / name).chmod(0o755)
        patch.chdir(folder)
        patch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
        patch.delenv("ESDEDUP_STORE", raising=False)
        self.patch, self.store = patch, store

    def run(self, line: str, answers: Mapping[str, str] | None = None) -> str:
        """What a command prints. Of those in `answers` it is known: they are tested elsewhere."""
        if answers and line in answers:
            return answers[line]
        if line.startswith("export "):
            name, value = line.removeprefix("export ").split("=")
            self.patch.setenv(name, value.replace(SHOWN, self.store))
            return ""
        if line.startswith("esdedup ") and not re.search(r"[|>$*]", line):
            done = said(*shlex.split(line)[1:])
            assert done.code == 0, done.err
            return done.out
        if first := re.fullmatch(r"(esdedup [^|>$*]+) \| head -n (\d+)", line):
            return "".join(self.run(first[1]).splitlines(keepends=True)[: int(first[2])])
        process = subprocess.run(line, shell=True, capture_output=True, text=True)
        assert process.returncode == 0, process.stderr
        return process.stdout

    def printed(self, block: str, answers: Mapping[str, str] | None = None) -> str:
        """A console block as it is when its commands are typed now."""
        typed = (line for line in block.splitlines() if line.startswith("$ "))
        return "".join(f"{line}\n{self.run(line[2:], answers)}" for line in typed)
