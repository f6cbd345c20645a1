"""Whole commands: how long they take, and the most memory that they and all below them hold."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

ESDEDUP = (sys.executable, "-c", "from esdedup.cli import command; command()")

_SECONDS_BETWEEN = 0.2


@dataclass(frozen=True, slots=True)
class Ran:
    seconds: float
    output: str
    peak: int = 0  # bytes, proportional set size; 0 unless sampled


def run(
    command: Sequence[str | Path],
    *,
    sampled: bool = False,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Ran:
    """Run `command` to its end; `RuntimeError` with its last words if it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        began = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=error,
            env={**os.environ, **(environment or {})},
            cwd=folder,
        )
        peak = 0
        while sampled and process.poll() is None:
            peak = max(peak, tree_bytes(process.pid))
            time.sleep(_SECONDS_BETWEEN)
        code = process.wait()
        took = time.perf_counter() - began
        error.seek(0)
        if code:
            words = error.read().decode(errors="replace").strip().splitlines()[-1:]
            raise RuntimeError(f"exit {code}: {' '.join(words)}")
        out.seek(0)
        return Ran(took, out.read().decode(), peak)


@contextmanager
def serving(store: str | Path, **environment: str) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """The port of `esdedup serve`, and its process, which may open as many files as is usual."""
    process = subprocess.Popen(
        [*ESDEDUP, "serve", "--store", str(store), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        preexec_fn=_usual_files,
    )
    try:
        assert process.stderr is not None
        told = None
        while told is None and (line := process.stderr.readline()):  # a warning may come first
            told = re.search(r"http://127\.0\.0\.1:([0-9]+)/", line)
        assert told is not None
        yield int(told[1]), process
    finally:
        process.terminate()
        process.wait()


def _usual_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1_024, hard), hard))


def tree_bytes(root: int) -> int:
    """Proportional set size of a process and all below it: memory that they share counts once."""
    try:
        below = psutil.Process(root).children(recursive=True)
    except psutil.Error:
        return 0
    return sum(_bytes(pid) for pid in [root, *(process.pid for process in below)])


def _bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it has ended
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def processor_time(command: Sequence[str | Path], **environment: str) -> float:
    """Run a command to its end. Return the processor time of this machine meanwhile, in seconds.

    What Java starts cannot be counted otherwise: much of it is killed by others, who do not wait for it. Nothing else
    may run on the machine.
    """
    before = _busy()
    process = subprocess.Popen(
        [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    )  # fmt: skip
    _, said = process.communicate()
    if process.returncode:
        raise RuntimeError(f"exit {process.returncode}: {said.decode(errors='replace').strip()[-500:]}")
    return _busy() - before


def _busy() -> float:
    """Return how long all cores have worked since the machine was started."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)
