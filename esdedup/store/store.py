"""A store that is open: its corpus, its ledger and its results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType

from esdedup.matching.signing import Signing
from esdedup.store.corpus import Corpus
from esdedup.store.ledger import Ledger
from esdedup.store.results import Results


class Store(ABC):
    """Nothing outside this room asks which store it has. Closing is the caller's business (`with`)."""

    address: str
    signing: Signing
    generation: str
    """The name of what is open here among all generations at this address; empty where there is no other."""
    corpus: Corpus
    ledger: Ledger
    results: Results

    @abstractmethod
    def publish(self, keep: int = 0) -> None:
        """End the making of a new generation (`fresh`): it takes the place of the old one. The store is closed.

        On a server, the newest `keep` of the older ones stay, under no alias.
        """

    @abstractmethod
    def disk_bytes(self) -> int:
        """What the store takes on disk."""

    @abstractmethod
    def drop(self) -> None:
        """Delete what esdedup made here, and nothing else."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the store."""

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
