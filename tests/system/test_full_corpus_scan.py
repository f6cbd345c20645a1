"""scripts/full-corpus-scan, as cron calls it: again and again, on a real node and on a file."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from elasticsearch import Elasticsearch

import esdedup
from tests.support.records import records, table
from tests.support.written import results

SCRIPT = Path(__file__).parents[2] / "scripts" / "full-corpus-scan"
SIGNED = ["--", "--unit", "record", "--min-chars", "0"]
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def begin(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """A call in the folder, which is the leader of its own group of processes."""
    return subprocess.Popen(
        ["sh", SCRIPT, *map(str, arguments)], cwd=folder, env={**os.environ, "PATH": PATH}, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(call: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    out, errors = call.communicate(timeout=240)
    return call.returncode, out, errors


def scan(folder: Path, *arguments: object) -> tuple[int, str, str]:
    return ended(begin(folder, *arguments))


def told(answer: tuple[int, str, str]) -> str:
    """The line of a call that succeeded."""
    assert answer[::2] == (0, "")
    assert re.fullmatch(r"[0-9-]{10}T[0-9]{6}Z \S+: .+ in [0-9]+ s; .+\n", answer[1])
    return answer[1]


def folders(out: Path) -> list[str]:
    """What there is in OUTDIR, hidden or not, but for the link to the latest."""
    names = sorted(path.name for path in out.iterdir())
    assert (out / names.pop()).resolve() == (out / names[-1]).resolve()
    return names


def sources_of(out: Path) -> set[str]:
    """The ids of clustered documents begin with a letter for each source."""
    return set(re.findall(r'"id":"([a-z])r[0-9]', (out / "latest" / "clusters.jsonl").read_text("utf-8")))


def source(folder: Path, letter: str, count: int = 60) -> Path:
    """A table whose ids begin with the letter."""
    return table(folder / "a.tsv", [(letter + key, text) for key, text in records(ord(letter), count)])


def generations(url: str, prefix: str) -> list[str]:
    with Elasticsearch(url) as client:
        return sorted(client.indices.get(index=f"{prefix}-sentences-*"))


def test_every_call_is_a_new_generation(tmp_path: Path, elastic_url: str, elastic_prefix: str) -> None:
    store, out = f"{elastic_url}/{elastic_prefix}", tmp_path / "found"
    seen: list[str] = []
    for calls, letter in enumerate("abc", 1):
        line = told(scan(tmp_path, "-k", 1, store, source(tmp_path, letter), *SIGNED))
        assert f" {store}: 60 documents, 60 sentences, " in line
        assert line.endswith(f"; found/{folders(out)[-1]}\n")
        assert len(folders(out)) == len(generations(elastic_url, elastic_prefix)) == min(calls, 2)
        assert sources_of(out) == {letter}
        assert {cluster["members"][0]["id"][0] for cluster in esdedup.clusters(store=store)} == {letter}
        assert not seen or folders(out)[0] == seen[-1]
        seen = folders(out)
    assert sorted(path.name for path in (out / "latest").iterdir()) == [
        "cluster-sizes.png", "clusters.jsonl", "clusters.txt", "pairs.jsonl", "report.html", "summary.json",
    ]  # fmt: skip


@pytest.mark.full
def test_a_file_holds_one_generation(tmp_path: Path) -> None:
    out = tmp_path / "some where"
    for letter in "ab":
        told(scan(tmp_path, "-k0", "-o", out, "s.duckdb", source(tmp_path, letter), *SIGNED))
        assert len(folders(out)) == 1
        assert sources_of(out) == {letter}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tsv", "s.duckdb", "s.duckdb.lookup", "some where"]


def soon(look: Callable[[], Any]) -> Any:
    """What there is to be seen, as soon as there is something."""
    until = time.monotonic() + 60
    while not (seen := look()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return seen


def child_of(out: Path) -> psutil.Process:
    """The process of esdedup itself."""
    told = out / ".unfinished" / "pid"
    return psutil.Process(int(soon(lambda: told.exists() and told.read_text())))


def is_gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def indexed(url: str, prefix: str) -> int:
    """Sentences that were sent to a server."""
    with Elasticsearch(url) as client:
        told = client.indices.stats(index=f"{prefix}-sentences-*", metric="indexing")
    return int(told["_all"]["primaries"].get("indexing", {}).get("index_total", 0))


@pytest.mark.full
def test_a_killed_call_is_gone_on_with(tmp_path: Path, elastic_url: str, elastic_prefix: str) -> None:
    call = ("-k", 3, f"{elastic_url}/{elastic_prefix}", source(tmp_path, "a", 2000), *SIGNED)
    first, out = begin(tmp_path, *call), tmp_path / "found"
    child = child_of(out)
    soon(lambda: indexed(elastic_url, elastic_prefix))
    child.suspend()  # what it has to do takes a moment only
    [begun] = generations(elastic_url, elastic_prefix)
    # first the call alone is killed, and esdedup goes on without it
    first.kill()
    assert ended(first)[:2] == (-signal.SIGKILL, "")
    busy = f"full-corpus-scan: found: esdedup, process {child.pid}, is still at work for a call that was killed\n"
    assert scan(tmp_path, *call) == (75, "", busy)
    child.kill()
    soon(lambda: is_gone(child))
    assert not (out / "latest").exists()
    told(scan(tmp_path, *call))
    assert generations(elastic_url, elastic_prefix) == [begun]
    assert len(folders(out)) == 1
    esdedup.run(tmp_path / "a.tsv", out=tmp_path / "whole", unit="record", min_chars=0)
    assert results(out / "latest") == results(tmp_path / "whole")


def test_two_at_once_do_not_meet(tmp_path: Path) -> None:
    call = ("s.duckdb", source(tmp_path, "a"), *SIGNED)
    one, two = sorted(map(ended, [begin(tmp_path, *call), begin(tmp_path, *call)]))
    told(one)
    assert two[:2] == (75, "")
    assert re.fullmatch(r"full-corpus-scan: found: process [0-9]+ is at work here\n", two[2])
    assert len(folders(tmp_path / "found")) == 1


@pytest.fixture
def other() -> Iterator[int]:
    """The number of a process that has nothing to do with it."""
    with subprocess.Popen(["sleep", "120"]) as process:
        yield process.pid
        process.kill()


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path, other: int) -> None:
    (tmp_path / "found").mkdir()
    dead = subprocess.Popen(["true"])
    dead.wait()
    for holder in (dead.pid, other):  # numbers of processes are given out again
        (tmp_path / "found" / ".lock").symlink_to(str(holder))
        assert scan(tmp_path, "s.duckdb", "missing.tsv")[0] == 1
        assert sorted(path.name for path in (tmp_path / "found").iterdir()) == [".unfinished"]


def test_a_stop_is_passed_on(tmp_path: Path) -> None:
    call = ("s.duckdb", source(tmp_path, "a", 1000), *SIGNED)
    first = begin(tmp_path, *call)
    child = child_of(tmp_path / "found")
    first.terminate()
    assert ended(first) == (143, "", "full-corpus-scan: interrupted; the same call goes on\n")
    assert is_gone(child)
    assert not (tmp_path / "found" / ".lock").is_symlink()


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["s.duckdb"], ["s.duckdb", "--"], ["s.duckdb", "--", "--limit", "5"], ["-k"], ["-k", "x", "s.duckdb", "a"],
        ["-k", "-1", "s.duckdb", "a"], ["-k", "", "s.duckdb", "a"], ["-k", "123456", "s.duckdb", "a"],
        ["-z", "s.duckdb", "a"], ["--help"],
    ],
)  # fmt: skip
def test_wrong_use(tmp_path: Path, arguments: list[str]) -> None:
    code, out, errors = scan(tmp_path, *arguments)
    assert (code, out) == (2, "")
    assert errors == "usage: full-corpus-scan [-k GENERATIONS] [-o OUTDIR] STORE SOURCE... [-- ESDEDUP OPTIONS]\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_what_fails_leaves_the_latest_alone(tmp_path: Path) -> None:
    out, good = tmp_path / "found", source(tmp_path, "a")
    told(scan(tmp_path, "s.duckdb", good, *SIGNED))
    before = folders(out)
    code, said, errors = scan(tmp_path, "s.duckdb", "missing.tsv")
    assert (code, said) == (1, "")
    assert errors.startswith("full-corpus-scan: esdedup: missing.tsv: ")
    assert errors.count("\n") == 1
    code, said, errors = scan(tmp_path, "s.duckdb", good, "--", "--jaccard", "7")
    assert (code, said) == (2, "")
    assert "jaccard" in errors
    assert (out / "latest").resolve().name == before[-1]
    # what is there can be had in spite of it: all is done, and the exit code tells
    code, said, errors = scan(tmp_path, "s.duckdb", good, "missing.tsv", *SIGNED, "--keep-going")
    assert (code, errors.count("\n")) == (1, 1)
    assert "1 damaged or missing source" in errors
    assert told((0, said, "")).endswith(f"; found/{folders(out)[-1]}\n")
    assert folders(out) != before
    assert "missing.tsv" in (out / "latest" / "log").read_text("utf-8")
