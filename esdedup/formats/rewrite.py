"""Rewrite a source: same name, format and compression, without what is dropped."""

from __future__ import annotations

import logging
import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from esdedup.columns.records import Skips
from esdedup.errors import SourceChangedError, SourceError, UsageError
from esdedup.files import whole_file
from esdedup.formats.compression.opener import Opened, readable
from esdedup.formats.compression.protocol import COMPRESSIONS
from esdedup.formats.decisions import Decisions, Verdict
from esdedup.formats.locations import STDIN, Source
from esdedup.formats.protocol import FORMATS, Format, Walk
from esdedup.text.splitting import Splitting

T = TypeVar("T")

_log = logging.getLogger("esdedup")


@dataclass
class Rewritten:
    """What was written of one source.

    All records are counted, including those that are not documents. A blank line or a header is not a record.
    """

    empty: bool  # a dropped text, or damage at the very beginning, leaves no file
    damaged: bool  # it was not read to its end
    records: int  # raw records that were read
    blank: int  # of these: lines that are not records
    documents: int  # written
    documents_dropped: int
    sentences_dropped: int  # removed from documents that stay


def check_rewritable(source: Source, *, annotate: bool) -> None:
    """Raise `UsageError` if the source cannot be written with these options."""
    label = "standard input" if source.path is None else readable(source.path)
    source.format.check_rewritable(label)
    if annotate and not source.format.annotates:
        *able, last = (each.name for each in FORMATS if each.annotates)
        raise UsageError(
            f"{label}: {source.format.name} has no room for annotations; only {', '.join(able)} and {last} "
            "can; choose one with --format, or leave out --annotate"
        )


def output_names(sources: Sequence[Source], *, folds_case: bool = False) -> list[str]:
    """Return the path of each source's output in the folder for outputs.

    It is the file name or, in a folder of texts, the path there. If two would be equal, it is the path below the
    deepest folder that all sources have in common. Raise `UsageError` if two are equal even then. With `folds_case`,
    names that differ only in case or in their Unicode form are equal.
    """
    paths = [Path(os.path.abspath(source.path or source.format.stdin_name)) for source in sources]  # noqa: PTH100
    paths = [path.with_name(source.format.output_name(path.name)) for source, path in zip(sources, paths, strict=True)]
    names = [
        str(source.path.relative_to(source.base)) if source.path and source.base else path.name
        for source, path in zip(sources, paths, strict=True)
    ]
    if _clash(names, folds_case) is not None:
        with suppress(ValueError):  # on different drives
            common = os.path.commonpath([path.parent for path in paths])
            names = [str(path.relative_to(common)) for path in paths]
    if (clash := _clash(names, folds_case)) is not None:
        one, two = (readable(sources[place].path or STDIN) for place in clash)
        raise UsageError(
            f"{one} and {two}: both would be written to {names[clash[1]]!r}; rename one, or deduplicate them together "
            "from folders of their own"
        )
    return names


def _clash(names: Sequence[str], folds_case: bool) -> tuple[int, int] | None:
    """Return the places of two paths of which one would overwrite the other, or be a folder on its way."""
    taken: dict[str, int] = {}
    folders: dict[str, int] = {}
    for place, name in enumerate(names):
        key = unicodedata.normalize("NFC", name).casefold() if folds_case else name
        parents = [str(parent) for parent in Path(key).parents][:-1]
        other = next((found for each in (key, *parents) if (found := taken.get(each)) is not None), folders.get(key))
        if other is not None:
            return other, place
        taken[key] = place
        folders |= dict.fromkeys(parents, place)
    return None


def rewrite_source(
    source: Source,
    splitting: Splitting,
    verdicts: Iterable[tuple[int, Sequence[Verdict]]],
    path: Path,
    *,
    annotate: bool,
    templates: str | None = None,
    limit: int | None = None,
    keep_going: bool = False,
    threads: int = 1,
) -> Rewritten:
    """Write `source` to `path` without the sentences (or records) whose verdicts drop them.

    `verdicts` are in increasing order of record numbers, and read on demand. A record without drops is written byte for
    byte (wiki dumps: as cleaned pages, at most `limit` of them; `templates` as a store saves them). With `annotate`,
    everything is kept, and each record gets its verdicts. The file appears when it is complete. With `keep_going`,
    everything before damage is written too.

    Raises `UsageError` if the source cannot be written with these options, `SourceError` for damage, and
    `SourceChangedError` if the verdicts do not fit the source.
    """
    check_rewritable(source, annotate=annotate)
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
                compression.write(part, chain([first], members), apart=source.format.streams_of_records)
                writing.finish()
    return Rewritten(
        first is None, writing.damaged, decisions.record, decisions.blank,
        decisions.documents, decisions.documents_dropped, decisions.sentences_dropped,
    )  # fmt: skip


class _Writing:
    """The members of a source as they are written: those that stay, as bytes in pieces."""

    def __init__(
        self, form: Format, opened: Opened, walk: Walk, decisions: Decisions, annotate: bool, keep_going: bool
    ) -> None:
        self.damaged = False
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
        if not self.damaged:
            self._decisions.finish()

    def _members(self) -> Iterator[tuple[str | None, Iterator[bytes]]]:
        for member in self._opened.members():
            rewritten = self._format.rewrite(member, self._walk, self._decisions, self._annotate)
            if rewritten is None:
                continue
            whole = self._until_damage(rewritten)
            head = next(whole, b"")
            if self.damaged and not head:
                return
            yield member.name and self._format.output_name(member.name), chain([head], whole)
            if self.damaged:
                return

    def _until_damage(self, things: Iterator[T]) -> Iterator[T]:
        try:
            yield from things
        except SourceError as error:
            if not self._keep_going or isinstance(error, SourceChangedError):
                raise
            self.damaged = True
            _log.error("%s", error)
