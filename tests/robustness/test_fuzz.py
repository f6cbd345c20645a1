"""Anything at all, as markup, as tables, as XML, as settings: an answer or one of our own errors, nothing else."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from esdedup.errors import EsdedupError, UsageError
from esdedup.pipeline.prepare import Recipe, prepare
from esdedup.records import DOCUMENTS, Skips
from esdedup.settings import Reading, Settings, Signing, freeze
from esdedup.sources.jsonl import read_jsonl
from esdedup.sources.lines import LineBlocks
from esdedup.sources.tables import read_csv, read_tsv
from esdedup.sources.wikipedia import WikipediaReader
from esdedup.wikitext.fast import FastCleaner
from esdedup.wikitext.rules import Names
from tests.sources.helpers import PACK, export, pack_7z, page, read, revision

SEEDS = Path(__file__).parent / "seeds"
CLEANER = FastCleaner(Names())
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]

Test = Callable[..., None]


def with_seeds(ending: str, *more: Any) -> Callable[[Test], Test]:
    """Every seed of this ending as an example, with the other arguments of the test."""

    def decorate(test: Test) -> Test:
        for path in sorted(SEEDS.glob(f"*{ending}")):
            data = path.read_bytes()
            test = example(data.decode() if ending == ".wiki" else data, *more)(test)
        return test

    return decorate


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """Thousands of warnings say nothing."""
    logger = logging.getLogger("esdedup")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)


# -- markup ---------------------------------------------------------------------------------------------------

PIECES = [
    *(
        "{{",
        "}}",
        "{{{",
        "}}}",
        "[[",
        "]]",
        "[",
        "]",
        "|",
        "{|",
        "|}",
        "|-",
        "|+",
        "!!",
        "||",
        "\n",
        "\n\n",
        "''",
        "'''",
    ),
    *(
        "'",
        "==",
        "=",
        "*",
        "#",
        ":",
        ";",
        "----",
        "<",
        ">",
        "</",
        "/>",
        "<!--",
        "-->",
        "<ref>",
        "</ref>",
        "<ref name=a/>",
    ),
    *("<nowiki>", "</nowiki>", "<pre>", "</pre>", "<math>", "</math>", "<table>", "<td>", "</table>", "<br>", "<b "),
    *(
        "&amp;",
        "&lt;",
        "&nbsp;",
        "&#39;",
        "&#0;",
        "&#xD800;",
        "&#x110000;",
        "&",
        "__NOTOC__",
        "_",
        "http://",
        "[http://a ",
    ),
    *(
        "File:",
        "Category:",
        "de:",
        "{{!}}",
        "-{",
        "}-",
        "a",
        "é",
        "水",
        "\u202e",
        "\u200f",
        "\u0301",
        "\u2028",
        "\ufeff",
    ),
    *("\0", "\r", "\t", "\x85", "\xa0", " ", "\U0001f468\u200d", "#REDIRECT [[a]]"),
]
MARKUP = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=60).map("".join)


@with_seeds(".wiki")
@given(MARKUP)
@settings(max_examples=600)
def test_any_markup_gives_the_same_bounded_text_twice(text: str) -> None:
    data = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    offsets = np.array([0, data.size])
    first, bounds = CLEANER.clean_batch(data, offsets)
    again, _ = CLEANER.clean_batch(data, offsets)
    assert first.tobytes() == again.tobytes()
    assert first.size == bounds[-1] <= 2 * data.size
    cleaned = first.tobytes().decode("utf-8")
    assert cleaned == cleaned.strip(" \n")


@given(MARKUP, st.integers(2, 30))
@settings(max_examples=60)
def test_markup_repeated_is_no_longer_than_it_was(text: str, times: int) -> None:
    assert len(CLEANER.clean(text * times).encode()) <= 2 * times * len(text.encode("utf-8", "replace"))


# -- tables ---------------------------------------------------------------------------------------------------

CELLS = [
    *(
        b"\t",
        b",",
        b'"',
        b'""',
        b"\n",
        b"\r",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
        b"id",
        b"text",
        b"title",
    ),
    *(
        b"a",
        b"1",
        b" ",
        b"\xc2\xa0",
        b"\xe2\x80\xa8",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b'"text":',
        b'"id":',
        b'"a.b"',
        b"null",
    ),
    *(b"\\ud800", b"\\u0000", b"1e999", b"NaN", b"-", b"9" * 30, b"\\", b'{"id":1,"text":"x"}\n', b"1,x\n", b"1\tx\n"),
    *(b'{"a":{"b":[{"text":"y"}]}}\n', b"id,text\n", b"id\ttext\n"),
]
TABLE = st.lists(st.sampled_from(CELLS) | st.binary(max_size=4), max_size=25).map(b"".join) | st.binary(max_size=60)
COLUMN = st.none() | st.sampled_from(["line", "1", "2", "3", "id", "text", "title", "a.b.0.text", "0", "9" * 5000])
READING = st.fixed_dictionaries(
    {
        "header": st.sampled_from([None, True, False]),
        "separator": st.sampled_from([None, None, " ", "\0", "\\", "é", "1"]),
        "id_column": COLUMN, "title_column": COLUMN, "text_column": COLUMN,
    }
)  # fmt: skip
READERS: dict[str, Callable[[LineBlocks, Reading, Skips], Iterator[pa.RecordBatch]]] = {
    "tsv": lambda blocks, reading, skips: read_tsv(blocks, "a.tsv", reading, skips),
    "csv": lambda blocks, reading, skips: read_csv(blocks, "a.csv", reading, skips),
    "jsonl": lambda blocks, reading, skips: read_jsonl(blocks, reading, skips),
}


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
        assert "\n" not in str(error).strip()
        return rows, str(error)
    return rows, ""


def read_table(kind: str, data: bytes, size: int, options: dict[str, Any]) -> tuple[Any, ...]:
    skips = Skips()
    try:
        reading = Reading(**options)
    except UsageError as error:
        return (str(error),)
    found = rows_of(READERS[kind](LineBlocks(pieces(data, size), skips), reading, skips))
    return *found, skips


@with_seeds(".tsv", 1, {}, "tsv")
@with_seeds(".csv", 2, {}, "csv")
@with_seeds(".jsonl", 3, {}, "jsonl")
@given(TABLE, st.integers(1, 9), READING, st.sampled_from(list(READERS)))
@settings(max_examples=700)
def test_any_table_reads_the_same_however_it_is_cut(data: bytes, size: int, options: dict[str, Any], kind: str) -> None:
    assert read_table(kind, data, size, options) == read_table(kind, data, len(data) + 1, options)


# -- XML ------------------------------------------------------------------------------------------------------

DUMP = export(
    page(1, "One", revision(1, "a &amp; <![CDATA[b]]>"), revision(2, "c")),
    page(2, "Zwölf", revision(3, "d"), head="<ns>0</ns>"),
)
TAGS = [
    *(
        b"<page>",
        b"</page>",
        b"<revision>",
        b"</revision>",
        b"<text>",
        b"</text>",
        b"<ns>",
        b"<id>",
        b"--5",
        b"<!--",
        b"-->",
    ),
    *(
        b"<![CDATA[",
        b"]]>",
        b"&amp;",
        b"&x;",
        b"&#0;",
        b"<",
        b">",
        b"/",
        b'"',
        b"\0",
        b"\xff",
        b"<?a b?>",
        b"<!DOCTYPE a>",
    ),
    *(b"<mediawiki>", b"</mediawiki>", b"\xef\xbb\xbf", b":", b"{", b"<a:b>", b'key="--1"', b"<siteinfo>", b"<upload>"),
]
CHANGE = st.tuples(
    st.sampled_from(["insert", "delete", "copy", "cut", "behead"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(TAGS),
)


def changed(data: bytes, changes: list[tuple[str, float, float, bytes]]) -> bytes:
    for how, one, two, tag in changes:
        first, last = sorted((int(one * len(data)), int(two * len(data))))
        match how:
            case "insert":
                data = data[:first] + tag + data[first:]
            case "delete":
                data = data[:first] + data[min(last, first + 40) :]
            case "copy":
                data = data[:last] + data[first:last] + data[last:]
            case "cut":
                data = data[:last]
            case "behead":
                data = data[first:]
    return data


@with_seeds(".xml", [], 1, "all")
@given(
    st.sampled_from([DUMP, DUMP.decode().encode("utf-16"), page(1, "One", revision(1, "a")).encode() * 2]),
    st.lists(CHANGE, max_size=5), st.sampled_from([5, 64, 10**6]), st.sampled_from(["latest", "all"]),
)  # fmt: skip
@settings(max_examples=700)
def test_any_dump_is_read_up_to_its_damage(
    data: bytes, changes: list[tuple[str, float, float, bytes]], size: int, revisions: str
) -> None:
    skips, namespaces = Skips(), dict[int, str]()
    reader = WikipediaReader(
        pieces(changed(data, changes), size), "a.xml", Reading(revisions=revisions), None, skips, namespaces
    )
    rows, _ = rows_of(iter(reader))
    assert len(rows) <= 50
    assert all(len(found) <= 5 for found in skips.places.values())


# -- compressed -----------------------------------------------------------------------------------------------

LINES = b"".join(b"%d\tline %d of a small table\n" % (n, n * n) for n in range(200))


@given(
    st.sampled_from([*(ending for ending in PACK if ending), ".7z"]), st.lists(CHANGE, max_size=3),
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), max_size=4), st.sampled_from([1, 2]),
)  # fmt: skip
@settings(max_examples=250, suppress_health_check=QUIET)
def test_any_compressed_bytes_are_read_up_to_their_damage(
    tmp_path: Path,
    ending: str,
    changes: list[tuple[str, float, float, bytes]],
    flips: list[tuple[float, int]],
    threads: int,
) -> None:
    path = tmp_path / f"a.tsv{ending}"
    data = bytearray(pack_7z(path, {"a.tsv": LINES}).read_bytes() if ending == ".7z" else PACK[ending](LINES))
    for at, mask in flips:
        data[int(at * (len(data) - 1))] ^= mask
    path.write_bytes(changed(bytes(data), changes))
    try:
        read(path, threads=threads)
    except EsdedupError as error:
        assert "\n" not in str(error)
        assert path.name in str(error)


# -- text on its whole way ------------------------------------------------------------------------------------

SIGNINGS = [
    Signing(min_chars=0),
    Signing(unit="record", min_chars=0, normalize="stem", shingle="word:3"),
    Signing(min_chars=0, normalize="lower", shingle="char:3", lang="ja"),
    Signing(min_chars=0, normalize="words", shingle="word:1", lang="th"),
]
TEXT = st.lists(
    st.text(max_size=8) | st.sampled_from(["“", "'", "。", ". ", "\n\n", "\0", "\u0301" * 9, "水", "a "])
).map("".join)


@given(st.lists(TEXT, min_size=1, max_size=4), st.sampled_from(SIGNINGS), st.sampled_from([None, "fast"]))
@settings(max_examples=200)
def test_any_text_becomes_units_that_fit_together(texts: list[str], signing: Signing, markup: str | None) -> None:
    rows = [
        {"id": str(n), "title": None, "text": text.encode("utf-8", "replace").decode(), "place": n + 1}
        for n, text in enumerate(texts)
    ]
    prepared = prepare(pa.RecordBatch.from_pylist(rows, DOCUMENTS), Recipe(signing, markup))
    kept = int(prepared.kept.sum())
    assert len(prepared.row) == len(prepared.hash) == len(prepared.kept)
    assert prepared.tokens.shape == (kept, signing.tokens)
    assert len(prepared.texts) == kept
    assert all(text.strip() for text in prepared.texts.to_pylist())


# -- settings -------------------------------------------------------------------------------------------------

NAMES = [
    *("unit", "lang", "min_chars", "max_chars", "normalize", "shingle", "bands", "rows", "hashes", "draw", "draws"),
    *(
        "hash_bits",
        "seed",
        "jaccard",
        "word_edit_distance",
        "linkage",
        "verify",
        "across",
        "workers",
        "memory",
        "format",
    ),
    *("separator", "header", "id_column", "title_column", "text_column", "namespaces", "revisions", "wikitext"),
    *("source_name", "limit", "nothing", "self"),
]
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 70), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=3),
    st.lists(st.integers(0, 15) | st.text(max_size=2), max_size=3), st.just(10**5000), st.just("9" * 5000 + "GiB"),
    st.sampled_from(["sentence", "record", "lower", "char:5", "word:2", "single", "star", "exact", "none", "any", "1GiB",
                     "512MB", "1e9", "tsv", "all", "latest", "fast", "en", "\ud800", "line", "1", "a.b", "", "\n", "nan"]),
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6))
@example({"memory": "9" * 400})
@example({"bands": 10**5000})
@settings(max_examples=800)
def test_any_settings_are_taken_or_refused_in_one_line(options: dict[str, Any]) -> None:
    try:
        made = Settings.of(**{name: value for name, value in options.items() if name != "self"})
    except UsageError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 300
        return
    signing = freeze(None, made.frozen)
    assert 1 <= signing.tokens <= 64
    json.dumps(signing.describe() | made.scanning.describe(), ensure_ascii=False, allow_nan=False).encode()
