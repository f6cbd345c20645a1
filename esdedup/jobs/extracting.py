"""The text of sources as a reader sees it, and what is left out of a page."""

from __future__ import annotations

import hashlib
import json
import logging
import uuid
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from esdedup._version import __version__
from esdedup.columns.arrays import text_column
from esdedup.columns.records import Skips
from esdedup.errors import SourceError, UsageError
from esdedup.formats.locations import Source
from esdedup.formats.stream import DocumentStream
from esdedup.jobs.indexing import source_checkpoints, without_first
from esdedup.jobs.preconditions import Address
from esdedup.jobs.prepare import BatchPlan, Cleaned, Prepared, clean, prepare
from esdedup.jobs.progress_bar import Bar
from esdedup.jobs.settings import Settings, settings_of
from esdedup.jobs.source_reading import find_sources, refuse_inside
from esdedup.jobs.workers import LARGE, Workers
from esdedup.matching.signing import Signing, freeze
from esdedup.output.extracts import ExtractFile, Parts
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.schemas import SHOWN
from esdedup.text.markup import cleaner_named
from esdedup.text.splitting import TEXT_SCHEME
from esdedup.text.wikitext.cleaning import Cleaner
from esdedup.text.wikitext.left_out import KEPT, LEFT_OUT, Run, marked, runs
from esdedup.text.wikitext.rules import Names

log = logging.getLogger("esdedup")

_PART_BYTES = 64 * 2**20

DOCUMENTS: pa.Schema = pa.schema([field for field in SHOWN if field.name not in ("document", "position")])


@dataclass
class Tally:
    """What was extracted so far, and from where to go on."""

    source: int = 0  # number of the source that is being read
    documents: int = 0  # documents read of it
    rows: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)

    def skip(self, counts: dict[str, int]) -> None:
        """Add to the counts of what was skipped."""
        for reason, count in counts.items():
            self.skipped[reason] = self.skipped.get(reason, 0) + count


class _Batch(NamedTuple):
    columns: pa.RecordBatch  # without the text
    position: int  # bytes of the source read so far
    work: Future[Any]


