"""The page while others write to the store, and what a server leaves behind."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.errors import StoreError, StoreLockedError
from esdedup.store.duckdb.generation_file import connect
from esdedup.web import file_copy
from esdedup.web.file_copy import FileCopy
from esdedup.web.live import Snapshot
from tests.support.corpus import corpus
from tests.support.elastic import clear
from tests.support.full import few
from tests.support.records import table
from tests.support.stores import KINDS
from tests.system.web.served import ROOT, Site, serving, start

OLD = corpus(7, 200)
OPTIONS = {"unit": "record", "min_chars": 0, "workers": 1}


@pytest.fixture
def store(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a store of its own, with something in it."""
    rows = [(f"old{at}", text) for at, text in enumerate(OLD)]
    source = table(tmp_path / "old.tsv", rows)
    if kind == "embedded":
        (tmp_path / "store").mkdir()
        address = str(tmp_path / "store" / "s.duckdb")
        esdedup.run(source, out=tmp_path / "out", store=address, **OPTIONS)
        yield address
        return
    url, prefix = request.getfixturevalue("elastic_url"), f"t-live-{uuid.uuid4().hex[:8]}"
    esdedup.run(source, out=tmp_path / "out", store=f"{url}/{prefix}", **OPTIONS)
    yield f"{url}/{prefix}"
    clear(url, prefix)


def beside(store: str) -> set[str]:
    """What lies beside a store in a file, hidden or not, except its lookup."""
    return {path.name for path in Path(store).parent.iterdir() if path.suffix != ".lookup"}


