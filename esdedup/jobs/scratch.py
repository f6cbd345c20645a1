"""The private database of a scan: where it lies, who is at work in it, and what a killed scan leaves in it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from esdedup.columns.database import Database
from esdedup.errors import EsdedupError, StoreLockedError
from esdedup.files import hold
from esdedup.matching.protocol import Scanning
from esdedup.resources import Resources
from esdedup.store.registry import address_of
from esdedup.store.store import Store

KEPT_FROM = 1_000_000
"""Sentences from which on a scan leaves its work on disk to be gone on with: it takes half a minute and more."""

_LOCK = "lock"
"""The file in a scan's folder that is locked, and names the process, as long as the scan is at work."""


def scan_folder(store: Store) -> Path:
    """The folder of the scan of a store; each generation of a store has its own."""
    return address_of(store.address).scan_folder(store.generation)


def forget_scan(store: Store) -> None:
    """Delete what a scan has left whose results are stored already: it was killed as it tidied up."""
    _forget(scan_folder(store))


def forget_scans(address: str) -> None:
    """Delete what scans of all generations of a store have left, but for those that are at work."""
    for folder in address_of(address).scan_folders():
        _forget(folder)


@contextmanager
def scratch_database(store: Store, scanning: Scanning, resources: Resources, sentences: int) -> Iterator[Database]:
    """A database for one scan of `sentences` sentences. It spills beside itself, and goes away at the end.

    That of a large scan is a file: if the scan is killed, the next one of the same sentences with the same options
    finds it. What other scans of this generation have left is deleted; `StoreLockedError` while one is at work.
    """
    folder = scan_folder(store)
    job = json.dumps([store.ledger.state(), asdict(scanning), resources.memory])
    mark = folder / "job.json"
    kept = sentences >= KEPT_FROM
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
        with Database(
            folder / "scratch.duckdb" if kept else None,
            memory=resources.memory * 2 // 5,
            threads=resources.processes,
            spill=folder / "spill",
        ) as scratch:
            yield scratch
        done = True
    finally:
        if held is not None:
            _leave(folder, held, delete=done or not kept)


def _take(folder: Path, address: str) -> int:
    """Make the folder, if there is none, and lock it."""
    while True:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # texts of the store are for its user
        with suppress(FileNotFoundError):  # where the one who had it has just deleted it
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
                f"{address}: another scan of it is at work, process {who or 'unknown'}, in {folder}; "
                "run this command again when that has ended"
            )


def _leave(folder: Path, held: int, *, delete: bool) -> None:
    """Unlock the folder, which is deleted before if it is of no use any more."""
    with suppress(OSError):
        if delete:
            _empty(folder)
            (folder / _LOCK).unlink()
            folder.rmdir()  # unless somebody has come as soon as the lock was gone: then it is his
    os.close(held)


def _forget(folder: Path) -> None:
    with suppress(OSError):  # mostly there is none
        held = hold(folder / _LOCK, make=True)
        if held is not None:
            _leave(folder, held, delete=True)


def _empty(folder: Path) -> None:
    """Delete all in a folder but its lock, as far as that can be done."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != _LOCK:
            with suppress(OSError):
                path.unlink()
