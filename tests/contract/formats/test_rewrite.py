"""A source written again: what stays stays byte for byte, and only what is dropped is gone."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esdedup.errors import SourceChangedError, SourceError, UsageError
from esdedup.formats.compression import streams
from esdedup.formats.locations import discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.rewrite import output_names, rewrite_source
from esdedup.matching.signing import Signing
from tests.support.rewriting import CLUSTER, ENDINGS, Drops, members, packed, rewrite, texts, unpacked
from tests.support.sources import feed_stdin, pack_7z, rows_of

BOM = b"\xef\xbb\xbf"
# format: bytes; places of documents and the bytes of each; what each is with its sentence at position 1 dropped
CASES: dict[str, tuple[bytes, dict[int, tuple[bytes, bytes]]]] = {
    "tsv": (
        BOM + b"a\tOne. Two.\r\n\r\nb\n\tno id\nc\t\xff\n d\tOne.  Two.\tThree.\n\ne\tOne. Two.",
        {
            1: (b"a\tOne. Two.\r\n", b"a\tOne.\r\n"),
            6: (b" d\tOne.  Two.\tThree.\n", b" d\tOne.  Three.\n"),
            8: (b"e\tOne. Two.", b"e\tOne."),
        },
    ),
    "csv": (
        BOM + b'\nid,text,x\r\n1,"One.\n\nTwo.",\xff\r\n\n2\n3,\xff\n4,"x"y\n 5 ,One. Two. Three.,"a"\n"6\n","One. Two.'
        b'\r\n\r\nSaid ""three"". \n"\n7,"One. Two."',
        {
            3: (b'1,"One.\n\nTwo.",\xff\r\n', b"1,One.,\xff\r\n"),
            10: (b' 5 ,One. Two. Three.,"a"\n', b" 5 ,One. Three.,a\n"),
            11: (b'"6\n","One. Two.\r\n\r\nSaid ""three"". \n"\n', b'"6\n","One.\r\n\r\nSaid ""three"". \n"\n'),
            16: (b'7,"One. Two."', b"7,One."),
        },
    ),
    "jsonl": (
        BOM + b'{"text": "One.\\n\\nTwo.",  "x": [1.50, null]}\r\n\nnot json\n[]\n{"text": "\xff"}\n{}\n'
        b'{"b": "\\ud800", "text": "One. Two."}\n{"\xc3\xa9":"\\u00e9","text":"One. Tw\\u00f3. T\\ud800."}',
        {
            1: (
                b'{"text": "One.\\n\\nTwo.",  "x": [1.50, null]}\r\n',
                b'{"text":"One.","x":[1.5,null]}\r\n',
            ),
            7: (b'{"b": "\\ud800", "text": "One. Two."}\n', b'{"b":"\\ud800","text":"One."}\n'),
            8: (
                b'{"\xc3\xa9":"\\u00e9","text":"One. Tw\\u00f3. T\\ud800."}',
                '{"é":"é","text":"One. T\ufffd."}'.encode(),
            ),
        },
    ),
    "lines": (
        BOM + b"One. Two.\n\n \nOne.\x0c\x0cTwo. Three.\r\n\xff\nOne.\rTwo.\r",
        {
            1: (b"One. Two.\n", b"One.\n"),
            4: (b"One.\x0c\x0cTwo. Three.\r\n", b"One.\x0c\x0cThree.\r\n"),
            6: (b"One.\rTwo.\r", b"One.\r"),
        },
    ),
}
LINED = sorted(CASES)


def source(folder: Path, kind: str, data: bytes, ending: str = "") -> Path:
    (folder / "in").mkdir(exist_ok=True)
    return packed(folder / "in" / f"file.{kind}{ending}", data)


def left_over(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", LINED)
def test_every_format_and_compression(tmp_path: Path, kind: str, ending: str) -> None:
    data, records = CASES[kind]
    path = source(tmp_path, kind, data, ending)
    out = tmp_path / "out"
    everything = {place: [0] for place in records}
    for unit, keeps in (("record", {}), ("record", everything), ("sentence", everything)):
        done = rewrite(path, out, keeps=keeps, unit=unit, format=kind)
        assert done.path == out / path.name
        assert unpacked(done.path) == data
        assert (done.documents_dropped, done.sentences_dropped) == (0, 0)
    documents = done.documents
    for place, (record, _) in records.items():
        done = rewrite(path, out, {place: [0]}, keeps=everything, format=kind)
        assert data.count(record) == 1
        assert unpacked(done.path) == data.replace(record, b"")
        assert (done.documents, done.documents_dropped, done.sentences_dropped) == (documents - 1, 1, 0)
    done = rewrite(path, out, everything, format=kind)
    assert texts(done.path, format=kind) == []
    assert left_over(out) == [path.name]


@pytest.mark.parametrize("kind", LINED)
def test_sentences_are_taken_out_of_texts(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, records = CASES[kind]
    path = source(tmp_path, kind, data)
    expected = data
    for place, (record, changed) in records.items():
        done = rewrite(path, tmp_path, {place: [1]}, {place: [0]}, unit="sentence", format=kind)
        assert done.path.read_bytes() == data.replace(record, changed)
        assert (done.documents_dropped, done.sentences_dropped) == (0, 1)
        expected = expected.replace(record, changed)
    for piece in (2**18, 3):
        monkeypatch.setattr(streams, "PIECE", piece)
        done = rewrite(path, tmp_path, {place: [1] for place in records}, unit="sentence", format=kind)
        assert done.path.read_bytes() == expected
    # a document of which nothing is left is left out
    done = rewrite(path, tmp_path, {1 if kind != "csv" else 3: [0, 1]}, unit="sentence", format=kind)
    assert (done.documents_dropped, done.sentences_dropped) == (1, 0)
    record = min(records.items())[1][0]
    assert done.path.read_bytes() == data.replace(record, b"")


def test_sentences_of_other_columns_and_paths(tmp_path: Path) -> None:
    path = source(tmp_path, "tsv", b"no\tt\tkey\n1\tOne. Two.\tx\ty\n")
    done = rewrite(path, tmp_path, {2: [0]}, unit="sentence", header=True, text_column="t")
    assert done.path.read_bytes() == b"no\tt\tkey\n1\tTwo.\tx\ty\n"
    path = source(tmp_path, "txt", b"t1 One. Two.\n")
    done = rewrite(path, tmp_path, {1: [1]}, unit="sentence", format="tsv", separator=" ")
    assert done.path.read_bytes() == b"t1 One.\n"
    path = source(tmp_path, "csv", b"1;One. A; b.;Two.\n")
    done = rewrite(path, tmp_path, {1: [0]}, unit="sentence", header=False, separator=";")
    assert done.path.read_bytes() == b"1;A; b.;Two.\n"
    path = source(tmp_path, "jsonl", b'{"a": {"b": [{"c": "One. Two."}], "d": 1}, "text": "Z."}\n')
    done = rewrite(path, tmp_path, {1: [0]}, unit="sentence", text_column="a.b.0.c")
    assert done.path.read_bytes() == b'{"a":{"b":[{"c":"Two."}],"d":1},"text":"Z."}\n'


def test_annotations(tmp_path: Path) -> None:
    note = {"cluster": CLUSTER, "keep": False}
    none = {"cluster": None, "keep": True}
    data, _ = CASES["jsonl"]
    done = rewrite(source(tmp_path, "jsonl", data), tmp_path, {1: [0]}, annotate=True)
    written = done.path.read_bytes().split(b"\n")
    original = data.split(b"\n")
    assert len(written) == len(original)
    for line, before in zip(written, original, strict=True):
        try:
            record = json.loads(before.removeprefix(BOM))
        except ValueError:
            record = None
        if not isinstance(record, dict):
            assert line == before
            continue
        expected = note if before.startswith(BOM) else none
        assert json.loads(line.removeprefix(BOM)) == {**record, "esdedup": expected}
        assert list(json.loads(line.removeprefix(BOM))) == [*record, "esdedup"]
    done = rewrite(source(tmp_path, "jsonl", data), tmp_path, {1: [1]}, {1: [0]}, unit="sentence", annotate=True)
    assert done.sentences_dropped == done.documents_dropped == 0
    written = done.path.read_bytes().removeprefix(BOM).split(b"\n")
    assert [json.loads(line)["esdedup"] for line in written[-3:]] == [[], [], []]
    assert json.loads(written[0])["esdedup"] == [
        {"position": 0, "cluster": CLUSTER, "keep": True},
        {"position": 1, "cluster": CLUSTER, "keep": False},
    ]


def test_annotated_tables(tmp_path: Path) -> None:
    data, records = CASES["csv"]
    done = rewrite(source(tmp_path, "csv", data), tmp_path, {10: [0]}, annotate=True)
    cell = b',"{""cluster"":""00000000000000ab"",""keep"":false}"'
    none = b',"{""cluster"":null,""keep"":true}"'
    expected = data.replace(b"id,text,x", b"id,text,x,esdedup")
    for place, (record, _) in records.items():
        body = record.rstrip(b"\r\n")
        expected = expected.replace(record, body + (cell if place == 10 else none) + record[len(body) :])
    # records without a document carry the column too
    expected = expected.replace(b"\n2\n3,\xff\n", b"\n2" + none + b"\n3,\xff" + none + b"\n")
    assert done.path.read_bytes() == expected
    rows = list(csv.reader(io.StringIO(done.path.read_text("utf-8-sig", "replace")[1:])))
    assert rows[0] == ["id", "text", "x", "esdedup"]
    done = rewrite(source(tmp_path, "csv", b"1,One.\n"), tmp_path, annotate=True, unit="sentence", header=False)
    assert done.path.read_bytes() == b"1,One.,[]\n"

    data, records = CASES["tsv"]
    done = rewrite(source(tmp_path, "tsv", data), tmp_path, {6: [0]}, annotate=True)
    expected = data
    for place, (record, _) in records.items():
        body = record.rstrip(b"\r\n")
        note = (
            b'\t{"cluster":"%s","keep":false}' % CLUSTER.encode() if place == 6 else b'\t{"cluster":null,"keep":true}'
        )
        expected = expected.replace(record, body + note + record[len(body) :])
    assert done.path.read_bytes() == expected
    done = rewrite(source(tmp_path, "tsv", b"id\ttext\n1\tOne.\n"), tmp_path, annotate=True, header=True)
    assert done.path.read_bytes() == b'id\ttext\tesdedup\n1\tOne.\t{"cluster":null,"keep":true}\n'


def test_archives_keep_their_members(tmp_path: Path) -> None:
    parts = {"a/one.jsonl": b'{"text": "A."}\n{"text": "B."}', "e.jsonl": b"", "two.jsonl": b'\n{"text": "C."}\n'}
    (tmp_path / "in").mkdir()
    path = pack_7z(tmp_path / "in" / "all.jsonl.7z", parts)
    assert members(rewrite(path, tmp_path).path) == parts
    done = rewrite(path, tmp_path, {2: [0], 4: [0]})
    assert members(done.path) == {"a/one.jsonl": b'{"text": "A."}\n', "e.jsonl": b"", "two.jsonl": b"\n"}
    assert (done.documents, done.documents_dropped) == (1, 2)
    assert done.path.read_bytes() == rewrite(path, tmp_path / "again", {2: [0], 4: [0]}).path.read_bytes()


def test_texts(tmp_path: Path) -> None:
    data = BOM + b"One sentence\r\nis here. Two is\r\nthere.\r\n\r\nThree.\r\n"
    path = source(tmp_path, "txt", data)
    assert rewrite(path, tmp_path).path.read_bytes() == data
    done = rewrite(path, tmp_path, {1: [1]}, unit="sentence")
    assert done.path.read_bytes() == BOM + b"One sentence\r\nis here.\r\n\r\nThree.\r\n"
    assert (done.documents, done.documents_dropped, done.sentences_dropped) == (1, 0, 1)
    # a text that is dropped leaves no file, also none of an earlier run
    done = rewrite(path, tmp_path, {1: [0, 1, 2]}, unit="sentence")
    assert (done.documents, done.documents_dropped) == (0, 1)
    assert left_over(tmp_path) == ["in/file.txt"]
    parts = {"one.txt": b"One.", "two.txt": b"Two. Three.", "three.txt": b"\xff. Four"}
    path = pack_7z(tmp_path / "in" / "all.txt.7z", parts)
    done = rewrite(path, tmp_path, {1: [0], 2: [0]}, unit="sentence")
    assert members(done.path) == {"two.txt": b"Three.", "three.txt": b"\xff. Four"}


def test_folder_of_texts(tmp_path: Path) -> None:
    for name in ("a.txt", "b/a.txt", "b/c/d.txt.gz"):
        path = tmp_path / "texts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        packed(path, name.encode())
    found = discover([str(tmp_path / "texts")], Reading.of())
    for each, name in zip(found, output_names(found), strict=True):
        rewrite_source(each, Signing().splitting, [], tmp_path / "out" / name, annotate=False)
    assert left_over(tmp_path / "out") == ["a.txt", "b/a.txt", "b/c/d.txt.gz"]
    assert unpacked(tmp_path / "out" / "b" / "c" / "d.txt.gz") == b"b/c/d.txt.gz"


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed_stdin(monkeypatch, gzip.compress(b"one\ntwo\n"))
    done = rewrite("-", tmp_path, {1: [0]}, format="lines")
    assert done.path == tmp_path / "stdin.txt"
    assert done.path.read_bytes() == b"two\n"


def test_compression_without_its_ending(tmp_path: Path) -> None:
    path = source(tmp_path, "jsonl", gzip.compress(b'{"text": "A."}\n'))
    assert gzip.decompress(rewrite(path, tmp_path).path.read_bytes()) == b'{"text": "A."}\n'


@pytest.mark.parametrize("ending", ENDINGS)
def test_equal_bytes_again(tmp_path: Path, ending: str) -> None:
    path = source(tmp_path, "tsv", b"1\tone\n2\ttwo\n" * 5000, ending)
    first = rewrite(path, tmp_path, threads=2).path.read_bytes()
    path = path.rename(path.with_name(f"other.tsv{ending}"))
    if ending != ".7z":  # whose member has a name of its own
        assert rewrite(path, tmp_path).path.read_bytes() == first
    if ending == ".gz":
        assert first[3:8] == bytes(5)  # no name, no time


def test_giant_lines_pass_through(tmp_path: Path) -> None:
    giant = b"x" * 5_000_000 + b"\n"
    data = b"one\n" + giant + b"three\n" + giant + giant[:-1]
    done = rewrite(source(tmp_path, "txt", data), tmp_path, {3: [0]}, format="lines", max_text=2**20)
    assert done.path.read_bytes() == data.replace(b"three\n", b"")
    # in a quoted cell the reader does not see the line: the record stays as it is
    data = b'id,text\n1,a\n2,"b\n' + giant + b'"\n3,c\n'
    path = source(tmp_path, "csv", data)
    assert texts(path, max_text=2**20) == ["a", "b\n", "c"]
    assert rewrite(path, tmp_path, {6: [0]}, max_text=2**20).path.read_bytes() == data.replace(b"3,c\n", b"")


def test_what_cannot_be_done(tmp_path: Path) -> None:
    for kind, options in (("txt", {}), ("txt", {"format": "lines"})):
        path = source(tmp_path, kind, b"One.")
        with pytest.raises(UsageError, match="csv, jsonl") as caught:
            rewrite(path, tmp_path / "out", annotate=True, **options)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("drops", [{2: [0]}, {1: [3]}, {9: [0]}])
def test_a_source_that_has_changed(tmp_path: Path, drops: Drops) -> None:
    path = source(tmp_path, "jsonl", b'{"text": "One. Two."}\n\n{"text": "Three."}\n')
    with pytest.raises(SourceChangedError, match="has changed since it was read; run again"):
        rewrite(path, tmp_path / "out", drops, unit="sentence")
    assert left_over(tmp_path) == ["in/file.jsonl"]


def test_damage(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = b"".join(b'{"id": %d, "text": "number %d"}\n' % (number, number * 7919) for number in range(30_000))
    path = source(tmp_path, "jsonl", data, ".gz")
    path.write_bytes(path.read_bytes()[:-3000])
    with pytest.raises(SourceError):
        rewrite(path, tmp_path / "out", {1: [0]})
    assert left_over(tmp_path) == ["in/file.jsonl.gz"]
    done = rewrite(path, tmp_path / "out", {1: [0], 30_000: [0]}, keep_going=True)
    assert "damaged" in caplog.text
    written = unpacked(done.path)
    assert data.split(b"\n", 1)[1].startswith(written)
    assert written.endswith(b"\n")
    assert done.documents == written.count(b"\n") > 20_000
    path.write_bytes(path.read_bytes()[:5])
    done = rewrite(path, tmp_path / "again", keep_going=True)
    assert not done.path.exists()


def test_damaged_archive(tmp_path: Path) -> None:
    noise = bytes(range(32, 127)) * 50
    parts = {f"{n}.txt": b"".join(bytes([n]) + noise[i:] + b"\n" for i in range(300)) for n in (49, 50, 51)}
    (tmp_path / "in").mkdir()
    path = pack_7z(tmp_path / "in" / "all.txt.7z", parts)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 255
    path.write_bytes(whole)
    with pytest.raises(SourceError):
        rewrite(path, tmp_path / "out", format="lines")
    assert left_over(tmp_path) == ["in/all.txt.7z"]
    done = rewrite(path, tmp_path / "out", format="lines", keep_going=True)
    if done.path.exists():
        for name, found in members(done.path).items():
            assert parts[name].startswith(found)


BYTES = st.lists(
    st.sampled_from(
        [b"a", b"One. Two. ", b"\xff", b"\n", b"\r\n", b",", b"\t", b'"', b'""', b'"a, b\n\nc."', b"\r", b" "]
    )
).map(b"".join)
JSONS = st.lists(
    st.sampled_from([b'{"text": "One. Two."}', b'{"id": "\\u00e9", "text": "a"}', b"{}", b"\xff", b"\n", b"\r\n", b" "])
).map(b"".join)


@given(
    st.one_of(st.tuples(st.sampled_from(["tsv", "csv", "lines"]), BYTES), st.tuples(st.just("jsonl"), JSONS)), st.data()
)
@settings(max_examples=150)
def test_reading_again_gives_what_was_kept(
    tmp_path_factory: pytest.TempPathFactory, found: tuple[str, bytes], data: st.DataObject
) -> None:
    kind, written = found
    folder = tmp_path_factory.mktemp("again")
    path = source(folder, kind, written)
    header = False if kind == "csv" else None
    reading = Reading.of(format=kind, header=header)
    try:
        rows = rows_of(discover([str(path)], reading)[0], reading)
    except SourceError as error:
        assert "never closed" in str(error) or "CR alone" in str(error)
        return
    drops = {row["place"]: [0] for row in rows if data.draw(st.booleans())}
    keeps = {row["place"]: [0] for row in rows if data.draw(st.booleans())}
    done = rewrite(path, folder, drops, keeps, format=kind, header=header)
    try:
        left = texts(done.path, format=kind, header=header)
    except SourceError as error:  # a line of other ends may have become the first one
        assert "CR alone" in str(error)
    else:
        assert left == [row["text"] for row in rows if row["place"] not in drops]
    assert done.documents_dropped == len(drops)
    done = rewrite(path, folder, keeps=keeps, format=kind, header=header)
    assert done.path.read_bytes() == written


def named(folder: Path, *names: str, folds_case: bool = False, **options: Any) -> list[str]:
    """The outputs of empty sources."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return output_names(discover([str(folder / name) for name in names], Reading.of(**options)), folds_case=folds_case)


