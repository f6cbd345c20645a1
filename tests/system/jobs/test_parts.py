"""Several machines load one corpus together, each its part: the same bytes come out as of one run on one machine."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest

import esdedup
from esdedup.errors import SettingsError, SourceError, StoreError, StoreSourcesError, UsageError
from esdedup.store.elasticsearch import generations
from esdedup.store.elasticsearch.address import ServerAddress
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.indices import CORPUS, Indices
from esdedup.store.elasticsearch.ledger import ServerLedger
from tests.support.corpus import corpus
from tests.support.full import few
from tests.support.killed import KilledError
from tests.support.records import records, table
from tests.support.sources import export, page, revision
from tests.support.written import results

PARTS = ("1/3", "2/3", "3/3")
RECORDS = {"unit": "record", "min_chars": 0}


@pytest.fixture
def store(elastic_url: str, elastic_prefix: str) -> str:
    return f"{elastic_url}/{elastic_prefix}"


def repeated_ids(folder: Path) -> tuple[list[Path], dict[str, Any]]:
    """Two tables in which ids come again, up to three times, and a line here and there says nothing."""
    rows = [(f"r{number // 3 if number % 2 else number}", text) for number, text in enumerate(corpus(61, 240))]
    lines = [f"{key}\t{text}\n" if number % 11 else "nothing\n" for number, (key, text) in enumerate(rows)]
    (folder / "a.tsv").write_text("".join(lines[:150]), "utf-8")
    (folder / "b.tsv").write_text("".join(lines[150:]), "utf-8")
    return [folder / "a.tsv", folder / "b.tsv"], RECORDS


def histories(folder: Path) -> tuple[list[Path], dict[str, Any]]:
    """A wiki with all revisions: page ids have gaps, some pages are no articles, and one id is no number."""
    source = random.Random(62)
    pool = corpus(63, 90)
    pages = []
    for number in range(1, 40):
        key = "Main" if number == 7 else number * number
        told = [revision(number * 100 + n, "\n\n".join(source.sample(pool, 6))) for n in range(source.randint(1, 5))]
        pages.append(page(key, f"Page {number}", *told, head="" if number % 5 else "<ns>1</ns>"))
    (folder / "wiki.xml").write_bytes(export(*pages))
    return [folder / "wiki.xml"], {"revisions": "all", "min_chars": 10}


def texts(folder: Path) -> tuple[list[Path], dict[str, Any]]:
    """A folder of text files, each one document."""
    (folder / "texts").mkdir()
    for number in range(9):
        (folder / "texts" / f"{number}.txt").write_text("\n\n".join(corpus(64 + number % 3, 8)), "utf-8")
    return [folder / "texts"], {"min_chars": 10}


@pytest.mark.parametrize(
    ("make", "order"), few([(repeated_ids, (3, 1, 2)), (histories, (1, 2, 3)), (texts, (2, 3, 1))], 0, 2)
)
def test_one_after_another_in_any_order(
    tmp_path: Path, store: str, make: Callable[[Path], tuple[list[Path], dict[str, Any]]], order: tuple[int, ...]
) -> None:
    sources, options = make(tmp_path)
    whole = esdedup.run(*sources, out=tmp_path / "whole", **options)
    for part in order:
        done = esdedup.index(*sources, store=store, part=f"{part}/3", **options)
    assert done["counts"]["new"] == whole["counts"]["documents"]
    joined = esdedup.scan(store=store, out=tmp_path / "joined")
    assert results(tmp_path / "joined") == results(tmp_path / "whole")
    assert joined["counts"] == whole["counts"]
    assert joined["skipped"] == whole["skipped"]
    assert joined["damaged"] == []


def command(*arguments: object, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "esdedup", *map(str, arguments)],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def documents(store: str) -> int:
    """How many have been read, as the sources tell."""
    return sum(source["documents"] for source in esdedup.status(store=store)["sources"])


@pytest.mark.parametrize("fresh", few([False, True], 0))
def test_all_at_once(tmp_path: Path, store: str, fresh: bool) -> None:
    texts = corpus(65, 900)
    if fresh:
        esdedup.index(table(tmp_path / "old.tsv", records(60, 20)), store=store, **RECORDS)
    source = table(tmp_path / "a.tsv", [(f"r{number - number % 20 // 19}", text) for number, text in enumerate(texts)])
    esdedup.run(source, out=tmp_path / "whole", **RECORDS)
    how = ["--unit", "record", "--min-chars", 0, *(["--fresh"] if fresh else [])]
    children = [command("index", "a.tsv", "--store", store, "--part", part, *how, cwd=tmp_path) for part in PARTS]
    said = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], said
    assert sum("still to come" not in errors for _, errors in said) == 1
    assert documents(store) == 900
    esdedup.scan(store=store, out=tmp_path / "joined")
    assert results(tmp_path / "joined") == results(tmp_path / "whole")
    assert b"#2" in (tmp_path / "joined" / "pairs.jsonl").read_bytes()


@pytest.mark.parametrize("moment", few(["begin", "advance", "missing_parts"], 1))
def test_another_part_comes_and_goes_meanwhile(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """What a part knows of the store is as old as its last request: another one may have begun and ended since."""
    [source, _], options = repeated_ids(tmp_path)
    esdedup.run(source, out=tmp_path / "whole", **options)
    method = getattr(ServerLedger, moment)

    def after_another(*arguments: object) -> object:
        monkeypatch.setattr(ServerLedger, moment, method)
        assert "new" not in esdedup.index(source, store=store, part="1/2", **options)["counts"]
        return method(*arguments)

    monkeypatch.setattr(ServerLedger, moment, after_another)
    assert esdedup.index(source, store=store, part="2/2", **options)["counts"]["new"] == documents(store)
    esdedup.scan(store=store, out=tmp_path / "joined")
    assert results(tmp_path / "joined") == results(tmp_path / "whole")


def test_a_part_that_is_killed_is_read_again(tmp_path: Path, store: str) -> None:
    """The child ends itself between two writes, and has written documents that its progress does not tell of."""
    [source, _], options = repeated_ids(tmp_path)
    esdedup.run(source, out=tmp_path / "whole", **options)
    esdedup.index(source, store=store, part="1/3", **options)
    code = (
        "import os, signal, sys, esdedup\n"
        "import esdedup.jobs.indexing as indexing, esdedup.formats.batches as batches\n"
        "from esdedup.store.elasticsearch.ledger import ServerLedger\n"
        "indexing._FLUSH_ROWS, batches.MAX_BYTES = 7, 2000\n"
        "advance, turns = ServerLedger.advance, []\n"
        "def killed(*arguments):\n"
        "    turns.append(1)\n"
        "    if len(turns) == 3:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    advance(*arguments)\n"
        "ServerLedger.advance = killed\n"
        "esdedup.index(sys.argv[1], store=sys.argv[2], part='2/3', unit='record', min_chars=0, workers=1)\n"
    )
    before = documents(store)
    child = subprocess.run([sys.executable, "-c", code, source, store], capture_output=True, text=True, timeout=120)
    assert child.returncode == -signal.SIGKILL, child.stderr
    begun = documents(store)
    assert begun > before
    esdedup.index(source, store=store, part="3/3", **options)
    assert esdedup.status(store=store)["unfinished"].endswith(": --part 2/3")
    esdedup.index(source, store=store, part="2/3", **options)
    esdedup.scan(store=store, out=tmp_path / "joined")
    assert results(tmp_path / "joined") == results(tmp_path / "whole")
    assert documents(store) == esdedup.status(store=store)["counts"]["documents"] > begun


def test_the_one_that_ends_the_reading_may_be_killed(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [source, _], options = repeated_ids(tmp_path)
    esdedup.run(source, out=tmp_path / "whole", **options)
    for part in PARTS[:2]:
        esdedup.index(source, store=store, part=part, **options)
    with monkeypatch.context() as patch:
        patch.setattr(ServerLedger, "ended", kill)
        with pytest.raises(KilledError):
            esdedup.index(source, store=store, part="3/3", **options)
    assert esdedup.status(store=store)["unfinished"].endswith("; run the same command again")
    with pytest.raises(StoreError, match="run the same command again"):
        esdedup.scan(store=store)
    esdedup.index(source, store=store, part="1/3", **options)  # any part will do: all have been read
    esdedup.scan(store=store, out=tmp_path / "joined")
    assert results(tmp_path / "joined") == results(tmp_path / "whole")


def kill(*_: object) -> NoReturn:
    raise KilledError


def test_what_is_missing_is_said_and_nothing_counts_before(tmp_path: Path, store: str) -> None:
    [source, _], options = repeated_ids(tmp_path)
    esdedup.index(source, store=store, part="2/4", **options)
    for missing in ("--part 1/4 --part 3/4 --part 4/4", "--part 3/4 --part 4/4"):
        assert esdedup.status(store=store)["unfinished"].endswith(f"documents so far; still to come: {missing}")
        refused = command("scan", "--store", store, "--out", "out", cwd=tmp_path)
        out, errors = refused.communicate(timeout=120)
        assert (refused.returncode, out) == (1, "")
        assert errors == f"esdedup: {store}: a run in parts is not finished; still to come: esdedup index {missing}\n"
        with pytest.raises(StoreError, match="still to come"):
            esdedup.remove("r1", store=store)
        esdedup.index(source, store=store, part="1/4", **options)  # the second time there is nothing to do
    assert esdedup.status(store=store)["last_scan"] is None


def test_who_does_not_read_the_same_is_refused(tmp_path: Path, store: str) -> None:
    [source, other], options = repeated_ids(tmp_path)
    esdedup.index(source, store=store, part="1/3", **options)
    for part in ("2/4", None):
        with pytest.raises(StoreSourcesError, match="a run by --part I/3 has begun"):
            esdedup.index(source, store=store, part=part, **options)
    esdedup.index(source, store=store, part="3/3", **options)
    with pytest.raises(StoreSourcesError, match=r"a\.tsv was not read to the end"):
        esdedup.index(other, store=store, part="2/3", **options)
    with pytest.raises(StoreSourcesError, match="by --part I/3"):
        esdedup.add(source, store=store)
    with pytest.raises(StoreSourcesError, match="the options differ"):
        esdedup.index(source, store=store, part="2/3", limit=5, **options)
    os.utime(source, (1, 1))  # a copy on another machine
    esdedup.index(source, store=store, part="1/3", **options)
    assert esdedup.status(store=store)["unfinished"].endswith(": --part 2/3")
    source.write_text(source.read_text("utf-8") + "r1\tOne line more.\n", "utf-8")
    with pytest.raises(StoreSourcesError, match=r"a\.tsv differs from what other parts read"):
        esdedup.index(source, store=store, part="2/3", **options)


def test_a_reading_without_parts_is_gone_on_with_as_it_began(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [source, _], options = repeated_ids(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(ServerLedger, "ended", kill)
        with pytest.raises(KilledError):
            esdedup.index(source, store=store, **options)
    with pytest.raises(StoreSourcesError, match="a run without --part has begun"):
        esdedup.index(source, store=store, part="1/3", **options)
    assert esdedup.index(source, store=store, **options)["counts"]["documents"] > 0


def test_a_second_reading_in_parts_replaces_what_has_changed(tmp_path: Path, store: str) -> None:
    rows = records(66, 200)
    changed = [(key, f"Changed: {text}") for key, text in rows[100:]]
    source = table(tmp_path / "a.tsv", rows[:150])
    for part in PARTS:
        esdedup.index(source, store=store, part=part, **RECORDS)
    table(source, changed)
    for read, part in enumerate(reversed(PARTS)):
        assert (esdedup.status(store=store)["unfinished"] is None) == (read == 0)
        done = esdedup.index(source, store=store, part=part, **RECORDS)
    assert {name: done["counts"][name] for name in ("new", "replaced")} == {"new": 50, "replaced": 50}
    esdedup.scan(store=store, out=tmp_path / "joined")
    esdedup.run(table(source, rows[:100] + changed), out=tmp_path / "whole", **RECORDS)
    assert results(tmp_path / "joined") == results(tmp_path / "whole")


def test_a_new_generation_in_parts_takes_over_when_the_last_is_in(tmp_path: Path, store: str) -> None:
    old, new = table(tmp_path / "old.tsv", records(67, 90)), table(tmp_path / "new.tsv", records(68, 60))
    esdedup.run(old, out=tmp_path / "out", store=store, **RECORDS)
    for part in PARTS:
        assert esdedup.status(store=store)["counts"]["documents"] == 90
        esdedup.index(new, store=store, part=part, fresh=True, **RECORDS)
    assert esdedup.status(store=store)["counts"]["documents"] == 60
    esdedup.scan(store=store, out=tmp_path / "joined")
    esdedup.run(new, out=tmp_path / "whole", **RECORDS)
    assert results(tmp_path / "joined") == results(tmp_path / "whole")


def test_damage_stops_each_part_and_is_told_once(tmp_path: Path, store: str) -> None:
    [wiki], options = histories(tmp_path)
    wiki.write_bytes(wiki.read_bytes()[:-2000])
    whole = esdedup.run(wiki, out=tmp_path / "whole", keep_going=True, **options)
    for part in PARTS:
        with pytest.raises(SourceError, match=r"wiki\.xml"):
            esdedup.index(wiki, store=store, part=part, **options)
    assert esdedup.status(store=store)["unfinished"].endswith("--part 1/3 --part 2/3 --part 3/3")
    for part in PARTS:
        done = esdedup.index(wiki, store=store, part=part, keep_going=True, **options)
        assert len(done["damaged"]) == 1
    joined = esdedup.scan(store=store, out=tmp_path / "joined")
    assert results(tmp_path / "joined") == results(tmp_path / "whole")
    assert joined["skipped"] == whole["skipped"]
    assert joined["skipped"]["damaged_source"] == 1


def test_texts_of_a_folder_are_shared_out(tmp_path: Path, store: str) -> None:
    sources, options = texts(tmp_path)
    for read, part in enumerate(PARTS, 1):
        esdedup.index(*sources, store=store, part=part, **options)
        assert documents(store) == 3 * read


def test_a_store_in_a_file_has_one_writer(tmp_path: Path) -> None:
    table(tmp_path / "a.tsv", records(69, 20))
    child = command("index", "a.tsv", "--store", "s.duckdb", "--part", "1/3", cwd=tmp_path)
    out, errors = child.communicate(timeout=120)
    assert (child.returncode, out) == (2, "")
    assert errors == "esdedup: part applies to stores on a server; a store in a file has one writer\n"
    with pytest.raises(UsageError):
        esdedup.index(tmp_path / "a.tsv", store=tmp_path / "s.duckdb", part="1/3")
    assert not (tmp_path / "s.duckdb").exists()


@pytest.mark.parametrize("verb", [esdedup.run, esdedup.add, esdedup.dedupe])
def test_only_index_reads_in_parts(tmp_path: Path, store: str, verb: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match="part applies to esdedup index"):
        verb(table(tmp_path / "a.tsv", records(70, 20)), out=tmp_path / "out", store=store, part="1/3")


@pytest.mark.parametrize("part", ["0/3", "4/3", "x", "", "1/0", "1/1025", "-1/3", "1/3/3", "1", 1, "１/３"])
def test_impossible_parts(tmp_path: Path, part: Any) -> None:
    source = table(tmp_path / "a.tsv", records(71, 20))
    with pytest.raises(SettingsError, match="allowed: I/N with I from 1 to N"):
        esdedup.index(source, store="http://127.0.0.1:9/nowhere", part=part)


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_both_find_nothing_and_make_it(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch, late: bool, fresh: bool
) -> None:
    """The second part is about to make its indices, or has made them, and now the first is quicker."""
    source = table(tmp_path / "a.tsv", records(72, 60))
    if fresh:
        esdedup.index(table(tmp_path / "old.tsv", records(60, 20)), store=store, **RECORDS)
    make = generations._make

    def made_late(*arguments: Any) -> str:
        monkeypatch.setattr(generations, "_make", make)
        made = make(*arguments) if late else ""
        esdedup.index(source, store=store, part="1/2", fresh=fresh, **RECORDS)
        return made or make(*arguments)

    monkeypatch.setattr(generations, "_make", made_late)
    esdedup.index(source, store=store, part="2/2", fresh=fresh, **RECORDS)
    status = esdedup.status(store=store)
    assert (status["unfinished"], status["counts"]["documents"]) == (None, 60)


def test_another_part_tidies_up_while_what_was_left_is_looked_at(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third command was killed, or is still at it: there are its sentences, and no state yet."""
    source = table(tmp_path / "a.tsv", records(72, 60))
    with closing(Connection(ServerAddress.parse(store))) as connection:
        Indices(connection).make(["documents", "sentences"], {})
    count = Indices.count

    def after_another(*arguments: Any) -> int:
        monkeypatch.setattr(Indices, "count", count)
        esdedup.index(source, store=store, part="1/2", **RECORDS)
        return count(*arguments)

    monkeypatch.setattr(Indices, "count", after_another)
    esdedup.index(source, store=store, part="2/2", **RECORDS)
    assert Indices.count is count
    assert esdedup.status(store=store)["counts"]["documents"] == 60


def test_another_part_deletes_what_it_began_in_vain_while_it_is_looked_at(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two parts began the new store at the same time, and a third one looks at what the slower one made."""
    source = table(tmp_path / "a.tsv", records(72, 60))
    esdedup.index(table(tmp_path / "old.tsv", records(60, 20)), store=store, **RECORDS)
    esdedup.index(source, store=store, part="1/2", fresh=True, **RECORDS)
    with closing(Connection(ServerAddress.parse(store))) as connection:
        indices = Indices(connection)
        meta = indices.meta(indices.name("state", indices.claimed() or ""))
        in_vain = indices.make(CORPUS, meta)
        wait = generations.wait_for_writers

        def after_another(*arguments: Any) -> None:
            monkeypatch.setattr(generations, "wait_for_writers", wait)
            generations._unmake(indices, in_vain)
            wait(*arguments)

        monkeypatch.setattr(generations, "wait_for_writers", after_another)
        esdedup.index(source, store=store, part="2/2", fresh=True, **RECORDS)
        assert generations.wait_for_writers is wait
    status = esdedup.status(store=store)
    assert (status["unfinished"], status["counts"]["documents"]) == (None, 60)
