"""A database reaches nothing but its own file and its temporary folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from esdedup.columns.database import Database, private_database, reason_without_memory

MEMORY = 2**26
ROWS = 2_000_000  # several times as much as fits into the memory


@pytest.fixture(params=["a file", "a file that is only read", "in memory"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    path = None if request.param == "in memory" else tmp_path / "s.duckdb"
    read_only = request.param == "a file that is only read"
    if read_only:
        Database(path, memory=MEMORY, threads=1).close()
    return Database(path, memory=MEMORY, threads=1, spill=tmp_path / "spill", read_only=read_only)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('{canary}')",
        "SELECT * FROM read_blob('{canary}')",
        "SELECT * FROM read_csv('{canary}')",
        "SELECT * FROM '{canary}'",
        "SELECT * FROM glob('{folder}/*')",
        "COPY (SELECT 1) TO '{folder}/written'",
        "ATTACH '{folder}/written.duckdb' AS written",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET temp_directory = '{folder}'",
        "SET threads = 1",
        "SET enable_progress_bar = true",
        "PRAGMA enable_profiling = 'json'",
    ],
)
def test_it_reaches_no_other_file_and_keeps_its_configuration(
    database: Database, tmp_path: Path, statement: str
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    canary = folder / "canary.csv"
    canary.write_text("one,two\n1,2\n")
    with database, pytest.raises(duckdb.Error):
        database.rows(statement.format(canary=canary, folder=folder))
    assert list(folder.iterdir()) == [canary]


def test_a_variable_is_no_table(database: Database) -> None:
    secret = pa.table({"a": [1]})
    with database, pytest.raises(duckdb.CatalogException, match="secret"):
        database.rows("SELECT * FROM secret")
    assert secret.num_rows == 1


@pytest.mark.parametrize("name", ["s.duckdb", None])
def test_it_spills_to_its_own_folder(tmp_path: Path, name: str | None) -> None:
    path, spill = tmp_path / name if name else None, tmp_path / "spill"
    with Database(path, memory=MEMORY, threads=2, spill=spill) as db:
        rows = f"SELECT range AS i, hash(range)::VARCHAR || hash(range + 1)::VARCHAR AS t FROM range({ROWS})"
        most = last = seen = 0
        for batch in db.batches(f"SELECT * FROM ({rows}) ORDER BY t", rows=100_000):
            most = max(most, sum(file.stat().st_size for file in spill.iterdir()))
            seen += batch.num_rows
            assert batch["t"][0].as_py() > str(last)
            last = batch["t"][-1].as_py()
    assert seen == ROWS
    assert most > MEMORY // 2


def test_it_spills_beside_its_file_unless_told_otherwise(tmp_path: Path) -> None:
    with Database(tmp_path / "s.duckdb", memory=MEMORY, threads=2) as db:
        db.execute(f"CREATE TEMP TABLE t AS SELECT range AS i, hash(range)::VARCHAR AS t FROM range({ROWS})")
        db.execute("CREATE TEMP TABLE u AS SELECT t || t AS t FROM t ORDER BY 1")
        assert sum(file.stat().st_size for file in (tmp_path / "s.duckdb.tmp").iterdir()) > MEMORY // 2
    assert [file.name for file in tmp_path.iterdir()] == ["s.duckdb"]


def test_two_connections_of_a_process_share_a_file(tmp_path: Path) -> None:
    one, two = (Database(tmp_path / "s.duckdb", memory=MEMORY, threads=1) for _ in range(2))
    with one, two:
        one.execute("CREATE TABLE t (a INTEGER)")
        one.insert("t", pa.table({"a": [1, 2]}))
        assert two.count("SELECT count(*) FROM t") == 2
    with private_database() as db:
        db.create("t", pa.table({"a": [1]}))
        assert [batch.num_rows for batch in db.batches("FROM t")] == [1]


def test_no_progress_is_printed_where_a_person_types(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from esdedup.columns.database import Database\n"
        "for _ in range(2):\n"
        f"    with Database(Path({str(tmp_path / 's.duckdb')!r}), memory={MEMORY}, threads=1) as db:\n"
        "        with db.connection.cursor() as other:\n"
        "            for each in (db.connection, other):\n"
        "                found = each.execute(\"SELECT current_setting('enable_progress_bar')\").fetchall()\n"
        "                assert found == [(False,)], found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # without a script, as in an interactive session


@pytest.mark.parametrize("rows", [0, 1, 65_535, 65_536, 1_000_000])
def test_every_hash_is_in_one_part(rows: int) -> None:
    with Database(memory=MEMORY, threads=1) as database:
        database.execute(f"CREATE TABLE t AS SELECT unnest([0, 1, {2**63}, {2**64 - 1}]::UBIGINT[]) AS hash")
        database.execute("INSERT INTO t SELECT hash(i) FROM range(1000) r(i)")
        parts = database.parts("hash", rows)
        held = [database.count(f"SELECT count(*) FROM t WHERE {part}") for part in parts]
    assert len(parts) == 1 + rows // (MEMORY // 2**10) and sum(held) == 1004
    assert min(held) > 0


def test_memory_that_is_not_enough_is_said_in_a_line() -> None:
    with pytest.raises(duckdb.Error) as caught, Database(memory=2**20, threads=1) as database:
        database.count("SELECT len(list(i)) FROM range(1000000) r(i)")
    reason = reason_without_memory(caught.value)
    assert reason is not None and reason.startswith("Out of Memory Error: ") and reason.endswith("used)")
    assert reason_without_memory(ValueError("Out of luck")) is None
