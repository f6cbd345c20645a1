"""JSON arrays, Arrow tables, views of strings, and texts in lists."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import esdedup
from esdedup.columns.records import Skips
from esdedup.errors import SourceError, UsageError
from esdedup.formats.json_array import Values
from esdedup.formats.locations import discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.stream import DocumentStream
from tests.support.rewriting import rewrite
from tests.support.sources import read

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\,[]{} é\n'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='"]}', max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=6), st.integers(1, 9), st.sampled_from([",", ", ", ",\n  ", "\n,\t"]))
def test_the_values_of_an_array(values: list[Any], step: int, between: str) -> None:
    data = f" [\n{between.join(map(json.dumps, values))}\n]\n".encode()
    parts = list(Values(iter([data[at : at + step] for at in range(0, len(data), step)]), 2**20, "x"))
    assert [json.loads(part.data) for part in parts if part.number] == values
    assert b"".join(part.data + part.behind for part in parts) == data


ROWS = [{"id": "a", "text": "one two"}, {"id": "b", "text": "three, [four]"}, {"id": "c", "text": "five"}]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(ROWS), json.dumps(ROWS, indent=2), "\ufeff" + json.dumps(ROWS), "\n".join(map(json.dumps, ROWS)),
        "".join(json.dumps(row, indent=1) + "\n" for row in ROWS), ",\n".join(map(json.dumps, ROWS)) + "\n",
    ],
)  # fmt: skip
def test_json_files(tmp_path: Path, data: str) -> None:
    path = tmp_path / "in.json"
    path.write_text(data, "utf-8")
    assert [(row["id"], row["text"]) for row in read(path)] == [(row["id"], row["text"]) for row in ROWS]
    assert rewrite(path, tmp_path / "same").path.read_bytes() == path.read_bytes()
    for drops in ([1], [2], [3], [1, 3], [1, 2, 3]):
        left = [row for at, row in enumerate(ROWS, 1) if at not in drops]
        done = rewrite(path, tmp_path / "out", {at: [0] for at in drops})
        if "[{" in data.replace("[\n  {", "[{"):
            assert json.loads(done.path.read_bytes().decode("utf-8-sig")) == left
        else:
            assert [(row["id"]) for row in read(done.path)] == [row["id"] for row in left]


def test_json_that_is_damaged_or_no_table(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    for data, words in (
        (json.dumps(ROWS)[:-10], "ends inside its array, after value 2"),
        (json.dumps(ROWS) + json.dumps(ROWS), "more behind the end of its array"),
        ('{"a": [1, 2', "ends inside a value"),
    ):
        path.write_text(data)
        with pytest.raises(SourceError, match=words):
            read(path)
    path.write_text('[1, "x", {"text": "a"}, {"other": 1}, [2]]')
    skips = Skips()
    assert [row["id"] for row in read(path, skips)] == ["3"]
    assert skips.counts == {"bad_json": 3, "no_text": 1}
    lines = tmp_path / "in.jsonl"
    for data in (json.dumps(ROWS), json.dumps(ROWS, indent=1), "[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]\n"):
        lines.write_text(data)
        with pytest.raises(UsageError, match=r"holds an array .* --format json"):
            read(lines)
    # commas between objects do no harm
    lines.write_text(",\n".join(map(json.dumps, ROWS)) + "\n")
    assert len(read(lines)) == 3
    left = rewrite(lines, tmp_path / "out", {1: [0]}, annotate=True).path.read_text().splitlines()
    assert [line.endswith("},") for line in left] == [True, True, False]


def stream(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def ipc(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table, max_chunksize=2)


WRITERS: list[tuple[str, Callable[[pa.Table, Path], None]]] = [
    ("t.parquet", lambda table, path: pq.write_table(table, path)),
    ("t.arrow", ipc), ("t.arrows", stream), ("t.feather", lambda table, path: feather.write_feather(table, path)),
]  # fmt: skip
SAME = ["The mill stands here.", "The mill stands here.", None, "Another text", "Another text", "A third one"]
VIEWS: dict[str, tuple[pa.DataType, Callable[[Any], Any]]] = {
    "text": (pa.string_view(), lambda text: text),
    "bytes": (pa.binary_view(), lambda text: text and text.encode()),
    "list": (pa.list_(pa.string_view()), lambda text: text and [text, None]),
    "struct": (pa.struct([("x", pa.string_view())]), lambda text: {"x": text}),
    "deep": (pa.list_(pa.struct([("y", pa.binary_view())])), lambda text: text and [{"y": text.encode()}]),
    "views": (pa.list_view(pa.int32()), lambda text: text and [len(text)]),
}


def views(*names: str) -> pa.Table:
    columns = {"id": pa.array(list("abcdef"), pa.string_view())}
    for name in names:
        kind, value = VIEWS[name]
        columns[name] = pa.array(list(map(value, SAME)), kind)
    return pa.table(columns)


def table_in(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return pq.read_table(path)
    data = path.read_bytes()
    return (pa.ipc.open_file(data) if data.startswith(b"ARROW1") else pa.ipc.open_stream(data)).read_all()


@pytest.mark.parametrize(("name", "write"), WRITERS, ids=[name for name, _ in WRITERS])
@pytest.mark.parametrize("unit", ["record", "sentence"])
def test_views_anywhere_in_a_schema(
    tmp_path: Path, name: str, write: Callable[[pa.Table, Path], None], unit: str
) -> None:
    kinds = [kind for kind in VIEWS if name != "t.parquet" or kind not in ("list", "deep", "views")]
    table, path = views(*kinds), tmp_path / name
    write(table, path)
    assert len(read(path)) == 5
    assert rewrite(path, tmp_path / "same").path.read_bytes() == path.read_bytes()
    left = table_in(rewrite(path, tmp_path / "out", {2: [0], 5: [0]}, unit=unit).path)
    assert left.schema == table.schema
    assert left.to_pylist() == [row for row in table.to_pylist() if row["id"] not in "be"]
    found = esdedup.dedupe(table)
    assert found.kept.schema == table.schema
    assert found.kept["id"].to_pylist() == ["a", "c", "d", "f"]


def test_views_in_lists_of_a_parquet_file_of_others(tmp_path: Path) -> None:
    # the library cannot write them
    kinds = {"list": pa.list_(pa.string()), "deep": pa.list_(pa.struct([("y", pa.binary())]))}
    table = views("text", *kinds)
    plain = table.cast(pa.schema([field.with_type(kinds.get(field.name, field.type)) for field in table.schema]))
    with pq.ParquetWriter(
        tmp_path / "t.parquet", plain.schema, store_schema=False, use_compliant_nested_type=False
    ) as writer:
        writer.write_table(plain)
        writer.add_key_value_metadata({b"ARROW:schema": b64encode(table.schema.serialize().to_pybytes())})
    left = table_in(rewrite(tmp_path / "t.parquet", tmp_path / "out", {2: [0], 5: [0]}).path)
    assert left.schema == table.schema
    assert left.to_pylist() == [row for row in table.to_pylist() if row["id"] not in "be"]


def test_frames_with_views(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": list("abcdef"), "text": SAME, "tags": [[text or ""] for text in SAME]})
    assert esdedup.dedupe(frame).kept["id"].to_list() == ["a", "c", "d", "f"]
    assert esdedup.dedupe(pa.table(frame)).kept.num_rows == 4
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ipc(tmp_path / "t.arrow", compression="zstd")
    for name in ("t.parquet", "t.arrow"):
        esdedup.dedupe(tmp_path / name, out=tmp_path / "out", fresh=True)
        assert pl.DataFrame(table_in(tmp_path / "out" / name)).equals(esdedup.dedupe(frame).kept)
    long = pl.DataFrame(
        {"id": range(2000), "text": [f"{number % 1000} and more {'words ' * 9}" for number in range(2000)]}
    )
    long.write_ipc(tmp_path / "long.arrow", compression="zstd")
    left = rewrite(tmp_path / "long.arrow", tmp_path / "out", {3: [0]}).path
    assert b"\x28\xb5\x2f\xfd" in left.read_bytes(), "still compressed"
    assert table_in(left).num_rows == 1999


def test_texts_in_a_dictionary(tmp_path: Path) -> None:
    texts = ["The mill stands. It is old.", "The other mill stands. It is old.", None]
    words = pa.array(texts, pa.string()).dictionary_encode()
    for kind in (pa.string(), pa.string_view()):
        table = pa.table({"text": pa.DictionaryArray.from_arrays(words.indices, words.dictionary.cast(kind))})
        for name, write in WRITERS[2:]:
            write(table, tmp_path / name)
            assert [row["text"] for row in read(tmp_path / name)] == texts[:2]
            left = table_in(rewrite(tmp_path / name, tmp_path / "out", {2: [1]}, unit="sentence").path)
            assert left.schema == table.schema
            assert left["text"].to_pylist() == [texts[0], "The other mill stands.", None]
        assert esdedup.dedupe(table, unit="record", min_chars=0).kept.num_rows == 2
    with pa.ipc.new_file(tmp_path / "two.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    with pytest.raises(UsageError, match="one dictionary"):
        rewrite(tmp_path / "two.arrow", tmp_path / "out", {1: [1], 2: [1]}, unit="sentence")


def test_damaged_arrow(tmp_path: Path) -> None:
    path = tmp_path / "t.feather"
    path.write_bytes(b"FEA1" + b"\0" * 40)
    with pytest.raises(SourceError, match="Feather of version 1"):
        read(path)
    for data in (b"", b"ARROW1\0\0 and more", b"\xff" * 80):
        path.write_bytes(data)
        with pytest.raises(SourceError, match="cannot be read as Arrow"):
            read(path)


def test_half_an_arrow_file_has_the_rows_before_its_end(tmp_path: Path) -> None:
    path, skips = tmp_path / "t.arrow", Skips()
    with pa.ipc.new_file(path, pa.schema([("text", pa.string())])) as writer:
        for number in range(10):
            writer.write_batch(pa.record_batch({"text": [f"text {number}.{row}" for row in range(100)]}))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (source,) = discover([str(path)], Reading.of())
    rows: list[str] = []
    with pytest.raises(SourceError, match="cannot be read as Arrow"), DocumentStream(source, skips) as stream:
        for batch in stream:
            rows += batch["text"].to_pylist()
    assert len(rows) in (400, 500)
    assert rows[-1] == f"text {len(rows) // 100 - 1}.99"
    done = rewrite(path, tmp_path / "out", {1: [0]}, keep_going=True)
    assert table_in(done.path)["text"].to_pylist() == rows[1:]


CHATS = [
    [{"role": "user", "content": "Where is the mill?"}, {"role": "system", "content": "By the river."}],
    [{"role": "user", "content": "Where is the mill?"}, {"role": "none", "content": "By the river."}],
    [],
    None,
    [{"role": "user", "content": None}, {"role": "user", "content": "Who built it?"}],
]
CHAT = pa.table({"id": list("vwxyz"), "messages": CHATS})
TEXTS = [("v", "Where is the mill?\nBy the river."), ("w", "Where is the mill?\nBy the river."), ("z", "Who built it?")]


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.parquet", "t.arrow"])
def test_texts_in_lists(tmp_path: Path, name: str) -> None:
    path, column = tmp_path / name, "messages[].content"
    rows = CHAT.to_pylist()
    if name == "t.json":
        path.write_text(json.dumps(rows, indent=1))
    elif name == "t.jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        dict(WRITERS)[name](CHAT, path)
    skips = Skips()
    assert [(row["id"], row["text"]) for row in read(path, skips, text_column=column)] == TEXTS
    assert skips.counts == {"no_text": 2}
    done = esdedup.dedupe(path, out=tmp_path / "out", text_column=column)
    assert (done.records["kept"], done.records["not_compared"]) == (4, {"without text (--text-column)": 2})
    with pytest.raises(UsageError, match="of a list; use --unit record"):
        rewrite(path, tmp_path / "x", {1: [0]}, unit="sentence", text_column=column)


@pytest.mark.parametrize(
    "data",
    [CHAT, CHAT.to_pylist(), pl.DataFrame(CHAT), CHAT.to_pandas(), CHAT.cast(pa.schema([
        ("id", pa.large_string()), ("messages", pa.large_list(CHAT.schema.field("messages").type.value_type)),
    ]))],
)  # fmt: skip
def test_texts_in_lists_in_memory(data: Any) -> None:
    assert [row["id"] for row in esdedup.dedupe(data, columns="messages[].content").dropped] == ["w"]


def test_nested_lists_and_lists_of_texts(tmp_path: Path) -> None:
    rows = [{"id": "1", "a": [{"b": [{"c": "x y"}, {"c": "z"}]}, {"b": []}, {"d": 1}], "tags": ["p", "q", None]}]
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(rows[0]) + "\n")
    assert read(path, text_column="a[].b[].c")[0]["text"] == "x y\nz"
    assert read(path, text_column="tags")[0]["text"] == read(path, text_column="tags[]")[0]["text"] == "p\nq"
    parquet = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pylist(rows), parquet)
    assert read(parquet, text_column="a[].b[].c")[0]["text"] == "x y\nz"
    assert read(parquet, text_column="tags")[0]["text"] == read(parquet, text_column="tags[]")[0]["text"] == "p\nq"


@pytest.mark.parametrize("data", [[], iter([]), pl.DataFrame(), pa.table({}), pl.DataFrame(schema={"c1": pl.String})])
def test_nothing_in_memory(data: Any) -> None:
    for options in ({}, {"columns": ["c1"]}, {"columns": "c1"}):
        found = esdedup.dedupe(data, **options)
        assert (len(found.kept), found.dropped, found.records["in"]) == (0, [], 0)
