"""A copy of an embedded store's file: DuckDB lets nobody read what somebody writes, and the page must not stop either.

While it is copied the file is not locked, so that who wants to write need not wait; if somebody did, it is no copy.
The copy takes as much disk as the store, beside it or, where that cannot be written, in the system's temporary folder.
What a killed server has left is deleted by the next one.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

from esdedup.errors import StoreError, StoreLockedError
from esdedup.stores.duckdb_file import connect, log_beside

_LOOK = 2**26  # bytes for the connection that looks whether somebody writes

Fingerprint = tuple[tuple[int, int, int] | None, ...]


class Snapshot:
    """A folder with the copy `path`. `StoreLockedError` while somebody writes, `StoreError` where it cannot be made."""

    def __init__(self, store: Path) -> None:
        _forget_left(store)
        self._folder = _make_folder(store)
        self.path = self._folder / store.name
        try:
            if not store.exists():
                raise StoreError(f"{store}: there is no store; make one with esdedup run or esdedup index")
            before = _at_rest(store)
            shutil.copyfile(store, self.path)
            with suppress(FileNotFoundError):
                shutil.copyfile(log_beside(store), log_beside(self.path))
            if _at_rest(store) != before:
                raise StoreLockedError(f"{store}: changed while it was copied; ask again in a moment")
        except OSError as error:
            self.close()
            raise StoreError(
                f"{store}: {error.strerror}; serve needs room for a copy of it, beside it or in {tempfile.gettempdir()}"
            ) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Delete the copy."""
        shutil.rmtree(self._folder, ignore_errors=True)


def fingerprint(store: Path) -> Fingerprint:
    """What changes with every change of the store's files."""
    found: list[tuple[int, int, int] | None] = []
    for path in (store, log_beside(store)):
        told = None
        with suppress(OSError):
            stat = path.stat()
            told = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        found.append(told)
    return tuple(found)


def _at_rest(store: Path) -> Fingerprint:
    """The fingerprint at a moment at which nobody writes; `StoreLockedError` if somebody does."""
    with connect(store, _LOOK, 1, True):
        return fingerprint(store)


def _make_folder(store: Path) -> Path:
    prefix = f"{_prefix(store)}{os.getpid()}-"
    try:
        return Path(tempfile.mkdtemp(prefix=prefix, dir=store.parent))
    except OSError:
        try:
            return Path(tempfile.mkdtemp(prefix=prefix))
        except OSError as error:
            raise StoreError(
                f"{store}: {error.strerror}; serve keeps a copy of it, beside it or in {tempfile.gettempdir()}"
            ) from error


def _forget_left(store: Path) -> None:
    """Delete the copies of servers that are no more."""
    for parent in (store.parent, Path(tempfile.gettempdir())):
        for folder in parent.glob(f"{_prefix(store)}*"):
            process = re.match(r"([0-9]+)-", folder.name.removeprefix(_prefix(store)))
            if process and not psutil.pid_exists(int(process[1])):
                shutil.rmtree(folder, ignore_errors=True)


def _prefix(store: Path) -> str:
    return f".{store.name}.served-"
