"""A DuckDB connection in the few words that this project needs: columns in, columns out, bounded memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

ROWS_AT_ONCE = 500_000
_PRIVATE_MEMORY = 2**29


class Database:
    """One connection; `path` None is a private database in memory that spills into `spill`."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        memory: int,
        threads: int,
        spill: Path | None = None,
        read_only: bool = False,
    ) -> None:
        config: dict[str, Any] = {
            "memory_limit": f"{memory // 2**20}MiB",
            "threads": threads,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if spill is not None:
            config["temp_directory"] = str(spill)
        self.connection = duckdb.connect(str(path) if path else ":memory:", read_only=read_only, config=config)
        # a caller without a script, as python -c is, would find it drawn among the results on standard output
        self.connection.execute("SET enable_progress_bar = false")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Run a statement whose result does not matter; without values, several parted by semicolons."""
        if values:
            self.connection.execute(statement, list(values))
        else:
            self.connection.execute(statement)

    def row(self, query: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
        """The first row; an empty tuple without one."""
        rows = self.rows(query, values)  # read to its end: an unread rest would block the connection
        return rows[0] if rows else ()

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row of a result that is known to be small."""
        return self.connection.execute(query, list(values)).fetchall()

    def count(self, query: str, values: Sequence[Any] = ()) -> int:
        """The single integer that `query` yields; 0 for NULL."""
        row = self.row(query, values)
        return int(row[0] or 0) if row else 0

    def arrays(self, query: str, values: Sequence[Any] = ()) -> dict[str, npt.NDArray[Any]]:
        """A result without NULLs as numpy columns."""
        result = self.connection.execute(query, list(values)).fetchnumpy()
        return {name: np.asarray(column) for name, column in result.items()}

    def table(self, query: str, values: Sequence[Any] = ()) -> pa.Table:
        """A whole result as an Arrow table."""
        return self.connection.sql(query, params=list(values)).to_arrow_table()

    def batches(self, query: str, values: Sequence[Any] = (), rows: int = ROWS_AT_ONCE) -> Iterator[pa.RecordBatch]:
        """A result in batches, streamed on a cursor of its own: the connection stays free for inserts."""
        with self.connection.cursor() as cursor:
            reader: Any = cursor.sql(query, params=list(values)).to_arrow_reader(rows)
            for batch in reader:
                if batch.num_rows:
                    yield batch

    def stream(self, query: str, values: Sequence[Any] = (), rows: int = ROWS_AT_ONCE) -> Iterator[pa.RecordBatch]:
        """Like `batches`, on the connection itself: it sees temporary tables, and must be read to its end
        before anything else runs."""
        reader: Any = self.connection.sql(query, params=list(values)).to_arrow_reader(rows)
        for batch in reader:
            if batch.num_rows:
                yield batch

    def insert(self, table: str, rows: Any) -> None:
        """Append an Arrow table, batch or reader to `table`, by column name."""
        self.connection.register("incoming", rows)
        try:
            self.connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")
        finally:
            self.connection.unregister("incoming")

    def create(self, table: str, rows: Any, *, temporary: bool = False) -> None:
        """Make `table` from an Arrow table, batch or reader."""
        kind = "TEMP TABLE" if temporary else "TABLE"
        self.connection.register("incoming", rows)
        try:
            self.connection.execute(f"CREATE OR REPLACE {kind} {table} AS SELECT * FROM incoming")
        finally:
            self.connection.unregister("incoming")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is done meanwhile, or nothing of it."""
        self.connection.execute("BEGIN")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            with suppress(duckdb.Error):  # the database may have ended it by itself
                self.connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the connection; a database in memory is gone with it."""
        self.connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def private_database() -> Iterator[Database]:
    """A database of half a gigabyte in memory, for one answer; it spills into the system's temporary folder."""
    with (
        tempfile.TemporaryDirectory(prefix="esdedup-") as spill,
        Database(memory=_PRIVATE_MEMORY, threads=1, spill=Path(spill)) as db,
    ):
        yield db
