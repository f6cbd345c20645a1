"""Write the sources of a job again: what is written comes from what was read, or nothing gets its name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from esdedup.engines import ENGINES
from esdedup.errors import EsdedupError, SourceChangedError
from esdedup.files import whole_file
from esdedup.formats.compression.opener import readable
from esdedup.formats.locations import Source
from esdedup.formats.rewrite import Rewritten, rewrite_source
from esdedup.jobs.accounting import unread
from esdedup.jobs.indexing import check_unchanged, content_of
from esdedup.jobs.progress_bar import Bar
from esdedup.matching.signing import Signing
from esdedup.output.drops import Verdicts, saved_verdicts
from esdedup.output.out_folder import OutFolder
from esdedup.resources import Resources
from esdedup.store.ledger import SourceCheckpoint

_WORK = ".dedupe"


class _AccountError(EsdedupError):
    """Records were lost, or dropped that should stay: a fault of ours."""


class Writing(NamedTuple):
    """A source, the name of its output, and what was read of it."""

    source: Source
    name: str
    read: SourceCheckpoint


@dataclass(frozen=True)
class Rewriting:
    """Writes the sources of a job: to a hidden folder first. The files get their names when all of them are complete,
    and their records add up. A file that is complete is not written again after a kill.
    """

    out: OutFolder
    signing: Signing
    annotate: bool
    keep_going: bool

    @property
    def _work(self) -> Path:
        return self.out.path / _WORK

    def all(
        self, writings: Sequence[Writing], verdicts: Verdicts, job: str, resources: Resources, *, quiet: bool
    ) -> dict[str, Any]:
        """Write sources, wherever the engine runs. Return the sums over all of them, and the names of what was written.

        Raise `SourceChangedError` for a source that is not what was read, and `EsdedupError` if records do not add up.
        """
        self._begin(job)
        try:
            done = self._written(writings, verdicts, resources, quiet=quiet)
        except (SourceChangedError, _AccountError):
            shutil.rmtree(self._work)  # nothing of it can be used
            raise
        self._publish(done)
        counted = ("documents", "documents_dropped", "sentences_dropped")
        sums = {name: sum(getattr(written, name) for _, written in done) for name in counted}
        return {**sums, "files": sorted(str(self.out.shown / writing.name) for writing, each in done if not each.empty)}

    def _written(
        self, writings: Sequence[Writing], verdicts: Verdicts, resources: Resources, *, quiet: bool
    ) -> list[tuple[Writing, Rewritten]]:
        """Write the sources to the hidden folder, and check what was written."""
        left = [writing for writing in writings if self._done(writing) is None]
        for writing in left:
            verdicts.save(writing.read.number, self._path(writing, "arrow"))
        engine, place = ENGINES[resources.engine], resources.engine
        one = _Task(
            self._work, self.signing, self.annotate, self.keep_going, 1 if engine.makes_lakes else resources.processes
        )
        with Bar("write", len(left), "file", not quiet) as bar:
            engine.each(place, one, left, bar.follow, "writing sources")
        done = [(writing, Rewritten(**(self._done(writing) or {}))) for writing in writings]
        dropped = verdicts.counts_by("file") if self.signing.splitting.whole and not self.annotate else None
        for writing, written in done:
            check_unchanged(writing.source, writing.read)
            _check_account(writing, written, None if dropped is None else dropped.get((writing.read.number,), 0))
        return done

    def _publish(self, done: Sequence[tuple[Writing, Rewritten]]) -> None:
        """Give the files their names."""
        self.out.claim(*(writing.name for writing, written in done if not written.empty))
        for writing, written in done:
            path = self.out.path / writing.name
            if written.empty:
                path.unlink(missing_ok=True)  # of an earlier run, now outdated
            elif (complete := self._path(writing, "out")).exists():  # else an earlier run was killed after this
                path.parent.mkdir(parents=True, exist_ok=True)
                complete.replace(path)
        shutil.rmtree(self._work)

    def _begin(self, job: str) -> None:
        """Make the hidden folder, unless an earlier run of the same job has begun."""
        mark = self._work / "job.json"
        if not mark.exists() or mark.read_text("utf-8") != job:
            if self._work.is_symlink():  # planted: what it leads to is not ours
                self._work.unlink()
            shutil.rmtree(self._work, ignore_errors=True)
            self._work.mkdir()
            with whole_file(mark) as part:
                part.write_text(job, "utf-8")

    def _path(self, writing: Writing, kind: str) -> Path:
        return self._work / f"{writing.read.number}.{kind}"

    def _done(self, writing: Writing) -> dict[str, Any] | None:
        """Return what was written of a source; None if nothing was, or if its file has gone since."""
        mark = self._path(writing, "json")
        done: dict[str, Any] | None = json.loads(mark.read_text("utf-8")) if mark.exists() else None
        there = done is not None and (
            done["empty"] or self._path(writing, "out").exists() or (self.out.path / writing.name).exists()
        )
        return done if there else None


@dataclass(frozen=True)
class _Task:
    """Writes one source to the hidden folder."""

    work: Path
    signing: Signing
    annotate: bool
    keep_going: bool
    threads: int

    def __call__(self, writing: Writing) -> None:
        path = self.work / str(writing.read.number)
        check_unchanged(writing.source, writing.read)
        verdicts = saved_verdicts(path.with_suffix(".arrow"))
        done = rewrite_source(
            writing.source, self.signing.splitting, verdicts, path.with_suffix(".out"),
            annotate=self.annotate, keep_going=self.keep_going, threads=self.threads, templates=self.signing.templates,
        )  # fmt: skip
        check_unchanged(writing.source, writing.read)
        if writing.read.content not in ("", content_of(writing.source)):
            raise SourceChangedError(
                f"{readable(writing.source.path or '')}: has changed since it was read, but its size and time are the "
                "same; touch it, and run again with --fresh"
            )
        with whole_file(path.with_suffix(".json"), shared=True) as part:
            part.write_text(json.dumps(asdict(done)), "utf-8")


def _check_account(writing: Writing, written: Rewritten, dropped: int | None) -> None:
    """Raise an error unless all records that were read of a source were written or dropped.

    `dropped` is the number of records that are to be dropped, if records are compared.
    """
    read, label = writing.read, readable(writing.source.path or writing.name)
    if 0 <= read.records != written.records and not written.damaged:
        raise SourceChangedError.at(label)
    skipped = read.skips.counts
    of_no_document = unread(skipped) if writing.source.format.rewrites_all else -skipped.get("unparsable_page", 0)
    documents = read.documents + of_no_document
    missing = documents - written.documents - written.documents_dropped
    # what is no record of its format is passed on as it is; a blank line may have been counted when it was read
    slack = written.blank + skipped.get("too_long_field", 0) + skipped.get("bad_csv", 0)
    if (not written.damaged and not 0 <= missing <= slack) or dropped not in (None, written.documents_dropped):
        raise _AccountError(
            f"{label}: {documents:,} records were read, but {written.documents:,} would be written and "
            f"{written.documents_dropped:,} dropped; nothing was written; run again with --fresh, and report this "
            "if it comes back"
        )