class Extraction:
    """Reads sources in order. `tally` says how far, and may be that of an earlier extraction."""

    def __init__(
        self, sources: Sequence[Source], checkpoints: Sequence[SourceCheckpoint], settings: Settings, *,
        sentences: bool, keep_going: bool, quiet: bool,
    ) -> None:  # fmt: skip
        for source in sources:
            if source.format.keeps_history:
                raise UsageError("extract takes only the latest text of a page; use --revisions latest")
        if sentences:
            settings = settings.for_sources(sources)
        self.tally = Tally()
        self._sources = sources
        self._checkpoints = checkpoints
        self._settings = settings
        self._signing: Signing = freeze(None, settings.frozen)
        self._sentences = sentences
        self._keep_going = keep_going
        self._quiet = quiet

    def refuse_overwriting(self, path: Path) -> None:
        """Raise `UsageError` if a file to write is one of the sources."""
        if any(source.path is not None and source.path.resolve() == path.resolve() for source in self._sources):
            raise UsageError(f"{path}: is a source, and would be overwritten; write to another file")

    @property
    def job(self) -> str:
        """A name for the same extraction from the same sources by the same version. A stream is never the same."""
        if any(source.path is None for source in self._sources):
            return uuid.uuid4().hex
        what = [
            __version__, TEXT_SCHEME, self._sentences, self._signing.saved(),
            [[one.name, one.path, one.fingerprint, one.qualified] for one in self._checkpoints],
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()

    def tables(self) -> Iterator[pa.Table]:
        """Yield rows of `DOCUMENTS` or `SHOWN`. When a table is yielded, the tally covers it."""
        with ExitStack() as stack:
            bar = stack.enter_context(
                Bar("extract", sum(source.size for source in self._sources), "B", not self._quiet)
            )
            workers = Workers(self._settings.resources.processes)
            stack.callback(workers.close)
            while self.tally.source < len(self._sources):
                number = self.tally.source
                before = sum(source.size for source in self._sources[:number])
                skips = Skips()
                for batch in self._batches(self._sources[number], skips, workers):
                    table = self._rows(batch, workers.result(batch.work), self._checkpoints[number])
                    self.tally.documents += batch.columns.num_rows
                    self.tally.rows += table.num_rows
                    bar.reach(before + batch.position, f"{self.tally.rows:,} {self._name}")
                    yield table
                damage = skips.places.get("damaged_source", [])
                if damage and not self._keep_going:
                    raise SourceError(f"{damage[0]}; use --keep-going to keep what precedes it")
                for place in damage:
                    log.error("%s", place)
                self.tally.damaged += damage
                self.tally.skip(skips.counts)
                self.tally.source, self.tally.documents = number + 1, 0

    @property
    def _name(self) -> str:
        return "sentences" if self._sentences else "documents"

    def _batches(self, source: Source, skips: Skips, workers: Workers) -> Iterator[_Batch]:
        waiting: deque[_Batch] = deque()
        try:
            threads = self._settings.resources.processes
            limit = self._settings.reading.limit
            with DocumentStream(source, skips, limit=limit, threads=threads) as stream:
                for batch in without_first(iter(stream), self.tally.documents, False):
                    names = tuple(sorted(stream.namespaces.items()))
                    plan = BatchPlan(
                        self._signing, source.format.cleaner, names, False, stream.language, stream.site, sign=False
                    )
                    texts = batch["text"]
                    given = (texts, np.arange(len(texts)), plan) if self._sentences else (texts, plan)
                    work: Future[Any] = workers.submit(prepare if self._sentences else clean, *given, size=texts.nbytes)
                    waiting.append(_Batch(batch.drop_columns(["text"]), stream.position, work))
                    most = 0 if texts.nbytes > LARGE else 4 * workers.count
                    while len(waiting) > most:
                        yield waiting.popleft()
        except SourceError as error:
            skips.add("damaged_source", str(error))
        yield from waiting

    def _rows(self, batch: _Batch, done: Cleaned | Prepared, checkpoint: SourceCheckpoint) -> pa.Table:
        columns = batch.columns
        if done.unparsable:
            self.tally.skip({"unparsable_page": len(done.unparsable)})
        before = f"{checkpoint.name}/" if checkpoint.qualified else ""
        ids = [before + key for key in columns["id"].to_pylist()]
        if isinstance(done, Prepared):
            return self._sentence_rows(columns, done, checkpoint.name, ids)
        rows = pa.table(
            [
                pa.array(ids, pa.string()), pa.array([checkpoint.name] * len(ids), pa.string()), columns["title"],
                done.texts, columns["revision"], columns["timestamp"], pa.array(done.languages, pa.string()),
            ],
            schema=DOCUMENTS,
        )  # fmt: skip
        failed = {row for row, _ in done.unparsable}
        texts = done.texts.to_pylist()
        kept = [bool(text.strip()) for text in texts]
        empty = sum(not keep and row not in failed for row, keep in enumerate(kept))
        if empty:
            self.tally.skip({"no_text": empty})
        return rows if all(kept) else rows.filter(pa.array(kept))

    def _sentence_rows(self, columns: pa.RecordBatch, done: Prepared, name: str, ids: list[str]) -> pa.Table:
        positions = done.positions[done.kept]
        for reason, count in (("too_short", int(done.short.sum())), ("too_long", int(done.long.sum()))):
            if count:
                self.tally.skip({reason: count})
        at = done.text[done.kept]
        of = [ids[row] for row in at]
        whole = self._signing.splitting.whole
        names = of if whole else [f"{one}:{position}" for one, position in zip(of, positions.tolist(), strict=True)]
        taken = pa.array(at)
        return pa.table(
            [
                pa.array(names, pa.string()), pa.array([name] * len(of), pa.string()), pa.array(of, pa.string()),
                columns["title"].take(taken), pa.array(positions, pa.int32()), done.texts,
                columns["revision"].take(taken), columns["timestamp"].take(taken),
                pa.array(done.languages, pa.string()).take(taken),
            ],
            schema=SHOWN,
        )  # fmt: skip


def extraction(
    sources: Sequence[Address], options: dict[str, Any], *, sentences: bool, keep_going: bool, quiet: bool
) -> tuple[Extraction, list[str]]:
    """Return an extraction that has not begun and, with `keep_going`, the errors for arguments that match nothing."""
    settings = settings_of(options)
    settings.say_reads_here("extract")
    found, missing = find_sources(sources, settings.reading, keep_going)
    checkpoints = source_checkpoints(found, settings.reading)
    return (
        Extraction(found, checkpoints, settings, sentences=sentences, keep_going=keep_going, quiet=quiet),
        missing,
    )


def extract_to(
    sources: Sequence[Address], out: Address, options: dict[str, Any], *, sentences: bool, keep_going: bool,
    quiet: bool,
) -> dict[str, Any]:  # fmt: skip
    """Write the text of sources to the file `out`. The same call finishes a killed one.

    Finished parts wait beside the file until all are there: this takes the disk space of the text, uncompressed. Return
    counts of `documents` or `sentences`, and what was `skipped` or `damaged`.
    """
    file = ExtractFile(Path(out))
    refuse_inside(file.path.parent, sources)
    begun, missing = extraction(sources, options, sentences=sentences, keep_going=keep_going, quiet=quiet)
    begun.refuse_overwriting(file.path)
    with Parts(file, begun.job) as parts:
        if parts.saved is not None:
            begun.tally = Tally(**parts.saved)
        waiting: list[pa.Table] = []
        for table in begun.tables():
            waiting.append(table)
            if sum(one.nbytes for one in waiting) > _PART_BYTES:
                parts.add(pa.concat_tables(waiting), vars(begun.tally))
                waiting = []
        schema = SHOWN if sentences else DOCUMENTS
        parts.add(pa.concat_tables([schema.empty_table(), *waiting]), vars(begun.tally))
        parts.finish()
    tally = begun.tally
    return {
        "file": str(file.path),
        "sentences" if sentences else "documents": tally.rows,
        "skipped": dict(sorted(tally.skipped.items())),
        "damaged": missing + tally.damaged,
    }


_CLOSE = 2000  # titles that are compared with one that is not found


def page_text(sources: Sequence[Address], title: str, options: dict[str, Any], *, dropped: bool) -> str:
    """Return the first document with this title or id, cleaned. With `dropped`, everything that the cleaner leaves out
    stands in it, marked, with the reason.

    Raises `SourceError` if there is none.
    """
    titles: list[str] = []
    for page in _pages(sources, options):
        if title in (page.title, page.id):
            return marked(page.runs()) if dropped else page.cleaned()
        if page.title and len(titles) < _CLOSE:
            titles.append(page.title)
    close = get_close_matches(title, titles, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "; give a title as it stands in the source, or an id"
    raise SourceError(f"no page {title!r} among those that are read{hint}")


class LeftOut(NamedTuple):
    """What is left out of pages for one reason."""

    why: str
    times: int
    characters: int


def left_out(sources: Sequence[Address], options: dict[str, Any]) -> tuple[int, list[LeftOut]]:
    """Return how many pages were read, and what is left out of them, most characters first: by the heading of a
    section, the name of a template, and the like. It reads about a megabyte a second.
    """
    pages = 0
    times, characters = Counter[str](), Counter[str]()
    for page in _pages(sources, options):
        pages += 1
        for run in page.runs():
            if run.kind == LEFT_OUT:
                times[run.why] += 1
                characters[run.why] += len(run.text)
    return pages, [LeftOut(why, times[why], count) for why, count in characters.most_common()]


class _Page(NamedTuple):
    title: str | None
    id: str
    stored: pa.Scalar  # the text as it is; it becomes a string when it is asked for
    names: Names
    cleaner: Cleaner | None  # None without markup

    @property
    def text(self) -> str:
        return str(self.stored.as_py())

    def cleaned(self) -> str:
        if self.cleaner is None:
            return self.text
        cleaned, failed = self.cleaner.clean_column(text_column([self.text]))
        if failed:
            raise SourceError(f"its markup could not be read: {failed[0][1]}")
        return cleaned[0] or ""

    def runs(self) -> list[Run]:
        return [Run(KEPT, self.text)] if self.cleaner is None else runs(self.text, self.cleaned(), self.names)


def _pages(sources: Sequence[Address], options: dict[str, Any]) -> Iterator[_Page]:
    settings = settings_of(options)
    found, _ = find_sources(sources, settings.reading, keep_going=False)
    for source in found:
        with DocumentStream(source, Skips(), limit=settings.reading.limit) as stream, ExitStack() as stack:
            names, cleaner = Names(), None
            for number, batch in enumerate(stream):
                if not number:  # the names of the wiki are known now
                    names = Names(stream.namespaces, settings.frozen.get("templates"), stream.site, stream.language)
                    if source.format.cleaner:
                        cleaner = stack.enter_context(closing(cleaner_named(source.format.cleaner)(names)))
                titles, keys = batch["title"].to_pylist(), batch["id"].to_pylist()
                for title, key, text in zip(titles, keys, batch["text"], strict=True):
                    yield _Page(title, key, text, names, cleaner)
