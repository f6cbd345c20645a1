"""Steps that several verbs share: options, sources, reading and scanning."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from esdedup.errors import EsdedupError, StoreError, UsageError
from esdedup.jobs.preconditions import Address
from esdedup.jobs.scanning import scan_store
from esdedup.jobs.scratch import forget_scan, forget_scans
from esdedup.jobs.settings import Settings
from esdedup.jobs.updating import update_results
from esdedup.matching.protocol import Scanning
from esdedup.resources import Resources
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.registry import address_of, kind_of, open_store
from esdedup.store.store import Store

_SAMPLE = 200  # sentences that match, of which it is known how many are copies

log = logging.getLogger("esdedup")


def open_for(
    store: Address,
    settings: Settings,
    *,
    fresh: str | None = None,
    must_exist: bool = False,
    lookup: bool = True,
) -> Store:
    """Open a store for writing, with the database's share of the memory. Without `lookup`, what is read will not be
    searched.
    """
    if settings.reading.part is not None and not kind_of(store).shared:
        raise UsageError("part applies to stores on a server; a store in a file has one writer")
    return open_store(
        store,
        None if must_exist and not settings.frozen else settings.frozen,
        **settings.resources.of_database,
        fresh=fresh,
        lookup=lookup,
        part=None if settings.reading.part is None else str(settings.reading.part),
    )


def make_folder(folder: Path) -> None:
    """Create a folder for files if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EsdedupError(f"--out {folder}: {error.strerror}; use a writable folder") from error


def bring_up_to_date(store: Store, settings: Settings, *, quiet: bool) -> dict[str, float]:
    """Update the results to those of a scan of the present documents. Return seconds by stage, empty if they are
    current.

    Options that were not requested are those of the last scan. If little has changed since, only the changes are
    processed; otherwise everything is scanned again, with what the last scan learned.
    """
    last = store.results.last_scan()
    scanning = next_scanning(store, settings)
    learned = None
    if last is not None:
        changed = None
        same = scanning == Scanning.from_described(last["scanning"])
        learned = last.get("learned") if same else None
        if scanning.matcher.by_tokens and not last["current"] and same:
            changed = store.corpus.changed_texts()
        if changed is not None:
            return update_results(store, changed, last, settings.resources, quiet=quiet)
    return scan_if_needed(store, scanning, settings.resources, quiet=quiet, learned=learned)


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
    last = Scanning.from_described(store.ledger.last_scanning() or {})
    for scanning in (last, settings.scanning):
        scanning.matcher.check_adding(store.address)
    if last.one_per_source:
        raise StoreError(
            f"{store.address}: one-per-source is decided by a whole scan; run esdedup index SOURCE… --store "
            f"{store.address}, then esdedup scan"
        )


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


def new_matches(
    store: Store, new: Sequence[SourceCheckpoint], most: int, arrived: int
) -> tuple[int, list[dict[str, Any]]]:
    """Return how many of the `arrived` sentences that were read last match another one, and `most` of them. Warn if the
    `new` sources seem to be copies of what the store has.
    """
    last = store.ledger.last_reading()
    if last is None:
        return 0, []
    matched, shown = store.results.new_matches(last.first, max(most, _SAMPLE))
    _warn_of_copies(new, matched, shown, arrived)
    return matched, shown[:most]


def _warn_of_copies(
    new: Sequence[SourceCheckpoint], matched: int, shown: Sequence[dict[str, Any]], arrived: int
) -> None:
    """Say so if most of what new sources brought stands in the store word for word, under other ids."""
    own = tuple(f"{source.name}/" for source in new if source.qualified and not source.wiki)
    copies = [row for row in shown if row["text"] == row["match_text"] and not row["match"].startswith(own)]
    if own and 2 * len(copies) > len(shown) and 2 * matched * len(copies) > arrived * len(shown):
        log.warning(
            "most of what is new stands in the store word for word under other ids, such as %s and %s; if these are "
            "the same documents, make the store anew with --fresh, and with --ids across if an id column holds for all "
            "sources, or give a changed file the --source-name that it had", copies[0]["id"], copies[0]["match"],
        )  # fmt: skip
