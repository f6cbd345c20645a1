"""Check a store, and mend what can be mended."""

from __future__ import annotations

from esdedup.errors import StoreError
from esdedup.jobs.scanning import scan_store
from esdedup.jobs.settings import Settings
from esdedup.jobs.steps import next_scanning, open_for
from esdedup.store.registry import StoreAddress
from esdedup.store.store import Check

_RESULTS = "results"


def examined(address: StoreAddress, settings: Settings, *, repair: bool, quiet: bool) -> list[Check]:
    """Check everything that a store promises. With `repair`, mend what can be, and check again."""
    before = address.examine()
    after = before
    if repair and any(check.problem for check in before):
        _repair(address, {check.name for check in before if check.problem}, settings, quiet=quiet)
        after = address.examine()
    left = {check.name for check in after if check.problem}
    # what the second examination did not come to is not known to be mended
    whole = all(check.made for check in after[-1:])
    checks = [check._replace(repaired=whole) for check in before if check.problem and check.name not in left]
    return checks + [check for check in after if check.problem or check.name not in {one.name for one in checks}]


def _repair(address: StoreAddress, broken: set[str], settings: Settings, *, quiet: bool) -> None:
    address.repair(broken)
    try:
        opened = open_for(str(address), settings, must_exist=True)  # which makes good what others did
    except StoreError:
        return  # the second examination says what is left
    with opened:
        lost = opened.results.lost is not None or _RESULTS in broken
        if lost and opened.ledger.last_scanning() is not None and opened.ledger.unfinished_reading() is None:
            scan_store(opened, next_scanning(opened, settings), settings.resources, quiet=quiet)
