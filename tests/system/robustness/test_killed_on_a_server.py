"""Commands on a store of a server, killed at random moments: the same command finishes as if nothing had happened."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.elastic_proxy import Exchange, Proxy
from tests.support.full import few
from tests.system.robustness.helpers import ROOT
from tests.system.robustness.on_a_server import Job

CODE = (
    "import pytest, sys\n"
    "from tests.system.robustness.on_a_server import make_small\n"
    "from esdedup.cli import main\n"
    "make_small(pytest.MonkeyPatch())\n"
    "main(sys.argv[1:])\n"
)
REQUESTS = {"index": 80, "scan": 48, "add": 170, "remove": 62}
"""About how many each command makes."""

pytestmark = pytest.mark.usefixtures("small")


@contextmanager
def started(arguments: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A command in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=60)


@pytest.mark.parametrize("turn", few(range(2), 0))
def test_the_same_command_finishes(elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path, turn: int) -> None:
    moments = random.Random(turn)
    with Proxy(elastic_url) as proxy:
        store = f"{proxy.url}/{elastic_prefix}"
        for verb, command in job.commands(store).items():
            after = int(moments.uniform(0.45 * turn, 0.45 * turn + 0.45) * REQUESTS[verb])
            first = moments.random() < 0.5

            def kill(exchange: Exchange, first: bool = first) -> None:
                """The command dies, and the server has heard its last request, or will yet hear it."""
                answer = None if first else exchange.forward()
                process.kill()
                exchange.send(answer or exchange.forward())

            killed = proxy.when(lambda _: True, kill, after=after)
            with started(job.arguments(verb, store), tmp_path) as process:
                errors = process.communicate(timeout=120)[1]
            assert (process.returncode, errors) == (-9, ""), (verb, killed.seen)
            proxy.clear()
            command()
            job.check(verb, store, tmp_path / verb)
