"""The kinds of stores, chosen by address, and the functions that open a store.

The address of each kind says, without opening the store: its `kind`; the `file` that holds it, if any; the `prefix` of
its indices, if any; whether it is `shared`, so that several machines may write together and older generations may be
kept; whether a later scan replaces its results; where its scans work; its name in a folder of results, and the options
with which `run` makes it there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from esdedup.errors import UsageError
from esdedup.files import as_word
from esdedup.store.duckdb.file_address import ENDING, FileAddress
from esdedup.store.elasticsearch.store_address import ServerStoreAddress
from esdedup.store.lake.lake_address import LAKE, LakeAddress

if TYPE_CHECKING:
    from esdedup.store.store import Store

StoreAddress: TypeAlias = FileAddress | LakeAddress | ServerStoreAddress

KINDS: tuple[type[StoreAddress], ...] = (ServerStoreAddress, LakeAddress, FileAddress)
"""Every kind of store. The first one that accepts an address is used."""


def address_of(address: str | Path) -> StoreAddress:
    """Parse the address of a store. Raise `UsageError` if it is not valid."""
    kind = kind_of(address)
    if kind is FileAddress and "://" in str(address):
        from esdedup.formats.remote.protocol import shown

        raise UsageError(
            f"{shown(str(address))}: a store is a file here or on a server; use --store PATH{ENDING} or --store "
            "http://HOST:PORT/PREFIX"
        )
    if kind is FileAddress and str(address) and not Path(address).suffix:
        raise UsageError(f"{address}: {_no_store(Path(address))}")
    return kind.parse(str(address))


def _no_store(path: Path) -> str:
    """Return what is wrong with the path of a folder that is not a lake."""
    if re.match(r"[\w.-]+:\d+/", path.as_posix()):
        return f"did you mean --store http://{path.as_posix()}?"
    inside = [found for name in (LAKE, f"store{ENDING}") if (found := path / name).exists()]
    if inside:
        return f"this folder is no store, but has one; use --store {as_word(inside[0])}"
    what = "this is not a lake: it has no lake.json" if path.exists() else "there is no lake here"
    return f"{what}; use --store PATH{ENDING}, --store http://HOST:PORT/PREFIX, or a lake that a run on Spark has made"


def is_store(address: str | Path) -> bool:
    """Whether an argument names a store, and not a source."""
    kind = kind_of(address)
    if "://" in str(address):
        from esdedup.formats.protocol import format_at

        return kind is ServerStoreAddress and format_at(str(address), None) is None and not str(address).endswith("/")
    return kind is not FileAddress or Path(address).suffix == ENDING


def kind_of(address: str | Path) -> type[StoreAddress]:
    """Return the kind of store that accepts an address, even if the address is not valid."""
    return next(kind for kind in KINDS if kind.fits(address))


def open_store(
    address: str | Path,
    frozen: Mapping[str, Any] | None = None,
    *,
    memory: int = 2**28,
    threads: int = 1,
    read_only: bool = False,
    fresh: str | None = None,
    part: str | None = None,
    lookup: bool = True,
) -> Store:
    """Open the store at an address.

    Args:
        address: Path of a store in a file, or http(s)://HOST:PORT/PREFIX.
        frozen: Signing options that were asked for: if there is no store, one is made with them.
        memory: Bytes that its database may use.
        threads: Threads that its database may use.
        read_only: Open it for questions only.
        fresh: Job that makes a new generation, which takes the place of the old one when it is published.
        part: The part of a run that this writer reads, such as 2/3.
        lookup: Whether what is written can be searched.

    Returns:
        The store. It is closed at the end of a `with` block.

    Raises:
        UsageError: The form of the address is unknown.
        StoreError: There is no store, or it cannot be opened.

    Example:
        >>> with esdedup.open_store("news.duckdb", read_only=True) as store:  # doctest: +SKIP
        ...     print(esdedup.similar("A fox.", store=store))
    """
    how: dict[str, Any] = {"memory": memory, "threads": threads, "read_only": read_only, "fresh": fresh}
    how["lookup"] = lookup
    if part is not None:  # only stores with several writers have parts
        how["part"] = part
    return address_of(address).open(frozen, **how)


def drop_store(address: str | Path) -> None:
    """Delete what esdedup made at an address, and nothing else. Raise `StoreError` if there is nothing to delete."""
    address_of(address).drop()
