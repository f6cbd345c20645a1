"""Stores that are other than asked for, newer, damaged, no stores, or in use: one line, and usable afterwards."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from esdedup.matching.signing import HASH_SCHEMES
from esdedup.store.schemas import SCHEMA_VERSION
from tests.support.commands import said
from tests.system.robustness.helpers import one_line, only_line, outputs

RECORD = ("--unit", "record")


@pytest.fixture
def store(undisturbed: Path, tmp_path: Path) -> Path:
    """A copy of its store, to be ill-treated."""
    copy = tmp_path / "s.duckdb"
    copy.write_bytes((undisturbed / "out" / "store.duckdb").read_bytes())
    return copy


def run(undisturbed: Path, store: Path, *more: object) -> tuple[object, ...]:
    return "run", undisturbed / "a.tsv", "--store", store, "--out", store.parent / "out", *RECORD, *more


def check_usable(undisturbed: Path, store: Path) -> None:
    """The same command finishes, and gives what it gives where nothing ever went wrong."""
    answer = said(*run(undisturbed, store))
    assert (answer.code, answer.err) == (0, "")
    assert outputs(store.parent / "out") == outputs(undisturbed / "out")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rows", "4"], "the store has rows 5, you requested 4"),
        (["--shingle", "word:3"], "the store has shingle char:5, you requested word:3"),
        (["--preset", "weissman"], "the store has min-chars 0, you requested 75"),
    ],
)
def test_other_settings_are_named_with_both_values(
    undisturbed: Path, store: Path, options: list[str], words: str
) -> None:
    for verb in (run(undisturbed, store, *options), ("index", undisturbed / "a.tsv", "--store", store, *options)):
        line = one_line(said(*verb))
        assert words in line
        assert str(store) in line
        assert "--fresh" in line
    if "--rows" in options:
        check_usable(undisturbed, store)


@pytest.mark.parametrize(("key", "ours"), [("schema", SCHEMA_VERSION), ("hash-scheme", HASH_SCHEMES[-1])])
def test_newer_stores_are_named_with_both_versions(undisturbed: Path, store: Path, key: str, ours: int) -> None:
    with duckdb.connect(str(store)) as connection:
        connection.execute("UPDATE about SET value = '97' WHERE key = ?", [key])
    for verb in (run(undisturbed, store), ("status", "--store", store), ("scan", "--store", store)):
        line = one_line(said(*verb))
        assert str(store) in line
        assert " 97" in line
        assert f" {ours}" in line
    with duckdb.connect(str(store)) as connection:
        connection.execute("UPDATE about SET value = ? WHERE key = ?", [str(ours), key])
    check_usable(undisturbed, store)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE about SET value = 'x' WHERE key = 'schema'",
        "UPDATE about SET value = '{\"new\": 1}' WHERE key = 'signing'",
        "UPDATE about SET value = '{\"bands\": \"x\"}' WHERE key = 'signing'",
        "DELETE FROM about",
    ],
)
def test_a_store_that_contradicts_itself_is_one_line(undisturbed: Path, store: Path, statement: str) -> None:
    with duckdb.connect(str(store)) as connection:
        connection.execute(statement)
    for verb in (run(undisturbed, store), ("status", "--store", store)):
        assert str(store) in one_line(said(*verb))


def overwritten(share: float, size: int) -> Callable[[bytes], bytes]:
    def damage(data: bytes) -> bytes:
        at = int(len(data) * share)
        return data[:at] + random.Random(1).randbytes(size) + data[at + size :]

    return damage


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "first bytes": overwritten(0, 64),
    "header": lambda data: data[:4096] + random.Random(1).randbytes(8192) + data[12288:],
    "a quarter": overwritten(0.25, 200_000),
    "the middle": overwritten(0.5, 100_000),
    "cut in the header": lambda data: data[:4096],
    "cut in the middle": lambda data: data[: len(data) // 2],
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_store_is_named_with_what_to_do(undisturbed: Path, store: Path, name: str) -> None:
    damaged = DAMAGES[name](store.read_bytes())
    refused = 0
    for verb in (
        ("status", "--store", store),
        ("clusters", "--store", store, "--limit", "1000", "--json"),
        ("scan", "--store", store),
        run(undisturbed, store),
    ):
        store.write_bytes(damaged)
        store.with_name("s.duckdb.wal").unlink(missing_ok=True)
        answer = said(*verb)
        # what does not touch the damage may well succeed, or notice it half way
        if answer.code:
            assert answer.code == 1
            line = only_line(answer.err)
            assert str(store) in line
            assert "use another --store" in line
            refused += 1
    assert refused >= 2
    if name == "the middle":
        store.unlink()  # as the line says
        store.with_name("s.duckdb.wal").unlink(missing_ok=True)
        check_usable(undisturbed, store)


@pytest.mark.parametrize("name", ["the middle", "cut in the middle"])
def test_beginning_again_with_a_damaged_store_finishes_or_says_why(undisturbed: Path, store: Path, name: str) -> None:
    store.write_bytes(DAMAGES[name](store.read_bytes()))
    answer = said(*run(undisturbed, store, "--fresh"))
    if answer.code:
        line = only_line(answer.err)
        assert str(store) in line
        assert "use another --store" in line
    else:
        assert outputs(store.parent / "out") == outputs(undisturbed / "out")


def test_an_empty_file_becomes_a_store(undisturbed: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    store.touch()
    check_usable(undisturbed, store)
    other = tmp_path / "other.duckdb"
    other.touch()
    assert said("index", undisturbed / "a.tsv", "--store", other, "--fresh").code == 0


def test_what_is_no_store_is_left_alone(undisturbed: Path, tmp_path: Path) -> None:
    text, other, folder = tmp_path / "text.duckdb", tmp_path / "other.duckdb", tmp_path / "folder.duckdb"
    text.write_text("no database at all\n" * 1000)
    with duckdb.connect(str(other)) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 42 AS answer")
    folder.mkdir()
    for store in (text, other, folder):
        for verb in (
            run(undisturbed, store),
            run(undisturbed, store, "--fresh"),
            ("status", "--store", store),
            ("drop", "--yes", "--store", store),
        ):
            line = one_line(said(*verb))
            assert str(store) in line
            assert "delete" not in line  # it may be dear to somebody
    assert text.read_text() == "no database at all\n" * 1000
    with duckdb.connect(str(other)) as connection:
        assert connection.execute("SELECT answer FROM mine").fetchall() == [(42,)]
    assert folder.is_dir()


@pytest.mark.parametrize("address", ["s.db", "http://127.0.0.1:9", "o\udcff.duckdb", ""])
def test_addresses_that_are_none_are_wrong_usage(undisturbed: Path, tmp_path: Path, address: str) -> None:
    store = tmp_path / address if address.endswith((".db", ".duckdb")) else address
    answer = said("index", undisturbed / "a.tsv", "--store", store)
    assert "--store" in one_line(answer, 2)


def test_a_store_in_use_names_the_process(undisturbed: Path, store: Path) -> None:
    code = (
        "import sys, esdedup\n"
        "with esdedup.open_store(sys.argv[1], {}):\n"
        "    print('open', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    for verb in (run(undisturbed, store), run(undisturbed, store, "--fresh"), ("status", "--store", store)):
        line = one_line(said(*verb))
        assert str(store) in line
        assert f"process {holder.pid}" in line
    holder.communicate("\n")
    check_usable(undisturbed, store)
