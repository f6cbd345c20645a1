"""Processes that are killed, as the kernel does when memory runs out: one line, and the same command finishes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from esdedup.errors import EsdedupError
from esdedup.text.wikitext.reference import ReferenceCleaner
from esdedup.text.wikitext.rules import Names
from tests.support.commands import said
from tests.support.full import few
from tests.system.robustness.helpers import ROOT, only_line, outputs

STUCK = 400  # seconds: only what stands still is ended

# worker processes from the first batch on, small batches, and time for the test to do what it does
CODE = """
import faulthandler
import time
import esdedup.jobs.workers as workers
import esdedup.formats.batches as batches
from esdedup.cli import main

if __name__ == "__main__":
    faulthandler.dump_traceback_later(300, exit=True)  # where it stands still
    workers._WORTH_WORKERS = 1
    batches.MAX_BYTES = 1200
    submit = workers.Workers.submit

    def slow(self, *arguments, **size):
        if self._processes is not None and all(ready.done() for ready in self._ready):
            print("ready", flush=True)
        time.sleep(0.04)
        return submit(self, *arguments, **size)

    workers.Workers.submit = slow
    main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("told", "ending"), few([(True, signal.SIGKILL), (True, signal.SIGTERM), (False, signal.SIGKILL)], 2)
)
def test_a_killed_worker_is_one_line_and_the_same_command_finishes(
    undisturbed: Path, tmp_path: Path, told: bool, ending: signal.Signals
) -> None:
    source = undisturbed / "a.tsv"
    command = ("run", source, "--out", tmp_path / "out", "--unit", "record", "--workers", "2")
    job = subprocess.Popen(
        [sys.executable, "-c", CODE, *map(str, command)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert job.stdout is not None
    for _ in range(5):
        assert job.stdout.readline() == "ready\n"
    workers: list[psutil.Process] = []
    while len(workers) < 2:
        assert job.poll() is None
        time.sleep(0.01)
        # the children of the process that starts them; one that ends meanwhile is none of them
        with contextlib.suppress(psutil.NoSuchProcess):
            workers = [one for one in psutil.Process(job.pid).children(recursive=True) if one.ppid() != job.pid]
    if not told:
        psutil.Process(workers[0].ppid()).suspend()  # the only one who would tell of it
    workers[0].send_signal(ending)
    try:
        _, err = job.communicate(timeout=STUCK)
    finally:
        job.kill()
    assert job.returncode == 1, err
    line = only_line(err)
    assert "a worker process ended without an answer (out of memory?)" in line
    assert "run the same command again" in line
    assert not (tmp_path / "out" / "clusters.jsonl").exists()
    for one in workers:
        one.wait(STUCK)  # none outlives the job
    assert said(*command).code == 0
    assert outputs(tmp_path / "out") == outputs(undisturbed / "out")


HALF = "from tests.system.robustness.half_answer import die_in_the_middle_of_an_answer\n" + CODE.replace(
    'print("ready", flush=True)', "return self._processes.submit(die_in_the_middle_of_an_answer)"
)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.full
def test_half_an_answer_of_a_killed_worker_is_not_waited_for(undisturbed: Path, tmp_path: Path) -> None:
    source = undisturbed / "a.tsv"
    command = ("run", source, "--out", tmp_path / "out", "--unit", "record", "--workers", "2")
    done = subprocess.run(
        [sys.executable, "-c", HALF, *map(str, command)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=STUCK,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "a worker process ended without an answer (out of memory?)" in only_line(done.stderr)
    assert said(*command).code == 0
    assert outputs(tmp_path / "out") == outputs(undisturbed / "out")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_reference_path_loses_one_page_to_a_kill() -> None:
    with ReferenceCleaner(Names()) as cleaner:
        assert cleaner.clean("'''a'''") == "a"
        assert cleaner._process is not None
        cleaner._process.kill()
        cleaner._process.wait()
        with pytest.raises(EsdedupError, match="crashed on the page"):
            cleaner.clean("b")
        assert cleaner.clean("''c''") == "c"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_reference_process_that_cannot_start_is_no_page_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with ReferenceCleaner(Names()) as cleaner, pytest.raises(EsdedupError, match="while it was starting"):
        cleaner.clean("a")
