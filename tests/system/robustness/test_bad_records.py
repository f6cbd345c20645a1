"""Records that cannot be read are skipped, counted and named; what is missing or empty costs one line at most."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import said
from tests.support.corpus import corpus
from tests.system.robustness.helpers import child, one_line, places

GOOD = corpus(4, 8)
GIANT = "<giant>"  # stands for a field of 100 MB, made when its file is written
FILES = {
    "columns.tsv": "".join(f"line {n} without a second column\n" for n in range(1, 8)) + f"a\t{GOOD[0]}\n",
    "repeated.tsv": "".join(f"a\t{GOOD[1]}\n" for _ in range(7)) + f"b\t{GOOD[2]}\n",
    "bytes.tsv": b"a\t\xff\xfe\n" * 7 + b"b\t" + GOOD[3].encode(),
    "utf16.tsv": f"a\t{GOOD[3]}\n".encode("utf-16"),
    "objects.jsonl": '[1]\n2\n"x"\nnull\n{"id":1\n{}\n{"text":1}\n' + json.dumps({"id": 1, "text": GOOD[4]}) + "\n",
    "deep.jsonl": '{"a":' * 100_000 + "\n" + '{"id":1' + "0" * 5000 + ',"text":"x"}\n',
    "giant.csv": f"id,text\n1,{GIANT}\n2,{GOOD[5]}\n",
    "quotes.csv": f'id,text\n1,"a"b\n2,{GOOD[6]}\n3,"not closed\n4,{GOOD[7]}\n5,"c"\n',
    "lists.jsonl": "[1]\n[]\n" + json.dumps({"id": 1, "text": "On."}) + "\n",
    "empty.txt": "",
    "nothing.jsonl": "",
    "blank.csv": "\n\n\n",
}
SKIPPED = {
    "columns": {"no_text": 7},
    "repeated": {"repeated_id": 6},
    "bytes": {"bad_utf8": 7},
    "utf16": {},
    "objects": {"bad_json": 5, "no_text": 2},
    "deep": {"bad_json": 2},
    "giant": {"too_long_field": 1},
    "quotes": {"bad_csv": 2},
    "lists": {"bad_json": 2},
    "empty": {"no_text": 1},
    "nothing": {},
    "blank": {},
}
DOCUMENTS = {"columns": 1, "repeated": 8, "bytes": 1, "utf16": 1, "objects": 1, "giant": 1, "quotes": 3, "lists": 1}
PLACES = {
    "columns": {"no_text": [f"line {n}" for n in range(1, 6)]},
    "bytes": {"bad_utf8": [f"line {n}" for n in range(1, 6)]},
    "objects": {"bad_json": [f"line {n}" for n in range(1, 6)], "no_text": ["line 6: {}", "line 7: {text}"]},
    "deep": {"bad_json": ["line 1", "line 2"]},
    "giant": {"too_long_field": ["line 2"]},
    "quotes": {"bad_csv": ["line 2", "line 4"]},
    "empty": {"no_text": ["empty.txt"]},
}


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One run over all of them."""
    folder = tmp_path_factory.mktemp("records")
    for name, content in FILES.items():
        written = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(written.replace(GIANT.encode(), b"x" * 100_000_000))
    assert (folder / "giant.csv").stat().st_size > 100_000_000
    paths = [folder / name for name in FILES]
    answer = said("run", *paths, "--out", folder / "out", "--unit", "record", "--min-chars", "0", "--json")
    assert answer.code == 0
    hints = [line.removeprefix(f"esdedup: {folder}/").partition("; ")[0] for line in answer.err.splitlines()]
    assert hints == [
        "columns.tsv: 7 of 8 records have no text, as in line 1",
        "bytes.tsv: 7 of 8 records are not valid UTF-8",
    ]
    (folder / "giant.csv").unlink()
    found: dict[str, Any] = json.loads((folder / "out" / "summary.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", SKIPPED)
def test_bad_records_are_skipped_and_counted(summary: dict[str, Any], name: str) -> None:
    [source] = [source for source in summary["sources"] if source["name"] == name]
    assert source["skipped"]["counts"] == SKIPPED[name]
    assert source["documents"] == DOCUMENTS.get(name, 0)


@pytest.mark.parametrize("name", PLACES)
def test_five_places_of_each_reason_are_named(summary: dict[str, Any], name: str) -> None:
    assert places(summary)[name] == PLACES[name]


def test_repeated_ids_are_named_too(summary: dict[str, Any]) -> None:
    assert len(places(summary)["repeated"]["repeated_id"]) == 5


def test_all_skips_add_up(summary: dict[str, Any]) -> None:
    total: dict[str, int] = {}
    for source in summary["sources"]:
        for reason, count in source["skipped"]["counts"].items():
            total[reason] = total.get(reason, 0) + count
    assert summary["renamed"] == total.pop("repeated_id") == 6
    assert summary["skipped"] == dict(sorted(total.items()))
    assert summary["damaged"] == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("names.csv", b"name,city\n1,2\n", "columns: name, city"),
        ("binary.csv", b"\xff\xfe\x00\n1,2\n", "--text-column"),
        ("wide.csv", b"x" * 200_000 + b"," * 100 + b"\n", "(101 in all)"),
        ("unknown.xyz", b"?", "--format"),
        ("unknown.gz", b"?", "--format"),
    ],
)
def test_tables_that_say_too_little_are_wrong_usage(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    line = one_line(said("index", path, "--store", tmp_path / "s.duckdb"), 2)
    assert words in line
    assert len(line) < 2000


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("missing.tsv", "no such file or folder"),
        ("missing/*.tsv", "no file matches"),
        ("folder", "contains no files"),
        ("empty.parquet", "cannot be read as Parquet"),
        ("empty.tsv.7z", "damaged near byte 0"),
        ("x" * 5000, "File name too long"),
    ],
)
def test_what_is_missing_or_no_source_is_one_line(tmp_path: Path, argument: str, words: str) -> None:
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    (tmp_path / "empty.parquet").touch()
    (tmp_path / "empty.tsv.7z").touch()
    path = tmp_path / argument
    line = one_line(said("index", path, "--store", tmp_path / "s.duckdb"))
    assert words in line
    assert str(path) in line
    good = tmp_path / "good.tsv"
    good.write_text(f"a\t{GOOD[0]}\n")
    answer = said("index", path, good, "--store", tmp_path / "t.duckdb", "--keep-going", "--json")
    assert answer.code == 1
    assert words in answer.err
    assert answer.err.endswith("esdedup: 1 damaged or missing source; the rest is done\n")
    assert json.loads(answer.out)["counts"]["documents"] == 1


def test_a_damaged_table_never_ends_the_process(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [str(n) for n in range(50)], "text": GOOD * 6 + GOOD[:2]}), path)
    data = path.read_bytes()
    # every byte of the footer, where sizes and counts stand, one at a time
    size = int.from_bytes(data[-8:-4], "little")
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.support.sources import read\n"
        "from esdedup.errors import EsdedupError\n"
        "path, size = Path(sys.argv[1]), int(sys.argv[2])\n"
        "data = path.read_bytes()\n"
        "for at in range(len(data) - 8 - size, len(data) - 8):\n"
        "    bad = bytearray(data)\n"
        "    bad[at] ^= 1\n"
        "    path.write_bytes(bad)\n"
        "    try:\n"
        "        read(path)\n"
        "    except EsdedupError:\n"
        "        pass\n"
    )
    answer = child(path, size, cwd=tmp_path, code=code)
    assert answer.code == 0, answer.err
