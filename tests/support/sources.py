"""Small builders shared by the tests of sources."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import py7zr
import pytest
import zstandard

from esdedup.columns.records import DOCUMENTS, Skips
from esdedup.formats.locations import Source, discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.stream import DocumentStream

PACK: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    ".zst": zstandard.ZstdCompressor().compress,
}


def pack_7z(path: Path, members: dict[str, bytes]) -> Path:
    with py7zr.SevenZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(data, name)
    return path


def rows_of(source: Source, reading: Reading, skips: Skips | None = None, threads: int = 1) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with DocumentStream(source, skips or Skips(), limit=reading.limit, threads=threads) as stream:
        for batch in stream:
            assert batch.schema.equals(DOCUMENTS)
            batch.validate(full=True)
            rows += batch.to_pylist()
    return rows


def read(path: Path | str, skips: Skips | None = None, threads: int = 1, **options: Any) -> list[dict[str, Any]]:
    reading = Reading.of(**options)
    (source,) = discover([str(path)], reading)
    return rows_of(source, reading, skips, threads)


def partial(
    path: Path | str, error: type[Exception], skips: Skips | None = None, threads: int = 1, **options: Any
) -> tuple[list[dict[str, Any]], str]:
    """The rows before the damage, and the message."""
    reading = Reading.of(**options)
    (source,) = discover([str(path)], reading)
    rows: list[dict[str, Any]] = []
    stream = DocumentStream(source, skips or Skips(), limit=reading.limit, threads=threads)
    with stream, pytest.raises(error) as caught:
        for batch in stream:
            rows += batch.to_pylist()
    message = str(caught.value)
    assert "\n" not in message
    return rows, message


def ids(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def feed_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


SITEINFO = (
    '<siteinfo><sitename>Test</sitename><namespaces><namespace key="0" />'
    '<namespace key="1">Talk</namespace><namespace key="10">Vorlage</namespace></namespaces></siteinfo>'
)


def revision(number: int, text: str | None, timestamp: str = "2020-01-01T00:00:00Z", extra: str = "") -> str:
    body = '<text deleted="deleted" />' if text is None else f'<text xml:space="preserve">{text}</text>'
    return (
        f"<revision><id>{number}</id><timestamp>{timestamp}</timestamp>"
        f"<contributor><username>A</username><id>77</id></contributor>{extra}{body}</revision>\n"
    )


def page(number: int | str, title: str, *revisions: str, head: str = "") -> str:
    return f"<page>\n<title>{title}</title>\n{head}<id>{number}</id>\n{''.join(revisions)}</page>\n"


def export(*pages: str, version: str | None = "0.11", siteinfo: str = SITEINFO) -> bytes:
    namespace = f' xmlns="http://www.mediawiki.org/xml/export-{version}/"' if version else ""
    return f"<mediawiki{namespace}>\n{siteinfo}\n{''.join(pages)}</mediawiki>\n".encode()
