"""What a child measures of itself, and what is measured of a whole process tree."""

from __future__ import annotations

import contextlib
import re
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple

import psutil


class Ended(NamedTuple):
    """A command that has ended, and the most memory that it and its children had at one time."""

    code: int
    out: str
    err: str
    peak_mib: int


def peak_of_tree(*command: object, timeout: float = 300) -> Ended:
    """Run a command, and sample the memory of its process tree: what processes share counts once."""
    pipe = subprocess.PIPE
    with subprocess.Popen(list(map(str, command)), stdout=pipe, stderr=pipe, text=True) as process:
        peak, ended = 0, threading.Event()

        def watch() -> None:
            nonlocal peak
            root = psutil.Process(process.pid)
            while not ended.wait(0.05):
                total = 0
                with contextlib.suppress(psutil.Error):
                    for each in [root, *root.children(recursive=True)]:
                        with contextlib.suppress(psutil.Error):
                            total += each.memory_full_info().pss
                peak = max(peak, total)

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
        finally:
            ended.set()
            watching.join()
    return Ended(process.returncode, out, err, peak // 2**20)


def peak_mib() -> int:
    """The most memory that this program has had resident; `ru_maxrss` keeps what the process was before `exec`."""
    told = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert told is not None
    return int(told[1]) // 1024
