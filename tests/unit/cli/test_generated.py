"""The Python help that is generated from declarations, and the script that writes it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "keywords.py"


def test_python_help_has_no_flags_of_the_command_line() -> None:
    text = (ROOT / "esdedup" / "api" / "keywords.py").read_text("utf-8")
    assert "draws: int | None" in text
    assert not re.findall(r"--[a-z][a-z-]+", text)


def test_without_ruff_the_script_says_in_one_line_what_to_run() -> None:
    code = (
        "import runpy, sys; sys.modules['ruff'] = None; sys.argv = ['keywords.py', '--check']; "
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "run ./scripts/check once, and then . .venv/bin/activate" in done.stderr
