"""The node commands as a person types them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

COMMAND = "from esdedup.cli import main; main()"


def node(*arguments: object, code: str = COMMAND, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, "node", *map(str, arguments)],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=180,
    )  # fmt: skip


def beginning(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "node", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def line(process: subprocess.CompletedProcess[str]) -> str:
    """The one line of a command that succeeded."""
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.count("\n") == 1
    return process.stdout


def refusal(process: subprocess.CompletedProcess[str]) -> str:
    """The one line of a command that could not be done."""
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr.startswith("esdedup: ")
    assert process.stderr.count("\n") == 1
    assert "://" not in process.stderr
    return process.stderr


def started(data: Path, *arguments: Any) -> str:
    """The address of a node that this starts."""
    said = line(node("start", "--data", data, "--port", 0, "--heap", "384MiB", *arguments))
    address, verb = said.split()[:2]
    assert verb == "started:"
    return address


def has_ended(pid: int) -> bool:
    """Whether the process is gone, but for what its new parent may still want to know of it."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(happened: Callable[[], bool], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.05)
