"""Web archives: WARC files, and WET files, which contain the texts of their pages (ISO 28500)."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

from esdedup.errors import SourceError, needs_extra
from esdedup.formats.compression.protocol import PIECE
from esdedup.formats.line_format import BOM, decoded
from esdedup.formats.protocol import Format, Walk
from esdedup.formats.text_limit import too_large

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.formats.batches import Row
    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions
    from esdedup.text.html.html_cleaner import HtmlCleaner

_MOST_HEAD = 2**16
_IN_MEMORY = 2**26
_BEGIN = re.compile(rb"\s*WARC/\d\.\d\r?\n")
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_FIELD = re.compile(rb"(?m)^([!-9;-~]+):[ \t]*([^\r\n]*?)[ \t]*\r?$")
_LENGTH = re.compile(rb"(?mi)^content-length:[ \t]*([0-9]{1,15})[ \t]*\r?$")
_PAGES = (b"conversion", b"response", b"resource")
_TEXTS = (b"text/plain", b"text/html", b"application/xhtml+xml")
_HTML = _TEXTS[1:]


@dataclass(frozen=True)
class Warc(Format):
    """A page is a document: a record of its text (WET), or a response as text. Other records are no documents."""

    name = "warc"
    summary = "web archives (WARC, WET)"
    family = "web archives"
    endings = (".warc", ".wet")
    stdin_name = "stdin.warc"
    annotates = False
    unit = "sentence"
    rewritten_unit = "record"
    streams_of_records = True

    @property
    def drops_sentences(self) -> bool:
        """Records are kept or dropped as wholes."""
        return False

    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """See `Format`; raw records are those of WARC, of any type."""
        from esdedup.formats.batches import collect

        cutter = _Cutter(member.pieces, walk.label)
        yield from walk.up_to_limit(collect(_pages(cutter, walk)))
        walk.records += cutter.records

    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        """See `Format`: an empty piece is between two records."""
        del annotate
        for record in _Cutter(member.pieces, walk.label):
            decisions.record += 1
            if decisions.drops(decisions.record):
                decisions.left(None, ())
                continue
            with tempfile.SpooledTemporaryFile(_IN_MEMORY) as whole:  # of a damaged record nothing is written
                whole.writelines(chain([record.head], record.body))
                whole.write(record.end)
                whole.seek(0)
                yield from iter(partial(whole.read, PIECE), b"")
            decisions.stay(record.kind in _PAGES)
            yield b""


@dataclass
class _Record:
    """A record whose body is read once, before the next record is asked for."""

    head: bytes
    body: Iterator[bytes]
    length: int
    end: bytes = b""  # known when the body was read

    @cached_property
    def fields(self) -> dict[bytes, bytes]:
        return {name.lower(): value for name, value in _FIELD.findall(self.head)}

    def field(self, name: bytes) -> str:
        return self.fields.get(name, b"").decode("utf-8", "replace")

    @property
    def kind(self) -> bytes:
        return self.fields.get(b"warc-type", b"").lower()


@dataclass
class _Cutter:
    """Cuts the bytes of a member into records. `records` counts them so far."""

    pieces: Iterator[bytes]
    label: str
    records: int = 0
    _place: int = 0  # of the bytes that are taken
    _held: bytearray = field(default_factory=bytearray)

    def __iter__(self) -> Iterator[_Record]:
        while self._fill(1):
            if self._only_blank():
                return
            head = self._head()
            found = _LENGTH.search(head)
            if found is None:
                raise self._damaged("a record without its length")
            record = _Record(head, iter(()), int(found[1]))
            record.body = self._body(record)
            self.records += 1
            yield record
            for _ in record.body:
                pass  # nobody needed it

    def _only_blank(self) -> bool:
        """Whether nothing follows but a few line ends."""
        return not self._held.strip() and not self._fill(64) and not self._held.strip()

    def _head(self) -> bytes:
        while (end := _END_OF_HEAD.search(self._held)) is None and len(self._held) < _MOST_HEAD:
            if not self._fill(len(self._held) + 1):
                break
        if end is None or not _BEGIN.match(self._held):
            raise self._damaged("no record of WARC begins here")
        return self._take(end.end())

    def _body(self, record: _Record) -> Iterator[bytes]:
        left = record.length
        while left:
            if not self._fill(1):
                raise self._damaged(f"the archive ends {left:,} bytes before its last record")
            piece = self._take(min(left, len(self._held)))
            left -= len(piece)
            yield piece
        self._fill(4)
        blank = re.match(rb"[\r\n]{0,4}", self._held)
        record.end = self._take(len(blank[0]) if blank else 0)

    def _fill(self, size: int) -> bool:
        while len(self._held) < size:
            piece = next(self.pieces, None)
            if piece is None:
                return False
            self._held += piece
        return True

    def _take(self, size: int) -> bytes:
        taken = bytes(self._held[:size])
        del self._held[:size]
        self._place += size
        return taken

    def _damaged(self, what: str) -> SourceError:
        return SourceError(
            f"{self.label}: damaged at byte {self._place:,} of the archive: {what}; everything before it was read; "
            "download the file again"
        )


def _pages(cutter: _Cutter, walk: Walk) -> Iterator[Row]:
    html: HtmlCleaner | None = None
    for record in cutter:
        if record.kind not in _PAGES:
            continue  # it describes the archive or another record
        name = record.field(b"warc-record-id").strip("<>").removeprefix("urn:uuid:")
        address = record.field(b"warc-target-uri").strip("<>")
        if record.length > walk.max_text:
            walk.skips.add("too_long_text", address or name)
            continue
        body = b"".join(record.body)
        media = record.fields.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if media == b"application/http":
            media, body = _payload(record, body, cutter, walk.max_text)
        if media not in _TEXTS:
            walk.skips.add("no_page", address or name)
            continue
        if len(body) > walk.max_text:
            walk.skips.add("too_long_text", address or name)
            continue
        if media in _HTML:
            if html is None:
                from esdedup.text.html.html_cleaner import HtmlCleaner

                html = HtmlCleaner()
            body = _visible(html, body)
        body = body.removeprefix(BOM)
        if decoded(body) is None:
            walk.skips.add("replaced_bytes", address or name)
            body = body.decode("utf-8", "replace").encode()
        if not name:
            walk.skips.add("no_id", address or None)
        elif not body or body.isspace():
            walk.skips.add("no_text", address or name)
        elif too_large(body, walk.max_text):
            walk.skips.add("too_long_text", address or name)
        else:
            yield name, address or None, body, None, record.field(b"warc-date") or None, None, cutter.records


def _payload(record: _Record, body: bytes, cutter: _Cutter, most: int) -> tuple[bytes, bytes]:
    """Return the type and the bytes of a page in an answer of HTTP; no type if it is none, or an error."""
    with needs_extra("crawl", f"{cutter.label}: answers of servers"):
        from fastwarc.warc import ArchiveIterator

    try:
        parsed = next(iter(ArchiveIterator(io.BytesIO(record.head + body + b"\r\n\r\n"), auto_decode="all")))
        if not str(getattr(parsed.http_headers, "status_code", 200)).startswith("2"):
            return b"", b""
        media, charset = (parsed.http_content_type or "").lower().encode(), parsed.http_charset
        data: bytes = parsed.reader.read(most + 1)  # it may unpack to any size
    except (OSError, StopIteration, ValueError):
        return b"", b""
    if media == _TEXTS[0] and charset:
        from resiliparse.parse.encoding import bytes_to_str

        data = bytes_to_str(data, charset).encode()
    return media, data


def _visible(html: HtmlCleaner, body: bytes) -> bytes:
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    try:
        return html.clean(bytes_to_str(body, detect_encoding(body, from_html_meta=True) or "utf-8")).encode(
            "utf-8", "replace"
        )
    except (RuntimeError, ValueError, LookupError):
        return b""