def test_no_two_sources_share_an_output(tmp_path: Path) -> None:
    assert named(tmp_path / "a", "x/1.jsonl", "y/2.jsonl") == ["1.jsonl", "2.jsonl"]
    assert named(tmp_path / "b", "x/1.jsonl", "y/1.jsonl") == ["x/1.jsonl", "y/1.jsonl"]
    assert named(tmp_path / "c", "p/x/1.jsonl", "p/y/1.jsonl", "p/2.jsonl") == ["x/1.jsonl", "y/1.jsonl", "2.jsonl"]
    assert named(tmp_path / "d", "x/1.txt", "y/1.txt") == ["x/1.txt", "y/1.txt"]
    # a file and a folder of one name
    assert named(tmp_path / "e", "x/1", "y/1/1", format="lines") == ["x/1", "y/1/1"]
    with pytest.raises(UsageError, match=r"both would be written to 'a.jsonl'; rename one"):
        named(tmp_path / "f", "a.xml", "a.jsonl")
    assert named(tmp_path / "g", "a.jsonl", "A.jsonl") == ["a.jsonl", "A.jsonl"]
    with pytest.raises(UsageError, match="both would be written to"):
        named(tmp_path / "g", "a.jsonl", "A.jsonl", folds_case=True)
    assert named(tmp_path / "h", "x/a.jsonl", "y/A.jsonl", folds_case=True) == ["x/a.jsonl", "y/A.jsonl"]


def test_links_are_written_below_their_own_names(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "part.jsonl").write_text("{}")
        (tmp_path / name[0]).symlink_to(tmp_path / "data" / name)
    found = discover([str(tmp_path / "o"), str(tmp_path / "t")], Reading.of())
    assert output_names(found) == ["o/part.jsonl", "t/part.jsonl"]
    assert [source.name for source in found] == ["o/part", "t/part"]
