"""A disk that is full, places that may not be written to: one line with the path, and the same command finishes."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import said
from tests.system.robustness.helpers import child, one_line, only_line, outputs

RECORD = ("--unit", "record")
FULL = ("No space left on device", "File too large")
NOBODY = 65534


class Disk:
    """A small disk: a file system of its own, or, where none may be mounted, a limit on the size of files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mounted = False
        self._size = 0

    def shrink(self, size: int) -> None:
        """Make it, with room for `size` bytes."""
        self._size = size
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(self.folder)]
        if os.geteuid() == 0 and shutil.which("mount"):
            self._mounted = subprocess.run(command, capture_output=True).returncode == 0

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """While its size counts."""
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        if not self._mounted:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self._size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    def grow(self) -> None:
        """Make room for everything."""
        if self._mounted:
            subprocess.run(["mount", "-o", "remount,size=200m", str(self.folder)], check=True)

    def remove(self) -> None:
        if self._mounted:
            subprocess.run(["umount", "-l", str(self.folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    made = Disk(folder)
    yield made
    made.remove()


def check_left_tidy(folder: Path) -> None:
    left = [path.name for path in folder.rglob("*") if path.name.startswith(".") or path.name.endswith(".part")]
    left = [name for name in left if name != ".esdedup.json"]
    assert left == []


@pytest.mark.parametrize("size", [4096, 300_000, 2_000_000])
def test_a_full_disk_is_named_and_room_is_all_it_takes(undisturbed: Path, disk: Disk, size: int) -> None:
    disk.shrink(size)
    out = disk.folder / "out"
    command = ("run", undisturbed / "a.tsv", "--out", out, *RECORD)
    with disk.full():
        answer = said(*command)
    line = one_line(answer)
    assert str(disk.folder) in line
    assert any(words in line for words in FULL)
    check_left_tidy(disk.folder)
    disk.grow()
    answer = said(*command)
    assert (answer.code, answer.err) == (0, "")
    assert outputs(out) == outputs(undisturbed / "out")


def test_no_room_for_the_files_of_out(undisturbed: Path, disk: Disk, tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    assert said("index", undisturbed / "a.tsv", "--store", store, *RECORD).code == 0
    assert said("scan", "--store", store).code == 0
    disk.shrink(16_384)
    out = disk.folder / "out"
    command = ("run", undisturbed / "a.tsv", "--store", store, "--out", out)
    with disk.full():
        line = one_line(said(*command))
    assert str(out) in line
    assert any(words in line for words in FULL)
    check_left_tidy(disk.folder)
    disk.grow()
    assert said(*command).code == 0
    assert outputs(out) == outputs(undisturbed / "out")


def test_a_limit_on_files_is_like_a_full_disk(undisturbed: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)  # so that nothing is mounted
    disk.shrink(900_000)
    out = disk.folder / "out"
    command = ("run", undisturbed / "a.tsv", "--out", out, *RECORD)
    with disk.full():
        line = one_line(said(*command))
    assert str(out / "store.duckdb") in line
    assert "File too large" in line
    check_left_tidy(disk.folder)
    assert said(*command).code == 0
    assert outputs(out) == outputs(undisturbed / "out")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_is_full_is_no_traceback(undisturbed: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "esdedup", "clusters", "--store", undisturbed / "out" / "store.duckdb", "--json"],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 1
    assert "No space left on device" in only_line(done.stderr)


# what is imported late would not be found by somebody who may not read the interpreter's folder
AS_NOBODY = f"""
import contextlib, importlib, io, json, os, pkgutil, sys
import esdedup
for module in pkgutil.walk_packages(esdedup.__path__, "esdedup."):
    if not module.name.endswith(("__main__", ".node.server", ".wikitext.worker")):
        importlib.import_module(module.name)
import lxml.etree, PIL.ImageDraw, PIL.ImageFont, PIL.PngImagePlugin, pwd, pyarrow.parquet
from esdedup.cli import main
from esdedup.store.schemas import mapping_text

mapping_text("embedded.sql")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
answers = []
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(arguments)
    except SystemExit as end:
        answers.append((end.code, out.getvalue(), err.getvalue()))
print(json.dumps(answers))
"""


@pytest.fixture
def passable() -> Iterator[Path]:
    """A folder that everybody may look into, which the ones of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="esdedup-test-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder
        for path in folder.iterdir():
            path.chmod(0o755)
        for path in folder.glob("*/*"):
            path.chmod(0o755)


def as_nobody(folder: Path, *commands: tuple[object, ...]) -> list[tuple[int, str, str]]:
    """What the commands answer to somebody without rights."""
    answer = child(json.dumps([list(map(str, command)) for command in commands]), cwd=folder, code=AS_NOBODY)
    assert answer.code == 0, answer.err
    found: list[tuple[int, str, str]] = json.loads(answer.out)
    assert len(found) == len(commands)
    return found


def test_places_without_permission_are_named(undisturbed: Path, passable: Path) -> None:
    source = shutil.copy(undisturbed / "a.tsv", passable / "a.tsv")
    closed, private, open_ = passable / "closed", passable / "private", passable / "open"
    for folder in (closed, private, open_):
        folder.mkdir()
        shutil.copy(undisturbed / "out" / "store.duckdb", folder / "s.duckdb")
        shutil.copy(undisturbed / "a.tsv", folder / "b.tsv")
    for path, mode in {
        closed: 0o555, closed / "s.duckdb": 0o444, private: 0o000, open_: 0o777,
        open_ / "s.duckdb": 0o000, open_ / "b.tsv": 0o000,
    }.items():  # fmt: skip
        path.chmod(mode)
    (open_ / "folder").mkdir(mode=0o000)
    cases: list[tuple[tuple[object, ...], int, Path]] = [
        (("run", source, "--out", closed / "out"), 1, closed / "out"),
        (("run", source, "--out", closed), 1, closed),
        (("index", source, "--store", closed / "new.duckdb"), 1, closed / "new.duckdb"),
        (("index", source, "--store", closed / "s.duckdb"), 1, closed / "s.duckdb"),
        (("scan", "--store", closed / "s.duckdb"), 1, closed / "s.duckdb"),
        (("drop", "--yes", "--store", closed / "s.duckdb"), 1, closed / "s.duckdb"),
        (("status", "--store", open_ / "s.duckdb"), 1, open_ / "s.duckdb"),
        (("status", "--store", private / "s.duckdb"), 1, private / "s.duckdb"),
        (("index", open_ / "b.tsv", "--store", open_ / "n1.duckdb"), 1, open_ / "b.tsv"),
        (("index", private / "b.tsv", "--store", open_ / "n2.duckdb"), 1, private / "b.tsv"),
        (("index", private, "--store", open_ / "n3.duckdb"), 1, private),
        (("index", open_, "--store", open_ / "n4.duckdb"), 1, open_ / "folder"),
        (("run", source, "--out", open_ / "out", "--config", private / "c.toml"), 2, private / "c.toml"),
    ]
    # looking into a store asks for no right to write
    *answers, (code, _, err) = as_nobody(
        passable, *(command for command, _, _ in cases), ("status", "--store", closed / "s.duckdb")
    )
    assert (code, err) == (0, "")
    for (command, expected, path), (code, out, err) in zip(cases, answers, strict=True):
        assert (code, out) == (expected, ""), (command, err)
        assert str(path) in only_line(err), command
        assert "ermission" in err, command
    # with the right given, the same command finishes
    (open_ / "s.duckdb").chmod(0o666)
    assert said("run", undisturbed / "a.tsv", "--store", open_ / "s.duckdb", "--out", passable / "o").code == 0
    assert outputs(passable / "o") == outputs(undisturbed / "out")
