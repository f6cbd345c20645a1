"""What is checked before anything is imported that does the work: that takes longer than the check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def check_options(options: Mapping[str, Any]) -> None:
    """Raise `UsageError` for an option that is unknown, out of range or does not apply."""
    from esdedup.jobs.settings import Settings

    Settings.of(**{name: value for name, value in options.items() if name != "ignore"})


def check_store(store: object) -> None:
    """Raise `UsageError` for an address that is not valid, `StoreError` if there is no store in a file there."""
    from esdedup.store.registry import address_of

    if isinstance(store, str | Path):
        address_of(store).check_there()