def command(*arguments: object) -> None:
    """A command in a process of its own, which must come to a good end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "esdedup", *map(str, arguments)],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def soon(true: Callable[[], bool], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


class Reader(threading.Thread):
    """Somebody who reads on and on: the answers that were none, and how long each took."""

    def __init__(self, site: Site, *asked: Callable[[Site], Any]) -> None:
        super().__init__()
        self._site = site
        self._asked = asked
        self._end = threading.Event()
        self.wrong: list[Any] = []
        self.seconds: list[float] = []

    def run(self) -> None:
        while not self._end.is_set():
            for ask in self._asked:
                begin = time.monotonic()
                try:
                    answer = ask(self._site)
                    if answer.status != 200:
                        self.wrong.append(answer)
                except Exception as error:
                    self.wrong.append(error)
                self.seconds.append(time.monotonic() - begin)
                time.sleep(0.15)  # the other process wants to work, too

    def stop(self) -> None:
        self._end.set()
        self.join()


@pytest.mark.parametrize("kind", few(KINDS, 1))
@pytest.mark.both_stores
def test_it_answers_while_another_process_adds(store: str, tmp_path: Path) -> None:
    with serving(store, tmp_path / "log") as site:
        readers = [
            Reader(site, lambda at: at.post("/api/check", {"text": OLD[3]}), lambda at: at.ask("/overview")),
            Reader(site, lambda at: at.ask("/clusters"), lambda at: at.form("/text", text=" ".join(OLD[:5]))),
        ]
        for reader in readers:
            reader.start()
        try:
            for turn in range(2):
                text = f"In turn {turn} somebody has added this sentence, which nobody had said before, {turn} times."
                rows = [(f"new{turn}-{at}", f"{text} {'Again.' * at}") for at in range(2)]
                source = table(tmp_path / f"new{turn}.tsv", rows)
                told = site.post("/api/check", {"text": text}).json
                assert text not in {one["text"] for one in told["similar"]}
                command("add", source, "--store", store, "--unit", "record", "--min-chars", "0", "--quiet")
                soon(lambda text=text: site.post("/api/check", {"text": text}).json["matching"])
                soon(lambda turn=turn: bool(site.api("/clusters", document=f"new{turn}/new{turn}-0")["clusters"]))
        finally:
            for reader in readers:
                reader.stop()
        assert not [answer for reader in readers for answer in reader.wrong]
        seconds = sorted(second for reader in readers for second in reader.seconds)
        assert len(seconds) > 20
        assert seconds[len(seconds) // 2] < 1, seconds
        assert seconds[-1] < 10, seconds


def test_a_new_generation_takes_the_place_of_the_old(store: str, tmp_path: Path) -> None:
    with serving(store, tmp_path / "log") as site:
        assert site.api("/overview")["counts"]["documents"] == 200
        rows = [(f"r{at}", text) for at, text in enumerate(corpus(8, 50))]
        esdedup.run(table(tmp_path / "b.tsv", rows), out=tmp_path / "out2", store=store, fresh=True, **OPTIONS)
        soon(lambda: site.api("/overview")["counts"]["documents"] == 50)
        assert site.post("/api/check", {"text": rows[0][1]}).json["matching"]


@pytest.mark.parametrize("kind", few(KINDS, 1))
@pytest.mark.both_stores
def test_a_store_that_is_dropped(store: str, tmp_path: Path) -> None:
    with start(store, tmp_path / "log") as site:
        esdedup.drop(store=store)

        def told_of_it() -> bool:
            for path in ("/clusters", "/overview", "/articles"):
                assert site.ask(path).status in (200, 503)
            assert site.post("/api/check", {"text": OLD[3]}).status in (200, 503)
            return len(site.log.splitlines()) > 1

        soon(told_of_it)
        site.process.send_signal(signal.SIGINT)
        assert site.process.wait(20) == 0
        assert "Traceback" not in site.log
        told = site.log.splitlines()
        assert len(told) == 2
        assert "the page shows the previous state" in told[1]


@pytest.fixture
def file(tmp_path: Path) -> str:
    """The address of a store in a file."""
    rows = [(f"old{at}", text) for at, text in enumerate(OLD)]
    (tmp_path / "store").mkdir()
    address = str(tmp_path / "store" / "s.duckdb")
    esdedup.run(table(tmp_path / "old.tsv", rows), out=tmp_path / "out", store=address, **OPTIONS)
    return address


@pytest.mark.parametrize("sent", few([signal.SIGINT, signal.SIGTERM], 1))
def test_nothing_is_left_beside_the_store(file: str, tmp_path: Path, sent: signal.Signals) -> None:
    assert beside(file) == {"s.duckdb"}
    with start(file, tmp_path / "log") as site:
        assert len(beside(file)) == 2
        site.ask("/overview")
        site.process.send_signal(sent)
        assert site.process.wait(20) in (0, -signal.SIGTERM)
    assert beside(file) == {"s.duckdb"}
    assert len(site.log.splitlines()) == 1


def test_what_a_killed_server_has_left_goes(file: str, tmp_path: Path) -> None:
    with start(file, tmp_path / "one") as site:
        site.process.kill()
        site.process.wait()
    [left] = beside(file) - {"s.duckdb"}
    with serving(file, tmp_path / "two") as site:
        assert left not in beside(file)
        assert len(beside(file)) == 2
        with serving(file, tmp_path / "three") as other:  # the copy of a server that lives stays
            assert len(beside(file)) == 3
            assert other.ask("/overview").status == site.ask("/overview").status == 200
        assert site.ask("/clusters").status == 200
    assert beside(file) == {"s.duckdb"}


_LONG = """
import sys, time
from esdedup.web.answers import overview
from esdedup.columns.database import private_database

def worked_out(store):
    with private_database() as db:
        db.execute("CREATE TABLE held AS SELECT range AS n, n * 2 AS m FROM range(30_000_000)")  # which is spilled
        time.sleep(60)

