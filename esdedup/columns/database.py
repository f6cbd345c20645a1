"""A thin wrapper of a DuckDB connection: columns in, columns out, bounded memory."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

ROWS_AT_ONCE = 500_000
_PRIVATE_MEMORY = 2**29
_ALONE = 2
"""So many times its memory a database may have while nothing else of the process needs much."""

ROW_BYTES = 2**10
"""Memory for a row of several joined tables: generous, because all of these tables are held while they are joined."""


_CLOSED_IN = {
    "enable_external_access": False,  # neither read_text('/…') in a view of the file, nor ATTACH, COPY TO or LOAD
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,  # a name in a query is never a variable of ours
    "allowed_configs": ["memory_limit"],
    "lock_configuration": True,  # nothing in a query can undo the above
}
"""What a database may not do, whoever made its file. Its temporary folder stays allowed, so it can spill.

All of it is passed to `connect`: another connection to the same file in this process must ask for the same, and nothing
can be set once the configuration is locked.
"""


class Database:
    """One connection. With `path` None, it is a private database in memory that spills to `spill`.

    No database of ours reads or writes other files, not even the private ones: rows come and go as Arrow tables. Only
    one in memory may also read those in the folder `reads`.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        memory: int,
        threads: int,
        spill: Path | None = None,
        read_only: bool = False,
        reads: Path | None = None,
    ) -> None:
        config: dict[str, Any] = {
            "memory_limit": _bytes(memory),
            "threads": threads,
            "preserve_insertion_order": False,
            **(_CLOSED_IN if reads is None else {}),
        }
        self.spill = spill
        self.memory = memory
        if spill is not None:
            config["temp_directory"] = str(spill)
        self._opened = duckdb.connect(str(path) if path else ":memory:", read_only=read_only, config=config)
        if reads is not None:  # which can only be said to an open database
            self._opened.execute("SET allowed_directories = ?", [[str(reads)]])
            for name, value in _CLOSED_IN.items():
                self._opened.execute(f"SET {name} = {value}")
        # for a caller without a script, such as python -c, the first connection shows progress on standard output; a
        # cursor does not, and with the configuration locked, nothing could turn it off
        self.connection = self._opened.cursor()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Run a statement whose result does not matter. Without values, there may be several, separated by
        semicolons.
        """
        if values:
            self.connection.execute(statement, list(values))
        else:
            self.connection.execute(statement)

    def row(self, query: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Return the first row; an empty tuple without one."""
        rows = self.rows(query, values)  # read to the end: an unread rest would block the connection
        return rows[0] if rows else ()

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a small result."""
        return self.connection.execute(query, list(values)).fetchall()

    def count(self, query: str, values: Sequence[Any] = ()) -> int:
        """Return the single integer that `query` yields; 0 for NULL."""
        row = self.row(query, values)
        return int(row[0] or 0) if row else 0

    def arrays(self, query: str, values: Sequence[Any] = ()) -> dict[str, npt.NDArray[Any]]:
        """Return a result without NULLs as numpy columns."""
        result = self.connection.execute(query, list(values)).fetchnumpy()
        return {name: np.asarray(column) for name, column in result.items()}

    def table(self, query: str, values: Sequence[Any] = ()) -> pa.Table:
        """Return a whole result as an Arrow table."""
        return self.connection.sql(query, params=list(values)).to_arrow_table()

    def batches(self, query: str, values: Sequence[Any] = (), rows: int = ROWS_AT_ONCE) -> Iterator[pa.RecordBatch]:
        """Yield a result in batches, streamed on a separate cursor, so the connection stays free for inserts."""
        with self.connection.cursor() as cursor:
            reader: Any = cursor.sql(query, params=list(values)).to_arrow_reader(rows)
            for batch in reader:
                if batch.num_rows:
                    yield batch

    def stream(self, query: str, values: Sequence[Any] = (), rows: int = ROWS_AT_ONCE) -> Iterator[pa.RecordBatch]:
        """Like `batches`, but on the connection itself. It sees temporary tables, and must be read to its end before
        anything else runs.
        """
        reader: Any = self.connection.sql(query, params=list(values)).to_arrow_reader(rows)
        for batch in reader:
            if batch.num_rows:
                yield batch

    def parts(self, hashes: str, rows: int, row_bytes: int = ROW_BYTES) -> list[str]:
        """Return SQL conditions that cut `rows` rows into parts that can be joined in this memory, by their column of
        content hashes.
        """
        count = 1 + rows * row_bytes // self.memory
        ends = [2**64 * part // count for part in range(count + 1)]
        within = [f"{hashes} BETWEEN {begin} AND {end - 1}" for begin, end in pairwise(ends)]
        return within if count > 1 else ["true"]

    def insert(self, table: str, rows: Any) -> None:
        """Append an Arrow table, batch or reader to `table`, by column name."""
        self.connection.register("incoming", rows)
        try:
            self.connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")
        finally:
            with suppress(duckdb.Error):  # after an error, a transaction refuses all
                self.connection.unregister("incoming")

    def insert_all(self, table: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """Append batches to `table` as one: what a transaction inserts in several steps is held in memory."""
        failed: list[BaseException] = []

        def each() -> Iterator[pa.RecordBatch]:
            try:
                yield from batches
            except BaseException as error:
                failed.append(error)
                raise

        try:
            self.insert(table, pa.RecordBatchReader.from_batches(schema, each()))
        except Exception:
            if failed:
                raise failed[0] from None  # as it was before Arrow and DuckDB reported it
            raise

    def create(self, table: str, rows: Any, *, temporary: bool = False) -> None:
        """Make `table` from an Arrow table, batch or reader."""
        kind = "TEMP TABLE" if temporary else "TABLE"
        self.connection.register("incoming", rows)
        try:
            self.connection.execute(f"CREATE OR REPLACE {kind} {table} AS SELECT * FROM incoming")
        finally:
            self.connection.unregister("incoming")

    def gather(self, table: str, queries: Iterable[str], *, temporary: bool = True) -> None:
        """Make `table` of what all queries yield, one after another. There must be at least one."""
        begin = f"CREATE OR REPLACE {'TEMP TABLE' if temporary else 'TABLE'} {table} AS"
        for query in queries:
            self.execute(f"{begin} {query}")
            begin = f"INSERT INTO {table}"

    @contextmanager
    def beside(self) -> Iterator[Database]:
        """Yield another connection to the same database, for another thread. It does not see temporary tables."""
        beside = copy.copy(self)
        with self._opened.cursor() as beside.connection:
            yield beside

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything that is done meanwhile, or nothing."""
        self.connection.execute("BEGIN")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            with suppress(duckdb.Error):  # the database may have ended it already
                self.connection.execute("ROLLBACK")
            raise

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have twice the memory meanwhile, when nothing else of the process needs much. To delete rows here and there
        takes 8 bytes for each row of the table, until that is committed.
        """
        self.execute(f"SET memory_limit = '{_bytes(_ALONE * self.memory)}'")
        try:
            yield
        finally:
            self.execute(f"SET memory_limit = '{_bytes(self.memory)}'")

    def close(self) -> None:
        """Close the connection. A database in memory is deleted."""
        self.connection.close()
        self._opened.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _bytes(memory: int) -> str:
    return f"{memory // 2**20}MiB"


def reason_without_memory(error: BaseException) -> str | None:
    """Return why a database did not get the memory that it needs, on one line; None for any other error.

    Its advice, which only we could follow, is left out.
    """
    line = " ".join(str(error).split())
    return line.partition(" Possible solutions")[0] if line.startswith("Out of Memory Error") else None


@contextmanager
def private_database() -> Iterator[Database]:
    """Yield a database of half a gigabyte in memory, for one answer. It spills to the system's temporary folder."""
    with (
        tempfile.TemporaryDirectory(prefix="esdedup-") as spill,
        Database(memory=_PRIVATE_MEMORY, threads=1, spill=Path(spill)) as db,
    ):
        yield db
