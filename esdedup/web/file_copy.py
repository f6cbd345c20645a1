"""A copy of a store's file. DuckDB does not let anyone read a file that is being written, and the page must not block
writers.

The file is not locked while it is copied, so writers need not wait. If it was written meanwhile, the copy is discarded.
The copy takes as much disk as the store. It is beside the store or, if there is no room, in the system's temporary
folder. Without room in either, the store itself is read. If a server was killed, the next one deletes its copy: nobody
holds the lock in it any more.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from glob import escape
from pathlib import Path

from esdedup.errors import StoreError, StoreLockedError
from esdedup.files import hold
from esdedup.store.duckdb.generation_file import (
    Fingerprint,
    check_file,
    connect,
    fingerprint,
    log_beside,
)
from esdedup.store.duckdb.store import FileStore

log = logging.getLogger("esdedup")

_LOOK = 2**26  # bytes for the connection that checks whether somebody writes

_LEFT_FREE = 2**28  # bytes of disk
_LOCK = "lock"
_SOON = 600  # seconds in which a new folder must get its lock
_AT_ONCE = 2**24  # bytes that are copied at once


class FileCopy:
    """A folder with the copy `path`, or none, and `path` is the store.

    Raises `StoreLockedError` while somebody writes to the store. Raises `StoreError` if `ended` says that the copy is
    no longer needed.
    """

    def __init__(self, store: Path, ended: Callable[[], bool] = lambda: False) -> None:
        if not store.exists():
            raise StoreError.no_store(store)
        check_file(store)  # before anything of it is copied, and with its own name in the message
        self._store = self.path = store
        self._folder: Path | None = None
        self._lock: int | None = None
        size = store.stat().st_size
        for parent in _parents(store):
            _forget_left(store, parent)
            try:
                if shutil.disk_usage(parent).free < size + _LEFT_FREE:
                    continue
                self._folder, self._lock = _held_folder(store, parent)
                self.path = self._folder / store.name
                self._copy(store, ended)
                return
            except OSError:
                self.close()
            except BaseException:
                self.close()
                raise
        self.path = store
        log.warning(
            "%s: a copy of %s GB cannot be written, neither beside it nor in %s; the store itself is served, so nobody "
            "can write to it meanwhile",
            store, f"{size / 1e9:.1f}", tempfile.gettempdir(),
        )  # fmt: skip

    def _copy(self, store: Path, ended: Callable[[], bool]) -> None:
        before = _at_rest(store)
        _copy(store, self.path, ended)
        with suppress(FileNotFoundError):
            _copy(log_beside(store), log_beside(self.path), ended)
        if _at_rest(store) != before:
            raise StoreLockedError(f"{store}: the store changed while it was copied; try again in a moment")

    def open(self, memory: int) -> FileStore:
        """Open the copy for reading. Its lookup is that of the store itself, so that it need not be made for each copy.

        Its database may use `memory` bytes.
        """
        return FileStore(self.path, memory=memory, threads=1, read_only=True, lookup_of=self._store)

    def close(self) -> None:
        """Delete the copy. Open connections can read on."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _copy(file: Path, copy: Path, ended: Callable[[], bool]) -> None:
    with file.open("rb") as read, copy.open("wb") as written:
        while some := read.read(_AT_ONCE):
            if ended():
                raise StoreError(f"{file}: the copy is no longer needed")
            written.write(some)


def _at_rest(store: Path) -> Fingerprint:
    """Return the fingerprint at a moment when nobody writes. Raises `StoreLockedError` if somebody does."""
    with connect(store, _LOOK, 1, True):
        return fingerprint(store)


def _parents(store: Path) -> tuple[Path, Path]:
    """Return the folders in which a copy can be."""
    return store.parent, Path(tempfile.gettempdir())


def _held_folder(store: Path, parent: Path) -> tuple[Path, int]:
    """Make a new folder with a lock in it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(store), dir=parent))
        try:
            lock = hold(folder / _LOCK, make=True)
        except FileNotFoundError:  # another server deleted it as abandoned
            continue
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if lock is not None:
            return folder, lock


def _forget_left(store: Path, parent: Path) -> None:
    """Delete the copies of servers that have ended."""
    for folder in parent.glob(f"{escape(_prefix(store))}*"):
        with suppress(OSError):  # belongs to another user
            try:
                lock = hold(folder / _LOCK)
            except FileNotFoundError:
                if time.time() - folder.stat().st_mtime > _SOON:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _prefix(store: Path) -> str:
    return f".{store.name}.served-"
