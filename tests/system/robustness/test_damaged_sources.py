"""Sources that end too early or break in the middle: what stands before is kept, one line says where and why."""

from __future__ import annotations

import bz2
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

import esdedup
from tests.support.commands import said
from tests.support.records import records, table
from tests.support.sources import PACK, export, pack_7z
from tests.system.robustness.helpers import child, one_line, outputs, wiki, wiki_pages

PAGES = 40
ENDINGS = [ending for ending in PACK if ending]


def small_blocks(data: bytes) -> bytes:
    return bz2.compress(data, 1)


PACKERS: dict[str, Callable[[bytes], bytes]] = {**PACK, ".bz2": small_blocks}


def cut_file(folder: Path, ending: str) -> Path:
    packed = PACKERS[ending](wiki(PAGES))
    path = folder / f"cut.xml{ending}"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    return path


def documents(store: Path) -> int:
    return int(esdedup.status(store=store)["counts"]["documents"])


def check_line(line: str, path: Path) -> None:
    assert str(path) in line
    assert "everything before it was read" in line
    assert " near byte " in line or " at line " in line


@pytest.mark.parametrize("ending", ["", *ENDINGS])
def test_a_file_that_was_cut_keeps_its_pages_up_to_there(tmp_path: Path, ending: str) -> None:
    path, store = cut_file(tmp_path, ending), tmp_path / "s.duckdb"
    line = one_line(said("index", path, "--store", store))
    check_line(line, path)
    assert "--keep-going" in line
    assert PAGES * 0.3 < documents(store) < PAGES
    state = esdedup.status(store=store)
    assert state["skipped"]["damaged_source"] == 1
    assert state["unfinished"]


def test_an_archive_that_was_cut_has_lost_its_list_and_all_with_it(tmp_path: Path) -> None:
    path, store = pack_7z(tmp_path / "cut.xml.7z", {"wiki.xml": wiki(PAGES)}), tmp_path / "s.duckdb"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 3 // 4])
    check_line(one_line(said("index", path, "--store", store)), path)
    assert documents(store) == 0


def test_an_archive_that_is_damaged_inside_keeps_what_stands_before(tmp_path: Path) -> None:
    path, store = pack_7z(tmp_path / "bad.xml.7z", {"wiki.xml": wiki(200)}), tmp_path / "s.duckdb"
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 0xFF
    path.write_bytes(data)
    check_line(one_line(said("index", path, "--store", store)), path)
    assert 20 < documents(store) < 200


def test_keep_going_reads_the_rest_and_fails_at_the_end(tmp_path: Path) -> None:
    path, out = cut_file(tmp_path, ".xz"), tmp_path / "out"
    good = table(tmp_path / "good.tsv", records(1, 60))
    answer = said("run", path, good, "--unit", "record", "--out", out, "--json", "--keep-going")
    assert answer.code == 1
    first, last = answer.err.splitlines()
    check_line(first, path)
    assert last == "esdedup: 1 damaged or missing source; the rest is done"
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert json.loads(answer.out) == summary
    assert summary["skipped"]["damaged_source"] == 1
    assert summary["damaged"] == [first.removeprefix("esdedup: ")]
    damaged, whole = summary["sources"]
    assert PAGES * 0.3 < damaged["documents"] < PAGES
    assert whole["documents"] == 60
    assert damaged["skipped"]["places"]["damaged_source"] == summary["damaged"]
    before = outputs(out)
    again = said("run", path, good, "--unit", "record", "--out", out, "--json", "--keep-going")
    assert (again.code, outputs(out)) == (1, before)


def test_keep_going_passes_over_what_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "good.tsv", records(1, 60))
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("one.tsv")
        command = ("index", "one.tsv", "good.tsv", "--store", "s.duckdb", "--json")
        assert "one.tsv: cannot be opened" in one_line(said(*command))
        answer = said(*command, "--keep-going")
    assert answer.code == 1
    assert "one.tsv: cannot be opened" in answer.err.splitlines()[0]
    assert answer.err.endswith("esdedup: 1 damaged or missing source; the rest is done\n")
    done = json.loads(answer.out)
    assert done["counts"]["documents"] == 60
    assert done["skipped"]["damaged_source"] == 1


def test_a_file_fetched_again_is_read_anew(tmp_path: Path) -> None:
    path, store = cut_file(tmp_path, ".gz"), tmp_path / "s.duckdb"
    one_line(said("index", path, "--store", store))
    path.write_bytes(PACK[".gz"](wiki(PAGES)))
    answer = said("index", path, "--store", store)
    assert (answer.code, answer.err) == (0, "")
    assert documents(store) == PAGES


def test_malformed_xml_names_line_and_cause(tmp_path: Path, data_folder: Path) -> None:
    path, store = data_folder / "wiki" / "malformed.xml", tmp_path / "s.duckdb"
    line = one_line(said("index", path, "--store", store))
    check_line(line, path)
    assert "at line 175, column" in line
    assert "Entity 'times' not defined" in line
    assert documents(store) == 1


def test_pages_without_a_root_are_read(tmp_path: Path, data_folder: Path) -> None:
    path, store = data_folder / "wiki" / "fragment-no-root.xml", tmp_path / "s.duckdb"
    answer = said("index", path, "--store", store)
    assert answer.code == 0
    assert answer.err == f"esdedup: {path}: has no root element; its pages are read anyway\n"
    assert documents(store) == 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_pages_without_a_root_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "part.xml"
    path.write_bytes("".join(wiki_pages(3)).encode(encoding))
    answer = said("index", path, "--store", tmp_path / "s.duckdb")
    assert (answer.code, answer.err.count("\n")) == (0, 1)
    assert documents(tmp_path / "s.duckdb") == 3


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_of_two_dumps_in_one_file_the_first_is_kept(tmp_path: Path, ending: str) -> None:
    path, store = tmp_path / f"two.xml{ending}", tmp_path / "s.duckdb"
    pack = PACK[ending]
    path.write_bytes(pack(wiki(5)) + pack(export(*wiki_pages(9))))
    line = one_line(said("index", path, "--store", store))
    check_line(line, path)
    assert "Extra content" in line
    assert documents(store) == 5


@pytest.mark.parametrize(("ending", "workers"), [(".gz", 1), (".bz2", 1), (".bz2", 2), (".xz", 2), (".zst", 1)])
def test_compressed_streams_in_one_file_are_all_read(tmp_path: Path, ending: str, workers: int) -> None:
    data = wiki(PAGES)
    path, store = tmp_path / f"two.xml{ending}", tmp_path / "s.duckdb"
    path.write_bytes(PACKERS[ending](data[: len(data) // 3]) + PACKERS[ending](data[len(data) // 3 :]))
    answer = said("index", path, "--store", store, "--workers", workers)
    assert (answer.code, answer.err) == (0, "")
    assert documents(store) == PAGES


def test_a_stream_cut_on_standard_input(tmp_path: Path) -> None:
    packed = PACK[".xz"](wiki(PAGES))
    path = tmp_path / "cut"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    with path.open("rb") as stdin:
        answer = child("index", "-", "--format", "wikipedia", "--store", "s.duckdb", cwd=tmp_path, stdin=stdin)
    assert "standard input: damaged near byte" in one_line(answer)
    assert PAGES * 0.3 < documents(tmp_path / "s.duckdb") < PAGES


def test_standard_input_that_is_closed(tmp_path: Path) -> None:
    arguments = ("index", "-", "--format", "tsv", "--store", "s.duckdb")
    answer = child(*arguments, cwd=tmp_path, preexec_fn=lambda: os.close(0))
    assert "standard input: is closed" in one_line(answer)
