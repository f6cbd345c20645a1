"""Rewrite a source: same name, format and compression, without what is dropped."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from esdedup.columns.records import Skips
from esdedup.errors import SourceError, UsageError
from esdedup.files import whole_file
from esdedup.formats.compression.opener import Opened, readable
from esdedup.formats.compression.protocol import COMPRESSIONS
from esdedup.formats.decisions import Decisions, Verdict
from esdedup.formats.locations import Source
from esdedup.formats.protocol import FORMATS, Format, Walk
from esdedup.text.splitting import Splitting

T = TypeVar("T")

_log = logging.getLogger("esdedup")


@dataclass
class Rewritten:
    """What was written of one source.

    All records are counted, including those that are not documents. A blank line or a header is not a record.
    """

    path: Path  # a dropped text, or damage at the very beginning, leaves no file there
    documents: int  # written
    documents_dropped: int
    sentences_dropped: int  # removed from documents that stay


def check_rewritable(source: Source, folder: Path, *, annotate: bool) -> None:
    """Raise `UsageError` if the source cannot be written to `folder` with these options."""
    label = "standard input" if source.path is None else readable(source.path)
    source.format.check_rewritable(label)
    if annotate and not source.format.annotates:
        *able, last = (each.name for each in FORMATS if each.annotates)
        raise UsageError(
            f"{label}: {source.format.name} has no room for annotations; only {', '.join(able)} and {last} "
            "can; choose one with --format, or leave out --annotate"
        )
    path = output_path(source, folder)
    if source.path is not None and path.exists() and path.samefile(source.path):
        raise UsageError(f"{label}: the output would overwrite the source; choose another folder")


def output_path(source: Source, folder: Path) -> Path:
    """Return the path that `rewrite_source` writes to."""
    if source.path is None:
        return folder / source.format.stdin_name
    if source.base is not None:
        return folder / source.path.relative_to(source.base)
    return folder / source.format.output_name(source.path.name)


def rewrite_source(
    source: Source,
    splitting: Splitting,
    verdicts: Iterable[tuple[int, Sequence[Verdict]]],
    folder: Path,
    *,
    annotate: bool,
    templates: str | None = None,
    limit: int | None = None,
    keep_going: bool = False,
    threads: int = 1,
) -> Rewritten:
    """Write `source` to `folder` without the sentences (or records) whose verdicts drop them.

    `verdicts` are in increasing order of record numbers, and read on demand. A record without drops is written byte for
    byte (wiki dumps: as cleaned pages, at most `limit` of them; `templates` as a store saves them). With `annotate`,
    everything is kept, and each record gets its verdicts. The file appears when it is complete. With `keep_going`,
    everything before damage is written too.

    Raises `UsageError` if the source cannot be written with these options, `SourceError` for damage, and `EsdedupError`
    if the verdicts do not fit the source.
    """
    check_rewritable(source, folder, annotate=annotate)
    path = output_path(source, folder)
    with closing(Opened(source.path, threads)) as opened:
        decisions = Decisions(verdicts, splitting, opened.label, templates)
        decisions.max_text = source.max_text
        walk = Walk(opened.label, source.document, Skips(), limit, source.max_text)
        writing = _Writing(source.format, opened, walk, decisions, annotate, keep_going)
        members = writing.members()
        first = next(members, None)
        if first is None:
            writing.finish()
            path.unlink(missing_ok=True)  # of an earlier run, now outdated
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            compression = COMPRESSIONS["plain"]() if source.path is None else opened.compression
            with whole_file(path) as part:
                compression.write(part, chain([first], members))
                writing.finish()
    return Rewritten(path, decisions.documents, decisions.documents_dropped, decisions.sentences_dropped)


class _Writing:
    """The members of a source as they are written: those that stay, as bytes in pieces."""

    def __init__(
        self, form: Format, opened: Opened, walk: Walk, decisions: Decisions, annotate: bool, keep_going: bool
    ) -> None:
        self._damaged = False
        self._format = form
        self._opened = opened
        self._walk = walk
        self._decisions = decisions
        self._annotate = annotate
        self._keep_going = keep_going

    def members(self) -> Iterator[tuple[str | None, Iterator[bytes]]]:
        """Yield names and bytes. With `keep_going`, they end where damage begins."""
        return self._until_damage(self._members())

    def finish(self) -> None:
        """Check that no verdict is left after an undamaged source was read to its end."""
        if not self._damaged:
            self._decisions.finish()

    def _members(self) -> Iterator[tuple[str | None, Iterator[bytes]]]:
        for member in self._opened.members():
            rewritten = self._format.rewrite(member, self._walk, self._decisions, self._annotate)
            if rewritten is None:
                continue
            whole = self._until_damage(rewritten)
            head = next(whole, b"")
            if self._damaged and not head:
                return
            yield member.name and self._format.output_name(member.name), chain([head], whole)
            if self._damaged:
                return

    def _until_damage(self, things: Iterator[T]) -> Iterator[T]:
        try:
            yield from things
        except SourceError as error:
            if not self._keep_going:
                raise
            self._damaged = True
            _log.error("%s", error)
