from __future__ import annotations

from pathlib import Path

import pytest

from esdedup.errors import SourceError, UsageError
from esdedup.formats.locations import discover
from esdedup.formats.reading_options import Reading
from tests.support.sources import ids, rows_of


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"text of " + name.encode())


@pytest.mark.parametrize(
    ("name", "stem", "source_format"),
    [
        ("enwiki.xml.bz2", "enwiki", "wikipedia"),
        ("enwiki-20240101-pages-articles1.xml-p1p41242.bz2", "enwiki-20240101-pages-articles1-p1p41242", "wikipedia"),
        ("a.b.tsv", "a.b", "tsv"),
        ("a.tab.gz", "a", "tsv"),
        ("A.CSV.XZ", "A", "csv"),
        ("a.jsonl.zst", "a", "jsonl"),
        ("a.ndjson", "a", "jsonl"),
        ("a.parquet", "a", "parquet"),
        ("a.pq", "a", "parquet"),
        ("a.txt.lzma", "a", "text"),
        ("a.text.7z", "a", "text"),
    ],
)
def test_name_and_format(tmp_path: Path, name: str, stem: str, source_format: str) -> None:
    touch(tmp_path, name)
    (source,) = discover([str(tmp_path / name)], Reading.of())
    assert (source.name, source.format.name) == (stem, source_format)
    assert source.size == (tmp_path / name).stat().st_size
    assert source.base is None


def test_format_wins_over_the_name(tmp_path: Path) -> None:
    touch(tmp_path, "a.txt", "b.train", "plain")
    for name, stem in (("a.txt", "a"), ("b.train", "b"), ("plain", "plain")):
        (source,) = discover([str(tmp_path / name)], Reading.of(format="lines"))
        assert (source.name, source.format.name) == (stem, "lines")


def test_unknown_format(tmp_path: Path) -> None:
    touch(tmp_path, "a.dat", "b.gz", "folder/c.dat")
    for argument in (tmp_path / "a.dat", tmp_path / "b.gz", tmp_path / "folder", "-", f"{tmp_path}/*.dat"):
        with pytest.raises(UsageError, match="--format"):
            discover([str(argument)], Reading.of())


def test_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for argument in ("none.xml", "empty", "*.xml", "empty/**/*.tsv"):
        with pytest.raises(SourceError) as caught:
            discover([str(tmp_path / argument)], Reading.of())
        assert "\n" not in str(caught.value)
    with pytest.raises(UsageError):
        discover([], Reading.of())


def test_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    touch(
        tmp_path,
        "d/b.xml",
        "d/a.tsv",
        "d/sub/c.csv",
        "d/\u00e9.xml",
        "d/z.xml",
        "d/README",
        "d/.hidden/x.xml",
        "d/.x.xml",
    )
    sources = discover([str(tmp_path / "d")], Reading.of())
    assert [source.name for source in sources] == ["a", "b", "c", "z", "\u00e9"]
    assert caplog.messages == [f"{tmp_path / 'd'}: 1 file of an unknown format is skipped"]


def test_texts_of_a_folder_are_one_source(tmp_path: Path) -> None:
    touch(tmp_path, "books/b.txt", "books/sub/a.txt", "books/c.txt.gz", "books/t.tsv")
    (tmp_path / "books/c.txt.gz").unlink()
    sources = discover([str(tmp_path / "books")], Reading.of())
    assert [source.name for source in sources] == ["books", "books", "t"]
    texts = sources[:2]
    assert [ids(rows_of(source, Reading.of())) for source in texts] == [["b.txt"], ["sub/a.txt"]]
    (tmp_path / "books/t.tsv").unlink()
    renamed = discover([str(tmp_path / "books")], Reading.of(source_name="x"))
    assert {source.name for source in renamed} == {"x"}


def test_texts_one_by_one_or_by_pattern(tmp_path: Path) -> None:
    touch(tmp_path, "books/a.txt", "books/b.txt")
    folder = tmp_path / "books"
    by_pattern = discover([f"{folder}/*.txt"], Reading.of())
    by_name = discover([str(folder / "a.txt"), str(folder / "b.txt")], Reading.of())
    assert by_pattern == by_name
    assert {source.name for source in by_name} == {"books"}
    assert [ids(rows_of(source, Reading.of())) for source in by_name] == [["a.txt"], ["b.txt"]]
    (single,) = discover([str(folder / "a.txt")], Reading.of())
    assert (single.name, ids(rows_of(single, Reading.of()))) == ("a", ["a.txt"])


def test_patterns(tmp_path: Path) -> None:
    touch(tmp_path, "b.xml", "a.xml", "sub/c.xml", "[x].xml")
    named = [source.name for source in discover([f"{tmp_path}/?.xml"], Reading.of())]
    assert named == ["a", "b"]
    everything = [source.name for source in discover([f"{tmp_path}/**/*.xml"], Reading.of())]
    assert everything == ["[x]", "a", "b", "c"]
    # a file whose name looks like a pattern
    assert discover([f"{tmp_path}/[x].xml"], Reading.of())[0].name == "[x]"


