"""An address into a store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from esdedup.errors import StoreError, UsageError
from esdedup.store.duckdb.generation_file import delete_generation, generation_beside
from esdedup.store.duckdb.store import FileStore
from esdedup.store.elasticsearch.address import SCHEMES, ServerAddress
from esdedup.store.store import Store


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

    An address is `PATH.duckdb`, or one of `esdedup.store.elasticsearch.address.ServerAddress`. `memory` is what its
    database may use, in bytes; `fresh` names the job that makes a new generation of it. Raises `UsageError` for an
    address of another form and the `StoreError`s of `FileStore` and `ServerStore`.
    """
    if is_on_server(address):
        # its client takes a third of a second to import
        from esdedup.store.elasticsearch.store import ServerStore

        server = ServerAddress.parse(str(address))
        return ServerStore(server, frozen, memory=memory, threads=threads, read_only=read_only, fresh=fresh)
    path = Path(address)
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UsageError(f"{os.fsencode(path)!r}: the name of a store must be UTF-8; name another --store") from None
    if path.suffix != ".duckdb":
        raise UsageError(
            f"{address}: not an address of a store; give --store PATH.duckdb or --store http://HOST:PORT/PREFIX"
        )
    return FileStore(path, frozen, memory=memory, threads=threads, read_only=read_only, fresh=fresh)


def is_on_server(address: str | Path) -> bool:
    """Whether an address is that of a store on a server."""
    return isinstance(address, str) and address.startswith(SCHEMES)


def drop_store(address: str | Path) -> None:
    """Delete what esdedup made at an address, and nothing else; `StoreError` where there is nothing of it.

    On a server that is every index it made there, of whatever version or shape, also of a store that is not whole.
    """
    if is_on_server(address):
        _drop_indices(ServerAddress.parse(str(address)))
        return
    path = Path(address)
    if path.exists() or not delete_generation(path):  # an unfinished generation may be all there is
        with open_store(path) as opened:
            opened.drop()


def _drop_indices(address: ServerAddress) -> None:
    from esdedup.store.elasticsearch.connection import Connection
    from esdedup.store.elasticsearch.indices import CORPUS, RESULTS, WORKING, Indices

    connection = Connection(address)
    try:
        indices, kinds = Indices(connection), WORKING + RESULTS + CORPUS
        if not any(indices.generations(kind) for kind in kinds):
            raise StoreError(f"{address}: there is no store, and nothing else that esdedup made")
        indices.delete(kinds)
    finally:
        connection.close()


def unfinished_generation(address: str) -> bool:
    """Whether a new generation of the store is being made, or was left unfinished."""
    if is_on_server(address):
        from esdedup.store.elasticsearch.generations import unfinished_at

        return unfinished_at(ServerAddress.parse(address))
    return generation_beside(Path(address)).exists()
