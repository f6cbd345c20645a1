"""Nothing outlives a test process, however it ends: a process beside it ends what it has left.

A test process that is interrupted is killed if the test in hand takes longer than the patience of those who wait for
it, and then no fixture ends the nodes, servers and browsers that it has started. All of these have its mark in their
environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import psutil

MARK = "ESDEDUP_TEST_PROCESS"
GRACE = 3  # seconds to end in order


class Guard:
    """The process beside a test process; it also deletes the folders that it has been told of."""

    def __init__(self, told: TextIO) -> None:
        self._told = told

    @contextmanager
    def folder(self, path: Path) -> Iterator[Path]:
        """A folder that is deleted at the end of the block, or by the guard if the end never comes."""
        self._told.write(f"{path}\n")
        self._told.flush()
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def guarded() -> Iterator[Guard]:
    """What this process starts from here on has a mark, and a guard that ends it when this process is gone."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, __file__, mark], stdin=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
    )
    assert process.stdin is not None
    os.environ[MARK] = mark
    try:
        yield Guard(process.stdin)
    finally:
        del os.environ[MARK]
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.wait()


def end_marked(mark: str) -> None:
    """Everything that a test process with this mark has started ends: in order if it can, and by force."""
    import psutil  # only where it is needed: the guard starts with every test process

    while left := _with_mark(mark):  # again, as the last of them may have started another
        for process in left:
            with suppress(psutil.Error):
                process.terminate()
        _, stubborn = psutil.wait_procs(left, timeout=GRACE)
        for process in stubborn:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(stubborn, timeout=GRACE)


def _with_mark(mark: str) -> list[psutil.Process]:
    import psutil

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found.append(process)
    return found


if __name__ == "__main__":
    folders = sys.stdin.read().splitlines()  # until the test process closes it, or is no more
    end_marked(sys.argv[1])
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
