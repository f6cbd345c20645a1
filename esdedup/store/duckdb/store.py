"""The store in a file: one DuckDB database."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from esdedup.columns.database import Database
from esdedup.errors import StoreError
from esdedup.matching.signing import HASH_SCHEME, Signing, freeze
from esdedup.store.corpus import Corpus
from esdedup.store.duckdb import generation_file as files
from esdedup.store.duckdb.corpus import FileCorpus
from esdedup.store.duckdb.ledger import FileLedger
from esdedup.store.ledger import Ledger
from esdedup.store.results import Results
from esdedup.store.schemas import SCHEMA_VERSION, check_same, create_tables
from esdedup.store.store import Store


class FileStore(Store):
    """A store in the file `path`. If it does not exist and `frozen` is given, opening creates it.

    `frozen` holds the requested signing options. `fresh` names the job that makes a new generation, which stays beside
    the old one until it is published. The same job continues with it. Raise `NotAStoreError`, `StoreVersionError`,
    `StoreSettingsError` (if the store has other settings) and `StoreLockedError`. Readers (`read_only`) share the file;
    a writer needs exclusive access.
    """

    def __init__(
        self,
        path: Path,
        frozen: Mapping[str, Any] | None = None,
        *,
        memory: int = 2**28,
        threads: int = 1,
        read_only: bool = False,
        fresh: str | None = None,
    ) -> None:
        self.address = str(path)
        self._live = path
        self._path = path if fresh is None else files.prepare_generation(path, fresh)
        self.generation = "" if fresh is None else "fresh"
        if self._path.is_file() and self._path.stat().st_size == 0:
            self._path.unlink()  # left when the very first write failed
        if not self._path.exists() and (frozen is None or read_only):
            raise StoreError(f"{path}: there is no store; make one with esdedup run or esdedup index")
        self._db = files.connect(self._path, memory, threads, read_only)
        ledger = FileLedger(self._db, read_only=read_only)
        try:
            if files.is_empty(self._db):
                _make(self._db, ledger, freeze(None, frozen or {}), fresh)
            else:
                files.check_made_here(self._db, path)
                if frozen and not read_only and not self._db.count("SELECT count(*) FROM documents"):
                    # a command that failed at its first source; settings are frozen with the first document
                    _forget(self._db, ledger)
                    _make(self._db, ledger, freeze(None, frozen), fresh)
            files.check_version(ledger, path)
            self.signing = files.stored_signing(ledger, path)
            check_same(str(path), self.signing, freeze(self.signing, frozen or {}))
            self.ledger: Ledger = ledger
            self.corpus: Corpus = FileCorpus(self._db, ledger, self.signing, read_only=read_only)
        except BaseException as error:
            self._db.close()
            if isinstance(error, Exception) and files.is_circumstance(error):
                raise files.store_error(error, path) from error
            raise
        self.results = Results(self.corpus, ledger, self._db)

    def publish(self, keep: int = 0) -> None:
        if self._path != self._live:
            self._db.close()
            files.publish_generation(self._path, self._live)

    def disk_bytes(self) -> int:
        return sum(path.stat().st_size for path in (self._path, files.log_beside(self._path)) if path.exists())

    def drop(self) -> None:
        _forget(self._db, self.ledger)
        others = not files.is_empty(self._db)
        self._db.close()
        if not others:
            files.delete(self._path)
        files.delete_generation(self._live)

    def close(self) -> None:
        self._db.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(duckdb.Error):  # the original error says more
            self.close()
        if isinstance(error, Exception) and files.is_circumstance(error):
            raise files.store_error(error, Path(self.address)) from error


def _forget(db: Database, ledger: Ledger) -> None:
    """Delete all tables of a store."""
    db.execute("DROP VIEW IF EXISTS named; DROP VIEW IF EXISTS keyed")
    for table in ledger.get("tables"):
        db.execute(f"DROP TABLE IF EXISTS {table}")


def _make(db: Database, ledger: FileLedger, signing: Signing, job: str | None) -> None:
    with db.transaction():
        create_tables(db)
        tables = [name for (name,) in db.rows("SELECT table_name FROM duckdb_tables()")]
        ledger.set(
            schema=SCHEMA_VERSION, signing=signing.saved(), tables=tables, job=job, **{"hash-scheme": HASH_SCHEME}
        )
