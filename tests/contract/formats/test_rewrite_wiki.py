"""Wiki dumps written as JSON lines of cleaned documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from esdedup.errors import SourceError, UsageError
from esdedup.text.segment import segment
from esdedup.text.splitting import Splitting
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.rules import Names
from tests.support.rewriting import CLUSTER, ENDINGS, members, packed, rewrite, unpacked
from tests.support.sources import export, feed_stdin, pack_7z, page, read, revision

WIKI = export(
    page(7, "One", revision(1, "'''One''' is [[here|there]]. Two is.\n\nThree{{x}}.")),
    page(8, "Talk:One", revision(2, "b")),
    page(9, "Two", revision(3, "#REDIRECT [[One]]")),
    page(11, "Four", revision(4, "c"), revision(5, "Alone &amp; ''quiet''.")),
)


def pages(data: bytes) -> list[dict[str, Any]]:
    assert data.endswith(b"\n") or not data
    return [json.loads(line) for line in data.splitlines()]


def source(folder: Path, name: str, data: bytes = WIKI) -> Path:
    (folder / "in").mkdir(exist_ok=True)
    return packed(folder / "in" / name, data)


@pytest.mark.parametrize(
    ("path", "ending"), [*(("fast", ending) for ending in ENDINGS), ("reference", ""), ("reference", ".7z")]
)
def test_pages_become_documents(tmp_path: Path, path: str, ending: str) -> None:
    dump = source(tmp_path, f"w.xml{ending}")
    done = rewrite(dump, tmp_path, unit="sentence", wikitext=path)
    assert done.path == tmp_path / f"w.jsonl{ending}"
    one, four = pages(unpacked(done.path))
    assert list(one) == ["id", "title", "text", "revision", "timestamp"]
    assert one == {
        "id": "7",
        "title": "One",
        "text": "One is there. Two is.\n\nThree.",
        "revision": 1,
        "timestamp": "2020-01-01T00:00:00Z",
    }
    assert (four["id"], four["revision"], four["text"]) == ("11", 5, "Alone & quiet.")
    assert done.documents == 2
    done = rewrite(dump, tmp_path, {1: [1], 4: [0]}, {1: [0]}, unit="sentence", wikitext=path)
    assert pages(unpacked(done.path)) == [one | {"text": "One is there.\n\nThree."}]
    assert (done.documents, done.documents_dropped, done.sentences_dropped) == (1, 1, 1)
    assert pages(unpacked(rewrite(dump, tmp_path, {1: [0]}, {4: [0]}, wikitext=path).path)) == [four]


def test_annotations(tmp_path: Path) -> None:
    dump = source(tmp_path, "w.xml")
    one, four = pages(rewrite(dump, tmp_path, {4: [0]}, annotate=True).path.read_bytes())
    assert list(one) == ["id", "title", "text", "revision", "timestamp", "esdedup"]
    assert one["esdedup"] == {"cluster": None, "keep": True}
    assert four["esdedup"] == {"cluster": CLUSTER, "keep": False}
    one, four = pages(rewrite(dump, tmp_path, {1: [1]}, annotate=True, unit="sentence").path.read_bytes())
    assert one["esdedup"] == [{"position": 1, "cluster": CLUSTER, "keep": False}]
    assert "Two is." in one["text"]
    assert four["esdedup"] == []


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("enwiki-articles1.xml-p1p41242.bz2", "enwiki-articles1-p1p41242.jsonl.bz2"),
        ("W.XML", "W.jsonl"),
        ("dump.gz", "dump.jsonl.gz"),
        ("dump.v2", "dump.v2.jsonl"),
    ],
)
def test_names(tmp_path: Path, name: str, written: str) -> None:
    path = source(tmp_path, name)
    assert rewrite(path, tmp_path, format="wikipedia").path == tmp_path / written


def test_standard_input_and_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed_stdin(monkeypatch, WIKI)
    done = rewrite("-", tmp_path, format="wikipedia", limit=1)
    assert done.path == tmp_path / "stdin.jsonl"
    assert [found["id"] for found in pages(done.path.read_bytes())] == ["7"]


def test_archive_of_parts(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = pack_7z(tmp_path / "in" / "w.xml.7z", {"a/one.xml": WIKI, "two.xml-p1p9": WIKI})
    found = members(rewrite(path, tmp_path, {4: [0], 5: [0]}).path)
    assert list(found) == ["a/one.jsonl", "two-p1p9.jsonl"]
    assert [[one["id"] for one in pages(data)] for data in found.values()] == [["7"], ["11"]]
    assert list(members(rewrite(path, tmp_path, limit=2).path)) == ["a/one.jsonl"]


def test_histories_and_damage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--revisions latest"):
        rewrite(source(tmp_path, "w.xml"), tmp_path / "out", revisions="all")
    assert not (tmp_path / "out").exists()
    path = source(tmp_path, "w.xml", WIKI[: WIKI.index(b"<title>Four")])
    with pytest.raises(SourceError):
        rewrite(path, tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())
    done = rewrite(path, tmp_path / "out", {4: [0]}, keep_going=True)
    assert [one["id"] for one in pages(done.path.read_bytes())] == ["7"]


def test_real_articles(tmp_path: Path, data_folder: Path) -> None:
    path = data_folder / "wiki" / "enwiki-2025-head.xml.bz2"
    rows = read(path)
    drops, left = {}, []
    units = {row["id"]: segment([_clean(row["text"])], Splitting("sentence", "en")).texts.to_pylist() for row in rows}
    for row in rows:
        drops[row["place"]] = range(1, len(units[row["id"]]), 3)
        left.append("".join("".join(text.split()) for at, text in enumerate(units[row["id"]]) if at % 3 != 1))
    whole = pages(unpacked(rewrite(path, tmp_path, unit="sentence").path))
    assert [one["text"] for one in whole] == [_clean(row["text"]) for row in rows]
    done = rewrite(path, tmp_path, drops, unit="sentence")
    assert done.sentences_dropped == sum(map(len, drops.values())) > 500
    written = pages(unpacked(done.path))
    assert ["".join(one["text"].split()) for one in written] == left
    assert not any("\n\n\n" in one["text"] for one in written)
    for one in written:
        # what stands in paragraphs of its own still does
        again = segment([one["text"]], Splitting("sentence", "en")).texts.to_pylist()
        kept = [text for at, text in enumerate(units[one["id"]]) if at % 3 != 1]
        assert len(set(again) & set(kept)) > 0.98 * len(set(kept))


def _clean(text: str) -> str:
    names = {-2: "Media", 6: "File", 14: "Category"}
    return FastCleaner(Names(names)).clean(text)
