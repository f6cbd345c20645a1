"""Parquet whose row groups need more memory than they say."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from esdedup.errors import SourceError
from esdedup.formats.compression import opener
from esdedup.formats.parquet_pages import pages
from tests.contract.formats.format_samples import text_of
from tests.support.sources import PACK, partial, read

WAYS: list[dict[str, Any]] = [
    {},
    {"compression": "NONE"},
    {"compression": "ZSTD", "use_dictionary": False},
    {"compression": "GZIP", "data_page_version": "2.0"},
    {"data_page_size": 1000, "write_statistics": False},
    {"row_group_size": 100, "write_page_index": True},
    {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}},
]


def table(rows: int = 3000) -> pa.Table:
    return pa.table(
        {
            "id": [str(number) for number in range(rows)],
            "text": [text_of(number % 700) if number % 9 else None for number in range(rows)],
            "more": [[number, None] for number in range(rows)],
        }
    )


@pytest.mark.parametrize("way", WAYS, ids=map(str, WAYS))
def test_the_headers_of_pages_are_read(tmp_path: Path, way: dict[str, Any]) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table(), path, **way)
    metadata = pq.read_metadata(path)
    with path.open("rb") as file:
        for group in range(metadata.num_row_groups):
            for index in range(metadata.num_columns):
                column = metadata.row_group(group).column(index)
                found = list(pages(file, column))
                assert found
                assert any(page.dictionary for page in found) == column.has_dictionary_page
                # what the footer says is with the headers
                assert sum(page.size for page in found) <= column.total_uncompressed_size
    assert len(read(path)) == sum(1 for number in range(3000) if number % 9)


def test_a_page_that_is_too_large_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with pq.ParquetWriter(path, pa.schema([("text", pa.string())])) as writer:
        writer.write_table(pa.table({"text": ["a text of a few words"]}))
        writer.write_table(pa.table({"text": ["x" * 20_000_000]}))
    rows, message = partial(path, SourceError, max_text=2**20)
    assert [row["text"] for row in rows] == ["a text of a few words"]
    assert "row group 2 of 2: the column 'text' has a page of 20,000" in message
    assert "more than 12,582,912; write the file with smaller pages or row groups, or increase" in message
    assert len(read(path, max_text=2**25)) == 2


def test_a_value_that_stands_in_very_many_rows_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    large = pa.array(["y" * 2**20])
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), large)
    pq.write_table(pa.table({"id": [str(number) for number in range(20_000)], "text": column}), path)
    assert path.stat().st_size < 2**20
    before, most = pa.total_allocated_bytes(), 0
    tracemalloc.start()
    from esdedup.columns.records import Skips
    from esdedup.formats.locations import discover
    from esdedup.formats.reading_options import Reading
    from esdedup.formats.stream import DocumentStream

    with DocumentStream(discover([str(path)], Reading.of())[0], Skips()) as stream:
        for number, _ in enumerate(stream):
            most = max(most, pa.total_allocated_bytes() - before)
            if number > 300:
                break
    tracemalloc.stop()
    assert most < 2**29


@pytest.mark.parametrize("cut", [40, 400, 4000])
def test_damaged_headers_are_one_line(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table(), path, compression="NONE")
    data = bytearray(path.read_bytes())
    data[4 : 4 + cut] = b"\xff" * cut
    path.write_bytes(data)
    partial(path, SourceError)


def test_a_copy_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet.gz"
    pq.write_table(table(), tmp_path / "b.parquet")
    data = (tmp_path / "b.parquet").read_bytes()
    path.write_bytes(PACK[".gz"](data))
    assert len(read(path)) > 2000
    monkeypatch.setattr(opener, "MOST_COPIED", len(data) - 1)
    _, message = partial(path, SourceError)
    assert f"takes more than {len(data) - 1:,} bytes" in message
    assert "unpack it yourself" in message
    path.write_bytes(PACK[".gz"](b"no table at all"))
    _, message = partial(path, SourceError)
    assert "does not begin as it should" in message
