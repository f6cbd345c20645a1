"""The kinds of stores, found by address, and the way into a store.

The address of each kind says, without opening the store: its `kind`; the `file` that holds it, if one does; the
`prefix` of its indices, if it has any; whether it is `shared`, so that several machines may write it together and
older generations may be kept; and where its scans work.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from esdedup.store.duckdb.file_address import FileAddress
from esdedup.store.elasticsearch.store_address import ServerStoreAddress
from esdedup.store.store import Store

StoreAddress: TypeAlias = FileAddress | ServerStoreAddress

KINDS: tuple[type[StoreAddress], ...] = (ServerStoreAddress, FileAddress)
"""Every kind of store; the first whose addresses begin so is meant."""


def address_of(address: str | Path) -> StoreAddress:
    """The address of a store; `UsageError` where it makes no sense."""
    return kind_of(address).parse(str(address))


def kind_of(address: str | Path) -> type[StoreAddress]:
    """The kind of store whose addresses begin so, whether or not this one makes sense."""
    return next(kind for kind in KINDS if kind.fits(address))


def open_store(
    address: str | Path,
    frozen: Mapping[str, Any] | None = None,
    *,
    memory: int = 2**28,
    threads: int = 1,
    read_only: bool = False,
    fresh: str | None = None,
) -> Store:
    """Open the store at an address; with `frozen` (signing options asked for), make it if there is none.

    `memory` is what its database may use, in bytes; `fresh` names the job that makes a new generation of it. Raises
    `UsageError` for an address of no known form and the `StoreError`s of the kind of store.
    """
    how: dict[str, Any] = {"memory": memory, "threads": threads, "read_only": read_only, "fresh": fresh}
    return address_of(address).open(frozen, **how)


def drop_store(address: str | Path) -> None:
    """Delete what esdedup made at an address, and nothing else; `StoreError` where there is nothing of it."""
    address_of(address).drop()
