"""Addresses of stores on a server, and operations that do not open the store."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esdedup.errors import EsdedupError
from esdedup.files import user_cache
from esdedup.store.elasticsearch.address import SCHEMES, ServerAddress

if TYPE_CHECKING:
    from esdedup.store.store import Check, Store


class ServerStoreAddress(ServerAddress):
    """The address of a store on a server; see `esdedup.store.registry`."""

    kind = "server"
    file = None
    shared = True
    scan_place = "there; set ESDEDUP_SCRATCH to another folder"
    keeps_scans = True
    name_in_results = None
    made_with = ()

    @classmethod
    def fits(cls, address: str | Path) -> bool:
        """Whether this may be an address of this kind."""
        return isinstance(address, str) and address.startswith(SCHEMES)

    def check_there(self) -> None:
        """Do nothing: opening the store says whether there is one."""

    def open(self, frozen: Any, **how: Any) -> Store:
        """As `esdedup.store.registry.open_store`."""
        from esdedup.store.elasticsearch.store import ServerStore  # its client takes a third of a second to import

        return ServerStore(self, frozen, **how)

    def drop(self) -> None:
        """Delete every index that esdedup made there, of any version, even if the store is incomplete."""
        from esdedup.store.elasticsearch.generations import drop_all

        drop_all(self)

    def examine(self) -> list[Check]:
        """Return every check of the store."""
        from esdedup.store.elasticsearch.server_checks import examine

        return examine(self)

    def repair(self, broken: Collection[str]) -> None:
        """Mend what cannot be mended by opening the store. `broken` are the names of checks that found something."""
        from esdedup.store.elasticsearch.server_checks import repair

        repair(self, broken)

    def has_unfinished_generation(self) -> bool:
        """Whether a new generation is being made or was left unfinished."""
        from esdedup.store.elasticsearch.generations import unfinished_at

        return unfinished_at(self)

    def scan_folder(self, generation: str) -> Path:
        """The working folder of a scan of a generation: in `ESDEDUP_SCRATCH`, or in the user's cache folder."""
        parent, name = self._scans()
        return parent / f"{name}.{generation}.scan"

    def scan_folders(self) -> list[Path]:
        """The working folders that scans of all generations use or have left."""
        parent, name = self._scans()
        return sorted(parent.glob(f"{name}.*.scan"))

    def _scans(self) -> tuple[Path, str]:
        try:
            parent = Path(os.environ.get("ESDEDUP_SCRATCH") or user_cache() / "scans")
        except RuntimeError as error:
            raise EsdedupError(
                "a scan needs a folder to write to, and there is no home folder; set ESDEDUP_SCRATCH"
            ) from error
        # readable, not too long, and unique for each address
        readable = re.sub("[^A-Za-z0-9]+", "-", str(self))[-80:].strip("-")
        return parent, f"{readable}-{hashlib.sha256(str(self).encode()).hexdigest()[:8]}"
