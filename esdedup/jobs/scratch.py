"""The private database of a scan: its location, its lock, and what a killed scan leaves in it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from esdedup.columns.database import Database
from esdedup.engines import ENGINES
from esdedup.errors import EsdedupError, StoreLockedError
from esdedup.files import hold
from esdedup.store.registry import StoreAddress, address_of

if TYPE_CHECKING:
    from esdedup.matching.protocol import Scanning
    from esdedup.resources import Resources
    from esdedup.store.store import Store

KEPT_FROM = 1_000_000
"""From this many sentences on, a scan keeps its work on disk to resume after a kill: it takes at least half a minute.
"""

ON_DISK_FROM = 5_000
"""From this many records on, which may be long, the database is a file: tables in memory would not be written to disk
when memory runs out.
"""

_LOCK = "lock"
"""The file in a scan's folder that is locked, and contains the process id, while the scan runs."""


def scan_folder(store: Store) -> Path:
    """Return the folder of the scan of a store. Each generation of a store has its own."""
    return address_of(store.address).scan_folder(store.generation)


def forget_scan(store: Store) -> None:
    """Delete what a scan left after its results were stored: it was killed during cleanup."""
    _forget(scan_folder(store))


def forget_scans(address: StoreAddress) -> None:
    """Delete what scans of all generations of a store have left, except those that are running."""
    for folder in address.scan_folders():
        _forget(folder)


@contextmanager
def scratch_database(store: Store, scanning: Scanning, resources: Resources, sentences: int) -> Iterator[Database]:
    """Open a database for one scan of `sentences` sentences. It spills beside itself and is deleted at the end.

    The database of a large scan is a file. If the scan is killed, the next scan of the same sentences with the same
    options finds it. What other scans of this generation left is deleted. Raise `StoreLockedError` while one is
    running, `EngineError` if it cannot run where it should.
    """
    folder = scan_folder(store)
    engine = ENGINES[resources.engine]
    engine.check_place(resources.engine)
    job = json.dumps([store.ledger.state(), asdict(scanning), resources.memory, engine.name])
    mark = folder / "job.json"
    kept = engine.keeps_all or sentences >= KEPT_FROM
    held = None
    done = False
    try:
        try:
            held = _take(folder, store.address)
            if not (kept and mark.exists() and mark.read_text("utf-8") == job):
                _empty(folder)
                mark.write_text(job, "utf-8")
        except OSError as error:
            where = address_of(store.address).scan_place
            raise EsdedupError(f"{folder}: {error.strerror}; a scan needs to write {where}") from error
        on_disk = kept or (store.signing.splitting.whole and sentences >= ON_DISK_FROM)
        with Database(
            folder / "scratch.duckdb" if on_disk else None,
            memory=resources.memory * 3 // 10,
            threads=resources.processes,
            spill=folder / "spill",
        ) as scratch:
            yield scratch
        done = True
    finally:
        if held is not None:
            _leave(folder, held, delete=done or not kept or not engine.has_done(folder))


def _take(folder: Path, address: str) -> int:
    """Create the folder if necessary, and lock it."""
    while True:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # only the user may read the texts of the store
        with suppress(FileNotFoundError):  # the previous owner may have just deleted it
            held = hold(folder / _LOCK, make=True)
            if held is not None:
                try:
                    os.ftruncate(held, 0)
                    os.write(held, str(os.getpid()).encode())
                except OSError:
                    os.close(held)
                    raise
                return held
            who = (folder / _LOCK).read_text("ascii")
            raise StoreLockedError(
                f"{address}: another scan of this store is running, process {who or 'unknown'}, in {folder}; "
                "run this command again after it ends"
            )


def _leave(folder: Path, held: int, *, delete: bool) -> None:
    """Unlock the folder. With `delete`, delete it before."""
    with suppress(OSError):
        if delete:
            _empty(folder)
            (folder / _LOCK).unlink()
            folder.rmdir()  # unless another scan took it as soon as it was unlocked
    os.close(held)


def _forget(folder: Path) -> None:
    with suppress(OSError):  # usually there is none
        held = hold(folder / _LOCK, make=True)
        if held is not None:
            _leave(folder, held, delete=True)


def _empty(folder: Path) -> None:
    """Delete everything in a folder except its lock, as far as possible."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != _LOCK:
            with suppress(OSError):
                path.unlink()
