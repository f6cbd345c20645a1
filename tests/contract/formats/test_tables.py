from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from esdedup.columns.labelled import columns_of_texts
from esdedup.columns.records import Skips
from esdedup.columns.tables import table_of, texts_of
from esdedup.errors import SourceError, UsageError
from esdedup.formats.locations import discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.stream import DocumentStream
from tests.support.rewriting import rewrite, texts
from tests.support.sources import PACK, feed_stdin, ids, partial, read


def write(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def pairs(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["id"], row["text"]) for row in rows]


def test_tsv_by_default(tmp_path: Path) -> None:
    path = write(tmp_path, "t.tsv", b"\xef\xbb\xbfa\tone\r\nb\ttwo\tand\tmore\r\nc\tnul\0byte \xf0\x9f\x98\x80")
    rows = read(path)
    assert pairs(rows) == [("a", "one"), ("b", "two\tand\tmore"), ("c", "nul\0byte \U0001f600")]
    assert {row["title"] for row in rows} == {None}


def test_tsv_skips_with_places(tmp_path: Path) -> None:
    path = write(tmp_path, "t.tsv", b"a\tone\n\nb\n\ttext\nc\t \nd\t\xff\ne\tfine\n")
    skips = Skips()
    assert pairs(read(path, skips)) == [("a", "one"), ("e", "fine")]
    assert skips.counts == {"bad_utf8": 1, "no_text": 3, "no_id": 1}
    assert skips.places == {
        "bad_utf8": ["line 6"],
        "no_text": ["line 2", "line 3", "line 5"],
        "no_id": ["line 4"],
    }


def test_tsv_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "t.tsv", "key\tTitle\tbody\tx\n1\tT\ttext one\tx\ty\n2\tU\ttext two\tx\n")
    rows = read(path, header=True, text_column="body")
    assert [(row["id"], row["title"], row["text"]) for row in rows] == [("1", "T", "text one"), ("2", "U", "text two")]
    assert pairs(read(path, header=True, text_column="3", id_column="Title")) == [("T", "text one"), ("U", "text two")]
    assert read(path, header=True, text_column="x", id_column="line")[0]["text"] == "x\ty"
    assert ids(read(path, header=True, text_column="x", id_column="line")) == ["2", "3"]
    assert ids(read(path, id_column="line", title_column="1", text_column="2")) == ["1", "2", "3"]
    # the text is last of the columns asked for, unless a later one is asked for too
    assert read(path, text_column="3", title_column="4")[1]["text"] == "text one"


def test_tsv_separator(tmp_path: Path) -> None:
    path = write(tmp_path, "t.train", "t1 the first text\nt2 the second\n")
    assert pairs(read(path, format="tsv", separator=" ")) == [("t1", "the first text"), ("t2", "the second")]


def test_text_of_several_columns(tmp_path: Path) -> None:
    csv_file = write(tmp_path, "t.csv", 'id,name,"a,b",city\n1,Apple Pan,10801 Pico,LA\n2,,12 Main,NY\n3,only\n')
    skips = Skips()
    assert pairs(read(csv_file, skips, text_column="name,city")) == [("1", "Apple Pan LA"), ("2", " NY")]
    assert skips.counts == {"no_text": 1}
    assert pairs(read(csv_file, text_column="a,b")) == [("1", "10801 Pico"), ("2", "12 Main")]
    with pytest.raises(UsageError, match="'town'"):
        read(csv_file, text_column="name,town")
    tsv = write(tmp_path, "t.tsv", "1\tApple Pan\t10801\tLA\tmore\n")
    assert pairs(read(tsv, text_column="2,4")) == [("1", "Apple Pan LA")]
    pq.write_table(pa.table({"id": ["1"], "name": ["a"], "city": ["b"]}), tmp_path / "t.parquet")
    assert pairs(read(tmp_path / "t.parquet", text_column="name,city")) == [("1", "a b")]
    jsonl = write(tmp_path, "t.jsonl", '{"id": 1, "name": "a", "n": 2}\n{"id": 2, "name,n": "whole"}\n{"id": 3}\n')
    skips = Skips()
    assert pairs(read(jsonl, skips, text_column="name,n")) == [("1", "a 2"), ("2", "whole")]
    assert skips.counts == {"no_text": 1}


