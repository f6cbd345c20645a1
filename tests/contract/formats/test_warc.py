"""Web archives and HTML: which records are documents, what a reader sees of them, and what is written again."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest

import esdedup
from esdedup.errors import SourceError, UsageError
from tests.contract.formats.format_samples import article, snapshot, text_of, warc_record, wet
from tests.support.commands import said

PAGE = (
    "<html><head><title>no</title><script>no()</script><meta charset=iso-8859-1></head><body><h1>The bridge</h1>"
    "<p>Built  in <b>1898</b> for caf\xe9s.</p><ul><li>One arch<li>Two arches</ul><table><tr><td>a</td></table>"
    "<img alt=no><p hidden>no</p></body></html>"
)
BLOCKS = "The bridge\n\nBuilt in 1898 for caf\xe9s.\n\nOne arch\n\nTwo arches\n\na"


def response(name: str, body: bytes, head: str = "Content-Type: text/html", status: str = "200 OK") -> bytes:
    http = f"HTTP/1.1 {status}\r\n{head}\r\n\r\n".encode() + body
    return warc_record("response", name, http, "application/http; msgtype=response")


def archive() -> bytes:
    packed = gzip.compress(PAGE.encode("latin-1"))
    chunked = b"%x\r\n" % len(packed) + packed + b"\r\n0\r\n\r\n"
    head = "Content-Type: text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked"
    return b"".join(
        [
            warc_record("warcinfo", "0", b"software: tests"),
            warc_record("request", "1", b"GET / HTTP/1.1\r\n\r\n", "application/http"),
            response("2", PAGE.encode("latin-1")),
            response("3", chunked, head),
            response("4", b"\x89PNG", "Content-Type: image/png"),
            response("5", b"<p>Not found</p>", status="404 Not Found"),
            response("6", "Zwölf Brücken.".encode("latin-1"), "Content-Type: text/plain; charset=iso-8859-1"),
            warc_record("metadata", "7", b"a: b"),
            response("8", b"not HTTP"[:0], "Content-Type: text/html"),
        ]
    )


def test_pages_are_documents(tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(gzip.compress(archive()))
    pages = list(esdedup.extract(path))
    assert [page.id for page in pages] == ["crawl/2", "crawl/3", "crawl/6"] or [page.id for page in pages] == [
        "2",
        "3",
        "6",
    ]
    assert [page.text for page in pages] == [BLOCKS, BLOCKS, "Zwölf Brücken."]
    assert pages[0].title == "http://a.example/2"
    assert pages[0].timestamp == "2026-01-01T00:00:00Z"
    done = esdedup.extract(path, out=tmp_path / "a.jsonl")
    assert done.skipped == {"no_page": 2, "no_text": 1}


def test_what_is_kept_is_written_record_by_record(tmp_path: Path) -> None:
    """As the standard recommends: each record is a stream of gzip."""
    path = tmp_path / "in" / "a.warc.wet.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(wet([1, 2, 1, 3])))
    done = esdedup.dedupe(path, out=tmp_path / "out", jaccard=1)
    assert (done.records["in"], done.records["kept"]) == (4, 3)
    data = (tmp_path / "out" / path.name).read_bytes()
    assert gzip.decompress(data) == wet([1, 2, 3])
    assert data.count(b"\x1f\x8b\x08") == 4
    with pytest.raises(UsageError, match="only whole records of it can be dropped"):
        esdedup.dedupe(path, out=tmp_path / "no", unit="sentence")


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (lambda data: data[:-20], "ends 16 bytes before its last record"),
        (lambda data: data.replace(b"says 7919", b"says 79190"), "no record of WARC begins here"),
        (lambda data: data.replace(b"Content-Length: ", b"Content-Size: ", 1), "a record without its length"),
        (lambda data: b"Just text\n" * 10, "damaged at byte 0 .*no record of WARC begins here"),
    ],
)
def test_damage(tmp_path: Path, spoil: object, line: str) -> None:
    assert callable(spoil)
    path = tmp_path / "a.warc"
    path.write_bytes(spoil(wet(range(5))))
    with pytest.raises(SourceError, match=line):
        list(esdedup.extract(path))


def test_a_column_with_markup(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "text": PAGE},
        {"id": "2", "text": "'''Bold''' [[Bridge|bridge]]{{cn}} &amp; <ref>no</ref>more"},
    ]
    for name, row, text in (("html", rows[0], BLOCKS), ("wikitext", rows[1], "Bold bridge & more")):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps(row) + "\n")
        assert [page.text for page in esdedup.extract(path, markup=name)] == [text]
    answer = said("run", tmp_path / "html.jsonl", "--markup", "markdown", "-o", tmp_path / "out")
    assert answer.code == 2
    assert "wikitext" in answer.err


def test_rows_with_markup_are_dropped_whole(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"id": str(at), "text": f"<p class=c{at}>{text_of(at // 2)}</p>"}) for at in range(4)]
    path.write_text("\n".join(lines) + "\n")
    esdedup.dedupe(path, out=tmp_path / "out", markup="html", jaccard=1)
    assert (tmp_path / "out" / "in.jsonl").read_text().splitlines() == [lines[0], lines[2]]
    with pytest.raises(UsageError, match="only whole records of it can be dropped"):
        esdedup.dedupe(path, out=tmp_path / "no", markup="html", unit="sentence")


def test_a_snapshot_has_html_and_wikitext(tmp_path: Path) -> None:
    path = tmp_path / "enwiki_namespace_0.json.tar.gz"
    path.write_bytes(gzip.compress(snapshot([5, 6])))
    for markup in (None, "wikitext"):
        pages = list(esdedup.extract(path, **({"markup": markup} if markup else {})))
        assert [(page.id, page.title, page.text) for page in pages] == [
            ("5", "Page 5", text_of(5)),
            ("6", "Page 6", text_of(6)),
        ]
    path.write_bytes(gzip.compress(snapshot([5, 6])[:1000]))
    with pytest.raises(SourceError, match="damaged tar archive"):
        list(esdedup.extract(path))


def tar(*members: bytes) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for number, data in enumerate(members):
            about = tarfile.TarInfo(f"{number}.ndjson")
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return held.getvalue()


def test_a_damaged_archive_loses_nothing_silently(tmp_path: Path) -> None:
    path = tmp_path / "a.json.tar"
    lines = [json.dumps(article(number)).encode() for number in range(3)]
    path.write_bytes(tar(*lines))  # without line ends
    assert len(list(esdedup.extract(path))) == 3
    data = bytearray(tar(*lines))
    second = data.index(b"1.ndjson")
    spoiled = bytes(data[: second + 148]) + b"9" + bytes(data[second + 149 :])
    for damaged in (spoiled, bytes(data[:second]), bytes(data[: second + 100])):
        path.write_bytes(damaged)
        with pytest.raises(SourceError, match="damaged tar archive"):
            list(esdedup.extract(path))
    long = tarfile.TarInfo("x")
    long.type, long.size = tarfile.GNUTYPE_LONGNAME, 2**32
    path.write_bytes(long.tobuf(tarfile.GNU_FORMAT) + bytes(2**16))
    with pytest.raises(SourceError, match="a name that is too long"):
        list(esdedup.extract(path))


def test_an_answer_that_unpacks_to_much(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    bomb = gzip.compress(b"a" * 2**23)
    path.write_bytes(response("1", bomb, "Content-Type: text/plain\r\nContent-Encoding: gzip") + b"\r\n")
    done = esdedup.extract(path, out=tmp_path / "a.jsonl", max_text="1MiB")
    assert done.skipped == {"too_long_text": 1}