overview.article_list = worked_out
from esdedup.cli import command
command()
"""


@pytest.mark.parametrize("sent", few([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], 0))
def test_it_does_not_wait_for_a_question_that_takes_long(file: str, tmp_path: Path, sent: signal.Signals) -> None:
    spilled = tmp_path / "spilled"
    spilled.mkdir()
    with start(file, tmp_path / "log", code=_LONG, TMPDIR=str(spilled)) as site:
        line = socket.create_connection(("127.0.0.1", site.port))
        line.sendall(b"GET /articles HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert site.ask("/clusters").status == 200
        soon(lambda: bool(list(spilled.glob("esdedup-*"))))
        begin = time.monotonic()
        site.process.send_signal(sent)
        assert site.process.wait(30) == 0
        assert time.monotonic() - begin < 12
        assert line.recv(100).startswith(b"HTTP/1.1 503 ")
        line.close()
        assert len(site.log.splitlines()) == 1
    assert beside(file) == {"s.duckdb"}
    assert not list(spilled.iterdir())


@pytest.mark.full
def test_it_does_not_wait_for_half_a_request(file: str, tmp_path: Path) -> None:
    with start(file, tmp_path / "log") as site:
        line = socket.create_connection(("127.0.0.1", site.port))
        line.sendall(b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n{")
        assert site.ask("/clusters").status == 200
        begin = time.monotonic()
        site.process.send_signal(signal.SIGINT)
        assert site.process.wait(30) == 0
        assert time.monotonic() - begin < 12
        line.close()
        assert len(site.log.splitlines()) == 1, site.log


def test_a_name_with_brackets(tmp_path: Path, file: str) -> None:
    named = tmp_path / "store" / "s[1].duckdb"
    Path(file).rename(named)
    with start(str(named), tmp_path / "log") as site:
        site.process.kill()
        site.process.wait()
    assert len(beside(file)) == 2
    FileCopy(named).close()
    assert beside(file) == {"s[1].duckdb"}


def test_a_copy_where_there_is_room(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    other, copy = tmp_path / "other", file_copy._copy
    other.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(other))

    def full(source: Path, target: Path, ended: Callable[[], bool]) -> None:
        if target.parent.parent == Path(file).parent:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        copy(source, target, ended)

    monkeypatch.setattr(file_copy, "_copy", full)
    made = FileCopy(Path(file))
    assert made.path.parent.parent == other
    assert beside(file) == {"s.duckdb"}
    made.close()
    assert not list(other.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(Path(file).parent))
    in_place = Snapshot(file, 2, 2**28)
    [said] = [record.getMessage() for record in caplog.records]
    assert "the store itself is served" in said
    with in_place.reader() as reader:
        assert reader.results.counts()["clusters"]
    in_place.retire()
    with connect(Path(file), 2**26, 1, False) as writing:
        writing.execute("INSERT INTO about VALUES ('more', '1')")
    assert beside(file) == {"s.duckdb"}


def test_a_copy_that_nobody_wants_any_more(file: str) -> None:
    with pytest.raises(StoreError, match="no longer needed"):
        FileCopy(Path(file), lambda: True)
    with pytest.raises(StoreError, match="nobody"):
        Snapshot(file, 1, 2**28, ended=lambda: True)
    assert beside(file) == {"s.duckdb"}


def test_whoever_wants_to_write_need_not_wait_for_a_copy(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = file_copy._copy
    code = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(\"INSERT INTO about VALUES ('x', '1')\")"

    def copied(source: Path, target: Path, ended: Callable[[], bool]) -> None:
        copy(source, target, ended)
        subprocess.run([sys.executable, "-c", code, file], check=True)

    monkeypatch.setattr(file_copy, "_copy", copied)
    with pytest.raises(StoreLockedError, match="changed while it was copied"):
        FileCopy(Path(file))
    assert beside(file) == {"s.duckdb"}
    monkeypatch.undo()
    FileCopy(Path(file)).close()
    with connect(Path(file), 2**26, 1, False) as writing:
        writing.execute("INSERT INTO about VALUES ('more', '1')")
    assert beside(file) == {"s.duckdb"}


def test_a_store_that_is_written_to_is_not_copied(file: str) -> None:
    code = "import duckdb, sys; db = duckdb.connect(sys.argv[1]); print('open', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(StoreLockedError):
            FileCopy(Path(file))
        writer.communicate(b"\n")
    assert beside(file) == {"s.duckdb"}


def test_answers_are_kept(file: str) -> None:
    snapshot = Snapshot(file, 1, 2**28)
    assert snapshot.kept("key") is None
    snapshot.keep("key", None)
    for number in range(63):
        snapshot.keep(number, number)
    assert snapshot.kept("key") == (None,)
    snapshot.keep("one more", 1)
    assert snapshot.kept(0) is None  # asked for longest ago
    assert snapshot.kept("key") == (None,)
    snapshot.retire()
    assert not snapshot.hold()
    assert beside(file) == {"s.duckdb"}


def test_a_reader_that_broke_is_opened_anew(file: str) -> None:
    snapshot = Snapshot(file, 1, 2**28)
    with snapshot.reader() as first:
        pass
    first.close()
    with pytest.raises(Exception, match=r"(?i)clos|connection"), snapshot.reader() as broken:
        broken.corpus.counts()
    with snapshot.reader() as second:
        assert second is not first
        assert second.corpus.counts()["documents"] == 200
    snapshot.retire()
