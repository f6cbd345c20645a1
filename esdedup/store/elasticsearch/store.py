"""The store on a server: Elasticsearch indices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esdedup.store.corpus import Corpus
from esdedup.store.elasticsearch import generations
from esdedup.store.elasticsearch.address import ServerAddress
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.corpus import ServerCorpus
from esdedup.store.elasticsearch.generations import OpenGeneration
from esdedup.store.elasticsearch.holds import Hold
from esdedup.store.elasticsearch.indices import CORPUS, RESULTS, WORKING, Indices
from esdedup.store.elasticsearch.journal import State
from esdedup.store.elasticsearch.ledger import ServerLedger
from esdedup.store.elasticsearch.results import PublishedResults
from esdedup.store.ledger import Ledger
from esdedup.store.store import Store


class ServerStore(Store):
    """A store at `address`. If it does not exist and `frozen` is given, opening creates it.

    `frozen` holds the requested signing options. `fresh` names the job that makes a new generation. No alias points to
    it until it is published, and the same job continues with it. Private databases, which classify results and work out
    changes, may use `memory` bytes. Only one writer may open a store, or one for each `part` of a run. What
    others did to the store since the last write is made good if possible, and said. Raise `NotAStoreError`,
    `StoreVersionError`, `StoreSettingsError` (if the store has other settings), `StoreError` (if the server cannot be
    reached), and `StoreLockedError` (if another writer has it).
    """

    def __init__(
        self,
        address: ServerAddress,
        frozen: Mapping[str, Any] | None = None,
        *,
        memory: int = 2**28,
        threads: int = 1,
        read_only: bool = False,
        fresh: str | None = None,
        part: str | None = None,
        lookup: bool = True,
    ) -> None:
        self.address = str(address)
        self._fresh = fresh is not None
        self._part = part
        self._holds: dict[str, Hold] = {}  # of generations
        self._connection = Connection(address)
        try:
            indices = Indices(self._connection, lookup=lookup)
            self.generation, self.signing = generations.open_generation(
                indices, self.address, frozen, read_only=read_only, fresh=fresh, hold=self._keep_others_out
            )
            self._open = OpenGeneration(self._connection, indices, self.generation, self.signing, memory, threads)
            ledger = ServerLedger(self._open.state, self.address)
            corpus = ServerCorpus(self._open, ledger, read_only=read_only)
            corpus.lookup = lookup
            results = PublishedResults(self._open, corpus, ledger)
            results.check(read_only=read_only)
            if not read_only and part is None:  # parts begin at the same time
                corpus.mend()
        except BaseException:
            self._end()
            raise
        self.ledger: Ledger = ledger
        self.corpus: Corpus = corpus
        self.results: PublishedResults = results

    def _keep_others_out(self, generation: str) -> None:
        if generation not in self._holds:
            state = State(self._connection, f"{self._connection.address.prefix}-state-{generation}")
            self._holds[generation] = Hold(state, self.address, self._part)

    def publish(self, keep: int = 0) -> None:
        if self._fresh:
            generations.publish(self._open.indices, self.generation, self._open.results, keep)

    def disk_bytes(self) -> int:
        return self._open.indices.bytes_on_disk()

    def drop(self) -> None:
        self._open.indices.delete(WORKING + RESULTS + CORPUS)

    def close(self) -> None:
        self.results.forget()
        self._end()

    def _end(self) -> None:
        for hold in self._holds.values():
            hold.release()
        self._connection.close()
