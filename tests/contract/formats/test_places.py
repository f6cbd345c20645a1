"""Each document's place: the ordinal of its raw record in the source, whatever was skipped before it."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from esdedup.formats import batches
from esdedup.formats import line_format as lines
from tests.support.sources import export, pack_7z, page, read, revision


def table(texts: list[str | None]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"id": [str(n) for n in range(len(texts))], "text": pa.array(texts, pa.string())}), file)
    return file.getvalue()


WIKI = export(
    page(7, "One", revision(1, "a")),
    page(8, "Talk:One", revision(2, "b")),
    page(9, "Two", revision(3, "#REDIRECT [[One]]")),
    page(10, "Three"),
    page(11, "Four", revision(4, "c"), revision(5, "d")),
    page(12, "Five", revision(6, "#REDIRECT [[One]]")),
)
# format: bytes, raw records in them, places of the documents
CASES: dict[str, tuple[bytes, int, list[int]]] = {
    "tsv": (b"\xef\xbb\xbfa\tone\r\n\r\nb\n\tno id\nc\t\xff\nd\ttwo\n\ne\tthree\n\n", 9, [1, 6, 8]),
    "csv": (
        b'\nid,text\n1,"a\n\nb"\r\n\n2\n3,\xff\n4,"x"y\n5,fine\n"6\n","in\r\nthree\n lines"\n7,last',
        15,
        [3, 10, 11, 15],
    ),
    "jsonl": (b'{"text": "a"}\n\nnot json\n[]\n{"text": "\xff"}\n{}\n{"text": "b"}\n{', 8, [1, 7]),
    "lines": (b"one\n\n \nfour\n\xff\nsix", 6, [1, 4, 6]),
    "parquet": (table(["a", None, "", "b", " ", "c"]), 6, [1, 4, 6]),
    "text": (b"a\nb", 1, [1]),
    "wikipedia": (WIKI, 6, [1, 5]),
}


def places(path: Path, **options: object) -> list[int]:
    return [row["place"] for row in read(path, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", CASES)
def test_places_count_raw_records(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, _, expected = CASES[kind]
    path = tmp_path / "file"
    path.write_bytes(data)
    assert places(path, format=kind) == expected
    assert places(path, format=kind, limit=2) == expected[:2]
    monkeypatch.setattr(lines, "BLOCK", 8)
    monkeypatch.setattr(batches, "MAX_ROWS", 1)
    assert places(path, format=kind) == expected


@pytest.mark.parametrize("kind", CASES)
def test_places_go_on_over_the_members_of_an_archive(tmp_path: Path, kind: str) -> None:
    data, records, expected = CASES[kind]
    path = pack_7z(tmp_path / "file.7z", {"one": data, "two": data, "three": data})
    assert places(path, format=kind) == [member * records + place for member in range(3) for place in expected]


def test_revisions_of_a_page_share_its_place(tmp_path: Path) -> None:
    path = pack_7z(tmp_path / "file.7z", {"one.xml": WIKI, "two.xml": WIKI})
    assert places(path, format="wikipedia", revisions="all") == [1, 5, 5, 7, 11, 11]


def test_giant_lines_have_a_place(tmp_path: Path) -> None:
    giant = b"x" * 2**21
    path = pack_7z(
        tmp_path / "f.7z", {"a.txt": b"one\n" + giant + b"\n" + giant + b"\nfour\n" + giant, "b.txt": b"six"}
    )
    assert places(path, format="lines", max_text=2**20) == [1, 4, 6]


def test_places_rise_over_many_batches(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,text\n" + "".join(f'{number},"a\nb"\n\n' for number in range(20_000)))
    found = places(path)
    assert found == list(range(2, 60_002, 3))
    assert all(one < two for one, two in pairwise(found))