def test_encodings(tmp_path: Path) -> None:
    rows = "id,text\n1,Straße\n2,東京\n"
    for encoding in ("utf-16", "utf-16-be", "gb18030"):
        path = write(tmp_path, "t.csv", rows.encode(encoding))
        assert pairs(read(path, encoding=encoding)) == [("1", "Straße"), ("2", "東京")]
    skips = Skips()
    path = write(tmp_path, "t.csv", b"id,text\n1,caf\xe9\n2,\x81\n")
    assert pairs(read(path, skips, encoding="cp1252")) == [("1", "café")]
    assert skips.counts == {"bad_utf8": 1}
    with pytest.raises(UsageError, match="klingon"):
        read(path, encoding="klingon")


def test_unknown_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "t.tsv", "a\tb\n1\t2\n")
    for options in ({"text_column": "b"}, {"id_column": "0"}, {"header": True, "text_column": "zz"}):
        partial(path, UsageError, **options)
    _, message = partial(write(tmp_path, "t.csv", "name,city\n1,2\n"), UsageError)
    assert message.endswith("columns: name, city")


def test_csv(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", 'id,title,text\r\n1,T,"a ""quoted"", text\r\nin two lines"\r\n\r\n2,,plain\r\n')
    rows = read(path)
    assert pairs(rows) == [("1", 'a "quoted", text\r\nin two lines'), ("2", "plain")]
    assert [row["title"] for row in rows] == ["T", ""]
    assert pairs(read(write(tmp_path, "s.csv", "x;Sentence\n1;a,b\n"), separator=";")) == [("2", "a,b")]
    assert pairs(read(write(tmp_path, "n.csv", "1,a\n2,b\n"), header=False)) == [("1", "a"), ("2", "b")]


def test_csv_skips_with_places(tmp_path: Path) -> None:
    data = b'id,text\n1,"a\nb"\n2\n,text\n3,\xff\n4,"x"y\n5,fine\n'
    skips = Skips()
    assert pairs(read(write(tmp_path, "t.csv", data), skips)) == [("1", "a\nb"), ("5", "fine")]
    assert skips.places == {
        "no_text": ["line 4"],
        "no_id": ["line 5"],
        "bad_utf8": ["line 6"],
        "bad_csv": ["line 7"],
    }


def test_giant_fields_are_skipped(tmp_path: Path) -> None:
    line = b"word " * 20 + b"\n"
    one_line = b"2," + b"x" * 100_000_000 + b"\n"
    many_lines = b'3,"' + line * 800_000 + b'"\n'
    path = write(tmp_path, "t.csv", b"id,text\n1,a\n" + one_line + b"2b,b\n" + many_lines + b"4,c\n")
    skips = Skips()
    assert pairs(read(path, skips, max_quoted_lines=10**6)) == [("1", "a"), ("2b", "b"), ("4", "c")]
    assert skips.places == {"too_long_field": ["line 3", "line 5"]}


OPEN = [
    # lines, what is read, what is skipped, where the quote opens that is never closed
    (["1,a", '2,"open', *["3,b"] * 100], ["1"], {}, 3),
    (["1,a", "2,b", '3,"open'], ["1", "2"], {}, 4),
    (['1,"a', 'b ""c"" d"', '2,"one" more', '"3,x'], ["1"], {"bad_csv": ["line 4"]}, 5),
    # closed by the quotes of the next row, which is a record of its own
    (['1,"a"', '2,"open', '3,"b"', '4,"c, d"'], ["1", "3", "4"], {"bad_csv": ["line 3"]}, 0),
    (['1,"a"', '2,"open', "3,x", '4,"c"', "5,y"], ["1", "3", "4", "5"], {"bad_csv": ["line 3"]}, 0),
    (['1,"a', "", 'b"', "2,c"], ["1", "2"], {}, 0),
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("lines", "ids", "skipped", "opens"), OPEN)
def test_quotes_that_are_never_closed(
    tmp_path: Path, lines: list[str], ids: list[str], skipped: dict[str, list[str]], opens: int, end: str
) -> None:
    path, skips, rows = tmp_path / "t.csv", Skips(), []
    path.write_bytes(end.join(["id,text", *lines, ""]).encode())
    reading = Reading.of()
    (source,) = discover([str(path)], reading)
    caught = ""
    try:
        with DocumentStream(source, skips) as stream:
            for batch in stream:
                rows += batch["id"].to_pylist()
    except SourceError as error:
        caught = str(error)
    assert (rows, skips.places) == (ids, skipped)
    assert (f"the quote that opens at line {opens} is never closed" in caught) == (opens > 0)
    done = rewrite(path, tmp_path / "out", {2: [0]}, keep_going=True)
    left = done.path.read_bytes()
    dropped = [lines[0]] if ids[0] == "1" and '"' not in lines[0] else []
    if dropped:
        whole = path.read_bytes() if not opens else end.join(["id,text", *lines[: opens - 2], ""]).encode()
        assert left == whole.replace(f"{dropped[0]}{end}".encode(), b"", 1)


def test_a_quote_that_is_closed_in_a_later_row_hides_no_row(tmp_path: Path) -> None:
    path, skips = write(tmp_path, "t.csv", 'id,text,x\n1,a,b\n2,"open,b\n3,c,d"\n4,d,e\n'), Skips()
    assert [row[0] for row in pairs(read(path, skips))] == ["1", "3", "4"]
    assert skips.places == {"bad_csv": ["line 3"]}
    with pytest.raises(SourceError, match="opens at line 4 is never closed"):
        read(write(tmp_path, "v.csv", 'id,text,x\n1,a,b\n2,"open,b\n3,c,"\n4,d,e\n'), Skips())
    path, skips = write(tmp_path, "u.csv", 'id,text,x\n1,"a,\nb"\n2,c,d\n'), Skips()
    assert [row[0] for row in pairs(read(path, skips))] == ["1", "2"], "too few cells are no reason"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_damaged_utf_16(tmp_path: Path, encoding: str) -> None:
    data = "1\ta\n2\tb\ud800\n3\tc\n".encode(encoding, "surrogatepass")
    path, skips = tmp_path / "t.tsv", Skips()
    path.write_bytes(data)
    assert [row[0] for row in pairs(read(path, skips))] == ["1", "3"]
    assert skips.counts == {"bad_utf8": 1}
    left = rewrite(path, tmp_path / "out", {1: [0]}).path.read_bytes()
    assert left.decode(encoding, "surrogatepass") == "2\tb\ud800\n3\tc\n"
    path.write_bytes(data[:-1])
    with pytest.raises(SourceError, match="is damaged utf"):
        read(path, Skips())
    done = rewrite(path, tmp_path / "cut", {1: [0]}, keep_going=True)
    assert done.path.read_bytes().decode(encoding, "surrogatepass").startswith("2\tb\ud800\n")
    (text := tmp_path / "t.txt").write_bytes(data[:-1])
    assert rewrite(text, tmp_path / "text", keep_going=True).damaged, "decoded, though nothing is dropped"


def test_utf_16_without_a_mark_is_advised(tmp_path: Path) -> None:
    for order in ("le", "be"):
        path = tmp_path / "t.csv"
        path.write_bytes("id,text\n1,a\n".encode(f"utf-16-{order}"))
        with pytest.raises(UsageError, match=f"give --encoding utf-16-{order}"):
            read(path, Skips())
        assert pairs(read(path, Skips(), encoding=f"utf-16-{order}")) == [("1", "a")]


def test_quotes_that_stay_open_for_too_many_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", 'id,text\n1,"' + "a line\n" * 20 + '"\n2,b\n')
    assert [row[0] for row in pairs(read(path, Skips()))] == ["1", "2"]
    with pytest.raises(SourceError, match=r"line 2 is not closed within 20 lines; .*--max-quoted-lines"):
        read(path, Skips(), max_quoted_lines=20)


CARRIAGE = [
    ("t.csv", 'id,text\r1,"a\nb"\r2,"c\r\nd"\r3,e\r', [("1", "a\nb"), ("2", "c\r\nd"), ("3", "e")]),
    ("t.tsv", "1\ta\r2\tb c\r3\td", [("1", "a"), ("2", "b c"), ("3", "d")]),
    ("t.jsonl", '{"id": "1", "text": "a"}\r{"id": "2", "text": "b"}\r', [("1", "a"), ("2", "b")]),
]


@pytest.mark.parametrize(("name", "data", "expected"), CARRIAGE)
def test_lines_that_end_in_carriage_returns(
    tmp_path: Path, name: str, data: str, expected: list[tuple[str, str]]
) -> None:
    path = tmp_path / name
    path.write_bytes(data.encode())
    assert pairs(read(path, Skips())) == expected
    assert rewrite(path, tmp_path / "same").path.read_bytes() == data.encode()
    first = data.index("\r", data.index("1")) + 1 if name != "t.csv" else data.index("\r2") + 1
    begin = data.index("\r") + 1 if name == "t.csv" else 0
    done = rewrite(path, tmp_path / "out", {2 if name == "t.csv" else 1: [0]})
    assert done.path.read_bytes() == (data[:begin] + data[first:]).encode()
    text = tmp_path / f"text{path.suffix}"
    if name == "t.tsv":
        text.write_bytes(b"1\ta\rb\n2\tc\rd\n")
        assert pairs(read(text, Skips())) == [("1", "a\rb"), ("2", "c\rd")], "the line ends in LF"
    mixed = tmp_path / f"mixed{path.suffix}"
    mixed.write_bytes(data.encode() + b"4,x\ny\n" * 3)
    with pytest.raises(SourceError, match="CR alone"):
        read(mixed, Skips())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.json", "t.txt"])
def test_a_byte_order_mark_tells_the_encoding(tmp_path: Path, name: str, encoding: str) -> None:
    rows = {
        "t.csv": "id,text\n1,été 日本\n2,b\n", "t.tsv": "1\tété 日本\n2\tb\n", "t.txt": "été 日本\nb",
        "t.jsonl": '{"id": "1", "text": "été 日本"}\n{"id": "2", "text": "b"}\n',
        "t.json": '[{"id": "1", "text": "été 日本"},\n {"id": "2", "text": "b"}]\n',
    }  # fmt: skip
    path = tmp_path / name
    data = ("" if encoding in ("utf-16", "utf-32") else "\ufeff") + rows[name]
    path.write_bytes(data.encode(encoding))
    assert pairs(read(path, Skips()))[0][1].startswith("été 日本")
    assert rewrite(path, tmp_path / "same").path.read_bytes() == data.encode(encoding)
    if name != "t.txt":
        drops = rewrite(path, tmp_path / "out", {2 if name == "t.csv" else 1: [0]})
        assert texts(drops.path) == ["b"]
        assert drops.path.read_bytes()[:2] == data.encode(encoding)[:2]


def test_giant_lines_are_skipped(tmp_path: Path) -> None:
    giant = b"2\t" + b"x" * 2**21 + b"\n"
    skips = Skips()
    rows = read(
        write(tmp_path, "t.tsv", b"1\ta\n" + giant + b"3\tb\n" + giant + giant + b"4\tc"),
        skips,
        id_column="line",
        max_text=2**20,
    )
    assert pairs(rows) == [("1", "a"), ("3", "b"), ("6", "c")]
    assert skips.places == {"too_long_field": ["line 2", "line 4", "line 5"]}


def test_jsonl(tmp_path: Path) -> None:
    records = [
        {"id": 7, "title": "T", "text": "a"},
        {"id": "x", "text": "b \ud800 c"},
        {"text": "no id"},
        {"id": "", "text": "empty id"},
        {"id": "y"},
        {"id": "z", "text": 5},
        ["list"],
    ]
    data = "\n".join(json.dumps(record) for record in records) + "\n\nnot json\n" + "[" * 100_000 + "\n"
    skips = Skips()
    rows = read(write(tmp_path, "t.jsonl", data.encode() + b'{"id": 9, "text": "\xff"}\n'), skips)
    assert pairs(rows) == [("7", "a"), ("x", "b \ufffd c"), ("3", "no id")]
    assert skips.places == {
        "no_id": ["line 4"],
        "no_text": ["line 5: {id}", "line 6: {id, text}"],
        "bad_json": ["line 7", "line 9", "line 10"],
        "bad_utf8": ["line 11"],
    }


def test_jsonl_paths(tmp_path: Path) -> None:
    data = '{"a": {"b": [{"c": "text"}]}, "m": {"id": 1.5}, "a.t": "title"}\n'
    path = write(tmp_path, "t.jsonl", data)
    (row,) = read(path, text_column="a.b.0.c", id_column="m.id", title_column="a.t")
    assert (row["id"], row["title"], row["text"]) == ("1.5", "title", "text")
    assert ids(read(path, text_column="a.b.0.c", id_column="line")) == ["1"]
    skips = Skips()
    assert read(path, skips, text_column="a.b.0.c", id_column="m.none") == []
    assert skips.counts == {"no_id": 1}


def table(folder: Path, columns: dict[str, Any], name: str = "t.parquet") -> Path:
    path = folder / name
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_types(tmp_path: Path) -> None:
    columns = {
        "id": pa.array([1, 2, None, 4], pa.int32()),
        "title": pa.array(["A", "B", "C", None]).dictionary_encode(),
        "text": pa.array([b"a", b"\xff", b"c", b"d"], pa.binary()),
        "other": pa.array([[1], [2], [3], [4]]),
    }
    skips = Skips()
    rows = read(table(tmp_path, columns), skips)
    assert [(row["id"], row["title"], row["text"]) for row in rows] == [("1", "A", "a"), ("4", None, "d")]
    assert skips.places == {"bad_utf8": ["row 2"], "no_id": ["row 3"]}


def test_parquet_columns(tmp_path: Path) -> None:
    columns = {"doc": pa.array([{"body": "x", "n": 1}, {"body": None, "n": 2}]), "content": pa.array(["p", "q"])}
    path = table(tmp_path, columns)
    assert pairs(read(path)) == [("1", "p"), ("2", "q")]
    skips = Skips()
    assert pairs(read(path, skips, text_column="doc.body", id_column="doc.n")) == [("1", "x")]
    assert skips.places == {"no_text": ["row 2"]}
    partial(path, UsageError, text_column="none")
    assert read(table(tmp_path, {"text": pa.array([], pa.string())}, "e.parquet")) == []


def test_parquet_compressed_streamed_and_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(tmp_path, {"id": ["1"], "text": ["a"]}).read_bytes()
    for ending, pack in PACK.items():
        assert pairs(read(write(tmp_path, f"x.parquet{ending}", pack(data)))) == [("1", "a")]
    feed_stdin(monkeypatch, data)
    assert pairs(read("-", format="parquet")) == [("1", "a")]
    partial(write(tmp_path, "d.parquet", data[:-20]), SourceError)
    partial(write(tmp_path, "e.parquet", b""), SourceError)


def test_text(tmp_path: Path) -> None:
    skips = Skips()
    (row,) = read(write(tmp_path, "a.txt", b"\xef\xbb\xbfone\ntwo \xff"), skips)
    assert (row["id"], row["title"], row["text"]) == ("a.txt", None, "one\ntwo \ufffd")
    assert skips.places == {"replaced_bytes": ["a.txt"]}
    assert read(write(tmp_path, "b.txt", b"")) == []


def test_text_too_long(tmp_path: Path) -> None:
    skips = Skips()
    assert read(write(tmp_path, "a.txt", b"x" * 1025), skips, max_text=1024) == []
    assert skips.places == {"too_long_text": ["a.txt"]}


def test_lines(tmp_path: Path) -> None:
    skips = Skips()
    rows = read(write(tmp_path, "a.txt", b"one\r\n\n  \nfour\n\xff\nsix"), skips, format="lines")
    assert pairs(rows) == [("1", "one"), ("4", "four"), ("6", "six")]
    assert skips.counts == {"no_text": 2, "bad_utf8": 1}
    assert skips.places == {"bad_utf8": ["line 5"]}


@pytest.mark.parametrize("name", ["e.tsv", "e.csv", "e.jsonl", "e.txt", "e.xml"])
def test_empty_files(tmp_path: Path, name: str) -> None:
    assert read(write(tmp_path, name, b"")) == []


@pytest.mark.parametrize("source_format", ["tsv", "csv", "jsonl", "lines", "parquet"])
def test_batches_are_bounded_and_limited(tmp_path: Path, source_format: str) -> None:
    texts = ["short text"] * 10_000 + ["x" * 5_000_000] + ["y" * 30_000] * 200
    numbered = list(enumerate(texts))
    if source_format == "parquet":
        path = table(tmp_path, {"id": [str(n) for n, _ in numbered], "text": texts})
    else:
        make = {
            "tsv": lambda n, text: f"{n}\t{text}\n",
            "csv": lambda n, text: f"{n},{text}\n",
            "jsonl": lambda n, text: json.dumps({"id": n, "text": text}) + "\n",
            "lines": lambda n, text: text + "\n",
        }[source_format]
        path = write(tmp_path, "t.x", "".join(make(n, text) for n, text in numbered))
    header = False if source_format == "csv" else None
    reading = Reading.of(format=source_format, header=header)
    with DocumentStream(discover([str(path)], reading)[0], Skips()) as stream:
        batches = list(stream)
    assert [text for batch in batches for text in batch.column("text").to_pylist()] == texts
    for batch in batches:
        size = sum(map(len, batch.column("text").to_pylist()))
        assert batch.num_rows <= 4096
        assert size <= 2**21 or batch.num_rows == 1
    for limit in (0, 1, 5000):
        assert len(read(path, format=source_format, header=header, limit=limit)) == limit


def test_all_columns_with_their_names(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "title": "A|B", "price": "7.5", "": "x"},
        {"id": "2", "title": " ", "price": "3", "": ""},
        {"id": "3", "title": "", "price": "", "": ""},
    ]
    expected = [("1", "title: A¦B | price: 7.5 | 3: x"), ("2", "price: 3")]
    lines = "".join(f"{row['id']},{row['title']},{row['price']},{row['']}\n" for row in rows)
    sources = [
        write(tmp_path, "t.csv", f"id,title,price,\n{lines}4\n"),
        write(tmp_path, "t.tsv", f"id,title,price,\n{lines}".replace(",", "\t")),
        write(tmp_path, "t.jsonl", "".join(json.dumps(row) + "\n" for row in rows)),
        write(tmp_path, "t.json", json.dumps(rows)),
    ]
    pq.write_table(pa.Table.from_pylist(rows), parquet := tmp_path / "t.parquet")
    for source in (*sources, parquet):
        options = {"header": True} if source.suffix == ".tsv" else {}
        assert pairs(read(source, text_column="*", **options)) == expected, source
    assert texts_of(table_of(rows), "*").to_pylist() == [text for _, text in expected] + [""]
    nested = write(tmp_path, "n.jsonl", json.dumps({"id": 1, "a": {"b": [1, "c"]}, "d": None, "e": True}) + "\n")
    assert pairs(read(nested, text_column="*")) == [("1", "a.b: 1 c | e: true")]
    with pytest.raises(UsageError, match="needs names of columns; give --header"):
        read(sources[1], text_column="*")
    with pytest.raises(UsageError, match="no column besides the ids"):
        read(write(tmp_path, "i.csv", "id\n1\n"), text_column="*")


def test_labelled_texts_become_columns_again() -> None:
    columns = columns_of_texts(pa.array(["a: x | b: 1: 2", "b: 3", "no label"], pa.large_string()))
    assert {name: column.to_pylist() for name, column in columns.items()} == {
        "a": ["x", None, None], "b": ["1: 2", "3", None], "text": [None, None, "no label"],
    }  # fmt: skip
    assert columns_of_texts(pa.array([], pa.large_string())) == {}
