"""Any bytes as tables, as dumps, as compressed files: rows, counted skips, or one of our own errors."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esdedup.columns.records import PLACES_KEPT, Skips
from esdedup.errors import EsdedupError, UsageError
from esdedup.formats.compression.opener import Member
from esdedup.formats.protocol import Walk
from esdedup.formats.reading_options import Reading
from tests.support.sources import PACK, export, pack_7z, page, read, revision
from tests.system.robustness.fuzzing import Change, changed, changes, with_seeds


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """Thousands of warnings say nothing."""
    logger = logging.getLogger("esdedup")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def rows_of(batches: Iterator[pa.RecordBatch]) -> tuple[list[dict[str, Any]], str]:
    """The rows, and how it ended."""
    rows: list[dict[str, Any]] = []
    try:
        for batch in batches:
            batch.validate(full=True)
            rows += batch.to_pylist()
    except EsdedupError as error:
        return rows, str(error)
    return rows, ""


_CELLS = b"""
    " "" , id text title a 1 { } [ ] : "text": "id": "a.b" null 1e999 NaN - \\ \\ud800 \\u0000
"""
CELLS = [
    *_CELLS.split(),
    *(b"\t", b"\n", b"\r", b"\r\n", b"\0", b" ", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xe2\x80\xa8"),
    *(b"9" * 30, b'{"id":1,"text":"x"}\n', b'{"a":{"b":[{"text":"y"}]}}\n', b"1,x\n", b"1\tx\n", b"id,text\n"),
]
TABLE = st.lists(st.sampled_from(CELLS) | st.binary(max_size=4), max_size=25).map(b"".join) | st.binary(max_size=60)
COLUMN = st.none() | st.sampled_from(["line", "1", "2", "3", "id", "text", "title", "a.b.0.text", "0", "9" * 5000])
OPTIONS = st.fixed_dictionaries(
    {
        "header": st.sampled_from([None, True, False]),
        "separator": st.sampled_from([None, None, " ", "\0", "\\", "é", "1"]),
        "id_column": COLUMN,
        "title_column": COLUMN,
        "text_column": COLUMN,
    }
)


def batches_of(kind: str, data: Iterator[bytes], skips: Skips, **options: Any) -> Iterator[pa.RecordBatch]:
    form = Reading.of(**options).format_named(kind)
    return form.read(Member(None, data), Walk(f"a.{kind}", "a", skips))


def read_table(kind: str, data: bytes, size: int, options: dict[str, Any]) -> tuple[Any, ...]:
    skips = Skips()
    try:
        batches = batches_of(kind, pieces(data, size), skips, **options)
    except UsageError as error:
        return (str(error),)
    return *rows_of(batches), skips


@with_seeds(".tsv", 1, {}, "tsv")
@with_seeds(".csv", 2, {}, "csv")
@with_seeds(".jsonl", 3, {}, "jsonl")
@given(TABLE, st.integers(1, 9), OPTIONS, st.sampled_from(["tsv", "csv", "jsonl"]))
@settings(max_examples=400)
def test_any_table_reads_the_same_however_it_is_cut(data: bytes, size: int, options: dict[str, Any], kind: str) -> None:
    found = read_table(kind, data, len(data) + 1, options)
    assert found == read_table(kind, data, size, options)
    if len(found) > 1:
        assert all(len(places) <= PLACES_KEPT for places in found[2].places.values())


DUMP = export(
    page(1, "One", revision(1, "a &amp; <![CDATA[b]]>"), revision(2, "c")),
    page(2, "Zwölf", revision(3, "d"), head="<ns>0</ns>"),
)
DUMPS = [DUMP, DUMP.decode().encode("utf-16"), page(1, "One", revision(1, "a")).encode() * 2]
_TAGS = b"""
    <page> </page> <revision> </revision> <text> </text> <ns> <id> --5 <!-- --> <![CDATA[ ]]> &amp; &x; &#0; < > / " :
    { <a:b> <mediawiki> </mediawiki> <siteinfo> <upload>
"""
TAGS = [*_TAGS.split(), b"<?a b?>", b"<!DOCTYPE a>", b' key="--1"', b"\0", b"\xff", b"\xef\xbb\xbf"]


@with_seeds(".xml", [], 1, "all")
@given(st.sampled_from(DUMPS), changes(TAGS, 5), st.sampled_from([5, 64, 10**6]), st.sampled_from(["latest", "all"]))
@settings(max_examples=400)
def test_any_dump_is_read_up_to_its_damage(data: bytes, made: list[Change], size: int, revisions: str) -> None:
    skips = Skips()
    cut = pieces(changed(data, made), size)
    rows, _ = rows_of(batches_of("wikipedia", cut, skips, revisions=revisions))
    assert len(rows) <= 100
    assert all(len(places) <= PLACES_KEPT for places in skips.places.values())


LINES = b"".join(b"%d\tline %d of a small table\n" % (n, n * n) for n in range(200))


@cache
def packed(ending: str, folder: Path) -> bytes:
    if ending == ".7z":
        return pack_7z(folder / "a.7z", {"a.tsv": LINES}).read_bytes()
    return PACK[ending](LINES)


@given(
    st.sampled_from([".gz", ".bz2", ".xz", ".lzma", ".zst", ".7z"]),
    changes([b"\0", b"BZh9", b"\xff" * 8], 3),
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), max_size=4),
    st.sampled_from([1, 2]),
)
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_compressed_bytes_are_read_up_to_their_damage(
    tmp_path: Path, ending: str, made: list[Change], flips: list[tuple[float, int]], threads: int
) -> None:
    data = bytearray(packed(ending, tmp_path))
    for at, mask in flips:
        data[int(at * (len(data) - 1))] ^= mask
    path = tmp_path / f"a.tsv{ending}"
    path.write_bytes(changed(bytes(data), made))
    try:
        read(path, threads=threads)
    except EsdedupError as error:
        assert "\n" not in str(error)
        assert path.name in str(error)
