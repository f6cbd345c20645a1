"""Addresses and files that are no store, or not ours to write: one clear error each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import esdedup
from esdedup.errors import NotAStoreError, StoreError, StoreLockedError, StoreVersionError, UsageError
from esdedup.store.schemas import SCHEMA_VERSION


def make(path: Path) -> Path:
    with esdedup.open_store(path, {}):
        return path


@pytest.mark.parametrize("address", ["store.db", "somewhere", "http://127.0.0.1:9200", "ftp://127.0.0.1/wiki"])
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(UsageError, match=r"--store http://HOST:PORT/PREFIX"):
        esdedup.open_store(address)


def test_readers_make_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        esdedup.status(store=tmp_path / "new.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_store(tmp_path: Path) -> None:
    text = tmp_path / "text.duckdb"
    text.write_bytes(b"no database at all\n" * 1000)
    with pytest.raises(NotAStoreError, match=r"text\.duckdb"):
        esdedup.status(store=text)
    other = tmp_path / "other.duckdb"
    with duckdb.connect(str(other)) as connection:
        connection.execute("CREATE TABLE mine (a INTEGER)")
    for attempt in (esdedup.status, esdedup.drop):
        with pytest.raises(NotAStoreError, match="did not make"):
            attempt(store=other)
    with duckdb.connect(str(other)) as connection:
        assert connection.execute("SELECT count(*) FROM mine").fetchall() == [(0,)]


def test_a_newer_schema_or_another_hash_scheme_is_refused(tmp_path: Path) -> None:
    for key in ("schema", "hash-scheme"):
        path = make(tmp_path / f"{key}.duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute("UPDATE about SET value = ? WHERE key = ?", [str(SCHEMA_VERSION + 8), key])
        with pytest.raises(StoreVersionError, match=str(SCHEMA_VERSION + 8)):
            esdedup.status(store=path)


def test_a_store_of_another_text_scheme_is_read_but_not_indexed_into(tmp_path: Path) -> None:
    source = tmp_path / "a.tsv"
    source.write_text("1\tOne short text of a few words.\n2\tOne short text of a few words!\n", "utf-8")
    path = tmp_path / "s.duckdb"
    esdedup.index(source, store=path, quiet=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE about SET value = replace(value, '\"text_scheme\":3', '\"text_scheme\":1')")
        connection.execute("UPDATE about SET value = replace(value, '\"text_scheme\": 3', '\"text_scheme\": 1')")
    assert esdedup.status(store=path)["settings"]["text-scheme"] == 1
    assert esdedup.scan(store=path, quiet=True)["counts"]["clusters"] == 1
    for verb in (esdedup.index, esdedup.add):
        with pytest.raises(StoreVersionError, match=r"text scheme 1.*--fresh"):
            verb(source, store=path, quiet=True)
    esdedup.index(source, store=path, fresh=True, quiet=True)
    assert esdedup.status(store=path)["settings"]["text-scheme"] == 3


def test_a_store_of_hash_scheme_2_is_read_with_its_own_folding(tmp_path: Path) -> None:
    """The capitals of its tokens are not equal to those of scheme 3, so nothing is added to it."""
    source = tmp_path / "a.csv"
    source.write_text("id,text\n1,Straße der Mühle\n2,STRASSE DER MÜHLE\n3,straße der mühle!\n", "utf-8")
    path = tmp_path / "s.duckdb"
    esdedup.index(source, store=path, quiet=True)
    assert esdedup.status(store=path)["settings"]["hash-scheme"] == 3
    assert esdedup.scan(store=path, candidates="exact", quiet=True)["counts"]["pairs"] == 3
    with duckdb.connect(str(path)) as connection:
        [(saved,)] = connection.execute("SELECT value FROM about WHERE key = 'signing'").fetchall()
        old = {**json.loads(saved), "text_scheme": 2}
        del old["hash_scheme"]
        connection.execute("UPDATE about SET value = ? WHERE key = 'signing'", [json.dumps(old)])
        connection.execute("UPDATE about SET value = '2' WHERE key = 'hash-scheme'")
    assert esdedup.status(store=path)["settings"]["hash-scheme"] == 2
    assert esdedup.scan(store=path, candidates="exact", quiet=True)["counts"]["pairs"] == 1
    with pytest.raises(StoreVersionError, match=r"text scheme 2.*--fresh"):
        esdedup.add(source, store=path, quiet=True)


def test_a_store_of_an_unknown_signer_is_not_called_damaged(tmp_path: Path) -> None:
    path = make(tmp_path / "s.duckdb")
    with duckdb.connect(str(path)) as connection:
        [(saved,)] = connection.execute("SELECT value FROM about WHERE key = 'signing'").fetchall()
        changed = json.dumps({**json.loads(saved), "signer": "abacus", "beads": 7})
        connection.execute("UPDATE about SET value = ? WHERE key = 'signing'", [changed])
    with pytest.raises(StoreVersionError, match="signed by the signer 'abacus', which this esdedup does not have"):
        esdedup.status(store=path)


def test_a_store_of_a_newer_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path / "store.duckdb")
    path.write_bytes(path.read_bytes().replace(f"v{duckdb.__version__}\0".encode(), b"v9.8.7\0", 1))
    # as DuckDB 1.5.0 says of a file of DuckDB 2.0.0
    refused = duckdb.IOException(
        "IO Error: Trying to read a database file with version number 999, but we can only read versions between 64 "
        "and 68.\nThe database file was created with an newer version of DuckDB."
    )

    def connect(*_: object, **__: object) -> None:
        raise refused

    monkeypatch.setattr(duckdb, "connect", connect)
    with pytest.raises(StoreError, match=rf'DuckDB 9.8.7, .* {duckdb.__version__} .*; pip install "duckdb>=9.8.7"'):
        esdedup.status(store=path)


def test_a_second_writer_is_told_who_holds_the_store(tmp_path: Path) -> None:
    path = make(tmp_path / "s.duckdb")
    code = (
        "import sys, esdedup\n"
        "with esdedup.open_store(sys.argv[1], {}):\n"
        "    print('open', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "open\n"
    with pytest.raises(StoreLockedError, match=f"process {child.pid}"):
        esdedup.open_store(path, {})
    child.communicate("\n")
    make(path)


def test_an_unreadable_place_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="missing"):
        esdedup.open_store(tmp_path / "missing" / "s.duckdb", {})


def test_drop_leaves_what_is_not_ours(tmp_path: Path) -> None:
    path = make(tmp_path / "s.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 42 AS answer")
    esdedup.drop(store=path)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT answer FROM mine").fetchall() == [(42,)]
        assert connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(1,)]
