"""What a test process leaves behind when it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]

# starts a process that has a session of its own, and one that will not end when it is asked to
CODE = """
import os, signal, subprocess, sys, time
from pathlib import Path
from tests.support.orphans import guarded

with guarded() as guard, guard.folder(Path(sys.argv[1])):
    sleep = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    for options in ({}, {"start_new_session": True}):
        child = subprocess.Popen([sys.executable, "-c", sleep], stdout=subprocess.PIPE, **options)
        child.stdout.readline()
        print(child.pid, flush=True)
    signal.pause()
"""


def test_what_a_killed_test_process_has_started_ends(tmp_path: Path) -> None:
    folder = tmp_path / "node"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, folder],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stdout is not None
    started = [psutil.Process(int(process.stdout.readline())) for _ in range(2)]
    guard = next(one for one in psutil.Process(process.pid).children() if "orphans.py" in " ".join(one.cmdline()))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    gone, left = psutil.wait_procs([*started, guard], timeout=60)
    assert not left
    assert len(gone) == 3
    assert not folder.exists()
