"""Texts that are larger than --max-text, and small files that unpack to very much, stay within --memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from esdedup.errors import SettingsError
from esdedup.jobs.settings import Settings
from tests.support.bombs import bomb
from tests.support.commands import said
from tests.support.corpus import corpus
from tests.support.full import FULL, few
from tests.support.memory import Ended, peak_of_tree
from tests.support.sources import export, page, revision
from tests.system.robustness.helpers import one_line, only_line

SENTENCE = "The river runs past the mill, and the miller counts the sacks of flour that he sells in the town. "
LARGE = 200_000_000
GOOD = " ".join(corpus(5, 2))


def text(size: int) -> str:
    return SENTENCE * (size // len(SENTENCE))


WRITERS: dict[str, Callable[[Path, str], object]] = {
    "jsonl": lambda path, large: path.write_text(
        f'{{"id":"1","text":"{large}"}}\n{json.dumps({"id": "2", "text": GOOD})}\n'
    ),
    "tsv": lambda path, large: path.write_text(f"1\t{large}\n2\t{GOOD}\n"),
    "csv": lambda path, large: path.write_text(f'id,text\n1,"{large}"\n2,"{GOOD}"\n'),
    "lines.txt": lambda path, large: path.write_text(f"{large}\n{GOOD}\n"),
    "xml": lambda path, large: path.write_bytes(
        export(page(1, "Large", revision(1, large)), page(2, "Good", revision(2, GOOD)))
    ),
    "parquet": lambda path, large: pq.write_table(
        pa.table({"id": ["1", "2"], "text": [large, GOOD]}), path, row_group_size=1
    ),
}


def run(source: Path, out: Path, *more: object, memory: str = "1GiB") -> Ended:
    command = (sys.executable, "-m", "esdedup", "run", source, "--out", out, "--memory", memory, "--json", "--quiet")
    return peak_of_tree(*command, "--unit", "sentence", *more)


@pytest.mark.parametrize("kind", few(WRITERS, 4))
def test_a_text_of_200_mb_is_left_out_and_counted(tmp_path: Path, kind: str) -> None:
    source = tmp_path / f"a.{kind}"
    WRITERS[kind](source, text(LARGE))
    done = run(source, tmp_path / "out", *(["--format", "lines"] if kind == "lines.txt" else []))
    assert done.peak_mib < 1024
    if kind == "parquet":  # the page that holds the text would have to be read as a whole
        assert done.code == 1
        assert "row group 1 of 2" in only_line(done.err)
        return
    assert (done.code, done.err) == (0, "")
    summary = json.loads(done.out)
    assert summary["counts"]["documents"] == 1
    [(reason, count)] = [item for item in summary["records"]["not_compared"].items() if "--max-text" in item[0]]
    assert (count, reason.split()[-1]) == (1, "--max-text")
    [places] = [source["skipped"]["places"] for source in summary["sources"]]
    assert list(places.values()) == [["Large"] if kind == "xml" else ["line 2" if kind == "csv" else "line 1"]]


def test_a_text_file_of_200_mb_alone_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text(text(LARGE))
    done = run(source, tmp_path / "out")
    assert (done.code, done.peak_mib < 1024) == (1, True)
    assert "none of 1 sentences was compared: 1 larger than --max-text" in only_line(done.err)


def test_texts_up_to_the_limit_are_read_within_the_memory(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text(
        "".join(json.dumps({"id": at, "text": f"{text(60_000_000)}{at}"}) + "\n" for at in range(3 if FULL else 1))
    )
    # a scan would find one cluster of a million sentences, and write it
    command = (sys.executable, "-m", "esdedup", "index", source, "--store", tmp_path / "s.duckdb", "--memory", "1GiB")
    done = peak_of_tree(*command, "--unit", "sentence", "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["counts"]["documents"] == (3 if FULL else 1)
    assert done.peak_mib < 1024


@pytest.mark.parametrize(
    "costly",
    few([f"{text(40_000_000)}\N{GRINNING FACE}", "Ab. " * 12_000_000, "あ。" * 8_000_000, "a\n\n" * 15_000_000], 0, 2),
    ids=["four bytes a character", "tiny sentences", "tiny sentences in Japanese", "tiny paragraphs"],
)
def test_texts_that_cost_more_than_their_bytes(tmp_path: Path, costly: str) -> None:
    source = tmp_path / "a.txt"
    source.write_text(costly, "utf-8")
    done = run(source, tmp_path / "out")
    assert (done.code, done.peak_mib < 1024) == (1, True)
    assert "1 larger than --max-text" in only_line(done.err)


BOMBS = {
    "jsonl": b'{"id":1,"text":"' + GOOD.encode() + b'"}\n{"id":2,"text":"',
    "tsv": b"1\t" + GOOD.encode() + b"\n2\t",
    "csv": b"id,text\n1," + json.dumps(GOOD).encode() + b'\n2,"',
    "xml": export(page(1, "Good", revision(1, GOOD)), page(2, "Bad", revision(2, "BOMB"))).partition(b"BOMB")[0],
    "txt": b"",
    "parquet": b"PAR1",
}


@pytest.mark.parametrize("kind", few(BOMBS, 3))
def test_two_gigabytes_in_a_small_file(tmp_path: Path, kind: str) -> None:
    source = bomb(tmp_path / f"a.{kind}.zst", 2 * 10**9, head=BOMBS[kind])
    assert source.stat().st_size < 400_000
    done = run(source, tmp_path / "out")
    line = only_line(done.err)
    assert (done.code, done.peak_mib < 600) == (1, True)
    what = {"txt": "larger than --max-text", "parquet": "when it is unpacked", "xml": "a text has more than"}
    assert what.get(kind, "and no end") in line
    if kind in ("jsonl", "tsv", "csv", "xml"):
        done = run(source, tmp_path / "out", "--keep-going")
        assert json.loads(done.out)["counts"]["documents"] == 1


def test_an_open_quote_over_very_many_lines_is_damage(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text(f'id,text\n1,"{GOOD}"\n2,"' + "word\n" * 10_000)
    line = one_line(said("run", source, "--out", tmp_path / "out", "--max-text", "4KiB", "--quiet"))
    assert "the record at line 3 has a quote without an end" in line


def test_the_limit_is_an_option(tmp_path: Path) -> None:
    source = tmp_path / "a.tsv"
    source.write_text(f"1\t{text(3000)}\n2\t{GOOD}\n3\t{GOOD}\n")
    command = ("run", source, "--out", tmp_path / "out", "--json", "--quiet", "--fresh")
    assert json.loads(said(*command, "--max-text", "2KiB").out)["records"]["not_compared"] == {
        "with a line or a field larger than --max-text": 1
    }
    assert json.loads(said(*command).out)["records"]["not_compared"] == {}
    assert "allowed: 1KiB to 1TiB" in one_line(said(*command, "--max-text", "1"), 2)
    line = one_line(said(*command, "--max-text", "1GiB"), 2)
    assert "max-text 1GiB needs memory of 16GiB or more; now memory is 1GiB" in line
    assert Settings.of(memory=2**28).reading.most_text == 2**24
    assert Settings.of(max_text="16MiB", memory="256MiB").reading.most_text == 2**24
    with pytest.raises(SettingsError, match="max-text is"):
        Settings.of(max_text="much")