def test_equal_names(tmp_path: Path) -> None:
    touch(
        tmp_path, "a/x.xml", "b/x.xml.gz", "a/t/1.txt", "b/t/1.txt", "p/q/a/s.tsv", "p/q/b/s.tsv", "c/u.tsv", "c/u.csv"
    )
    for paths, names in (
        (("a/x.xml", "b/x.xml.gz"), ["a/x", "b/x"]),
        (("a/t", "b/t"), ["a/t", "b/t"]),
        (("p/q/a/s.tsv", "p/q/b/s.tsv", "c/u.tsv"), ["a/s", "b/s", "u"]),
        (("c",), ["u.csv", "u.tsv"]),
    ):
        assert [source.name for source in discover([str(tmp_path / path) for path in paths], Reading.of())] == names
    # the same file twice is one source
    path = str(tmp_path / "a/x.xml")
    assert len(discover([path, path, f"{tmp_path}/a/*.xml"], Reading.of())) == 1


def test_parts_of_one_wiki_are_one_source(tmp_path: Path) -> None:
    head = "<mediawiki><siteinfo><sitename>W</sitename><dbname>{}</dbname></siteinfo></mediawiki>"
    for name, wiki in (("a-p1p9.xml", "xwiki"), ("b/a-p10p12.xml", "xwiki"), ("c.xml", "ywiki")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(head.format(wiki))
    found = discover([str(tmp_path)], Reading.of())
    assert [(source.name, source.collection) for source in found] == [
        ("xwiki", "xwiki"), ("xwiki", "xwiki"), ("ywiki", "ywiki"),
    ]  # fmt: skip
    parts = [str(tmp_path / "a-p1p9.xml"), str(tmp_path / "b")]
    assert {source.name for source in discover(parts, Reading.of(source_name="march"))} == {"march"}
    (tmp_path / "xwiki.tsv").touch()
    names = {
        source.format.name: source.name for source in discover([*parts, str(tmp_path / "xwiki.tsv")], Reading.of())
    }
    assert names == {"wikipedia": "xwiki", "tsv": "xwiki.tsv"}


def test_source_name(tmp_path: Path) -> None:
    touch(tmp_path, "a.xml", "b.xml")
    reading = Reading.of(source_name="wiki")
    assert discover([str(tmp_path / "a.xml")], reading)[0].name == "wiki"
    assert discover(["-"], Reading.of(source_name="wiki", format="tsv"))[0].name == "wiki"
    with pytest.raises(UsageError, match="source-name"):
        discover([str(tmp_path)], reading)


def test_standard_input() -> None:
    (source,) = discover(["-"], Reading.of(format="jsonl"))
    assert (source.name, source.path, source.format.name, source.size) == ("stdin", None, "jsonl", 0)


def lost_links(folder: Path) -> None:
    """Links to themselves, one by one and in pairs, to a file that is gone, and to the folder they are in."""
    targets = {"self.tsv": "self.tsv", "a.tsv": "b.tsv", "b.tsv": "a.tsv", "gone.tsv": "moved", "here": ".", "too": "."}
    for name, target in targets.items():
        (folder / name).symlink_to(target)


@pytest.mark.parametrize("pattern", ["", "*.tsv", "**/*.tsv", "**"])
def test_links_that_lead_nowhere_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture, pattern: str) -> None:
    touch(tmp_path, "good.tsv", "below/more.tsv")
    lost_links(tmp_path)
    found = discover([str(tmp_path / pattern)], Reading.of())
    assert {source.name for source in found} == {"good", *(["more"] if pattern != "*.tsv" else [])}
    [line] = caplog.messages
    assert line.endswith("4 symbolic links that lead nowhere are skipped: a.tsv, b.tsv, gone.tsv, self.tsv")


def test_nothing_but_lost_links_is_an_error(tmp_path: Path) -> None:
    lost_links(tmp_path)
    with pytest.raises(SourceError, match="nothing but symbolic links that lead nowhere"):
        discover([str(tmp_path)], Reading.of())
    with pytest.raises(SourceError, match="no such file"):
        discover([str(tmp_path / "self.tsv")], Reading.of())


def test_patterns_leave_out_what_is_hidden(tmp_path: Path) -> None:
    touch(tmp_path, "a.tsv", ".git/b.tsv", "c/.d.tsv", "c/e.tsv")
    assert [source.name for source in discover([f"{tmp_path}/**/*.tsv"], Reading.of())] == ["a", "e"]
    assert [source.name for source in discover([f"{tmp_path}/**/.git/*.tsv"], Reading.of())] == ["b"]
