"""Which generation of a store is opened: the live one, a new one, or one that a killed job left unfinished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from esdedup.errors import StoreError
from esdedup.settings import HASH_SCHEME, Signing, freeze
from esdedup.stores.elastic.address import ServerAddress
from esdedup.stores.elastic.connection import Connection
from esdedup.stores.elastic.indices import CORPUS, RESULTS, Indices
from esdedup.stores.schemas import check_readable, check_same


def open_generation(
    indices: Indices, address: str, frozen: Mapping[str, Any] | None, *, read_only: bool, fresh: str | None
) -> tuple[str, Signing]:
    """The generation to work with, made if need be, and the signing settings that it was made with.

    Raises as `esdedup.stores.elastic.store.ServerStore` says.
    """
    if fresh is not None:
        generation = _unfinished_of(indices, fresh) or _make(indices, frozen or {}, fresh)
        return generation, _signing(indices, address, generation, frozen)
    live = indices.live("state")
    if live is None:
        if frozen is None or read_only:
            raise StoreError(f"{address}: there is no store; make one with esdedup run or esdedup index")
        live = _make(indices, frozen, None)
        indices.swap(dict.fromkeys(CORPUS, live))
    return live, _signing(indices, address, live, frozen)


def publish(indices: Indices, generation: str, results: str | None, keep: int) -> None:
    """Make a generation the live one, by one call; of the older ones all go but the newest `keep`."""
    indices.swap(dict.fromkeys(CORPUS, generation) | dict.fromkeys(RESULTS, results))
    index = indices.name("state", generation)
    indices.tell(index, {**indices.meta(index), "job": None})
    for kind in CORPUS + RESULTS:
        current = generation if kind in CORPUS else results
        older = [old for old in indices.generations(kind) if old != current]
        indices.delete([kind], older[: len(older) - keep])


def unfinished(indices: Indices) -> list[str]:
    """Generations that are being made, or were left unfinished."""
    live = indices.live("state")
    return [
        generation
        for generation in indices.generations("state")
        if generation != live and indices.meta(indices.name("state", generation)).get("job") is not None
    ]


def unfinished_at(address: ServerAddress) -> bool:
    """Whether a new generation of the store at an address is being made, or was left unfinished."""
    connection = Connection(address)
    try:
        return bool(unfinished(Indices(connection)))
    finally:
        connection.close()


def _unfinished_of(indices: Indices, job: str) -> str | None:
    """The generation that the same job began; what other jobs have begun is deleted."""
    found = None
    for generation in unfinished(indices):
        if indices.meta(indices.name("state", generation))["job"] == job:
            found = generation
        else:
            discard(indices, generation)
    return found


def discard(indices: Indices, generation: str) -> None:
    """Delete an unfinished generation: results that were made of it are not yet known by any alias."""
    indices.delete(CORPUS, [generation])
    for kind in RESULTS:
        live = indices.live(kind)
        indices.delete([kind], [one for one in indices.generations(kind) if one != live])


def _make(indices: Indices, frozen: Mapping[str, Any], job: str | None) -> str:
    signing = freeze(None, frozen)
    meta = {
        "hash-scheme": HASH_SCHEME,
        "signing": {field.name: getattr(signing, field.name) for field in fields(Signing)},
        "job": job,
    }
    return indices.make(CORPUS, meta, loading=True)


def _signing(indices: Indices, address: str, generation: str, frozen: Mapping[str, Any] | None) -> Signing:
    meta = indices.meta(indices.name("sentences", generation))
    check_readable(address, meta["schema"], meta["hash-scheme"])
    stored = Signing(**meta["signing"])
    check_same(address, stored, freeze(stored, frozen or {}))
    for kind in CORPUS:
        indices.check_mapping(kind, generation)
    return stored
