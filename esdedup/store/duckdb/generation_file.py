"""The file of a store: open it with helpful errors, and make new generations beside it.

A new generation (`--fresh`) is made in a hidden file beside the store and renamed when it is complete. Until then the
old one stays unchanged, and a restarted job finds what it has made so far.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import duckdb

from esdedup.columns.database import Database, reason_without_memory
from esdedup.errors import (
    EsdedupError,
    NotAStoreError,
    StoreError,
    StoreLockedError,
    UsageError,
)
from esdedup.store.duckdb.contradictions import contradiction
from esdedup.store.duckdb.file_contents import catalog, check_contents, check_made_here, is_ours
from esdedup.store.duckdb.ledger import DamagedError, FileLedger
from esdedup.store.schemas import check_readable, saved_signing
from esdedup.terminal import printable

if TYPE_CHECKING:
    from esdedup.matching.signing import Signing

Fingerprint: TypeAlias = tuple[tuple[int, int, int] | None, ...]

_SMALL = 2**28  # bytes for checking a file
_OLD_VIEWS = {("view", "named"), ("view", "keyed")}  # of stores before schema 8
_TABLES_OF_SCHEMA_1 = (
    "about", "sources", "documents", "sentences", "last_seen", "skipped", "pairs", "clusters", "cluster_texts",
)  # fmt: skip


_WRITERS: set[Path] = set()
"""The files that this process writes to: a lock of the file keeps out other processes only."""


def begin_writing(path: Path) -> Path:
    """Keep other threads of this process from writing to a file, until `end_writing`. Return what names it there.

    Raise `StoreLockedError` if one does.
    """
    name = path.resolve()
    if name in _WRITERS:
        raise StoreLockedError(f"{path}: in use by another thread of this process; wait until it ends")
    _WRITERS.add(name)
    return name


def end_writing(name: Path | None) -> None:
    """Let others write to a file, given by what `begin_writing` returned."""
    if name is not None:
        _WRITERS.discard(name)


def connect(path: Path, memory: int, threads: int, read_only: bool) -> Database:
    """Open the file. Raise `StoreLockedError`, `NotAStoreError` or `StoreError` if this fails."""
    if path.is_dir():
        raise NotAStoreError(f"{path}: this is a folder; use another --store")
    existed = path.exists()
    if existed and not path.is_file():  # opening a pipe would wait for ever
        raise NotAStoreError(f"{path}: this is not a regular file; use another --store")
    try:
        return Database(path, memory=memory, threads=threads, read_only=read_only)
    except duckdb.Error as error:
        if not existed:
            delete(path)  # a failed first write does not leave a store
        raise store_error(error, path) from error


_OF_VALUES = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What code raises that meets values which cannot be."""


def as_store_error(error: BaseException, db: Database, path: Path) -> StoreError | None:
    """Return the `StoreError` for an error that the file or the machine caused; None for any other.

    Code that meets values that cannot be, such as a cluster whose representative is not there, raises whatever it
    raises. The store is to blame only if it contradicts itself.
    """
    if not isinstance(error, Exception) or isinstance(error, EsdedupError):
        return None
    if is_circumstance(error):
        return store_error(error, path)
    if isinstance(error, _OF_VALUES):
        with suppress(duckdb.Error):
            what = contradiction(db)
            if what is not None:
                return store_error(DamagedError(what), path)
    return None


def is_circumstance(error: Exception) -> bool:
    """Whether the file or the machine caused the error, and not one of our statements."""
    ours = isinstance(error, duckdb.ProgrammingError) and not isinstance(error, duckdb.CatalogException)
    return isinstance(error, DamagedError | duckdb.Error) and not ours


def store_error(error: Exception, path: Path) -> StoreError:
    """Convert a database error to a one-line error that says what to do."""
    line = " ".join(str(error).split())
    holder = re.search(r"PID (\d+)", line)
    if "Could not set lock" in line or "Conflicting lock" in line:
        who = f"process {holder[1]}" if holder else "another process"
        return StoreLockedError(f"{path}: in use by {who}; wait until it ends, or use another --store")
    if "database file with version number" in line:
        made, here = _made_by(path), duckdb.__version__
        advice = f'"duckdb>={made}"' if made else "--upgrade duckdb"
        return StoreError(
            f"{path}: written by DuckDB {made or 'of a newer version'}, and the installed DuckDB {here} cannot read "
            f"it; pip install {advice}"
        )
    if "not a valid DuckDB" in line:
        return NotAStoreError(f"{path}: not a DuckDB file; use another --store")
    if any(words in line for words in _DISK):
        return StoreError(f"{path}: {line}; free disk space and run the same command again")
    if (reason := reason_without_memory(error)) is not None:
        return StoreError(f"{path}: {reason}; increase --memory and run the same command again")
    if isinstance(error, DamagedError | duckdb.CatalogException) or any(words in line for words in _DAMAGE):
        return StoreError(f"{path}: damaged: {line}; delete the file and start again, or use another --store")
    if "Cannot open file" in line or "ermission denied" in line or "Read-only" in line:
        return StoreError(f"{path}: {line}; use a writable --store")
    return StoreError(f"{path}: {line}; run the same command again, or use another --store")


def _made_by(path: Path) -> str:
    """Return the version of DuckDB that wrote a file, as its first block says; empty if it does not."""
    with suppress(OSError), path.open("rb") as file:
        if found := re.search(rb"v([0-9]+\.[0-9]+\.[0-9]+)\0", file.read(2**12)):
            return found[1].decode()
    return ""


_DISK = ("No space left", "Could not write", "Out of disk", "Disk quota", "File too large")
_DAMAGE = ("orrupt", "checksum", "Could not read", "INTERNAL", "eserializ", "has been invalidated")


