"""What a job needs last is compiled in another process, while the job compiles what reads its sources."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import esdedup
from esdedup.columns import kernels
from esdedup.jobs.compiling import compile_by_a_run

TOWNS = Path(__file__).parents[3] / "docs" / "examples" / "towns.xml"
SCRIPT = """
import sys, psutil
from esdedup.columns import kernels
from esdedup.jobs.compiling import compile_ahead
compile_ahead()
kernels._begin_compiling()
started = psutil.Process().children()
print(*(each.pid for each in started if "multiprocessing.spawn" in str(each.cmdline())), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def wanted(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The names of all kernels that would be compiled. Python runs them instead."""
    names: set[str] = set()

    def add(kernel: Any) -> None:
        function = kernel._function
        names.add(f"{function.__module__}.{function.__name__}")
        for name in function.__code__.co_names:
            if isinstance(called := function.__globals__.get(name), kernels._Kernel):
                add(called)

    def call(kernel: Any, *arguments: Any, **named: Any) -> Any:
        if not kernel._is_little(kernels._size(arguments)):
            add(kernel)
        return kernel._run_plain(0, *arguments, **named)

    monkeypatch.setattr(kernels._Kernel, "__call__", call)
    yield names
    kernels._only.clear()


def test_all_but_what_reads_the_source_is_compiled_ahead(wanted: set[str], tmp_path: Path) -> None:
    compile_by_a_run("esdedup.analysis.")
    assert len(wanted) > 20 and not [name for name in wanted if ".matching." in name or ".sentences." in name]
    compile_by_a_run("esdedup.")
    ahead = set(wanted)
    wanted.clear()
    esdedup.run(TOWNS, out=tmp_path, revisions="all", quiet=True, report=False)
    assert len(wanted) > 100
    assert {name for name in wanted - ahead if ".wikitext." not in name} <= {"esdedup.columns.arrays.encode"}


def test_it_begins_with_compiling_and_ends_with_the_process(tmp_path: Path) -> None:
    environment = {**os.environ, "ESDEDUP_CACHE_DIR": str(tmp_path)}
    asked = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as job:
        assert job.stdin is not None and job.stdout is not None
        [helper] = map(psutil.Process, map(int, job.stdout.readline().split()))
        while not list(tmp_path.glob("analysis.*/*.nbc")):
            assert helper.is_running()
            time.sleep(0.05)
        job.stdin.close()
    assert job.returncode == 0
    helper.wait(30)  # which raises if it goes on
