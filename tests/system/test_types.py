"""What a type checker tells a person who writes a program with the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_a_type_checker_finds_a_wrong_option(tmp_path: Path) -> None:
    script = tmp_path / "user.py"
    script.write_text(
        "import esdedup\n"
        'esdedup.run("x.jsonl", out="o", jacard=0.9)\n'
        'esdedup.run("x.jsonl", out="o", jaccard=0.9)\n'
        'esdedup.run(["x.jsonl"], out="o", candidates="nothing")\n'
        'esdedup.run("x.jsonl", out="o", table="none")\n'
        'print(esdedup.similar("a text", store="s.duckdb")[0].jaccard)\n'
    )
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--cache-dir",
        tmp_path / "cache",
        script,
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    errors = [line.partition("user.py:")[2] for line in done.stdout.splitlines() if ": error: " in line]
    assert [error.partition(":")[0] for error in errors] == ["2", "4"]
    assert 'did you mean "jaccard"' in errors[0]
