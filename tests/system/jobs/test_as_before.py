"""Options that are typed, and sentences of dumps, give the pairs and clusters of 0.1.0."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import esdedup
from tests.support.corpus import corpus
from tests.support.dumps import dump
from tests.support.records import RECORDS, table
from tests.support.stores import RunJob, on_opensearch_if_full

FILES = ("pairs.jsonl", "clusters.jsonl", "clusters.txt")
LIKE_SENTENCES: dict[str, Any] = {**RECORDS, "min_chars": 75}
OTHER_SCRIPTS = [
    "ウィキペディアは誰でも編集できるフリー百科事典であり、多くの言語で書かれた記事が世界中の人々によって作られている。"
    * 2,
    "ウィキペディアは誰でも編集できるフリー百科事典であり、多くの言語で書いた記事が世界中の人々によって作られている。"
    * 2,
    "วิกิพีเดียเป็นสารานุกรมเสรีที่ทุกคนสามารถแก้ไขได้ และมีบทความที่เขียนขึ้นในหลายภาษาโดยผู้คนจากทั่วทุกมุมโลกมากมาย",
    "วิกิพีเดียเป็นสารานุกรมเสรีที่ทุกคนสามารถแก้ไขได้ และมีบทความที่เขียนขึ้นในหลายภาษาโดยผู้คนจากทั่วทุกมุมโลกนี้",
]
MADE_BY_0_1_0 = {
    "rows": ["295307dffa7485e8", "2622a27ee7dcabaa", "3f7485d719865c39"],
    "pages": ["c7af001cd36b9d25", "56628372e9f2b82c", "fd603847dd9bf8dc"],
    "dedupe": ["0df9bce7bb9c27ac"],
}
"""The beginning of the SHA-256 of each file as the code of 0.1.0 wrote it, without kinds, and of the table without its
duplicates.
"""


def rows(path: Path) -> Path:
    texts = [*corpus(31, 600), *corpus(32, 20), *OTHER_SCRIPTS, "Too short to be compared.", "Too long. " * 70]
    return table(path / "a.tsv", [(f"r{number}", text) for number, text in enumerate(texts)])


def pages(path: Path) -> Path:
    return dump(path / "wiki.xml", {f"Page {n}": [("2001", corpus(40 + n % 7, 25 + n))] for n in range(20)})


def without_meaning(line: str) -> str:
    """A cluster, or a line of another file, without its kind, which 0.1.0 often told wrong, and what is new."""
    if '"members":' not in line:
        return line
    row = {name: value for name, value in json.loads(line).items() if not name.startswith("kind")}
    for member in row["members"]:
        member.pop("last_revision", None)
    return json.dumps(row)


def sums(folder: Path) -> list[str]:
    lines = [(folder / name).read_bytes().decode().split("\n") for name in FILES]
    return [hashlib.sha256("\n".join(map(without_meaning, some)).encode()).hexdigest()[:16] for some in lines]


@pytest.mark.parametrize("what", ["rows", "pages"])
@on_opensearch_if_full
@pytest.mark.both_stores
def test_results_are_those_of_0_1_0(tmp_path: Path, run: RunJob, what: str) -> None:
    source, options = (rows(tmp_path), LIKE_SENTENCES) if what == "rows" else (pages(tmp_path), {})
    summary = run(source, out=tmp_path / "out", **options)
    assert summary["counts"]["pairs"] > 20
    assert sums(tmp_path / "out") == MADE_BY_0_1_0[what]


def test_what_dedupe_writes_is_that_of_0_1_0(tmp_path: Path) -> None:
    esdedup.dedupe(rows(tmp_path), out=tmp_path / "out", **LIKE_SENTENCES)
    written = (tmp_path / "out" / "a.tsv").read_bytes()
    assert hashlib.sha256(written).hexdigest()[:16] == MADE_BY_0_1_0["dedupe"][0]
