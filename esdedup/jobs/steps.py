"""Steps that several verbs share: options, sources, reading and scanning."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from esdedup.errors import EsdedupError, SourceError, StoreSourcesError, StoreVersionError, UsageError
from esdedup.files import as_word
from esdedup.formats.locations import Source, discover
from esdedup.formats.reading_options import Reading
from esdedup.jobs.accounting import damages, warn_of_sources
from esdedup.jobs.indexing import index_sources
from esdedup.jobs.preconditions import Address
from esdedup.jobs.scanning import scan_store
from esdedup.jobs.scratch import forget_scan, forget_scans
from esdedup.jobs.settings import Settings
from esdedup.jobs.updating import update_results
from esdedup.matching.protocol import Scanning
from esdedup.resources import Resources
from esdedup.store.lake.lake_address import LakeAddress
from esdedup.store.ledger import STANDARD_INPUT, SourceCheckpoint
from esdedup.store.registry import address_of, kind_of, open_store
from esdedup.store.rereading import OLDER
from esdedup.store.store import Store
from esdedup.text.normalize import STEMMED
from esdedup.text.splitting import AUTO, TEXT_SCHEME

log = logging.getLogger("esdedup")


def database_share(resources: Resources) -> dict[str, Any]:
    """Return how a store is opened for a job: with the database's share of the memory."""
    return {"memory": resources.memory * 3 // 10, "threads": resources.processes}


def open_for(store: Address, settings: Settings, *, fresh: str | None = None, must_exist: bool = False) -> Store:
    """Open a store for writing, with the database's share of the memory."""
    if settings.reading.part is not None and not kind_of(store).shared:
        raise UsageError("part applies to stores on a server; a store in a file has one writer")
    return open_store(
        store,
        None if must_exist and not settings.frozen else settings.frozen,
        **database_share(settings.resources),
        fresh=fresh,
        part=None if settings.reading.part is None else str(settings.reading.part),
    )


def job_name(checkpoints: Sequence[SourceCheckpoint], settings: Settings) -> str:
    """Return a key that is equal for two commands with `--fresh` if they are the same job: same sources in the same
    state, read and signed the same way.
    """
    in_parts = settings.reading.part is not None
    named = [
        [
            checkpoint.name,
            checkpoint.path,
            checkpoint.timeless if in_parts else checkpoint.fingerprint,
            checkpoint.qualified,
        ]
        for checkpoint in checkpoints
    ]
    return json.dumps([named, settings.frozen], sort_keys=True)


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


def refuse_inside(folder: Path, sources: Iterable[Address]) -> None:
    """Raise `UsageError` if a folder for results is inside a source: its files would be read the next time."""
    for source in sources:
        if Path(source).is_dir() and Path(source).resolve() in [folder.resolve(), *folder.resolve().parents]:
            raise UsageError(f"{folder}: is inside the source {source}, and would be read the next time; use another")


def make_folder(folder: Path) -> None:
    """Create a folder for files if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EsdedupError(f"--out {folder}: {error.strerror}; use a writable folder") from error


def read_into(
    store: Store,
    sources: list[Source],
    checkpoints: list[SourceCheckpoint],
    settings: Settings,
    *,
    keep_going: bool,
    quiet: bool,
    twice: bool = False,
    column: str = "--text-column",
) -> dict[str, int]:
    """Read sources into a store. Return the counts of documents repeated, unchanged and replaced. `column` is the
    option that a warning names for the column of the texts.

    Sources that the last run read in their present state are not read again. Raise `StoreSourcesError` if another run
    is not finished.
    """
    _refuse_other_texts(store)
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
            if damages(checkpoints) and not keep_going:
                raise SourceError(f"{damages(checkpoints)[0]}; use --keep-going to keep what precedes it")
            return {"new": 0, "replaced": 0, "unchanged": _documents(read), "repeated": 0, "gone": 0}
    counts = index_sources(
        store.corpus, sources, checkpoints, settings.reading, settings.resources,
        keep_going=keep_going, quiet=quiet, twice=twice,
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


def bring_up_to_date(store: Store, settings: Settings, *, quiet: bool) -> dict[str, float]:
    """Update the results to those of a scan of the present documents. Return seconds by stage, empty if they are
    current.

    Options that were not requested are those of the last scan. If little has changed since, only the changes are
    processed; otherwise everything is scanned again.
    """
    last = store.results.last_scan()
    scanning = next_scanning(store, settings)
    if last is not None:
        changed = None
        if scanning.matcher.by_tokens and not last["current"] and scanning == Scanning.from_described(last["scanning"]):
            changed = store.corpus.changed_texts()
        if changed is not None:
            return update_results(store, changed, last, settings.resources, quiet=quiet)
    return scan_if_needed(store, scanning, settings.resources, quiet=quiet)


def next_scanning(store: Store, settings: Settings) -> Scanning:
    """Return the requested options and, where not given, those of the last scan.

    Raise `SettingsError` if they contradict each other, `VectorsError` if a file of word vectors cannot be used.
    """
    last = store.ledger.last_scanning()
    if last is None:
        return settings.scanning_of(store.signing.unit)
    scanning = Scanning.from_described(last).replaced(settings.free)
    scanning.matcher.check_files()
    return scanning


def check_adding(store: Store, settings: Settings) -> None:
    """Raise `StoreError` if the matcher of the last scan, or the requested one, cannot add to results."""
    Scanning.from_described(store.ledger.last_scanning() or {}).matcher.check_adding(store.address)
    settings.scanning.matcher.check_adding(store.address)


def scan_if_needed(
    store: Store,
    scanning: Scanning,
    resources: Resources,
    *,
    quiet: bool,
    key: str | None = None,
    **more: Any,
) -> dict[str, float]:
    """Scan, unless the last scan was the same one and nothing has changed since. Return seconds by stage.

    `key` and `more` are the last arguments of `scan_store`.
    """
    last = store.results.last_scan()
    same = last is not None and last["current"] and last["scanning"] == scanning.described()
    same = same and (last or {}).get("apart") == key
    if same and (last or {}).get("vectors_state") == scanning.matcher.files_state():
        forget_scan(store)
        return {}
    return scan_store(store, scanning, resources, quiet=quiet, key=key, **more)


def publish(store: Store, *, fresh: bool, keep: int = 0) -> None:
    """Replace the old generation with the new one, and delete what scans have left of it."""
    store.publish(keep)
    if fresh:
        forget_scans(address_of(store.address))


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
