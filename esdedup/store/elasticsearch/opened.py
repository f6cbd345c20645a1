"""The generation of a store that is open: its indices, and how they are read and written."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from esdedup.columns.database import Database
from esdedup.settings import Signing
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.indices import CORPUS, RESULTS, Indices
from esdedup.store.elasticsearch.journal import Journal
from esdedup.store.elasticsearch.reading import Reader
from esdedup.store.elasticsearch.state import State
from esdedup.store.schemas import create_tables


class OpenGeneration:
    """What the parts of a store share. `memory` bytes may be used by a private database."""

    def __init__(
        self, connection: Connection, indices: Indices, generation: str, signing: Signing, memory: int, threads: int
    ) -> None:
        self.connection = connection
        self.indices = indices
        self.generation = generation
        self.signing = signing
        self.address = str(connection.address)
        self.reader = Reader(connection)
        self.state = State(connection, indices.name("state", generation))
        self._memory = memory
        self._threads = threads

    @property
    def names(self) -> dict[str, str]:
        """The names of the indices in use, by kind; those of results once there was a scan."""
        names = {kind: self.indices.name(kind, self.generation) for kind in CORPUS}
        if self.results is not None:
            names |= {kind: self.indices.name(kind, self.results) for kind in RESULTS}
        return names

    @property
    def results(self) -> str | None:
        """The generation of the results; None where there was no scan."""
        scan = self.state.get("scan")
        return None if scan is None else str(scan["generation"])

    def journal(self) -> Journal:
        """A journal of changes."""
        return Journal(self.connection, self.state, self.names)

    @contextmanager
    def private(self) -> Iterator[Database]:
        """A database with a store's tables, for one piece of work; it spills into the system's temporary folder."""
        with (
            tempfile.TemporaryDirectory(prefix="esdedup-") as spill,
            Database(memory=self._memory, threads=self._threads, spill=Path(spill)) as db,
        ):
            create_tables(db, self.signing.tokens)
            yield db
