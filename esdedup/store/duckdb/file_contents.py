"""What is in a DuckDB file: the tables of esdedup, and what somebody else put there.

A view, macro, default or generated column runs as soon as a query names it, even by accident: a macro may be called
`lower`, and a view `sentences`. So nothing is asked of a file before its catalog has shown that it holds the tables of
esdedup, exactly as declared, and nothing else.

The catalog itself is asked by its full names, because the file may have a macro `duckdb_views`, and without functions
or operators, because these may be macros too. What it answers is compared here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from esdedup.columns.database import Database, private_database
from esdedup.errors import NotAStoreError, StoreError
from esdedup.options import shown_value
from esdedup.store.duckdb.ledger import DamagedError
from esdedup.store.schemas import KEYED_TABLES, TABLES, create_tables, mapping_text

_TABLE = "table"
_MAIN = "main"
_TEMPORARY = "temp"
_SHOWN = 3

_CATALOG = """
SELECT 'table', database_name, schema_name, table_name, sql FROM system.main.duckdb_tables() WHERE NOT internal
UNION ALL
SELECT 'view', database_name, schema_name, view_name, NULL FROM system.main.duckdb_views() WHERE NOT internal
UNION ALL
SELECT 'macro', database_name, schema_name, function_name, NULL FROM system.main.duckdb_functions() WHERE NOT internal
UNION ALL
SELECT 'type', database_name, schema_name, type_name, NULL FROM system.main.duckdb_types() WHERE NOT internal
UNION ALL
SELECT 'sequence', database_name, schema_name, sequence_name, NULL FROM system.main.duckdb_sequences()
UNION ALL
SELECT 'index', database_name, schema_name, index_name, NULL FROM system.main.duckdb_indexes()
UNION ALL
SELECT 'schema', database_name, schema_name, schema_name, NULL FROM system.main.duckdb_schemas() WHERE NOT internal
"""
_TRIGGERS = """
UNION ALL
SELECT 'trigger', database_name, schema_name, trigger_name, NULL FROM system.main.duckdb_triggers()
"""


class Entry(NamedTuple):
    """Something in the catalog of a file. `sql` is the statement that makes it, of tables only."""

    kind: str
    schema: str
    name: str
    sql: str | None

    @property
    def plain(self) -> str | None:
        """The statement without the quotes around words that need none. Other names stay in quotes."""
        return self.sql and re.sub(r'"([a-z_]+)"', r"\1", self.sql)

    def __str__(self) -> str:
        place = "" if self.schema in (_MAIN, self.name) else f" in the schema {shown_value(self.schema)}"
        return f"the {self.kind} {shown_value(self.name)}{place}"


def catalog(db: Database) -> list[Entry]:
    """Return everything in a file. Temporary objects of the connection are not in it."""
    try:
        rows = db.rows(_CATALOG + _TRIGGERS)
    except duckdb.CatalogException:  # before DuckDB 2.0, which has triggers
        rows = db.rows(_CATALOG)
    return [Entry(kind, *rest) for kind, database, *rest in rows if database != _TEMPORARY]


def check_contents(db: Database, path: Path, check_version: Callable[[], None]) -> bool:
    """Return False for a file with nothing in it. Raise an error unless it is a store that holds nothing foreign.

    Raise `NotAStoreError` for a file that esdedup did not make, what `check_version` raises for a store of another
    version, whose tables are others, and `StoreError` for what esdedup did not put there.
    """
    found = catalog(db)
    if not found:
        return False
    check_made_here(found, path)
    check_version()
    foreign = [entry for entry in found if not is_ours(entry)]
    changed = [entry for entry in foreign if _has_our_name(entry)]
    if changed:
        raise StoreError(
            f"{path}: {_listed(changed)} has other columns, types, defaults or constraints than esdedup gives it; "
            "use another --store, and delete this file if you do not know where it comes from"
        )
    if foreign:
        raise StoreError(
            f"{path}: holds {_listed(foreign)}, which esdedup did not make and does not run; move it to another "
            "DuckDB file that attaches this one (ATTACH '…' (READ_ONLY)), or use another --store"
        )
    missing = (TABLES.keys() | KEYED_TABLES) - {entry.name for entry in found}
    if missing:
        raise DamagedError(f"its table {min(missing)} is missing")
    return True


def check_made_here(found: Iterable[Entry], path: Path) -> None:
    """Raise `NotAStoreError` for a file that esdedup did not make."""
    tables = {entry.name for entry in found if entry.kind == _TABLE and entry.schema == _MAIN}
    ledger = any(entry.name == "about" and is_ours(entry) for entry in found)
    if not ledger or "cluster_texts" not in tables:
        raise NotAStoreError(f"{path}: esdedup did not make this DuckDB file; use another --store")


def is_ours(entry: Entry) -> bool:
    """Whether this is a table of this version, exactly as it is declared."""
    if not _has_our_name(entry) or entry.sql is None:
        return False
    return entry.plain == declared()[entry.name] or entry.sql == _made()[entry.name]


def _has_our_name(entry: Entry) -> bool:
    return (entry.kind, entry.schema) == (_TABLE, _MAIN) and entry.name in declared()


@cache
def declared() -> dict[str, str]:
    """Return the statements that make the tables, as DuckDB shows them but for quotes around words."""
    declared = {
        name: f"CREATE TABLE {name}({', '.join(f'{field.name} {sql_type(field.type)}' for field in schema)});"
        for name, schema in TABLES.items()
    }
    text = re.sub("--.*", "", mapping_text("embedded.sql"))
    for name, columns in re.findall(r"CREATE TABLE (\w+) \((.*?)\);", text, re.DOTALL):
        declared[name] = f"CREATE TABLE {name}({' '.join(columns.split())});"
    return declared


@cache
def _made() -> dict[str, str | None]:
    """Return the same, made by this version of DuckDB: it may show them in another way."""
    with private_database() as db:
        create_tables(db)
        return {entry.name: entry.sql for entry in catalog(db)}


def sql_type(kind: pa.DataType) -> str:
    """Return the name of a type in SQL."""
    if pa.types.is_list(kind):
        return f"{sql_type(kind.value_type)}[]"
    return _TYPES[kind]


_TYPES = {
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.uint64(): "UBIGINT",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
    pa.large_string(): "VARCHAR",
    pa.binary(): "BLOB",
}


def _listed(entries: list[Entry]) -> str:
    named = ", ".join(map(str, entries[:_SHOWN]))
    more = len(entries) - _SHOWN
    return f"{named} and {more:,} more" if more > 0 else named
