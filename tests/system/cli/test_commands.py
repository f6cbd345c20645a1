"""The commands as a person types them: what they print, and their exit codes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import click
import pyarrow as pa
import pytest

from esdedup.cli import cli, main
from esdedup.columns.database import Database
from tests.support.commands import esdedup
from tests.support.records import records, table


def one_line(process: subprocess.CompletedProcess[str]) -> str:
    assert process.stdout == ""
    assert process.stderr.startswith("esdedup: ")
    assert process.stderr.count("\n") == 1
    return process.stderr


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    table(folder / "a.tsv", records())
    process = esdedup("run", "a.tsv", "--out", "out", "--unit", "record", "--min-chars", "0", cwd=folder)
    assert process.returncode == 0, process.stderr
    (folder / "printed").write_text(process.stdout)
    return folder


def test_run_ends_with_a_summary(finished: Path) -> None:
    printed = (finished / "printed").read_text()
    assert "400  documents" in printed
    assert len(printed.split("Largest clusters:\n")[1].split("\n\n")[0].splitlines()) == 10
    assert "clusters.jsonl" in printed
    assert printed.endswith("Next: esdedup clusters --store out/store.duckdb\n")


def test_report_says_what_it_wrote(finished: Path, tmp_path: Path) -> None:
    assert "report.html" in (finished / "printed").read_text()
    process = esdedup("report", "--store", finished / "out" / "store.duckdb", "--out", "r", cwd=tmp_path)
    names = ["report.html", "cluster-sizes.png", "kinds.png", "cluster-sizes.svg", "kinds.svg"]
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.splitlines() == [f"wrote r/{name}" for name in names]
    store = finished / "out" / "store.duckdb"
    process = esdedup("report", "--store", store, "--out", "r", "--json", cwd=tmp_path)
    assert json.loads(process.stdout) == {"files": [f"r/{name}" for name in names]}
    again = esdedup("run", finished / "a.tsv", "--out", "s", "--unit", "record", "--no-report", cwd=tmp_path)
    assert again.returncode == 0
    assert "report.html" not in again.stdout
    assert not (tmp_path / "s" / "report.html").exists()
    (tmp_path / "file").write_text("")
    assert "--out file" in one_line(
        esdedup("report", "--store", finished / "out" / "store.duckdb", "--out", "file", cwd=tmp_path)
    )


def test_what_comes_next_works(finished: Path) -> None:
    process = esdedup("clusters", "--store", "out/store.duckdb", "--limit", "3", cwd=finished)
    assert process.returncode == 0
    assert process.stdout.count(" members, ") == 3
    as_json = esdedup("clusters", "--store", "out/store.duckdb", "--limit", "3", "--json", cwd=finished)
    first = (finished / "out" / "clusters.jsonl").read_text().splitlines()[:3]
    assert as_json.stdout.splitlines() == first


def test_status_in_words_and_json(finished: Path) -> None:
    words = esdedup("status", cwd=finished, ESDEDUP_STORE="out/store.duckdb")
    assert "source: a  400 documents" in words.stdout
    state = json.loads(esdedup("status", "--json", "--store", "out/store.duckdb", cwd=finished).stdout)
    assert state["counts"]["documents"] == 400
    assert state["last_scan"]["scanning"]["jaccard"] == 0.7
    assert not state["unfinished"]


def test_index_scan_drop(tmp_path: Path) -> None:
    table(tmp_path / "a.tsv", records())
    indexed = esdedup("index", "-", "--format", "tsv", "--store", "s.duckdb", "--json", cwd=tmp_path)
    assert indexed.returncode == 0
    with (tmp_path / "a.tsv").open() as stdin:
        process = subprocess.run(
            [sys.executable, "-m", "esdedup", "index", "-", "--format", "tsv", "--store", "s.duckdb", "--json"],
            cwd=tmp_path, stdin=stdin, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert json.loads(process.stdout)["counts"]["documents"] == 400
    scanned = esdedup("scan", "--store", "s.duckdb", "--json", "--linkage", "star", cwd=tmp_path)
    assert json.loads(scanned.stdout)["counts"]["clusters"] > 0
    refused = esdedup("drop", "--store", "s.duckdb", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--yes" in one_line(refused)
    assert esdedup("drop", "--store", "s.duckdb", "--yes", cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "a.tsv", "--out", "out", "--jaccard", "0"], "allowed: greater than 0, up to 1"),
        (["run", "a.tsv", "--out", "out", "--rows", "0"], "rows is 0; allowed: 1 to 64"),
        (["run", "a.tsv", "--out", "out", "--preset", "nobody"], "weissman"),
        (["run", "a.tsv", "--out", "out", "--config", "missing.toml"], "use a TOML file"),
        (["run", "a.tsv", "--out", "out", "--config", "bad.toml"], "there is no option jacard"),
        (["run", "a.tsv", "--out", "out", "--namespaces", "x"], "numbers separated by commas"),
        (["run", "unknown.xyz", "--out", "out"], "--format"),
    ],
)
def test_wrong_usage_is_exit_code_2(tmp_path: Path, arguments: list[str], words: str) -> None:
    table(tmp_path / "a.tsv", records())
    (tmp_path / "unknown.xyz").write_text("?")
    (tmp_path / "bad.toml").write_text("jacard = 0.9\n")
    process = esdedup(*arguments, cwd=tmp_path)
    assert process.returncode == 2
    assert words in one_line(process)
    assert not (tmp_path / "out" / "store.duckdb").exists()


def test_what_could_not_be_done_is_exit_code_1(tmp_path: Path) -> None:
    process = esdedup("run", "missing.tsv", "--out", "out", cwd=tmp_path)
    assert process.returncode == 1
    assert "missing.tsv" in one_line(process)


def test_flags_win_over_config_and_config_over_preset(tmp_path: Path) -> None:
    table(tmp_path / "a.tsv", records())
    (tmp_path / "mine.toml").write_text('min-chars = 20\nmax-chars = 700\nunit = "record"\nverify = "exact"\n')
    process = esdedup(
        "run", "a.tsv", "--out", "out", "--json", "--config", "mine.toml", "--preset", "weissman", "--max-chars", "800",
        cwd=tmp_path,
    )  # fmt: skip
    settings = json.loads(process.stdout)["settings"]
    assert (settings["min-chars"], settings["max-chars"], settings["unit"]) == (20, 800, "record")
    assert (settings["hashes"], settings["draw"], settings["draws"], settings["verify"]) == (20, 10, 10, "exact")
    again = esdedup("run", "a.tsv", "--out", "banded", "--json", "--preset", "weissman", "--bands", "5", cwd=tmp_path)
    settings = json.loads(again.stdout)["settings"]
    assert settings["bands"] == 5
    assert "hashes" not in settings


def test_credentials_may_stand_in_a_config_file(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('es-username = "somebody"\nstore = "http://127.0.0.1:9/wiki"\n')
    process = esdedup("status", "--config", "c.toml", cwd=tmp_path)
    assert (process.returncode, one_line(process)) == (
        2,
        "esdedup: ES_USERNAME and ES_PASSWORD must both be set; set both or neither\n",
    )
    process = esdedup("status", "--config", "c.toml", cwd=tmp_path, ES_API_KEY="key", ES_PASSWORD="word")
    assert one_line(process) == "esdedup: ES_API_KEY and ES_PASSWORD are both set; unset one\n"


def test_an_interrupt_is_exit_code_130_and_the_same_command_finishes(tmp_path: Path) -> None:
    table(tmp_path / "a.tsv", [(f"{n} {key}", text) for n in range(30) for key, text in records(n, 300)])
    command = [sys.executable, "-m", "esdedup", "run", "a.tsv", "--out", "out", "--unit", "record", "--workers", "2"]
    child = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out" / "store.duckdb").exists():
        time.sleep(0.01)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=60)
    interrupted = "esdedup: interrupted; run the same command again to finish\n"
    assert (child.returncode, out, errors) == (130, "", interrupted)
    assert not (tmp_path / "out" / "clusters.jsonl").exists()
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    assert (tmp_path / "out" / "clusters.jsonl").exists()


LOSING = """
import os, signal, sys, time
from esdedup.cli.interrupts import interruptible

