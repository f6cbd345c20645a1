"""What a store holds, and what is unfinished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from esdedup.jobs.accounting import RENAMED, accounted, damages, skipped_by_reason
from esdedup.jobs.preconditions import still_to_come
from esdedup.plurals import plural
from esdedup.store.registry import address_of

if TYPE_CHECKING:
    from esdedup.store.store import Store


def held(store: Store) -> dict[str, Any]:
    """Return counts, settings, sources, last scan, unfinished work (a sentence, or None) and disk space of a store."""
    skipped = skipped_by_reason(store.ledger.sources())
    return {
        "store": store.address,
        "settings": store.signing.described(),
        "counts": store.corpus.counts(),
        "languages": store.corpus.languages(),
        "sources": [
            {
                "name": checkpoint.name,
                "path": checkpoint.path,
                "documents": checkpoint.documents,
                "finished": checkpoint.finished,
            }
            for checkpoint in store.ledger.sources()
        ],
        "records": accounted(store.signing, store.ledger.sources(), store.corpus.counts()),
        "renamed": skipped.pop(RENAMED, 0),
        "skipped": skipped,
        "unfinished": _unfinished_job(store),
        "last_scan": store.results.last_scan(),
        "disk_bytes": store.disk_bytes(),
    }


def _unfinished_job(store: Store) -> str | None:
    """Return what was begun and not finished, and how to finish it."""
    if address_of(store.address).has_unfinished_generation():
        return "a new generation is being made; run the same command with --fresh again"
    begun = store.ledger.unfinished_reading()
    if begun is not None:
        checkpoints = [checkpoint for checkpoint in store.ledger.sources() if checkpoint.number in begun.sources]
        pending = next(
            (checkpoint for checkpoint in checkpoints if not checkpoint.finished or damages([checkpoint])),
            checkpoints[-1] if checkpoints else None,
        )
        if pending is None:
            return "reading sources that the store does not list; index them again with --fresh"
        what = f"still to come: {still_to_come(begun)}" if begun.missing else "run the same command again"
        return f"reading {pending.path}: {plural(pending.documents, 'document')} so far; {what}"
    verb = store.ledger.unfinished_job()
    if verb is not None:
        return f"esdedup {verb}; run the same command again, unless it is still running"
    if store.results.lost is not None:
        return f"there are no results: {store.results.lost}; run esdedup scan"
    last = store.results.last_scan()
    if last is not None and not last["current"]:
        return "documents were added, removed or changed since the last scan; run esdedup scan"
    return None
