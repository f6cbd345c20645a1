"""The folder in which a scan works: one for each generation of a store, for one scan at a time, gone at the end."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.errors import EsdedupError, StoreLockedError
from esdedup.files import hold
from esdedup.jobs.scratch import forget_scans, scan_folder, scratch_database
from esdedup.matching.protocol import Scanning
from esdedup.resources import Resources
from esdedup.store.registry import address_of
from tests.support.killed import KilledError
from tests.support.records import records, table
from tests.support.stores import Stores

RECORDS: dict[str, Any] = {"unit": "record", "min_chars": 0}
LARGE = 2**40  # so many sentences that what a killed scan did is kept


@pytest.fixture
def indexed(tmp_path: Path, address: str) -> str:
    esdedup.index(table(tmp_path / "a.tsv", records(9)), store=address, **RECORDS)
    return address


def begin(held: ExitStack, store: Any, sentences: int = LARGE) -> Path:
    """Begin a scan: its folder."""
    held.enter_context(scratch_database(store, Scanning(), Resources(), sentences))
    return scan_folder(store)


@pytest.mark.both_stores
def test_a_second_scan_leaves_the_first_its_work(indexed: str) -> None:
    with esdedup.open_store(indexed) as store, ExitStack() as first:
        folder = begin(first, store)
        before = {path.name: path.stat().st_ino for path in folder.iterdir()}
        assert "scratch.duckdb" in before
        for sentences in (LARGE, 1):
            with pytest.raises(StoreLockedError, match=f"is running, process {os.getpid()}, in {folder}") as told:
                begin(first, store, sentences)
            assert "\n" not in str(told.value)
        forget_scans(address_of(indexed))
        assert {path.name: path.stat().st_ino for path in folder.iterdir()} == before
    assert address_of(indexed).scan_folders() == []


@pytest.mark.both_stores
def test_generations_do_not_share_a_folder(tmp_path: Path, stores: Stores, indexed: str) -> None:
    # nobody else writes while a new generation is made
    if not stores.on_server:
        with (
            esdedup.open_store(indexed),
            pytest.raises(StoreLockedError),
            esdedup.open_store(indexed, {}, fresh="a job"),
        ):
            pass
        return
    with esdedup.open_store(indexed, read_only=True) as live, ExitStack() as second:
        folder = begin(second, live)
        with esdedup.open_store(indexed, {}, fresh="a job") as new, ExitStack() as first:
            beside = begin(first, new)
            assert address_of(indexed).scan_folders() == sorted({folder, beside})
        job = (folder / "job.json").read_bytes()
        assert address_of(indexed).scan_folders() == [folder]
        # what takes the place of a store leaves its scan in peace
        source = table(tmp_path / "b.tsv", records(10))
        esdedup.run(source, out=tmp_path / "out", store=indexed, fresh=True, **RECORDS)
        assert (folder / "job.json").read_bytes() == job
    assert address_of(indexed).scan_folders() == []


@pytest.mark.parametrize("end", ["drop", "replace"])
@pytest.mark.both_stores
def test_what_killed_scans_left_goes_with_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stores: Stores, indexed: str, end: str
) -> None:
    monkeypatch.setattr("esdedup.jobs.scratch.KEPT_FROM", 0)

    def killed(*_: Any) -> None:
        raise KilledError

    sources = [table(tmp_path / f"{name}.tsv", records(10 + at)) for at, name in enumerate("bc")]
    with monkeypatch.context() as patch:
        patch.setattr(stores.results_class(), "replace", killed)
        with pytest.raises(KilledError):
            esdedup.scan(store=indexed)
        with pytest.raises(KilledError):
            esdedup.run(sources[0], out=tmp_path / "out", store=indexed, fresh=True, **RECORDS)
    assert len(address_of(indexed).scan_folders()) == 2
    if end == "drop":
        esdedup.drop(store=indexed)
    else:
        esdedup.run(sources[1], out=tmp_path / "out", store=indexed, fresh=True, **RECORDS)
    assert address_of(indexed).scan_folders() == []


class At:
    """A store of which only the address is known."""

    generation = "20250101t000000000000"

    def __init__(self, address: str) -> None:
        self.address = address
        self.ledger = self

    def state(self) -> str:
        return "as it is"


def test_of_a_server_it_is_a_folder_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "http://localhost/wiki"
    store: Any = At(f"{address}/")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ESDEDUP_SCRATCH")
    folder = scan_folder(store)
    assert folder.parent == tmp_path / "cache" / "esdedup" / "scans"
    assert folder == scan_folder(At("http://localhost:9200/wiki"))  # type: ignore[arg-type]
    monkeypatch.setenv("ESDEDUP_SCRATCH", str(tmp_path / "elsewhere"))
    with ExitStack() as scan:
        folder = begin(scan, store)
        assert folder.parent == tmp_path / "elsewhere"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        # names that begin or look alike are other stores
        others = [f"{address}.x", f"{address}-x", f"{address}-20250101t000000000000", "http://localhost-wiki/x"]
        assert all(address_of(other).scan_folders() == [] for other in others)
        assert address_of(address).scan_folders() == [folder]
    assert list(folder.parent.iterdir()) == []
    (tmp_path / "file").touch()
    monkeypatch.setenv("ESDEDUP_SCRATCH", str(tmp_path / "file"))
    with ExitStack() as scan, pytest.raises(EsdedupError, match=r"Not a directory.*set ESDEDUP_SCRATCH"):
        begin(scan, store)


def test_a_store_of_a_longer_name_is_another_one(tmp_path: Path) -> None:
    (tmp_path / ".s.duckdb.x.duckdb.scan").mkdir()
    assert address_of(tmp_path / "s.duckdb").scan_folders() == []


def test_a_lock_is_never_on_a_file_that_was_deleted(tmp_path: Path) -> None:
    """Who has it deletes the file, as a scan does at its end, while others come for it."""
    file, inside, got = tmp_path / "lock", [], []

    def come(_: int) -> None:
        held = hold(file, make=True)
        if held is not None:
            inside.append(1)
            got.append(len(inside))
            inside.pop()
            file.unlink()
            os.close(held)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(come, range(4000)))
    assert set(got) == {1}
