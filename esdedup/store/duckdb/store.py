"""The store in a file: one DuckDB database."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import duckdb

from esdedup.errors import StoreError, StoreVersionError
from esdedup.matching.signing import Signing, freeze
from esdedup.store.duckdb import generation_file as files
from esdedup.store.duckdb.corpus import FileCorpus
from esdedup.store.duckdb.ledger import FileLedger
from esdedup.store.duckdb.upgrading import upgrade
from esdedup.store.results import Results
from esdedup.store.schemas import KEYED_TABLES, SCHEMA_VERSION, TABLES, check_same, create_tables
from esdedup.store.store import Store

if TYPE_CHECKING:
    from esdedup.columns.database import Database
    from esdedup.store.corpus import Corpus
    from esdedup.store.ledger import Ledger


class FileStore(Store):
    """A store in the file `path`. If it does not exist and `frozen` is given, opening creates it.

    `frozen` holds the requested signing options. `fresh` names the job that makes a new generation, which stays beside
    the old one until it is published. The same job continues with it. Raise `NotAStoreError`, `StoreVersionError`,
    `StoreSettingsError` (if the store has other settings) and `StoreLockedError`. Readers (`read_only`) share the file;
    a writer needs exclusive access. A copy uses the lookup of the store that `lookup_of` names.
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
        lookup: bool = True,
        lookup_of: Path | None = None,
    ) -> None:
        self.address = str(path)
        self._live = path
        self._written = None if read_only else files.begin_writing(path)
        try:
            self._path = path if fresh is None else files.prepare_generation(path, fresh)
            self.generation = "" if fresh is None else "fresh"
            files.discard_empty(self._path)
            new = not self._path.exists()
            if new and (frozen is None or read_only):
                raise StoreError.no_store(path)
            self._db = files.connect(self._path, memory, threads, read_only)
        except BaseException:
            files.end_writing(self._written)
            raise
        ledger = FileLedger(self._db, read_only=read_only)
        try:
            try:
                holds = not new and files.check_store(self._db, self._path, ledger)
            except StoreVersionError:
                self._db.close()
                if not upgrade(self._path):
                    raise
                self._db = files.connect(self._path, memory, threads, read_only)
                ledger = FileLedger(self._db, read_only=read_only)
                holds = files.check_store(self._db, self._path, ledger)
            if not holds:
                if read_only:
                    raise StoreError.no_store(path)
                _make(self._db, ledger, freeze(None, frozen or {}), fresh)
            elif frozen and not read_only and not self._db.count("SELECT count(*) FROM documents"):
                # a command that failed at its first source; settings are frozen with the first document
                _forget(self._db)
                _make(self._db, ledger, freeze(None, frozen), fresh)
            self.signing = files.stored_signing(ledger, path)
            check_same(str(path), self.signing, freeze(self.signing, frozen or {}))
            self.ledger: Ledger = ledger
            store = lookup_of or path
            self.corpus: Corpus = FileCorpus(self._db, ledger, self.signing, store, read_only=read_only)
            self.corpus.lookup = lookup
        except BaseException as error:
            self.close()
            if isinstance(error, Exception) and files.is_circumstance(error):
                raise files.store_error(error, path) from error
            raise
        self.results = Results(self.corpus, ledger, self._db)

    def publish(self, keep: int = 0) -> None:
        if self._path != self._live:
            self.close()
            files.publish_generation(self._path, self._live)

    @property
    def database(self) -> Database:
        """The database in the file."""
        return self._db

    def disk_bytes(self) -> int:
        from esdedup.store.duckdb.file_lookup import folders_of

        own = sum(path.stat().st_size for path in (self._path, files.log_beside(self._path)) if path.exists())
        return own + sum(folder.bytes() for folder in folders_of(self._live))

    def drop(self) -> None:
        from esdedup.store.duckdb.file_lookup import delete_lookup

        self.close()
        files.drop_tables(self._path)
        files.delete_generation(self._live)
        delete_lookup(self._live)

    def blame(self, error: BaseException) -> StoreError | None:
        return files.as_store_error(error, self._db, Path(self.address))

    def close(self) -> None:
        try:
            self._db.close()
        finally:
            files.end_writing(self._written)
            self._written = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        blamed = None if error is None else self.blame(error)
        with suppress(duckdb.Error):  # the original error says more
            self.close()
        if blamed is not None:
            raise blamed from error


def _forget(db: Database) -> None:
    """Delete all tables of a store."""
    for table in (*TABLES, *KEYED_TABLES):
        db.execute(f"DROP TABLE {table}")


def _make(db: Database, ledger: FileLedger, signing: Signing, job: str | None) -> None:
    with db.transaction():
        create_tables(db)
        tables = [*TABLES, *sorted(KEYED_TABLES)]
        ledger.set(
            schema=SCHEMA_VERSION, signing=signing.saved(), tables=tables, job=job, **{"hash-scheme": signing.scheme}
        )