def discard_empty(path: Path) -> None:
    """Delete an empty file: it was left when the very first write failed."""
    if path.is_file() and path.stat().st_size == 0:
        path.unlink()


def check_store(db: Database, path: Path, ledger: FileLedger) -> bool:
    """Return whether the file is a store of this version that holds nothing foreign; False if nothing is in it.

    It must be called before anything else is asked of a file. A file that has not changed since this process checked
    it is not checked again. Raise the `StoreError`s of `check_contents`, and `DamagedError` for metadata that is not
    valid.
    """
    seen = fingerprint(path)  # the open connection keeps other writers out
    if _CHECKED.get(path) == seen:
        return True
    if not check_contents(db, path, lambda: check_version(ledger, path)):
        return False
    newest = max(stamp[2] for stamp in seen if stamp is not None)
    if time.time_ns() - newest > _SETTLED:  # a later change could not be told from this state by its time
        _CHECKED[path] = seen
    return True


_CHECKED: dict[Path, Fingerprint] = {}
_SETTLED = 10**9  # nanoseconds


def fingerprint(store: Path) -> Fingerprint:
    """Return a value that changes with every change of the store's files."""
    found: list[tuple[int, int, int] | None] = []
    for path in (store, log_beside(store)):
        stamp = None
        with suppress(OSError):
            stat = path.stat()
            stamp = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        found.append(stamp)
    return tuple(found)


def check_file(path: Path) -> None:
    """Raise `StoreError` unless the file is a store that holds nothing foreign."""
    with connect(path, _SMALL, 1, True) as db:
        try:
            ledger = FileLedger(db)
            if not check_store(db, path, ledger):
                raise StoreError.no_store(path)
            stored_signing(ledger, path)
        except (DamagedError, duckdb.Error) as error:
            raise store_error(error, path) from error


def check_version(ledger: FileLedger, path: Path) -> None:
    """Raise `StoreVersionError` for a schema or tokens that this version cannot read."""
    version, scheme = ledger.get("schema"), ledger.get("hash-scheme")
    if not isinstance(version, int) or not isinstance(scheme, int):
        raise DamagedError("the schema version is missing")
    check_readable(str(path), version, scheme)


def stored_signing(ledger: FileLedger, path: Path) -> Signing:
    """Return the frozen settings. Raise `DamagedError` if they are not valid."""
    try:
        return saved_signing(str(path), ledger.get("signing"))
    except (AttributeError, TypeError, UsageError) as error:
        raise DamagedError(f"its settings are not valid: {error}") from error


def generation_beside(path: Path) -> Path:
    """Return the path of a new generation of the store at `path`."""
    return path.with_name(f".{path.name}.fresh")


def prepare_generation(path: Path, job: str) -> Path:
    """Return the file for a new generation. What a job other than `job` left there is deleted."""
    _check_replaceable(path)
    beside = generation_beside(path)
    if beside.exists() and _job_of(beside) != job:
        delete(beside)
    return beside


def delete_generation(path: Path) -> bool:
    """Delete the unfinished generation beside the store, if any. Raise `StoreLockedError` while it is being made."""
    beside = generation_beside(path)
    if not beside.exists():
        return False
    _job_of(beside)  # raises an error while it is in use
    delete(beside)
    return True


def publish_generation(beside: Path, path: Path) -> None:
    """Replace the old generation with the finished one."""
    _check_replaceable(path)  # also ensures that no old log is left, which could be taken for the new one's
    beside.replace(path)


def delete(path: Path) -> None:
    """Delete a store's file and its log."""
    path.unlink(missing_ok=True)
    log_beside(path).unlink(missing_ok=True)


def log_beside(path: Path) -> Path:
    """Return the path of DuckDB's write-ahead log of the file."""
    return path.with_name(path.name + ".wal")


def drop_tables(path: Path) -> None:
    """Delete the tables of a store, and the file if it holds nothing else. What others put there is not run."""
    discard_empty(path)
    if not path.exists():
        raise StoreError.no_store(path)
    with connect(path, _SMALL, 1, False) as db:
        try:
            found = catalog(db)
            check_made_here(found, path)
            check_version(FileLedger(db), path)
            with db.transaction():
                for entry in filter(is_ours, found):
                    db.execute(f"DROP TABLE main.{entry.name}")
            left = catalog(db)
        except (DamagedError, duckdb.Error) as error:
            raise store_error(error, path) from error
    if not left:
        delete(path)


def _check_replaceable(path: Path) -> None:
    """Raise an error if the file exists but is in use, is not a store, or contains what others made."""
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return
    try:
        with connect(path, _SMALL, 1, False) as db:
            found = catalog(db)
            if not found:
                return
            check_made_here(found, path)
            ours = {("table", name) for name in FileLedger(db).get("tables") or _TABLES_OF_SCHEMA_1} | _OLD_VIEWS
    except (DamagedError, duckdb.Error) as error:
        raise store_error(error, path) from error
    others = [entry.name for entry in found if (entry.kind, entry.name) not in ours or entry.schema != "main"]
    if others:
        named = ", ".join(map(printable, others[:3]))
        raise StoreError(f"{path}: --fresh would delete what esdedup did not make ({named}); use another --store")


def _job_of(path: Path) -> str | None:
    try:
        with connect(path, _SMALL, 1, False) as db:
            ledger = FileLedger(db)
            return str(ledger.get("job")) if check_store(db, path, ledger) else None
    except StoreLockedError:
        raise  # another process is making it right now
    except (EsdedupError, DamagedError, duckdb.Error):
        return None
