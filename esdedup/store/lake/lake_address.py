"""Addresses of lakes."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esdedup.errors import EsdedupError

if TYPE_CHECKING:
    from esdedup.store.store import Check, Store

LAKE = "lake"
"""The name of the lake in a folder of results."""


def unfinished(folder: Path) -> Path:
    """Return the folder where a lake is made that will take the place of this one."""
    return folder.with_name(f".{folder.name}.fresh")


@dataclass(frozen=True, slots=True)
class LakeAddress:
    """The folder of a lake; see `esdedup.store.registry`."""

    folder: Path
    file = None
    kind = "lake"
    prefix = None
    shared = False
    scan_place = "beside the lake"
    keeps_scans = False
    name_in_results = LAKE
    made_with = ("--engine", "spark")

    @classmethod
    def fits(cls, address: str | Path) -> bool:
        """Whether this may be an address of this kind: a folder with a description, or with parts of one."""
        with suppress(OSError):  # no name of a file
            return any(Path(address, name).exists() for name in ("lake.json", "parts/job.json"))
        return False

    @classmethod
    def parse(cls, address: str) -> LakeAddress:
        """Read the path of a folder."""
        return cls(Path(address))

    def __str__(self) -> str:
        return str(self.folder)

    def check_there(self) -> None:
        """Do nothing: opening the store says whether there is one."""

    def open(self, frozen: Any, **how: Any) -> Store:
        """As `esdedup.store.registry.open_store`."""
        from esdedup.store.lake.store import LakeStore

        return LakeStore(self.folder, frozen, **how)

    def drop(self) -> None:
        """As `esdedup.store.registry.drop_store`."""
        from esdedup.store.lake.lake_files import LakeFiles

        for folder in (unfinished(self.folder), self.folder):
            LakeFiles(folder).delete()

    def examine(self) -> list[Check]:
        """Return every check of the store."""
        from esdedup.store.lake.store import about_of
        from esdedup.store.store import Check

        try:
            with self.open(None) as opened:
                about_of(opened.ledger)
                opened.corpus.counts()
        except EsdedupError as error:
            return [Check("lake", str(error), "delete the folder, and make the lake again")]
        return [Check("lake")]

    def repair(self, broken: Collection[str]) -> None:
        """Do nothing: a lake is not changed."""

    def has_unfinished_generation(self) -> bool:
        """Whether a new generation is being made or was left unfinished."""
        return unfinished(self.folder).exists()

    def scan_folder(self, generation: str) -> Path:
        """The working folder of a scan: hidden beside the lake, where all workers see it."""
        path = self.folder.resolve()
        return path.parent / f".{path.name}.scan"

    def scan_folders(self) -> list[Path]:
        """The working folders that scans use or have left."""
        return [folder for folder in [self.scan_folder("")] if folder.exists()]
