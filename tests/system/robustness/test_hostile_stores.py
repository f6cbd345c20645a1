"""Stores from strangers: none reads or writes outside, each is refused by one line, and no text controls anything."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import esdedup
from esdedup.columns.database import Database
from esdedup.errors import EsdedupError
from esdedup.store.duckdb.contradictions import contradiction
from esdedup.web.answers.overview import warm_up
from esdedup.web.live import Live
from tests.support import hostile_stores
from tests.support.commands import Said, said
from tests.support.full import FULL, few
from tests.support.hostile_stores import CANARY, FILES, FOREIGN, LEDGERS, TEXTS, VALUES, Hostile
from tests.system.robustness.helpers import one_line, only_line

QUESTION = "The town of Arlen lies on the long river of the east, has two mills of red brick by the old road."
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def stores(folder: Path) -> dict[str, Hostile]:
    found = {store.name: store for store in hostile_stores.make(folder)}
    (folder / "new.tsv").write_text(f"1\t{QUESTION}\n", "utf-8")
    return found


@pytest.fixture
def out(tmp_path: Path, folder: Path, stores: dict[str, Hostile]) -> Iterator[Path]:
    """A folder for results. No file may appear beside the stores, and nothing may show what the canary holds."""
    before = set(folder.iterdir())
    yield tmp_path
    assert [path for path in folder.iterdir() if path not in before and path.suffix != ".lookup"] == []
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or CANARY.encode() not in path.read_bytes()


def readers(store: Path, out: Path) -> Iterator[tuple[object, ...]]:
    at = ("--store", store)
    yield "status", *at
    yield "clusters", "--sort", "confidence", *at
    yield "similar", QUESTION, *at
    yield "drift", *at
    yield "templates", "--out", out / "tables", *at
    yield "lineage", "--graphml", out / "copies.graphml", *at
    yield "report", "--out", out / "report", *at


def all_verbs(store: Path, out: Path) -> Iterator[tuple[object, ...]]:
    yield from readers(store, out)
    at = ("--store", store)
    yield "clusters", "--json", *at
    yield "suggest", "The town", *at
    yield "overlap", *at
    yield "drift", "--review", "wikitext", *at
    yield "templates", *at
    yield "evaluate", "--truth", "exact", *at
    yield "dedupe", store.with_name("new.tsv"), "-o", out / "clean", "--unit", "sentence", "--against", store


def a_reader_and_a_writer(store: Path, out: Path) -> Iterator[tuple[object, ...]]:
    """One of each, or just one of both: all open a store in one place, and what is refused there is refused to all.
    Each has its turn.
    """
    turn = zlib.crc32(store.name.encode())
    both = [list(readers(store, out)), list(writers(store, out))]
    for verbs in both if FULL else both[turn % 2 :][:1]:
        yield verbs[turn // 2 % len(verbs)]


def writers(store: Path, out: Path) -> Iterator[tuple[object, ...]]:
    yield "dedupe", store.with_name("new.tsv"), "-o", out / "clean", "--against", store
    yield "scan", "--store", store
    yield "add", store.with_name("new.tsv"), "--store", store


def asked(*arguments: object) -> Said:
    answer = said(*arguments)
    assert CANARY not in answer.out + answer.err
    assert not CONTROL.search(answer.err)
    return answer


def check_page(store: Path) -> None:
    """What `esdedup serve` does first."""
    try:
        Live(str(store), readers=1, prepare=warm_up).close()
    except EsdedupError as error:
        assert CANARY not in str(error)


def test_there_are_at_least_fifty() -> None:
    assert len(FOREIGN) >= 50
    assert len({*FOREIGN, *LEDGERS, *VALUES, *FILES}) + len(TEXTS) >= 150


@pytest.mark.parametrize("name", few([*FOREIGN, *LEDGERS, *FILES], *range(0, 200, 2)))
def test_it_is_refused_by_one_line(stores: dict[str, Hostile], out: Path, name: str) -> None:
    store = stores[name].path
    data = store.read_bytes()
    for verb in a_reader_and_a_writer(store, out):
        line = one_line(asked(*verb))
        assert str(store) in line
        assert "use another --store" in line or "--fresh" in line or "upgrade esdedup" in line
    assert store.read_bytes() == data
    with pytest.raises(EsdedupError, match=re.escape(str(store))):
        Live(str(store), readers=1)


@pytest.mark.parametrize("name", few(VALUES, *range(0, 100, 2)))
def test_values_that_cannot_be_are_shown_or_refused(stores: dict[str, Hostile], out: Path, name: str) -> None:
    store, refused = stores[name].path, 0
    first = zlib.crc32(name.encode()) % 6
    verbs = list(readers(store, out))
    for verb in verbs if FULL else verbs[first : first + 2]:
        answer = asked(*verb)
        assert not CONTROL.search(answer.out)
        if answer.code:
            assert answer.code == 1
            only_line(answer.err)
            refused += 1
        if refused == 2:  # all open a store in one place
            break
    check_page(store)


@pytest.mark.parametrize("name", ["texts-are-null"])
def test_a_reference_of_such_values_is_refused(stores: dict[str, Hostile], out: Path, name: str) -> None:
    store = stores[name].path
    new = store.with_name("new.tsv")
    line = one_line(asked("dedupe", new, "-o", out / "clean", "--unit", "sentence", "--against", store))
    assert f"{store}: damaged" in line
    assert asked("plan", "--store", store).code in (0, 1)


@pytest.mark.parametrize("text", few(TEXTS, *range(0, len(TEXTS), 4)))
def test_texts_are_shown_and_obeyed_nowhere(stores: dict[str, Hostile], out: Path, text: str) -> None:
    store = stores[f"text {text!r}"].path
    for verb in all_verbs(store, out):
        answer = asked(*verb)
        assert answer.code == 0, answer.err
        if "--json" in verb:
            for line in answer.out.removesuffix("\n").split("\n"):
                json.loads(line)
        else:
            assert not CONTROL.search(answer.out), verb
    page = (out / "report" / "report.html").read_text("utf-8")
    for markup in ("<script>alert", "<img src=x"):
        assert markup not in page
    check_page(store)
    ids = [member["id"] for cluster in esdedup.clusters(store=store) for member in cluster["members"]]
    assert any(text in identity for identity in ids)
    assert asked("explain", ids[0], ids[1], "--store", store).code == 0


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "s.duckdb"
    os.mkfifo(pipe)
    assert "not a regular file" in one_line(said("status", "--store", pipe))


def test_what_others_keep_in_the_file_is_left_alone(stores: dict[str, Hostile], tmp_path: Path) -> None:
    import duckdb

    store = tmp_path / "s.duckdb"
    store.write_bytes(stores["table-of-others"].path.read_bytes())
    line = one_line(said("status", "--store", store))
    assert "holds the table 'mine', which esdedup did not make" in line
    assert "ATTACH" in line
    with duckdb.connect(str(store)) as connection:
        connection.execute("CREATE VIEW titles AS SELECT title FROM documents")
    assert said("drop", "--yes", "--store", store).code == 0
    with duckdb.connect(str(store)) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("mine",)]
        assert connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall() == [("titles",)]


def test_sound_stores_do_not_contradict_themselves(stores: dict[str, Hostile], folder: Path, tmp_path: Path) -> None:
    """Neither when they are finished, nor when a run or a scan is still to come."""

    def check(store: Path) -> None:
        with Database(store, memory=2**28, threads=1, read_only=True) as db:
            assert contradiction(db) is None

    check(folder / "sound" / "store.duckdb")
    source, store = tmp_path / "a.tsv", tmp_path / "s.duckdb"
    rows = [(f"r{at}", f"{QUESTION} And {at} more words follow, of which {at % 7} are new.") for at in range(40)]
    for begin, end in ((0, 30), (0, 40), (5, 40)):
        source.write_text("".join(f"{key}\t{text}{end}\n" for key, text in rows[begin:end]), "utf-8")
        esdedup.add(source, store=store, quiet=True)
        check(store)
    esdedup.remove("r7", "r8", store=store, quiet=True)
    check(store)
    source.write_text(
        "".join(
            f"{key}\tSomething else, {at}, of no words that stood here before.\n"
            for at, (key, _) in enumerate(rows[:20])
        ),
        "utf-8",
    )
    esdedup.index(source, store=store, quiet=True)  # what is clustered is no longer stored
    check(store)
