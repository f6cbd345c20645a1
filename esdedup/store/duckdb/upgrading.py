"""Stores of an older schema. When one is opened, its tables get the columns that came later."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb

from esdedup.errors import StoreError, StoreLockedError, StoreVersionError
from esdedup.store.duckdb.file_contents import catalog, check_made_here, declared, sql_type
from esdedup.store.duckdb.generation_file import connect, store_error
from esdedup.store.duckdb.ledger import FileLedger
from esdedup.store.schemas import SCHEMA_VERSION, TABLES

OLDEST = 9
"""The schema of version 0.1."""

_LATER = {
    "documents": ("short", "revision", "links"),
    "pairs": ("probability",),
    "clusters": ("shared", "frame_number", "frames"),
}
"""Columns that schema 9 does not have, in their order at the end of their tables."""

_GONE = {
    "postings": "CREATE TABLE postings(token BIGINT, hash UBIGINT);",
    "texts": "CREATE TABLE texts(hash UBIGINT);",
}
"""Its tables that are no longer used."""

_MEMORY = 2**26
_TRIES, _WAIT = 100, 0.1


def upgrade(path: Path) -> bool:
    """Upgrade a store in a file that has the schema `OLDEST`, and return True; leave any other file as it is.

    Nothing of the file is used before its catalog shows the tables of that schema, as they were declared, and nothing
    else. Raise `StoreVersionError` if it may not be written to.
    """
    for left in reversed(range(_TRIES)):  # another reader may be upgrading it
        try:
            return _upgraded(path)
        except (StoreLockedError, duckdb.ConnectionException):
            if not left:
                raise
            time.sleep(_WAIT)
    raise AssertionError


def _upgraded(path: Path) -> bool:
    with connect(path, _MEMORY, 1, True) as db:
        try:
            found = catalog(db)
            check_made_here(found, path)
            schema = FileLedger(db).get("schema")
            if schema != OLDEST or {(each.kind, each.name, each.plain) for each in found} != _old():
                return bool(schema == SCHEMA_VERSION)  # else whoever opens it says what is wrong
        except duckdb.Error as error:
            raise store_error(error, path) from error
    try:
        with connect(path, _MEMORY, 1, False) as db, db.transaction():
            for table, names in _LATER.items():
                for name in names:
                    db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {sql_type(TABLES[table].field(name).type)}")
            for table in _GONE:
                db.execute(f"DROP TABLE {table}")
            ledger = FileLedger(db)
            kept = [name for name in ledger.get("tables") or () if name not in _GONE]
            ledger.set(schema=SCHEMA_VERSION, tables=kept or None)
    except StoreLockedError:
        raise
    except (duckdb.Error, StoreError, PermissionError) as error:
        raise StoreVersionError(
            f"{path}: written with schema {OLDEST}, and must be upgraded to {SCHEMA_VERSION} once, which needs "
            "permission to write to it; copy it, or make it writable"
        ) from error
    return True


def _old() -> set[tuple[str, str, str | None]]:
    """Return what the catalog of such a store shows."""
    tables = {**declared(), **_GONE}
    for table, names in _LATER.items():
        for name in names:
            tables[table] = tables[table].replace(f", {name} {sql_type(TABLES[table].field(name).type)}", "")
    return {("table", name, sql) for name, sql in tables.items()}
