"""Parquet tables written again: rows, texts, and all that a table has beside them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from esdedup.errors import SourceError
from esdedup.formats import parquet_table
from tests.support.rewriting import CLUSTER, ENDINGS, members, packed, rewrite, texts, unpacked
from tests.support.sources import pack_7z

TEXTS = ["One. Two.", None, "Three. Four.", "Five.", " ", "Six. Seven. Eight."]


def table(**columns: Any) -> pa.Table:
    found = {
        "id": pa.array(range(6), pa.int32()),
        "text": pa.array(TEXTS),
        "other": pa.array([[{"x": n}] for n in range(6)]),
        **columns,
    }
    fields = [pa.field(name, array.type, metadata={"about": name}) for name, array in found.items()]
    return pa.table(list(found.values()), pa.schema(fields, metadata={"made": "by hand"}))


def file_of(found: pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(found, file, **{"row_group_size": 2, "compression": {"id": "NONE", "text": "ZSTD"}, **options})
    return file.getvalue()


def as_read(found: pa.Table) -> pa.Table:
    """A table with the inner names that Parquet gives it."""
    return read(file_of(found))


def read(data: bytes) -> pa.Table:
    return pq.ParquetFile(io.BytesIO(data)).read()


@pytest.mark.parametrize("ending", ENDINGS)
def test_rows(tmp_path: Path, ending: str) -> None:
    (tmp_path / "in").mkdir()
    data = file_of(table())
    path = packed(tmp_path / "in" / f"t.parquet{ending}", data)
    done = rewrite(path, tmp_path)
    assert unpacked(done.path) == data
    assert done.documents == 6
    done = rewrite(path, tmp_path, {3: [0], 4: [0], 6: [0]}, {1: [0]})
    assert (done.documents, done.documents_dropped) == (3, 3)
    written = read(unpacked(done.path))
    assert written.equals(as_read(table().take([0, 1, 4])), check_metadata=True)
    again = rewrite(path, tmp_path / "again", {3: [0], 4: [0], 6: [0]}, {1: [0]})
    assert again.path.read_bytes() == done.path.read_bytes()


@pytest.mark.parametrize("version", ["1.0", "2.4", "2.6"])
def test_the_habits_of_the_file(tmp_path: Path, version: str) -> None:
    (tmp_path / "in").mkdir()
    for codec in ("NONE", "SNAPPY", "GZIP", "BROTLI", "LZ4", "ZSTD"):
        path = tmp_path / "in" / "t.parquet"
        path.write_bytes(file_of(table(), compression=codec, version=version))
        before, after = (pq.ParquetFile(found) for found in (path, rewrite(path, tmp_path, {3: [0]}).path))
        assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
        assert after.schema == before.schema
        assert after.metadata.format_version == before.metadata.format_version
        assert after.metadata.metadata.keys() == before.metadata.metadata.keys()
        assert after.metadata.metadata[b"made"] == b"by hand"
        groups = [after.metadata.row_group(group) for group in range(after.metadata.num_row_groups)]
        assert [group.num_rows for group in groups] == [2, 1, 2]
        for column in range(3):
            assert groups[0].column(column).compression == before.metadata.row_group(0).column(column).compression
    # a table that was not made with Arrow
    with pq.ParquetWriter(path, table().schema, store_schema=False) as writer:
        writer.write_table(table())
        writer.add_key_value_metadata({"made": "elsewhere"})
    after = pq.ParquetFile(rewrite(path, tmp_path, {3: [0]}).path)
    assert after.metadata.metadata == {b"made": b"elsewhere"}


@pytest.mark.parametrize(
    "column",
    [
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS).dictionary_encode(),
        pa.array([*(text and text.encode() for text in TEXTS[:3]), b"\xff", b" ", TEXTS[5]], pa.binary()),
    ],
    ids=["string", "large", "dictionary", "binary"],
)
def test_texts(tmp_path: Path, column: pa.Array) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "t.parquet"
    path.write_bytes(file_of(table(text=column)))
    done = rewrite(path, tmp_path, {1: [1], 3: [0, 1], 6: [1]}, {6: [0]}, unit="sentence")
    assert (done.documents, done.documents_dropped, done.sentences_dropped) == (5, 1, 2)
    written = read(done.path.read_bytes())
    rest = as_read(table(text=column).take([0, 1, 3, 4, 5]))
    assert written.drop_columns("text").equals(rest.drop_columns("text"), check_metadata=True)
    assert written.schema.equals(rest.schema, check_metadata=True)
    found = [text.decode("latin-1") if isinstance(text, bytes) else text for text in written["text"].to_pylist()]
    assert found[:2] == ["One.", None]
    assert found[2] in ("Five.", "\xff")
    assert found[3:] == [" ", "Six. Eight."]


def test_nested_texts(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "t.parquet"
    rows: list[Any] = [{"in": {"body": text}, "n": number} for number, text in enumerate(TEXTS)]
    rows[3] = None
    path.write_bytes(file_of(table(doc=pa.array(rows)).drop_columns("text"), compression="SNAPPY"))
    done = rewrite(path, tmp_path, {1: [0], 6: [2]}, unit="sentence", text_column="doc.in.body")
    rows[0] = {"in": {"body": "Two."}, "n": 0}
    rows[5] = {"in": {"body": "Six. Seven."}, "n": 5}
    assert read(done.path.read_bytes())["doc"].to_pylist() == rows


def test_annotations(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "t.parquet"
    path.write_bytes(file_of(table()))
    done = rewrite(path, tmp_path, {3: [1]}, {3: [0]}, unit="sentence", annotate=True)
    written = read(done.path.read_bytes())
    assert written.drop_columns("esdedup").equals(as_read(table()), check_metadata=True)
    notes = [json.loads(note) for note in written["esdedup"].to_pylist()]
    assert notes == [
        [],
        [],
        [{"position": 0, "cluster": CLUSTER, "keep": True}, {"position": 1, "cluster": CLUSTER, "keep": False}],
        [],
        [],
        [],
    ]
    # annotations of an earlier run are replaced
    again = rewrite(done.path, tmp_path / "again", {3: [0]}, annotate=True)
    written = read(again.path.read_bytes())
    assert written.column_names == ["id", "text", "other", "esdedup"]
    assert json.loads(written["esdedup"][2].as_py()) == {"cluster": CLUSTER, "keep": False}


def test_archive_and_empty_tables(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    empty = file_of(table().slice(0, 0))
    path = pack_7z(tmp_path / "in" / "t.parquet.7z", {"a": file_of(table()), "b": empty, "c": file_of(table())})
    done = rewrite(path, tmp_path, {9: [0]}, {1: [0]})
    found = members(done.path)
    assert read(found["a"]).equals(as_read(table()))
    assert found["b"] == empty
    assert read(found["c"]).equals(as_read(table().take([0, 1, 3, 4, 5])))


def test_large_row_groups_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_table, "_GROUP_BYTES", 2**18)
    monkeypatch.setattr(parquet_table, "_ROWS_AT_ONCE", 100)
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "t.parquet"
    long = ["word " * 100 + str(number) for number in range(3000)]
    pq.write_table(pa.table({"text": long}), path)
    done = rewrite(path, tmp_path, {1000: [0]})
    assert texts(done.path) == [*long[:999], *long[1000:]]
    assert pq.ParquetFile(done.path).metadata.num_row_groups > 3


def test_damage(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "t.parquet"
    long = ["word " * 100 + str(number) for number in range(3000)]
    pq.write_table(pa.table({"text": long}), path, row_group_size=1000, compression="ZSTD", use_dictionary=False)
    data = bytearray(path.read_bytes())
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    begin = column.data_page_offset
    data[begin : begin + column.total_compressed_size] = b"\0" * column.total_compressed_size
    path.write_bytes(data)
    with pytest.raises(SourceError):
        rewrite(path, tmp_path, {2: [0]})
    assert [found.name for found in tmp_path.iterdir()] == ["in"]
    done = rewrite(path, tmp_path, {2: [0], 2500: [0]}, keep_going=True)
    assert texts(done.path) == [long[0], *long[2:1000]]
    path.write_bytes(data[:-30])
    assert not rewrite(path, tmp_path / "again", {2: [0]}, keep_going=True).path.exists()
