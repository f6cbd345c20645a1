"""Addresses of stores in files."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esdedup.errors import StoreError, UsageError

if TYPE_CHECKING:
    from esdedup.store.store import Check, Store

ENDING = ".duckdb"
"""Ending of the name of a store in a file."""


@dataclass(frozen=True, slots=True)
class FileAddress:
    """The file of a store; see `esdedup.store.registry`."""

    file: Path
    kind = "embedded"
    prefix = None
    shared = False
    scan_place = "beside its store"
    keeps_scans = True
    name_in_results = f"store{ENDING}"
    made_with = ()

    @classmethod
    def fits(cls, address: str | Path) -> bool:
        """Whether this may be an address of this kind. Every path may, so this kind is tried last."""
        return True

    @classmethod
    def parse(cls, address: str) -> FileAddress:
        """Read `PATH.duckdb`. Raise `UsageError` for anything else."""
        path = Path(address)
        try:
            str(path).encode()
        except UnicodeEncodeError:
            name = os.fsencode(path)
            raise UsageError(f"{name!r}: the name of a store must be valid UTF-8; use another --store") from None
        if path.suffix != ENDING:
            shown = address or "an empty text"
            raise UsageError(
                f"{shown}: not a valid store address; use --store PATH.duckdb or --store http://HOST:PORT/PREFIX"
            )
        return cls(path)

    def __str__(self) -> str:
        return str(self.file)

    def check_there(self) -> None:
        """Raise `StoreError` if there is no store, and it can be seen without opening one."""
        if not self.file.exists():
            raise StoreError.no_store(self.file)

    def open(self, frozen: Any, **how: Any) -> Store:
        """As `esdedup.store.registry.open_store`."""
        from esdedup.store.duckdb.store import FileStore

        return FileStore(self.file, frozen, **how)

    def drop(self) -> None:
        """As `esdedup.store.registry.drop_store`."""
        from esdedup.store.duckdb.file_lookup import delete_lookup
        from esdedup.store.duckdb.generation_file import delete_generation, drop_tables

        if self.file.exists() or not delete_generation(self.file):  # there may be only an unfinished generation
            drop_tables(self.file)
            delete_generation(self.file)
        delete_lookup(self.file)

    def examine(self) -> list[Check]:
        """Return every check of the store."""
        from esdedup.store.duckdb.file_checks import examine

        return list(examine(self.file))

    def repair(self, broken: Collection[str]) -> None:
        """Do nothing: a file has one writer, and what is wrong there cannot be made again from the rest."""

    def has_unfinished_generation(self) -> bool:
        """Whether a new generation is being made or was left unfinished."""
        from esdedup.store.duckdb.generation_file import generation_beside

        return generation_beside(self.file).exists()

    def scan_folder(self, generation: str) -> Path:
        """The working folder of a scan of a generation: hidden beside the file, on the same disk."""
        path = self.file.resolve()
        return path.parent / ".".join(part for part in (f".{path.name}", generation, "scan") if part)

    def scan_folders(self) -> list[Path]:
        """The working folders that scans of all generations use or have left."""
        # not a pattern, which could match another store's name
        return [folder for name in ("fresh", "") if (folder := self.scan_folder(name)).exists()]
