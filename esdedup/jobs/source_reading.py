"""Sources that a command reads, and how they get into a store."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from esdedup.errors import SourceError, StoreSourcesError, StoreVersionError, UsageError
from esdedup.files import as_word
from esdedup.formats.locations import STDIN, Source, discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.remote.remote_path import RemotePath, path_of
from esdedup.jobs.accounting import damages, warn_of_sources
from esdedup.jobs.indexing import index_sources, source_checkpoints
from esdedup.jobs.preconditions import Address
from esdedup.jobs.settings import Settings
from esdedup.store.lake.lake_address import LakeAddress
from esdedup.store.ledger import STANDARD_INPUT, SourceCheckpoint, adopt_names
from esdedup.store.rereading import OLDER
from esdedup.store.store import Store
from esdedup.text.normalize import STEMMED
from esdedup.text.splitting import AUTO, TEXT_SCHEME

log = logging.getLogger("esdedup")


def find_sources(arguments: Sequence[Address], reading: Reading, keep_going: bool) -> tuple[list[Source], list[str]]:
    """Return the sources and, with `keep_going`, the errors for arguments that match none."""
    names, missing = [str(argument) for argument in arguments], []
    for name in filter(LakeAddress.fits, names):
        raise UsageError(
            f"{name}: is a lake; read it with --store {as_word(name)}, or load it with esdedup index {as_word(name)} "
            "--store PATH.duckdb"
        )
    for name in list(names) if keep_going else []:
        try:
            discover([name], reading)
        except SourceError as error:
            log.error("%s", error)
            missing.append(str(error))
            names.remove(name)
    if missing and not names:
        raise SourceError(missing[0])
    return discover(names, reading), missing


@dataclass(frozen=True)
class ReadingJob:
    """The sources that a command reads, and how. `missing`: errors for names that match nothing."""

    sources: list[Source]
    checkpoints: list[SourceCheckpoint]
    settings: Settings
    fresh: bool
    keep_going: bool
    quiet: bool
    missing: list[str]

    @classmethod
    def of(
        cls, names: Sequence[Address], settings: Settings, *, fresh: bool = False, keep_going: bool, quiet: bool,
        rewritten: bool = False,
    ) -> ReadingJob:  # fmt: skip
        """Find the sources. With `rewritten`, duplicates are to be removed from them.

        Raise `SourceError` for a name that matches nothing, unless the job keeps going.
        """
        sources, missing = find_sources(names, settings.reading, keep_going)
        checkpoints = source_checkpoints(sources, settings.reading)
        settings = settings.for_sources(sources, rewritten=rewritten)
        return cls(sources, checkpoints, settings, fresh, keep_going, quiet, missing)

    @property
    def name(self) -> str:
        """A key that is equal for two commands with `--fresh` if they are the same job: same sources in the same state,
        read and signed the same way.
        """
        in_parts = self.settings.reading.part is not None
        named = [
            [each.name, each.path, each.timeless if in_parts else each.fingerprint, each.qualified]
            for each in self.checkpoints
        ]
        return json.dumps([named, self.settings.frozen], sort_keys=True)

    @property
    def damaged(self) -> list[str]:
        """What was missing, or could not be read to its end."""
        return self.missing + damages(self.checkpoints)

    def adopt_names(self, store: Store) -> None:
        """Give sources the names that the store knows them by."""
        adopt_names(self.checkpoints, store.ledger.sources(), typed=self.settings.reading.source_name is not None)


def refuse_inside(folder: Path, sources: Iterable[Address]) -> None:
    """Raise `UsageError` if a folder for results is inside a source: its files would be read the next time."""
    for source in sources:
        path = path_of(source).resolve() if str(source) != STDIN else Path()
        if (path.is_dir() or isinstance(path, RemotePath)) and path in [folder.resolve(), *folder.resolve().parents]:
            raise UsageError(f"{folder}: is inside the source {source}, and would be read the next time; use another")


def read_into(store: Store, job: ReadingJob, *, twice: bool = False, column: str = "--text-column") -> dict[str, int]:
    """Read sources into a store. Return the counts of documents repeated, unchanged and replaced. `column` is the
    option that a warning names for the column of the texts.

    Sources that the last run read in their present state are not read again. Raise `StoreSourcesError` if another run
    is not finished.
    """
    _refuse_other_texts(store)
    checkpoints = job.checkpoints
    known = store.ledger.sources()
    begun = store.ledger.unfinished_reading()
    if begun is not None:
        pending = [
            checkpoint
            for checkpoint in known
            if checkpoint.number in begun.sources and (not checkpoint.finished or damages([checkpoint]))
        ]
        if any(
            all(checkpoint.path != old.path or checkpoint.name != old.name for checkpoint in checkpoints)
            for old in pending
        ):
            raise StoreSourcesError(
                f"{store.address}: {pending[0].path} was not read to the end; index it again to finish it, "
                "with --keep-going if it is damaged, or start again with --fresh"
            )
    last = store.ledger.last_reading()
    again = store.corpus.complete or any(checkpoint.path == STANDARD_INPUT for checkpoint in checkpoints)
    if last is not None and not again:
        read = [checkpoint for checkpoint in known if checkpoint.number in last.sources]
        if len(read) == len(checkpoints) and all(
            any(checkpoint.same_as(old) for old in read) for checkpoint in checkpoints
        ):
            for checkpoint in checkpoints:
                checkpoint.skips = next(old for old in read if checkpoint.same_as(old)).skips
            if damages(checkpoints) and not job.keep_going:
                raise SourceError(f"{damages(checkpoints)[0]}; use --keep-going to keep what precedes it")
            return {"new": 0, "replaced": 0, "unchanged": _documents(read), "repeated": 0, "gone": 0}
    counts = index_sources(
        store.corpus, job.sources, checkpoints, job.settings.reading, job.settings.resources,
        keep_going=job.keep_going, quiet=job.quiet, twice=twice,
    )  # fmt: skip
    warn_of_sources(checkpoints, column)
    warn_of_stems(store)
    return counts


def _documents(read: Sequence[SourceCheckpoint]) -> int:
    """Return how many documents were read of sources, without older versions of pages."""
    return sum(source.documents - source.skips.counts.get(OLDER, 0) for source in read)


def warn_of_stems(store: Store) -> None:
    """Warn if words are stemmed as English, and most sentences are in another language."""
    signing = store.signing
    if signing.lang == AUTO and signing.form in STEMMED:
        most = next(iter(store.corpus.languages()), signing.word_lang)
        if most != signing.word_lang:
            log.warning(
                "most texts are in %s, but their words are stemmed as English; to change this, index them again with "
                "--fresh --lang %s", most, most,
            )  # fmt: skip


def refuse_other_sources(store: Store, checkpoints: Sequence[SourceCheckpoint], instead: str | None = None) -> bool:
    """Return whether the store contains exactly these sources in this state. Raise `StoreSourcesError` for others. It
    says what to do `instead`, by default to add to the store.
    """
    known = store.ledger.sources()
    same = len(known) == len(checkpoints) and all(one.same_as(two) for one, two in zip(known, checkpoints, strict=True))
    if known and not same:
        _refuse_other_texts(store)
        if [one.path for one in known] == [two.path for two in checkpoints]:
            raise StoreSourcesError(
                f"{store.address}: the store has a run over these sources as they were before, or with other options; "
                f"{instead or store.MORE}, or start again with --fresh"
            )
        names = ", ".join(checkpoint.path for checkpoint in known[:3]) + (" …" if len(known) > 3 else "")
        raise StoreSourcesError(
            f"{store.address}: the store has another run, over {names}; {instead or store.MORE}, or start again with "
            "--fresh"
        )
    return same


def _refuse_other_texts(store: Store) -> None:
    if store.signing.text_scheme != TEXT_SCHEME:
        raise StoreVersionError(
            f"{store.address}: its texts were cleaned and split by text scheme {store.signing.text_scheme}, but this "
            f"esdedup uses {TEXT_SCHEME}; scan it as it is, or index its sources again with --fresh"
        )
