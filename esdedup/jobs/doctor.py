"""Check a store, and mend what can be mended."""

from __future__ import annotations

from typing import Any

from esdedup.errors import StoreError
from esdedup.jobs.preconditions import Address
from esdedup.jobs.scanning import scan_store
from esdedup.jobs.settings import Settings, settings_of
from esdedup.jobs.steps import next_scanning, open_for
from esdedup.store.registry import address_of

_RESULTS = "results"


def doctor(*, store: Address, repair: bool, quiet: bool, **options: Any) -> dict[str, Any]:
    """Check everything that a store promises. With `repair`, mend what can be, and check again.

    Return `store`, and its `checks`: each with its name, what is wrong (or null), what mends it, and whether that was
    done. `options` are those of resources.
    """
    settings = settings_of(options)
    address = address_of(store)
    before = address.examine()
    after = before
    if repair and any(check.problem for check in before):
        _repair(store, {check.name for check in before if check.problem}, settings, quiet=quiet)
        after = address.examine()
    left = {check.name for check in after if check.problem}
    # what the second examination did not come to is not known to be mended
    whole = all(check.made for check in after)
    checks = [check._replace(repaired=whole) for check in before if check.problem and check.name not in left]
    checks += [check for check in after if check.problem or check.name not in {one.name for one in checks}]
    return {"store": str(address), "checks": [check._asdict() for check in checks]}


def _repair(store: Address, broken: set[str], settings: Settings, *, quiet: bool) -> None:
    address_of(store).repair(broken)
    try:
        opened = open_for(store, settings, must_exist=True)  # which makes good what others did
    except StoreError:
        return  # the second examination says what is left
    with opened:
        lost = opened.results.lost is not None or _RESULTS in broken
        if lost and opened.ledger.last_scanning() is not None and opened.ledger.unfinished_reading() is None:
            scan_store(opened, next_scanning(opened, settings), settings.resources, quiet=quiet)
