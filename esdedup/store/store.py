"""An open store: its corpus, its ledger and its results; and a check of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from esdedup.errors import StoreError
    from esdedup.matching.signing import Signing
    from esdedup.store.corpus import Corpus
    from esdedup.store.ledger import Ledger
    from esdedup.store.results import Results


class Check(NamedTuple):
    """One promise of a store, and whether it is kept."""

    name: str
    problem: str | None = None
    """What is wrong, in one sentence; None if nothing is."""
    advice: str | None = None
    """What mends it."""
    repaired: bool = False
    """Whether it was mended just now."""
    made: bool = True
    """Whether the check was made. Some need what others found missing."""


class Store(ABC):
    """The interface of every store. No other package depends on the kind of store. The caller closes it (`with`)."""

    address: str
    signing: Signing
    generation: str
    """The name of the open generation among all generations at this address; empty if there can be only one."""
    corpus: Corpus
    ledger: Ledger
    results: Results
    MORE = "add to it with esdedup add"
    """What to do with further sources, for a person."""

    @abstractmethod
    def publish(self, keep: int = 0) -> None:
        """Complete a new generation (`fresh`): it replaces the old one. The store is closed.

        On a server, the newest `keep` of the older generations stay, without an alias.
        """

    @abstractmethod
    def disk_bytes(self) -> int:
        """Return the disk space of the store, in bytes."""

    @abstractmethod
    def drop(self) -> None:
        """Delete what esdedup made here, and nothing else."""

    def blame(self, error: BaseException) -> StoreError | None:
        """Return the `StoreError` for an error that the contents of the store caused; None for any other."""
        del error
        return None

    @abstractmethod
    def close(self) -> None:
        """Close the store."""

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
