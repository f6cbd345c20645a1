"""A copy of an embedded store's file: DuckDB lets nobody read what somebody writes, and the page must not stop either.

While it is copied the file is not locked, so that who wants to write need not wait; if somebody did, it is no copy.
The copy takes as much disk as the store, beside it or, where that cannot be written, in the system's temporary folder.
What a killed server has left is deleted by the next one: the lock in it is nobody's any more.
"""

from __future__ import annotations

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
from esdedup.store.duckdb.generation_file import connect, log_beside

_LOOK = 2**26  # bytes for the connection that looks whether somebody writes

_LOCK = "lock"
_SOON = 600  # seconds in which a new folder gets its lock
_AT_ONCE = 2**24  # bytes that are copied

Fingerprint = tuple[tuple[int, int, int] | None, ...]


class FileCopy:
    """A folder with the copy `path`.

    `StoreLockedError` while somebody writes, `StoreError` where it cannot be made, or `ended` says that nobody wants it
    any more.
    """

    def __init__(self, store: Path, ended: Callable[[], bool] = lambda: False) -> None:
        if not store.exists():
            raise StoreError(f"{store}: there is no store; make one with esdedup run or esdedup index")
        self._lock: int | None = None
        failed: OSError | None = None
        for parent in _parents(store):
            _forget_left(store, parent)
            try:
                self._folder, self._lock = _held_folder(store, parent)
            except OSError as error:
                failed = error
                continue
            self.path = self._folder / store.name
            try:
                self._copy(store, ended)
                return
            except OSError as error:
                failed = error
                self.close()
            except BaseException:
                self.close()
                raise
        raise StoreError(
            f"{store}: {failed and failed.strerror}; serve needs room for a copy of it, beside it or in "
            f"{tempfile.gettempdir()}"
        ) from failed

    def _copy(self, store: Path, ended: Callable[[], bool]) -> None:
        before = _at_rest(store)
        _copy(store, self.path, ended)
        with suppress(FileNotFoundError):
            _copy(log_beside(store), log_beside(self.path), ended)
        if _at_rest(store) != before:
            raise StoreLockedError(f"{store}: changed while it was copied; ask again in a moment")

    def close(self) -> None:
        """Delete the copy; who has it open may read on."""
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _copy(file: Path, copy: Path, ended: Callable[[], bool]) -> None:
    with file.open("rb") as read, copy.open("wb") as written:
        while some := read.read(_AT_ONCE):
            if ended():
                raise StoreError(f"{file}: nobody wants a copy any more")
            written.write(some)


def fingerprint(store: Path) -> Fingerprint:
    """What changes with every change of the store's files."""
    found: list[tuple[int, int, int] | None] = []
    for path in (store, log_beside(store)):
        stamp = None
        with suppress(OSError):
            stat = path.stat()
            stamp = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        found.append(stamp)
    return tuple(found)


def _at_rest(store: Path) -> Fingerprint:
    """The fingerprint at a moment at which nobody writes; `StoreLockedError` if somebody does."""
    with connect(store, _LOOK, 1, True):
        return fingerprint(store)


def _parents(store: Path) -> tuple[Path, Path]:
    """Where a copy may be."""
    return store.parent, Path(tempfile.gettempdir())


def _held_folder(store: Path, parent: Path) -> tuple[Path, int]:
    """A new folder and the lock in it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(store), dir=parent))
        try:
            lock = hold(folder / _LOCK, make=True)
        except FileNotFoundError:  # another server took it for one that is left
            continue
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if lock is not None:
            return folder, lock


def _forget_left(store: Path, parent: Path) -> None:
    """Delete the copies of servers that are no more."""
    for folder in parent.glob(f"{escape(_prefix(store))}*"):
        with suppress(OSError):  # another's
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
