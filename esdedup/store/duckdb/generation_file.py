"""The file of a store: open it with helpful errors, and make new generations beside it.

A new generation (`--fresh`) is made in a hidden file beside the store and renamed when it is complete. Until then the
old one stays unchanged, and a restarted job finds what it has made so far.
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from esdedup.columns.database import Database
from esdedup.errors import (
    EsdedupError,
    NotAStoreError,
    StoreError,
    StoreLockedError,
    UsageError,
)
from esdedup.matching.signing import Signing
from esdedup.store.duckdb.ledger import DamagedError, FileLedger
from esdedup.store.schemas import check_readable, saved_signing

_SMALL = 2**28  # bytes for checking a file
_TABLES_OF_SCHEMA_1 = (
    "about", "sources", "documents", "sentences", "last_seen", "skipped", "pairs", "clusters", "cluster_texts",
)  # fmt: skip


def connect(path: Path, memory: int, threads: int, read_only: bool) -> Database:
    """Open the file. Raise `StoreLockedError`, `NotAStoreError` or `StoreError` if this fails."""
    if path.is_dir():
        raise NotAStoreError(f"{path}: this is a folder; use another --store")
    existed = path.exists()
    try:
        return Database(path, memory=memory, threads=threads, read_only=read_only)
    except duckdb.Error as error:
        if not existed:
            delete(path)  # a failed first write does not leave a store
        raise store_error(error, path) from error


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
    if "not a valid DuckDB" in line:
        return NotAStoreError(f"{path}: not a DuckDB file; use another --store")
    if any(words in line for words in _DISK):
        return StoreError(f"{path}: {line}; free disk space and run the same command again")
    if isinstance(error, duckdb.OutOfMemoryException):
        return StoreError(f"{path}: {line}; increase --memory and run the same command again")
    if isinstance(error, DamagedError | duckdb.CatalogException) or any(words in line for words in _DAMAGE):
        return StoreError(f"{path}: damaged: {line}; delete the file and start again, or use another --store")
    if "Cannot open file" in line or "ermission denied" in line or "Read-only" in line:
        return StoreError(f"{path}: {line}; use a writable --store")
    return StoreError(f"{path}: {line}; run the same command again, or use another --store")


_DISK = ("No space left", "Could not write", "Out of disk", "Disk quota", "File too large")
_DAMAGE = ("orrupt", "checksum", "Could not read", "INTERNAL", "eserializ", "has been invalidated")


def is_empty(db: Database) -> bool:
    """Whether the file has no tables."""
    return db.count("SELECT count(*) FROM duckdb_tables()") == 0


def check_made_here(db: Database, path: Path) -> None:
    """Raise `NotAStoreError` for a database that esdedup did not make."""
    ours = db.count("SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('about', 'cluster_texts')")
    if ours != 2:
        raise NotAStoreError(f"{path}: esdedup did not make this DuckDB file; use another --store")


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


def _check_replaceable(path: Path) -> None:
    """Raise an error if the file exists but is in use, is not a store, or contains other tables."""
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return
    try:
        with connect(path, _SMALL, 1, False) as db:
            if is_empty(db):
                return
            check_made_here(db, path)
            ours = set(FileLedger(db).get("tables") or _TABLES_OF_SCHEMA_1)
            tables = db.rows("SELECT table_name FROM duckdb_tables() ORDER BY 1")
    except (DamagedError, duckdb.Error) as error:
        raise store_error(error, path) from error
    others = [name for (name,) in tables if name not in ours]
    if others:
        raise StoreError(
            f"{path}: --fresh would delete tables that esdedup did not make ({', '.join(others[:3])}); "
            "use another --store"
        )


def _job_of(path: Path) -> str | None:
    try:
        with connect(path, _SMALL, 1, False) as db:
            check_version(FileLedger(db), path)
            return str(FileLedger(db).get("job"))
    except StoreLockedError:
        raise  # another process is making it right now
    except (EsdedupError, DamagedError, duckdb.Error):
        return None