def run():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)
    except KeyboardInterrupt:
        pass  # as what is raised in __del__
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        time.sleep(0.5)
        print("cleaned up")
        sys.exit(130)

interruptible(run)
"""


def test_an_interrupt_that_a_library_loses_comes_again_but_not_into_what_cleans_up() -> None:
    done = subprocess.run([sys.executable, "-c", LOSING], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (130, "cleaned up\n", "")


SLOW = """
import sys, threading, os, signal
import duckdb
from esdedup.cli.interrupts import interruptible

class Clean:
    def __enter__(self): return self
    def __exit__(self, *_): print("cleaned up")

def run():
    try:
        with Clean():
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            duckdb.execute("SELECT count(*) FROM (SELECT md5(range::VARCHAR) AS m FROM range(6000000) ORDER BY m)")
    except (KeyboardInterrupt, RuntimeError):
        sys.exit(130)

interruptible(run)
"""


def test_an_interrupt_that_a_library_gives_back_late_comes_once() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "cleaned up\n", "")


def test_an_interrupt_while_the_database_reads_from_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> NoReturn:
        def rows() -> Iterator[pa.RecordBatch]:
            yield pa.record_batch({"n": [1]})
            raise KeyboardInterrupt

        with Database(memory=2**28, threads=1) as db:
            db.create("t", pa.RecordBatchReader.from_batches(pa.schema({"n": pa.int64()}), rows()))
        raise AssertionError("the reader was not read")

    assert cli.get_command(click.Context(cli), "status")  # which is made of the verb
    monkeypatch.setattr("esdedup.status", interrupted)
    with pytest.raises(SystemExit) as end:
        main(["status", "--store", str(tmp_path / "s.duckdb")])
    assert end.value.code == 130
    assert capsys.readouterr().err == "esdedup: interrupted; run the same command again to finish\n"


def test_a_reader_that_leaves_early_is_no_error(finished: Path) -> None:
    command = f"{sys.executable} -m esdedup clusters --store out/store.duckdb --limit 100 --json | head -n 1"
    process = subprocess.run(["/bin/sh", "-c", command], cwd=finished, capture_output=True, text=True)
    assert process.stderr == ""
    assert json.loads(process.stdout)
