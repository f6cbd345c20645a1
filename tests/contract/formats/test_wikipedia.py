from __future__ import annotations

import logging
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from esdedup.columns.records import Skips
from esdedup.errors import SourceError
from esdedup.formats.locations import discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.stream import DocumentStream
from tests.support.sources import export, ids, page, partial, read, revision


def write(folder: Path, data: bytes) -> Path:
    path = folder / "wiki.xml"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("version", [None, *(f"0.{n}" for n in range(3, 12))])
def test_every_schema(tmp_path: Path, version: str | None) -> None:
    data = export(
        page(1, "One", revision(11, "caf\u00e9 &amp; <![CDATA[<tea>]]>")),
        page(2, "Talk:One", revision(12, "talk")),
        page(3, "Uno", revision(13, "#Redirect [[One]]")),
        page(4, "Due", revision(14, "x"), head='<redirect title="One" />'),
        version=version,
    )
    skips = Skips()
    rows = read(write(tmp_path, data), skips)
    assert rows == [
        {
            "id": "1",
            "title": "One",
            "text": "caf\u00e9 & <tea>",
            "revision": 11,
            "timestamp": "2020-01-01T00:00:00Z",
            "contributor": "A",
            "place": 1,
        }
    ]
    assert skips.counts == {"namespace": 1, "redirect": 2}
    assert skips.places == {"namespace": ["Talk:One"], "redirect": ["Uno", "Due"]}


def test_namespace_element_wins_over_the_title(tmp_path: Path) -> None:
    data = export(
        page(1, "Talk: the book", revision(1, "a"), head="<ns>0</ns>"),
        page(2, "Plain", revision(2, "b"), head="<ns>10</ns>"),
        page(3, "vorlage:X", revision(3, "c")),
        page(4, "Star Trek: First", revision(4, "d")),
    )
    path = write(tmp_path, data)
    assert ids(read(path)) == ["1", "4"]
    assert ids(read(path, namespaces=(10,))) == ["2", "3"]


def test_canonical_names_stand_in_for_a_missing_siteinfo(tmp_path: Path) -> None:
    data = export(page(1, "Template:X", revision(1, "a")), page(2, "X", revision(2, "b")), siteinfo="")
    assert ids(read(write(tmp_path, data))) == ["2"]


def test_latest_is_the_latest_in_time_then_in_the_file(tmp_path: Path) -> None:
    data = export(
        page(
            1,
            "One",
            revision(1, "a", "2001-01-01T00:00:00Z"),
            revision(2, "b", "2003-01-01T00:00:00Z"),
            revision(3, "c", "2003-01-01T00:00:00Z"),
            revision(4, "d", "2002-01-01T00:00:00Z"),
        ),
        page(2, "Two", revision(5, "e")),
    )
    rows = read(write(tmp_path, data))
    assert [(row["id"], row["revision"], row["text"]) for row in rows] == [("1", 3, "c"), ("2", 5, "e")]


def test_all_revisions_in_file_order(tmp_path: Path) -> None:
    data = export(
        page(
            1,
            "One",
            revision(1, "a"),
            revision(2, None),
            revision(3, ""),
            revision(4, "#REDIRECT [[x]]"),
            revision(5, "css", extra="<model>css</model>"),
            revision(6, "b", extra="<model>wikitext</model>"),
            head='<redirect title="x"/>',
        ),
        page(2, "Empty"),
        page(3, "Three", revision(7, "c")),
    )
    skips = Skips()
    path = write(tmp_path, data)
    rows = read(path, skips, revisions="all")
    assert [(row["id"], row["revision"]) for row in rows] == [("1", 1), ("1", 6), ("3", 7)]
    assert skips.counts == {"no_text": 3, "redirect": 1, "not_wikitext": 1}
    assert skips.places["no_text"] == ["One (revision 2)", "One (revision 3)", "Empty"]
    # the limit counts pages
    assert ids(read(path, revisions="all", limit=1)) == ["1", "1"]


def test_pages_that_cannot_be_documents(tmp_path: Path) -> None:
    data = export(
        "<page><title>No id</title><revision><id>5</id><text>x</text></revision></page>",
        page("", "Empty id", revision(1, "x")),
        page(2, "No text", revision(2, None)),
        page(3, "Module", revision(3, "return", extra="<model>Scribunto</model>")),
        page(4, "No revision"),
        page(5, "Good", revision(5, "x")),
    )
    skips = Skips()
    assert ids(read(write(tmp_path, data), skips)) == ["5"]
    assert skips.counts == {"no_id": 2, "no_text": 2, "not_wikitext": 1}


@pytest.mark.parametrize("text", ["#WEITERLEITUNG [[x]]", "\n #redirect:[[x]]", "#ПЕРЕНАПРАВЛЕНИЕ [[x]]", "#転送[[x]]"])
def test_redirects_by_their_text(tmp_path: Path, text: str) -> None:
    skips = Skips()
    assert read(write(tmp_path, export(page(1, "One", revision(1, text)))), skips) == []
    assert skips.counts == {"redirect": 1}


@pytest.mark.parametrize("text", ["#redirects are useful", "# one", "#tamper"])
def test_lists_are_no_redirects(tmp_path: Path, text: str) -> None:
    assert len(read(write(tmp_path, export(page(1, "One", revision(1, text)))))) == 1


def test_namespaces_are_known_with_the_first_batch(tmp_path: Path) -> None:
    reading = Reading.of()
    (source,) = discover([str(write(tmp_path, export(page(1, "One", revision(1, "a")))))], reading)
    with DocumentStream(source, Skips()) as stream:
        next(iter(stream))
        assert stream.namespaces == {0: "", 1: "Talk", 10: "Vorlage"}


