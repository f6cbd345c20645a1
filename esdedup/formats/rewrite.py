"""A source written again: same name, format and compression, without what is to be dropped."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TypeVar

from esdedup.errors import SourceError, UsageError
from esdedup.files import whole_file
from esdedup.formats.compression.encoders import write_members
from esdedup.formats.compression.opener import COMPRESSIONS, Opened, readable
from esdedup.formats.csv_records import CsvRecords
from esdedup.formats.decisions import Decisions, Mark
from esdedup.formats.discover import Source, split_name
from esdedup.formats.line_records import JsonLines, PlainLines, RecordFormat, TabLines, rewrite_records
from esdedup.formats.mediawiki.cleaned import CleanedPages
from esdedup.formats.parquet_rows import rewrite_parquet
from esdedup.formats.reading_options import Reading
from esdedup.text.splitting import Splitting

__all__ = ["Mark", "Rewritten", "check_rewritable", "output_path", "rewrite_source"]

T = TypeVar("T")

_STDIN = {
    "wikipedia": "stdin.jsonl", "tsv": "stdin.tsv", "csv": "stdin.csv", "jsonl": "stdin.jsonl",
    "parquet": "stdin.parquet", "text": "stdin.txt", "lines": "stdin.txt",
}  # fmt: skip
_BOM = b"\xef\xbb\xbf"

_log = logging.getLogger("esdedup")


@dataclass
class Rewritten:
    """What was written of one source.

    Records are counted, also those that no document is read from; a blank line or a header is none.
    """

    path: Path  # a text that is dropped, or damage at the very beginning, leaves no file there
    documents: int  # written
    documents_dropped: int
    sentences_dropped: int  # taken out of documents that stay


def check_rewritable(source: Source, reading: Reading, folder: Path, *, annotate: bool) -> None:
    """Raise `UsageError` if the source cannot be written to `folder` as asked."""
    label = "standard input" if source.path is None else readable(source.path)
    if source.format == "wikipedia" and reading.revisions == "all":
        raise UsageError(f"{label}: a page is written once, with its latest text; use --revisions latest")
    if annotate and source.format in ("text", "lines"):
        raise UsageError(
            f"{label}: plain text has no room for annotations; only jsonl, csv, tsv, parquet and wikipedia have "
            "(--format); or leave --annotate out"
        )
    path = output_path(source, folder)
    if source.path is not None and path.exists() and path.samefile(source.path):
        raise UsageError(f"{label}: would be overwritten by its own result; give another folder")


def output_path(source: Source, folder: Path) -> Path:
    """Where `rewrite_source` writes."""
    path = source.path
    if path is None:
        return folder / _STDIN[source.format]
    if source.base is not None:
        return folder / path.relative_to(source.base)
    return folder / (_jsonl_name(path.name) if source.format == "wikipedia" else path.name)


def rewrite_source(
    source: Source,
    reading: Reading,
    splitting: Splitting,
    marks: Iterable[tuple[int, Sequence[Mark]]],
    folder: Path,
    *,
    annotate: bool,
    keep_going: bool = False,
    threads: int = 1,
) -> Rewritten:
    """Write `source` to `folder` without the sentences (or records) whose marks do not keep them.

    `marks` are in rising order of place and are read as they are needed. What has no such mark is written byte
    for byte as it stands (wiki dumps: as cleaned pages). With `annotate` all is kept, and each record carries its
    marks. The file appears when it is whole; with `keep_going`, also what stands before damage. `UsageError` where
    the source cannot be written so, `SourceError` for damage, `EsdedupError` where the marks do not fit the source.
    """
    check_rewritable(source, reading, folder, annotate=annotate)
    path = output_path(source, folder)
    with closing(Opened(source.path, threads)) as opened:
        decisions = Decisions(marks, splitting, opened.label)
        writing = _Writing(source, reading, opened, decisions, annotate, keep_going)
        members = writing.members()
        first = next(members, None)
        if first is None:
            writing.finish()
            path.unlink(missing_ok=True)  # of an earlier run, and no longer true
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as part:
                write_members(part, _compression(source, opened), chain([first], members))
                writing.finish()
    return Rewritten(path, decisions.documents, decisions.documents_dropped, decisions.sentences_dropped)


class _Writing:
    """The members of a source as they are to be written: those that stay, as bytes in pieces."""

    def __init__(
        self,
        source: Source,
        reading: Reading,
        opened: Opened,
        decisions: Decisions,
        annotate: bool,
        keep_going: bool,
    ) -> None:
        self._damaged = False
        self._format = source.format
        self._reading = reading
        self._opened = opened
        self._decisions = decisions
        self._annotate = annotate
        self._keep_going = keep_going
        self._pages = CleanedPages(reading, opened.label, decisions, annotate)

    def members(self) -> Iterator[tuple[str | None, Iterator[bytes]]]:
        """Names and bytes; with `keep_going`, they end where damage begins."""
        return self._until_damage(self._members())

    def finish(self) -> None:
        """All has been read; where that was without damage, no mark may be left."""
        if not self._damaged:
            self._decisions.finish()

    def _members(self) -> Iterator[tuple[str | None, Iterator[bytes]]]:
        for name, pieces in self._opened.members():
            rewritten = self._rewritten(pieces)
            if rewritten is None:
                continue
            whole = self._until_damage(rewritten)
            head = next(whole, b"")
            if self._damaged and not head:
                return
            yield self._member_name(name), chain([head], whole)
            if self._damaged:
                return

    def _rewritten(self, pieces: Iterator[bytes]) -> Iterator[bytes] | None:
        label, reading, decisions = self._opened.label, self._reading, self._decisions
        form: RecordFormat
        match self._format:
            case "wikipedia":
                return self._pages.lines(pieces)
            case "parquet":
                return self._parquet(pieces)
            case "text":
                return _text(pieces, decisions)
            case "lines":
                form = PlainLines()
            case "jsonl":
                form = JsonLines(reading)
            case "tsv":
                form = TabLines(reading, label, self._annotate)
            case "csv":
                form = CsvRecords(reading, label, self._annotate)
        return rewrite_records(form, pieces, decisions, self._annotate)

    def _parquet(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        with self._opened.seekable(pieces) as file:
            yield from rewrite_parquet(file, self._opened.label, self._reading, self._decisions, self._annotate)

    def _member_name(self, name: str | None) -> str | None:
        if name is None or self._format != "wikipedia":
            return name
        path = PurePosixPath(name)
        return str(path.with_name(_jsonl_name(path.name)))

    def _until_damage(self, things: Iterator[T]) -> Iterator[T]:
        try:
            yield from things
        except SourceError as error:
            if not self._keep_going:
                raise
            self._damaged = True
            _log.error("%s", error)


def _text(pieces: Iterator[bytes], decisions: Decisions) -> Iterator[bytes] | None:
    """A text file as it stands, or without its sentences that are dropped; `None` if none is left."""
    decisions.place += 1
    drops = decisions.drops(decisions.place)
    if not drops:
        decisions.stay()
        return pieces
    data = b"".join(pieces)
    text = data.removeprefix(_BOM)
    left = decisions.left(text.decode(errors="replace"), drops)
    return None if left is None else iter((data[: len(data) - len(text)], left.encode()))


def _jsonl_name(name: str) -> str:
    """The name of a dump with the ending of JSON lines, before that of its compression."""
    ending = PurePosixPath(name).suffix
    return f"{split_name(name)[0]}.jsonl{ending if ending.lower() in COMPRESSIONS else ''}"


def _compression(source: Source, opened: Opened) -> str:
    if source.path is None:
        return "plain"
    return "lzma" if source.path.suffix.lower() == ".lzma" else opened.compression
