"""What several of these tests compare with."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import said
from tests.support.orphans import Guard
from tests.support.records import records, table
from tests.system.robustness.on_a_server import Job, make_job, make_small


@pytest.fixture(scope="package")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source `a.tsv` of records, and a whole run over it in `out`."""
    folder = tmp_path_factory.mktemp("undisturbed")
    source = table(folder / "a.tsv", records(31, 600))
    assert said("run", source, "--out", folder / "out", "--unit", "record").code == 0
    return folder


@pytest.fixture(scope="package")
def job(tmp_path_factory: pytest.TempPathFactory, guard: Guard) -> Iterator[Job]:
    """Commands for a store on a server, and what comes of them where nothing goes wrong."""
    memory = Path("/dev/shm")
    where = memory if memory.is_dir() else tmp_path_factory.getbasetemp()
    with guard.folder(Path(tempfile.mkdtemp(prefix="esdedup-job-", dir=where))) as folder:
        yield make_job(folder)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little data is a lot of requests."""
    make_small(monkeypatch)