def test_fragment_without_root(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = "".join(page(n, f"P{n}", revision(n, f"text {n}")) for n in range(1, 4)).encode()
    with caplog.at_level(logging.WARNING, "esdedup"):
        assert ids(read(write(tmp_path, b"\n " + data))) == ["1", "2", "3"]
    assert len(caplog.records) == 1
    assert "no root element" in caplog.text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings_also_of_fragments(tmp_path: Path, encoding: str) -> None:
    whole = export(page(1, "Один", revision(1, "текст"))).decode()
    assert read(write(tmp_path, whole.encode(encoding)))[0]["text"] == "текст"
    part = page(1, "Один", revision(1, "текст"))
    assert read(write(tmp_path, part.encode(encoding)))[0]["title"] == "Один"


@pytest.mark.parametrize("data", [b"", b" \n\n", b'<?xml version="1.0"?>\n'])
def test_empty_file(tmp_path: Path, data: bytes) -> None:
    assert read(write(tmp_path, data)) == []


def test_undefined_entity_keeps_what_stands_before(tmp_path: Path) -> None:
    data = export(page(1, "One", revision(1, "a")), page(2, "Two", revision(2, "3 &times; 4")))
    data = data.replace(b"<page>\n<title>Two", b"\n\n<page>\n<title>Two")
    rows, message = partial(write(tmp_path, data), SourceError)
    assert ids(rows) == ["1"]
    assert "wiki.xml: damaged XML at line 13, column" in message
    assert "times" in message


@pytest.mark.parametrize("broken", [b"<page><title>x</page>", b"<page>\x01</page>", b"<page>\xff\xfe</page>", b"<page"])
def test_malformed_keeps_what_stands_before(tmp_path: Path, broken: bytes) -> None:
    good = export(page(1, "One", revision(1, "a"))).replace(b"</mediawiki>\n", b"")
    rows, message = partial(write(tmp_path, good + broken), SourceError)
    assert ids(rows) == ["1"]
    assert "damaged XML at line" in message


@pytest.mark.parametrize("declaration", [b"", b'<?xml version="1.0"?>'])
def test_two_files_glued_together(tmp_path: Path, declaration: bytes) -> None:
    data = export(page(1, "One", revision(1, "a"))) + declaration + export(page(2, "Two", revision(2, "b")))
    rows, _ = partial(write(tmp_path, data), SourceError)
    assert ids(rows) == ["1"]


def test_doctype_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    bombs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    for subset in (f'<!ENTITY l0 "lol">{bombs}', f'<!ENTITY l11 SYSTEM "{secret.as_uri()}">'):
        head = f"<?xml version='1.0'?><!-- c -->\n<!DOCTYPE mediawiki [{subset}]>".encode()
        for encode in (lambda data: data, lambda data: data.decode().encode("utf-16")):
            data = encode(head + export(page(1, "One", revision(1, "&l11;"))))
            rows, message = partial(write(tmp_path, data), SourceError)
            assert rows == []
            assert "DOCTYPE" in message


def test_not_xml_and_not_a_wiki(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    partial(write(tmp_path, b"just words, no markup"), SourceError)
    assert read(write(tmp_path, b"<rss><channel><item>x</item></channel></rss>")) == []
    assert "no <page>" in caplog.text


def test_very_large_page(tmp_path: Path) -> None:
    text = "word &amp; word " * 3_000_000
    rows = read(write(tmp_path, export(page(1, "One", revision(1, text)), page(2, "Two", revision(2, "b")))))
    assert [len(row["text"]) for row in rows] == [len(text) - 4 * 3_000_000, 1]


CHILD = """
import sys
from esdedup.columns.records import Skips
from esdedup.formats.reading_options import Reading
from esdedup.formats.locations import discover
from esdedup.formats.stream import DocumentStream
from tests.support.memory import peak_mib

def peak(path, **options):
    reading = Reading.of(**options)
    rows = 0
    with DocumentStream(discover([path], reading)[0], Skips()) as stream:
        for batch in stream:
            rows += batch.num_rows
    return rows, peak_mib()

small, base = peak(sys.argv[1], revisions="all")
for revisions in ("all", "latest"):
    rows, top = peak(sys.argv[2], revisions=revisions)
    sys.stdout.write(f"{rows} {top - base}\\n")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_memory_stays_flat(tmp_path: Path) -> None:
    small, large = tmp_path / "small.xml.lzma", tmp_path / "large.xml.lzma"
    text = "All of this is written again in every revision of the page. " * 1500
    for path, count in ((small, 500), (large, 1000)):
        with lzma.open(path, "wb", format=lzma.FORMAT_ALONE, preset=0) as file:
            head, tail = export(page(1, "One", "\0")).split(b"\0")
            file.write(head)
            for number in range(count):
                file.write(revision(number, f"{number} {text}", f"{1000 + number}-01-01T00:00:00Z").encode())
            # elements that nobody asked for must not pile up either
            file.write(b"</page><unknown>" + b"<item><a>b</a></item>" * (count * 500) + b"</unknown><page>")
            file.write(tail)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, small, large],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )  # fmt: skip
    (all_rows, all_growth), (latest_rows, latest_growth) = (
        map(int, line.split()) for line in done.stdout.split("\n")[:2]
    )
    assert (all_rows, latest_rows) == (1000, 1)
    assert all_growth < 40
    assert latest_growth < 40
