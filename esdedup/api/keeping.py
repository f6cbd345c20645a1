"""The verbs that keep a store: what it holds, whether that is whole, and its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from esdedup.api.sources import Address, check_store
from esdedup.errors import UsageError

if TYPE_CHECKING:
    from esdedup.api.keywords import ResourceOptions
    from esdedup.output.contents.job_answers import Examined, Status


def status(*, store: Address) -> Status:
    """Show what a store holds: counts, settings, sources, last scan, unfinished work, disk use.

    Args:
        store: Address of the store.

    Returns:
        Counts, settings, sources, the last scan, unfinished work and disk use.

    Raises:
        StoreError: There is no store.

    Example:
        >>> esdedup.status(store="news.duckdb").counts  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.jobs.holding import held
    from esdedup.output.contents.job_answers import Status
    from esdedup.store.registry import open_store

    with open_store(store, read_only=True) as opened:
        return Status.of(held(opened))


def doctor(
    *, store: Address | None = None, repair: bool = False, quiet: bool = True, **options: Unpack[ResourceOptions]
) -> Examined:
    """Check that a store holds what it promises, and mend it; without a store, check what is installed.

    Without `repair`, nothing is changed.

    Args:
        store: Address of the store. Without one, what is installed on this machine is checked: what to paste into a
            report of a fault.
        repair: Mend what can be mended: sign again, make lost indices and results again, delete what was left over.
        quiet: No progress bars.
        options: Options of resources, see `esdedup.api.keywords.ResourceOptions`.

    Returns:
        The checks, each with what is wrong and what mends it.

    Raises:
        StoreError: A server cannot be reached.

    Example:
        >>> esdedup.doctor(store="news.duckdb").problems  # doctest: +SKIP
    """
    from esdedup.jobs.settings import settings_of

    settings = settings_of(dict(options))
    if store is None and repair:
        raise UsageError("repair mends a store; name it")
    from esdedup.jobs.doctor import examined
    from esdedup.jobs.installation import installation
    from esdedup.output.contents.job_answers import Examined
    from esdedup.store.registry import address_of

    address = None if store is None else address_of(store)
    checks = list(installation()) if address is None else examined(address, settings, repair=repair, quiet=quiet)
    shown = None if address is None else str(address)
    return Examined.of({"store": shown, "checks": [check._asdict() for check in checks]})


def drop(*, store: Address) -> None:
    """Delete what esdedup made in a store, and nothing else.

    On a server, this includes stores that it cannot open.

    Args:
        store: Address of the store.

    Raises:
        StoreError: There is nothing that esdedup made.

    Example:
        >>> esdedup.drop(store="news.duckdb")  # doctest: +SKIP
    """
    from esdedup.jobs.scratch import forget_scans
    from esdedup.store.registry import address_of

    address = address_of(store)
    address.drop()
    forget_scans(address)
