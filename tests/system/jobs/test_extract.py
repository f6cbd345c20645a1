"""`extract`: what it writes, in every format, and what a killed one leaves."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import zstandard

import esdedup
from esdedup.errors import SourceError, UsageError
from esdedup.jobs import extracting
from esdedup.output.extracts import ExtractFile
from tests.support.commands import esdedup as command
from tests.support.corpus import corpus
from tests.support.dumps import dump
from tests.support.killed import KilledError

_TIME = "2020-01-01T00:00:00Z"
_TEXTS = corpus(11, 60)


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    pages = {f"Page {number}": [(_TIME, _TEXTS[3 * number : 3 * number + 3])] for number in range(20)}
    pages["Empty"] = [(_TIME, ["{{unknown}}"])]
    pages["Short"] = [(_TIME, ["'''Too''' [[short]] to compare."])]
    return dump(tmp_path / "wiki.xml", pages, lang="en")


def _documents(wiki: Path, **options: Any) -> list[dict[str, Any]]:
    return [document.to_dict() for document in esdedup.extract(wiki, quiet=True, **options)]


def test_documents_are_yielded(wiki: Path) -> None:
    rows = _documents(wiki)
    assert len(rows) == 21, "the empty page has no text"
    assert rows[-1] == {
        "id": "22", "source": "wiki", "title": "Short", "text": "Too short to compare.", "revision": 22,
        "timestamp": _TIME, "language": "en",
    }  # fmt: skip
    assert rows[0]["text"] == "\n\n".join(_TEXTS[:3])
    assert _documents(wiki, limit=2) == rows[:2]
    assert _documents(wiki, wikitext="reference") == rows


def test_sentences_are_those_that_are_compared(wiki: Path, tmp_path: Path) -> None:
    rows = [sentence.to_dict() for sentence in esdedup.extract(wiki, sentences=True, quiet=True)]
    esdedup.index(wiki, store=tmp_path / "s.duckdb", quiet=True)
    with esdedup.open_store(tmp_path / "s.duckdb", read_only=True) as opened:
        assert len(rows) == opened.corpus.counts()["sentences_kept"]
        for row in rows:
            known = opened.corpus.sentence(row["id"])
            assert known is not None
            assert row == {name: known[name] for name in row}
    done = esdedup.extract(wiki, out=tmp_path / "s.txt", sentences=True, quiet=True)
    assert done.to_dict() == {
        "file": str(tmp_path / "s.txt"), "skipped": {"too_short": 1}, "damaged": [], "sentences": len(rows),
    }  # fmt: skip
    assert (tmp_path / "s.txt").read_text("utf-8").splitlines() == [row["text"] for row in rows]


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.jsonl.zst", "t.txt", "t.parquet"])
@pytest.mark.parametrize("workers", [1, 2])
def test_files(wiki: Path, tmp_path: Path, name: str, workers: int) -> None:
    rows = _documents(wiki)
    done = esdedup.extract(wiki, out=tmp_path / name, workers=workers, quiet=True)
    assert (done.documents, done.skipped) == (21, {"no_text": 1})
    content = (tmp_path / name).read_bytes()
    if name.endswith(".parquet"):
        assert pq.read_table(tmp_path / name).to_pylist() == [
            {field: row[field] for field in ("id", "source", "title", "text", "revision", "timestamp", "language")}
            for row in rows
        ]
    elif name == "t.txt":
        assert content.decode() == "".join(row["text"] + "\n\n" for row in rows)
    else:
        if name.endswith(".gz"):
            content = gzip.decompress(content)
        elif name.endswith(".zst"):
            content = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)).read()
        assert [json.loads(line) for line in content.decode().splitlines()] == rows
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "wiki.xml"])


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.txt", "t.parquet"])
def test_a_killed_extraction_goes_on(wiki: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after each of its parts in turn, it ends with the same bytes."""
    from esdedup.formats import batches

    monkeypatch.setattr(extracting, "_PART_BYTES", 0)
    monkeypatch.setattr(batches, "MAX_ROWS", 4)
    more = dump(tmp_path / "more.xml", {"Other": [(_TIME, _TEXTS[:3])]}, lang="de")
    esdedup.extract(wiki, more, out=tmp_path / f"whole-{name}", quiet=True)
    written, part = ExtractFile.write_part, [0]

    def write_one(self: ExtractFile, path: Path, rows: Any) -> None:
        if part[0]:
            raise KilledError
        part[0] += 1
        written(self, path, rows)

    monkeypatch.setattr(ExtractFile, "write_part", write_one)
    killed = 0
    while not (tmp_path / name).exists():
        part[0] = 0
        try:
            done = esdedup.extract(wiki, more, out=tmp_path / name, quiet=True)
        except KilledError:
            killed += 1
    assert killed >= 5
    assert (done.documents, done.skipped) == (22, {"no_text": 1})
    assert (tmp_path / name).read_bytes() == (tmp_path / f"whole-{name}").read_bytes()
    assert not list(tmp_path.glob(".*"))


