"""The file of an embedded store: opening it with errors that help, and new generations beside it.

A new generation (`--fresh`) is made in a hidden file beside the store, and takes its name when it is whole: until
then the old one stays as it is, and a killed job finds what it has made so far.
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
from esdedup.store.schemas import check_readable

_SMALL = 2**28  # bytes for a look into a file
_TABLES_OF_SCHEMA_1 = (
    "about", "sources", "documents", "sentences", "last_seen", "skipped", "pairs", "clusters", "cluster_texts",
)  # fmt: skip


def connect(path: Path, memory: int, threads: int, read_only: bool) -> Database:
    """Open the file; `StoreLockedError`, `NotAStoreError` or `StoreError` say what is in the way."""
    if path.is_dir():
        raise NotAStoreError(f"{path}: a folder; name another --store")
    existed = path.exists()
    try:
        return Database(path, memory=memory, threads=threads, read_only=read_only)
    except duckdb.Error as error:
        if not existed:
            delete(path)  # what a failed first write leaves is no store
        raise store_error(error, path) from error


def is_circumstance(error: Exception) -> bool:
    """Whether the file or the machine is to blame, and not a statement of ours."""
    ours = isinstance(error, duckdb.ProgrammingError) and not isinstance(error, duckdb.CatalogException)
    return isinstance(error, DamagedError | duckdb.Error) and not ours


def store_error(error: Exception, path: Path) -> StoreError:
    """What went wrong with the file, in one line that says what to do."""
    line = " ".join(str(error).split())
    holder = re.search(r"PID (\d+)", line)
    if "Could not set lock" in line or "Conflicting lock" in line:
        who = f"process {holder[1]}" if holder else "another process"
        return StoreLockedError(f"{path}: in use by {who}; wait for it to end, or name another --store")
    if "not a valid DuckDB" in line:
        return NotAStoreError(f"{path}: not a DuckDB file; name another --store")
    if any(words in line for words in _DISK):
        return StoreError(f"{path}: {line}; make room and run the same command again")
    if isinstance(error, duckdb.OutOfMemoryException):
        return StoreError(f"{path}: {line}; give more --memory and run the same command again")
    if isinstance(error, DamagedError | duckdb.CatalogException) or any(words in line for words in _DAMAGE):
        return StoreError(f"{path}: damaged: {line}; delete it and begin again, or name another --store")
    if "Cannot open file" in line or "ermission denied" in line or "Read-only" in line:
        return StoreError(f"{path}: {line}; name a --store that can be written")
    return StoreError(f"{path}: {line}; run the same command again, or name another --store")


_DISK = ("No space left", "Could not write", "Out of disk", "Disk quota", "File too large")
_DAMAGE = ("orrupt", "checksum", "Could not read", "INTERNAL", "eserializ", "has been invalidated")


def is_empty(db: Database) -> bool:
    """Whether the file has no tables at all."""
    return db.count("SELECT count(*) FROM duckdb_tables()") == 0


def check_made_here(db: Database, path: Path) -> None:
    """`NotAStoreError` for a database of somebody else."""
    ours = db.count("SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('about', 'cluster_texts')")
    if ours != 2:
        raise NotAStoreError(f"{path}: a DuckDB file that esdedup did not make; name another --store")


def check_version(ledger: FileLedger, path: Path) -> None:
    """`StoreVersionError` for a schema or tokens that this version does not read."""
    version, scheme = ledger.get("schema"), ledger.get("hash-scheme")
    if not isinstance(version, int) or not isinstance(scheme, int):
        raise DamagedError("it names no version")
    check_readable(str(path), version, scheme)


def stored_signing(ledger: FileLedger) -> Signing:
    """The frozen settings; `DamagedError` where they make no sense."""
    try:
        return Signing.of(**ledger.get("signing"))
    except (TypeError, UsageError) as error:
        raise DamagedError(f"its settings make no sense: {error}") from error


def generation_beside(path: Path) -> Path:
    """Where a new generation of the store at `path` is made."""
    return path.with_name(f".{path.name}.fresh")


def prepare_generation(path: Path, job: str) -> Path:
    """The file for a new generation; what another job than `job` has left there is deleted."""
    _check_replaceable(path)
    beside = generation_beside(path)
    if beside.exists() and _job_of(beside) != job:
        delete(beside)
    return beside


def delete_generation(path: Path) -> bool:
    """Delete the unfinished generation beside the store, if there is one; `StoreLockedError` while it is being made."""
    beside = generation_beside(path)
    if not beside.exists():
        return False
    _job_of(beside)  # raises while it is in use
    delete(beside)
    return True


def publish_generation(beside: Path, path: Path) -> None:
    """Put the finished generation in the place of the old one."""
    _check_replaceable(path)  # which also leaves no log of the old file that would be taken for the new one's
    beside.replace(path)


def delete(path: Path) -> None:
    """Delete a store's file and its log."""
    path.unlink(missing_ok=True)
    log_beside(path).unlink(missing_ok=True)


def log_beside(path: Path) -> Path:
    """DuckDB's write-ahead log of the file."""
    return path.with_name(path.name + ".wal")


def _check_replaceable(path: Path) -> None:
    """Whether the file, if it exists, is a store that nobody uses and that holds nothing of anybody else."""
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
            f"{path}: holds tables that esdedup did not make ({', '.join(others[:3])}), which --fresh would delete; "
            "name another --store"
        )


def _job_of(path: Path) -> str | None:
    try:
        with connect(path, _SMALL, 1, False) as db:
            check_version(FileLedger(db), path)
            return str(FileLedger(db).get("job"))
    except StoreLockedError:
        raise  # somebody is making it at this moment
    except (EsdedupError, DamagedError, duckdb.Error):
        return None