def test_another_job_does_not_go_on(wiki: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extracting, "_PART_BYTES", 0)
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(ExtractFile, "join", lambda *_: (_ for _ in ()).throw(KilledError()))
        esdedup.extract(wiki, out=tmp_path / "t.txt", limit=3, quiet=True)
    assert esdedup.extract(wiki, out=tmp_path / "t.txt", quiet=True).documents == 21
    assert (tmp_path / "t.txt").read_text("utf-8") == "".join(row["text"] + "\n\n" for row in _documents(wiki))


def test_damage_is_said_and_what_precedes_it_stays(wiki: Path, tmp_path: Path) -> None:
    whole = wiki.read_text("utf-8")
    wiki.write_text(whole[: whole.index("<title>Page 9")], "utf-8")
    with pytest.raises(SourceError, match="use --keep-going to keep what precedes it"):
        esdedup.extract(wiki, out=tmp_path / "t.txt", quiet=True)
    assert not (tmp_path / "t.txt").exists()
    done = esdedup.extract(wiki, out=tmp_path / "t.txt", keep_going=True, quiet=True)
    assert done.documents == 9
    assert len(done.damaged) == 1
    assert done.skipped == {"damaged_source": 1}


@pytest.mark.parametrize("name", ["t", "t.csv", "t.parquet.gz", "t.7z", "."])
def test_a_name_says_the_format(wiki: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"give a name that ends in \.jsonl or \.txt"):
        esdedup.extract(wiki, out=wiki.parent / name)


def test_a_source_is_not_overwritten(wiki: Path, tmp_path: Path) -> None:
    esdedup.extract(wiki, out=tmp_path / "t.jsonl", quiet=True)
    before = (tmp_path / "t.jsonl").read_bytes()
    with pytest.raises(UsageError, match="would be overwritten"):
        esdedup.extract(tmp_path / "t.jsonl", out=tmp_path / "t.jsonl", quiet=True)
    with pytest.raises(UsageError, match="inside the source"):
        esdedup.extract(tmp_path, out=tmp_path / "again.jsonl", quiet=True)
    assert (tmp_path / "t.jsonl").read_bytes() == before


def test_histories_are_refused(wiki: Path) -> None:
    with pytest.raises(UsageError, match="use --revisions latest"):
        list(esdedup.extract(wiki, revisions="all"))


def test_tables_and_rows_with_several_sources(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "1", "text": _TEXTS[0]}) + "\n", "utf-8")
    found = list(esdedup.extract(tmp_path / "a.jsonl", tmp_path / "b.jsonl", quiet=True))
    assert [row.id for row in found] == ["a/1", "b/1"]
    [row] = esdedup.extract([{"id": "7", "text": _TEXTS[1]}], sentences=True, quiet=True)
    assert (row.id, row.text, row.position) == ("7", _TEXTS[1], 0)


def test_a_page_is_shown_with_what_is_left_out(tmp_path: Path) -> None:
    source = dump(tmp_path / "wiki.xml", {"Mill": [(_TIME, ["The '''mill'''<ref>Book.</ref> stands."])]})
    found = command("extract", source, "--page", "Mill", "--dropped", cwd=tmp_path)
    assert (found.returncode, found.stdout) == (0, "The [-'''-]mill[-'''-][-<ref>Book.</ref>-](note) stands.\n")
    assert command("extract", source, "--page", "1", cwd=tmp_path).stdout == "The mill stands.\n"
    for arguments, said in (
        (["--page", "Mil"], "no page 'Mil' among those that are read; did you mean 'Mill'?"),
        (["--dropped", "-o", "x.txt"], "--dropped prints text; omit --out, --sentences and --json"),
        (["--page", "Mill", "-o", "x.txt"], "omit --out, --sentences and --json"),
        ([], "Missing option '--out'; for example --out found.jsonl, or --page TITLE"),
        (["-o", "x"], "the name does not say a format; give a name that ends in .jsonl or .txt"),
    ):
        wrong = command("extract", source, *arguments, cwd=tmp_path)
        assert wrong.returncode in (1, 2)
        assert said in wrong.stderr
        assert wrong.stderr.count("\n") == 1


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    texts = [
        "The '''mill'''<ref>A book.</ref> stands.\n== See also ==\n* [[River]]",
        "A mill.<ref>More.</ref> {{box}}\n== See also ==\n* [[Wheel]]",
    ]
    source = dump(tmp_path / "wiki.xml", {f"Mill {number}": [(_TIME, [text])] for number, text in enumerate(texts)})
    found = command("extract", source, "--dropped", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines() == [
        "left out of 2 documents:",
        "  characters      times  what",
        "          52          2  section See also",
        "          36          2  note",
        "           8          1  template box: not known",
        "           6          2  markup",
    ]
    (tmp_path / "plain.txt").write_text("A mill stands here.\n", "utf-8")
    assert command("extract", tmp_path / "plain.txt", "--dropped", cwd=tmp_path).stdout.startswith("left out of 1 ")


def test_lines_are_printed(wiki: Path, tmp_path: Path) -> None:
    found = command("extract", wiki, "-o", "-", "--quiet", cwd=tmp_path)
    assert [json.loads(line) for line in found.stdout.splitlines()] == _documents(wiki)
